// `npm run soak -- planted`: plants one bug after the other in a copy of the tree and lets the
// simulation look for it. Prints the first seed that finds each, and how many of the first ones do.
// One that no seed finds is printed, and the exit status is 1.
//
//   npm run -s node -- test/sim/planted.ts                  all of them
//   npm run -s node -- test/sim/planted.ts 'gates|live'     those whose names fit
//   npm run -s node -- test/sim/planted.ts --list           their names, nothing run
//     --count 20     so many seeds are run whatever they find
//     --seeds 60     and so many at the most, until one finds it
//     --minutes 10   for each bug
//     --from 1       the first seed
//     --workers 2    processes; otherwise one a core

import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { startCluster } from '../support/cluster.ts';
import { copyOfTree } from '../support/planted.ts';
import { mostWorkers } from './crew.ts';
import { mutations } from './mutations.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean', default: false },
    count: { type: 'string', default: '20' },
    seeds: { type: 'string', default: '60' },
    minutes: { type: 'string', default: '10' },
    from: { type: 'string', default: '1' },
    workers: { type: 'string', default: String(mostWorkers) },
  },
});

/** A whole number from 1 on; the process ends with 2 where it is none. */
function whole(name: 'count' | 'seeds' | 'minutes' | 'from' | 'workers'): number {
  const number = Number(values[name]);
  if (Number.isSafeInteger(number) && number >= 1) return number;
  console.error(`--${name} must be a whole number from 1 on, got ${values[name]}`);
  process.exit(2);
}

const limits = {
  count: whole('count'),
  seeds: whole('seeds'),
  minutes: whole('minutes'),
  from: whole('from'),
  workers: whole('workers'),
};

type Found = {
  readonly ran: number;
  /** Seeds that broke, the least first. */
  readonly broken: readonly number[];
  /** The rule that the first of them in time broke. */
  readonly rule: string | null;
  readonly output: string;
};

type Run = { readonly from: number; readonly seeds: number; readonly first: boolean };

/** One that hangs is ended a while after the simulation should have ended itself. */
const graceMs = 6 * 60_000;

async function simulation(tree: string, databaseUrl: string, run: Run): Promise<Found> {
  const args = ['test/sim/run.ts', '--seeds', String(run.seeds), '--from', String(run.from)];
  args.push('--minutes', String(limits.minutes), '--workers', String(limits.workers));
  args.push('--json', '--no-keep', ...(run.first ? ['--first'] : []));
  const env = { ...process.env, PARLEY_TEST_DATABASE_URL: databaseUrl };
  const signal = AbortSignal.timeout(limits.minutes * 60_000 + graceMs);
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  const child = spawn(process.execPath, args, { cwd: tree, env, signal, stdio: [...stdio] });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  await new Promise<void>((resolve) => {
    child.once('error', (error) => {
      errors += error.message;
    });
    child.once('close', () => resolve());
  });
  return foundIn(output, errors);
}

function foundIn(output: string, errors: string): Found {
  const last = output.trim().split('\n').at(-1) ?? '';
  const [, rule = null] = /^ {3}([^:\n]+): /m.exec(errors) ?? [];
  if (!last.startsWith('{')) return { ran: 0, broken: [], rule, output: errors.slice(-500) };
  const { seeds, broken } = JSON.parse(last) as { seeds: number; broken: number[] };
  return { ran: seeds, broken, rule, output: '' };
}

/** Some seeds in any case, so that it shows how often it is found; then more until one does. */
async function lookFor(tree: string, databaseUrl: string): Promise<string | null> {
  const { from, count, seeds } = limits;
  const some = await simulation(tree, databaseUrl, { from, seeds: count, first: false });
  const [first] = some.broken;
  const told = (seed: number, rule: string | null) => `seed ${seed} (${rule ?? 'no rule'})`;
  if (first !== undefined) {
    return `${told(first, some.rule)}, ${some.broken.length} of ${some.ran} seeds`;
  }
  const left = seeds - count;
  if (some.ran === 0 || left <= 0) return failed(some);
  const more = await simulation(tree, databaseUrl, {
    from: from + count,
    seeds: left,
    first: true,
  });
  const [later] = more.broken;
  if (later === undefined) return failed({ ...more, ran: some.ran + more.ran });
  return `${told(later, more.rule)}, none of the ${some.ran} before`;
}

function failed({ ran, output }: Found): null {
  console.log(`          ${ran} seeds ${output}`);
  return null;
}

const names = new RegExp(positionals[0] ?? '');
const wanted = Object.entries(mutations).filter(([name]) => names.test(name));
if (wanted.length === 0) {
  console.error(`no bug is called like ${positionals[0]}`);
  process.exit(2);
}
if (values.list) {
  console.log(JSON.stringify(wanted.map(([name]) => name)));
  process.exit(0);
}

const { tree, plant, remove } = copyOfTree();
const cluster = await startCluster();
let survived = 0;
try {
  for (const [name, edits] of wanted) {
    const restore = plant(edits);
    const by = await lookFor(tree, cluster.adminUrl);
    restore();
    if (by === null) survived += 1;
    console.log(`${by === null ? 'SURVIVED' : 'found   '}  ${name}${by === null ? '' : `: ${by}`}`);
  }
} finally {
  await cluster.stop();
  remove();
}
console.log(`planted: ${wanted.length - survived} found, ${survived} survived`);
process.exitCode = survived === 0 ? 0 : 1;
