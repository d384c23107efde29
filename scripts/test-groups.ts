// Which test files share a process. Starting one with the modules of a whole market, and a database
// of its own, takes longer than most files' tests, so those of one folder run one after the other
// in a process, up to a number.

import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Folders whose files start nothing that outlives them and measure nothing of their process. */
const sharing: readonly string[] = [
  ...['core', 'chains', 'chains/bitcoin', 'chains/evm', 'chains/tron', 'chains/solana'],
  ...['server/db', 'server/edge', 'server/edge/feed', 'server/edge/routes', 'server/edge/rules'],
  ...['server/listing', 'server/listing/launchpads', 'server/listing/providers'],
  ...['server/market', 'server/restore', 'server/webhooks'],
  ...['sdk/settle', 'sdk/settle/hands', 'sdk/stores', 'sdk/wallets'],
];
/** Those where some files start nodes before all of their tests: the others share. */
const sharingInPart: readonly string[] = [
  ...['contracts/solana', 'devnet', 'devnet/solana', 'devnet/tron', 'scripts'],
  ...['sdk', 'server', 'server/keeper', 'server/settle', 'test', 'test/model'],
];
/** Whatever else is said of them: they share what takes longest, and end within a file's time. */
const together: readonly (readonly string[])[] = [
  ['test/faults-bitcoin.test.ts', 'test/faults-database.test.ts', 'test/faults-forks.test.ts'],
];
const mostTogether = 6;
/** A clock or an environment of the process, or steps around every test in it. */
const ofTheProcess = /mock\.timers|process\.env\.\w+ =|process\.on\(|^(before|after)Each\(/m;
const beforeAll = /^before\(|\bonStage\(/m;

export type Group = {
  /** What it is called where files are named. */
  readonly name: string;
  /** Paths below the project's root. */
  readonly files: readonly string[];
};

function shares(root: string, file: string): boolean {
  const folder = dirname(file);
  const isInPart = sharingInPart.includes(folder);
  if (!isInPart && !sharing.includes(folder)) return false;
  const text = readFileSync(join(root, file), 'utf8');
  return !ofTheProcess.test(text) && !(isInPart && beforeAll.test(text));
}

/**
 * Each file once, in the order given, those of `long` alone or with those they belong to; one alone
 * is called by its path.
 */
export function groupsOf(
  root: string,
  files: readonly string[],
  long: readonly string[] = [],
): Group[] {
  const groups: Group[] = [];
  const open = new Map<string, string[]>();
  for (const file of files) {
    const folder = dirname(file);
    const belongs = together.findIndex((each) => each.includes(file));
    const isShared = belongs !== -1 || (!long.includes(file) && shares(root, file));
    const place = belongs === -1 ? folder : `together ${belongs}`;
    const others = isShared ? open.get(place) : undefined;
    if (others !== undefined && others.length < mostTogether) {
      others.push(file);
      continue;
    }
    const own = [file];
    if (isShared) open.set(place, own);
    groups.push({ name: file, files: own });
  }
  return groups.map(({ name, files: all }) =>
    all.length === 1
      ? { name, files: all }
      : { name: `${name} and ${all.length - 1} more`, files: all },
  );
}

/** The path of what `node --test` is to run for a group: its file, or one that imports them all. */
export async function entryOf(root: string, folder: string, group: Group): Promise<string> {
  const [only = ''] = group.files;
  if (group.files.length === 1) return join(root, only);
  const entry = join(folder, `${only.replaceAll('/', '-')}.mjs`);
  const urls = group.files.map((file) => pathToFileURL(join(root, file)).href);
  await writeFile(entry, urls.map((url) => `import ${JSON.stringify(url)};\n`).join(''));
  return entry;
}
