// Which test files share a process. Starting one with the modules of a whole market, and a database
// of its own, takes longer than most files' tests, so those of a room run one after the other in a
// process, up to a number, each as a suite.

import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageOf } from '@parley/scripts/tokens.ts';

/**
 * Seconds on two cores of those that take long, with what they share a process with. A group that
 * takes longer begins earlier, so that none is left over while a core is idle. All but those of
 * `together` are alone.
 */
export const seconds: Readonly<Record<string, number>> = {
  'verify/test/mcp.test.ts': 250,
  'verify/test/web.test.ts': 230,
  'verify/test/tour.test.ts': 190,
  'verify/test/secrets.test.ts': 120,
  'verify/test/adapters.test.ts': 100,
  'verify/test/web-settle-states.test.ts': 50,
  'verify/test/sim/sim.test.ts': 45,
  'packages/sdk/settle-families.test.ts': 40,
  'verify/test/start.test.ts': 35,
  'apps/market/doctor.test.ts': 13,
  'verify/test/conformance.test.ts': 12,
  'verify/test/sim/crashes.test.ts': 10,
};
/** Any other file of these rooms takes about so long: some wait for chains, others calculate. */
export const secondsOfEach: Readonly<Record<string, number>> = {
  'packages/sdk': 3.5,
  verify: 2.8,
  'packages/chains': 2.7,
  'apps/watchtower': 2.4,
  'packages/core': 0.6,
  'packages/web': 0.5,
};
/** Elsewhere. */
const secondsOfOne = 1.6;
/**
 * These groups override all other rules: the files of each share a market, if any of them has one,
 * and each file has the market for itself meanwhile. One market would do, for three times the time:
 * those with a market take about as long as each other.
 */
export const together: readonly (readonly string[])[] = [
  [
    'web',
    'web-swap',
    'web-take',
    'web-console',
    'web-drill',
    'web-deal',
    'web-first',
    'web-market',
    'web-sign-in',
    'families',
  ],
  ['web-settle-states', 'people-browser', 'operator'],
  ['tour', 'sdk-readme', 'lent-lanes', 'bench'],
  ['mcp', 'maker', 'cli', 'python', 'together', 'demo'],
  // On the same chains.
  ['secrets', 'restore', 'processes', 'faults-disk'],
].map((names) => names.map((name) => `verify/test/${name}.test.ts`));
/** All load the same modules: a process for each sixteen took a minute of the processor more. */
export const mostTogether = 80;
/** Passes and connections that other files began as they were loaded would wait for ever. */
const stopsTimers = /mock\.timers\.enable\(\{ apis: \['setTimeout'/;
const starting = /^before\(|^const .* = await start/m;
/**
 * An environment, a clock of no test's own, the memory, or the modules: files that change one of
 * these for all in the process.
 */
const ofTheProcess = [
  /(?<!\.)\bmock\.timers|process\.env\.\w+ =|process\.on\(/,
  /memoryUsage|gc\(\)|\b(?:url\)|require)\.cache/,
];
/** With it a clock is each test's own. */
const resetsClock = /^test\.afterEach\(\(\) => mock\.timers\.reset\(\)\);$/m;
const [usage, watching] = ['usage.ts', 'watching.ts'].map(
  (name) => pathToFileURL(join(import.meta.dirname, name)).href,
);

const belongs = (file: string) => together.findIndex((each) => each.includes(file));

/**
 * The part of `mostTogether`; all of it for a file that is alone. Files that start something before
 * their tests take as long as two others, and those of whole markets as long as four.
 */
function weightOf(file: string, whole: string): number {
  if (belongs(file) !== -1) return 1;
  if (file in seconds) return mostTogether;
  const text = resetsClock.test(whole) ? whole.replaceAll('mock.timers', '') : whole;
  if (ofTheProcess.some((each) => each.test(text))) return mostTogether;
  if (file.startsWith('verify/test/')) return 4;
  return starting.test(text) ? 2 : 1;
}

/** Rooms with few files, whose modules those load too. */
const within: Readonly<Record<string, string>> = {
  'packages/host': 'packages/core',
  'packages/cli': 'packages/sdk',
  'packages/maker': 'packages/sdk',
  'packages/mcp': 'packages/sdk',
  'packages/tokens': 'packages/chains',
  'packages/trader': 'packages/sdk',
  'apps/faucet': 'scripts',
  bench: 'scripts',
  contracts: 'scripts',
  dev: 'scripts',
};

/** The room of a file; its files share modules. */
export function roomOf(file: string): string {
  if (belongs(file) !== -1) return `together ${belongs(file)}`;
  const room = packageOf(file);
  return within[room] ?? room;
}

export function groupsOf(root: string, files: readonly string[]): string[][] {
  const groups: string[][] = [];
  const open = new Map<string, { readonly group: string[]; weight: number }>();
  const named = Object.keys(seconds).filter((file) => files.includes(file));
  // Backward: those of test/ take longest of the rest, and one at the end leaves a core idle.
  for (const file of [...named, ...files.filter((each) => !named.includes(each)).toReversed()]) {
    const text = readFileSync(join(root, file), 'utf8');
    const room = `${roomOf(file)}${stopsTimers.test(text) ? ', without timers' : ''}`;
    const weight = weightOf(file, text);
    const others = open.get(room);
    if (others !== undefined && others.weight + weight <= mostTogether) {
      others.group.push(file);
      others.weight += weight;
      continue;
    }
    const group = [file];
    if (weight < mostTogether) open.set(room, { group, weight });
    groups.push(group);
  }
  return groups.toSorted((one, two) => secondsOf(two) - secondsOf(one));
}

function secondsOf([first = '', ...others]: readonly string[]): number {
  const each = secondsOfEach[roomOf(first)] ?? secondsOfOne;
  return seconds[first] ?? (1 + others.length) * each;
}

/** A file with a suite of each file of a group, with hooks of its own, that notes its time. */
export async function entryOf(root: string, folder: string, group: string[]): Promise<string> {
  const entry = join(folder, `${group[0]?.replaceAll('/', '-')}.mjs`);
  const suites = group.map((file) => {
    const [name, url] = [file, pathToFileURL(join(root, file)).href].map((each) =>
      JSON.stringify(each),
    );
    return `suite(${name}, () => import(${url}));\n`;
  });
  const text = `import { flushCompileCache } from 'node:module';
import { after, before, describe } from 'node:test';
import { note } from ${JSON.stringify(usage)};
import { enabledBy } from ${JSON.stringify(watching)};
const usage = process.env.PARLEY_TEST_USAGE;
const here = () => note(usage, 'what processes load and do at their end');
const hooks = enabledBy(() => before(() => {}));
const loading = [];
function suite(name, load) {
  describe(name, () => {
    const loaded = load().then(() => after(() => note(usage, name)));
    loading.push(loaded);
    return loaded;
  });
}
process.on('exit', here);
${suites.join('')}
Promise.allSettled(loading).then(() => {
  for (const hook of hooks) hook.disable();
  // Else a process that begins before this one ends compiles the same again.
  flushCompileCache();
  here();
});
`;
  await writeFile(entry, text);
  return entry;
}
