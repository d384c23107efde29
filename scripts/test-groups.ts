// Which test files share a process. Starting one with the modules of a whole market, and a database
// of its own, takes longer than most files' tests, so those of one folder run one after the other
// in a process, up to a number, each as a suite.

import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Where a file that starts nodes or a market before its tests takes as long as two others. */
const starting: readonly string[] = [
  ...['contracts/escrows', 'contracts/solana', 'devnet', 'simulators/tron', 'scripts', 'sdk'],
  ...['server/keeper', 'server/settle', 'test'],
];
/** Whatever else is said of them: they share what takes longest, and end within a file's time. */
const together: readonly (readonly string[])[] = [
  ['test/faults-bitcoin.test.ts', 'test/faults-database.test.ts', 'test/faults-forks.test.ts'],
];
const mostTogether = 8;
/** An environment, a clock of no test's own, the memory, or the modules: of all in the process. */
const ofTheProcess = [
  /(?<!\.)\bmock\.timers|process\.env\.\w+ =|process\.on\(/,
  /memoryUsage|gc\(\)|\b(?:url\)|require)\.cache/,
];
const beforeAll = /^before\(|\bonStage\(|^const .* = await start/m;

export type Group = {
  /** What it is called where files are named. */
  readonly name: string;
  /** Paths below the project's root. */
  readonly files: readonly string[];
};

/** Of `mostTogether`; all of it for a file that is alone. */
function weightOf(root: string, file: string): number {
  const text = readFileSync(join(root, file), 'utf8');
  if (ofTheProcess.some((each) => each.test(text))) return mostTogether;
  return starting.includes(dirname(file)) && beforeAll.test(text) ? 2 : 1;
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
  const open = new Map<string, { readonly files: string[]; weight: number }>();
  for (const file of files) {
    const belongs = together.findIndex((each) => each.includes(file));
    const isAlone = belongs === -1 && long.includes(file);
    const weight = belongs !== -1 ? 1 : isAlone ? mostTogether : weightOf(root, file);
    const place = belongs === -1 ? dirname(file) : `together ${belongs}`;
    const others = open.get(place);
    if (others !== undefined && others.weight + weight <= mostTogether) {
      others.files.push(file);
      others.weight += weight;
      continue;
    }
    const own = [file];
    if (weight < mostTogether) open.set(place, { files: own, weight });
    groups.push({ name: file, files: own });
  }
  return groups.map(({ name, files: all }) =>
    all.length === 1
      ? { name, files: all }
      : { name: `${name} and ${all.length - 1} more`, files: all },
  );
}

/**
 * The path of what `node --test` is to run for a group: its file, or one that has a suite of each,
 * so that what a file does before and after its tests is done around its own.
 */
export async function entryOf(root: string, folder: string, group: Group): Promise<string> {
  const [only = ''] = group.files;
  if (group.files.length === 1) return join(root, only);
  const entry = join(folder, `${only.replaceAll('/', '-')}.mjs`);
  const suites = group.files.map((file) => {
    const url = pathToFileURL(join(root, file)).href;
    return `describe(${JSON.stringify(file)}, () => import(${JSON.stringify(url)}));\n`;
  });
  await writeFile(entry, `import { describe } from 'node:test';\n${suites.join('')}`);
  return entry;
}
