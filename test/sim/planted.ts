// `npm run soak -- planted`: plants one bug after the other in a copy of the tree and lets the
// simulation look for it, first at the seed that is known to find it (finders.ts), then at others.
// It is found where a promise breaks that holds with nothing planted: a process that ended or threw
// is no finding. One that no seed finds is printed, and the exit status is 1.
//
//   npm run -s node -- test/sim/planted.ts                  all of them
//   npm run -s node -- test/sim/planted.ts 'gates|live'     those whose names fit
//   npm run -s node -- test/sim/planted.ts --help           the rest

import { spawn } from 'node:child_process';
import { Misused, parsed, understood, wholeNumber } from '../../scripts/command.ts';
import { startCluster } from '../support/cluster.ts';
import { copyOfTree } from '../support/planted.ts';
import { mostWorkers } from './crew.ts';
import { finders } from './finders.ts';
import { mutations } from './mutations.ts';
import { type Broke, brokenIn, isFinding } from './mutations-found.ts';

const usage = `usage: npm run -s node -- test/sim/planted.ts [PATTERN] [--count N] [--seeds N]
                     [--minutes N] [--from N] [--workers N] [--list]
  PATTERN    of the names of the bugs, default all
  --count    so many seeds are run whatever they find, so that it shows how often it is found;
             default 0
  --seeds    so many at the most where the known one does not find it, default 100
  --minutes  for each bug, default 10
  --from     the first seed, default 1
  --workers  so many processes, default one a core
  --list     the names, nothing run
A seed that only throws, or ends its process, finds nothing, and it is said; nor does one that
breaks with nothing planted.
Exit status: 0 every bug was found, 1 one survived, 2 not understood.`;

const most = { seeds: 1_000_000, minutes: 1_440, workers: 64 } as const;

function namesLike(pattern: string): string[] {
  let like: RegExp;
  try {
    like = new RegExp(pattern);
  } catch {
    throw new Misused(`"${pattern}" is no pattern`);
  }
  const names = Object.keys(mutations).filter((name) => like.test(name));
  if (names.length === 0) throw new Misused(`no bug is called like "${pattern}"`);
  return names;
}

function understand(args: string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const number = (given: number) => ({ type: 'string', default: String(given) }) as const;
  const { values, positionals } = parsed({
    args,
    allowPositionals: true,
    options: {
      ...{ list: flag, help: flag, count: number(0), seeds: number(100), minutes: number(10) },
      ...{ from: number(1), workers: number(mostWorkers) },
    },
  });
  if (values.help) return null;
  const [pattern = '', more] = positionals;
  if (more !== undefined) throw new Misused(`one pattern, and not "${more}" too`);
  return {
    names: namesLike(pattern),
    list: values.list,
    count: wholeNumber('--count', values.count, { least: 0, most: most.seeds }),
    seeds: wholeNumber('--seeds', values.seeds, { most: most.seeds }),
    minutes: wholeNumber('--minutes', values.minutes, { most: most.minutes }),
    from: wholeNumber('--from', values.from, { most: most.seeds }),
    workers: wholeNumber('--workers', values.workers, { most: most.workers }),
  };
}

const limits = understood({ usage, understand });

type Found = {
  readonly ran: number;
  /** In the order of time. */
  readonly broken: readonly Broke[];
  /** Where it never came to count. */
  readonly output: string;
};

type Run = {
  readonly which: { readonly from: number; readonly seeds: number } | readonly number[];
  readonly first: boolean;
  readonly minutes: number;
};

/** One that hangs is ended a while after the simulation should have ended itself. */
const graceMs = 6 * 60_000;

async function simulation(tree: string, databaseUrl: string, run: Run): Promise<Found> {
  const { which } = run;
  const seeds =
    'from' in which
      ? ['--seeds', String(which.seeds), '--from', String(which.from)]
      : ['--seed', which.join(',')];
  const args = ['test/sim/run.ts', ...seeds, '--minutes', String(run.minutes)];
  args.push('--workers', String(limits.workers), '--json', '--no-keep');
  if (run.first) args.push('--first');
  const env = { ...process.env, PARLEY_TEST_DATABASE_URL: databaseUrl };
  const signal = AbortSignal.timeout(Math.ceil(run.minutes * 60_000) + graceMs);
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
  if (!last.startsWith('{')) return { ran: 0, broken: [], output: errors.slice(-500) };
  const { seeds } = JSON.parse(last) as { seeds: number };
  return { ran: seeds, broken: brokenIn(errors), output: '' };
}

/** What every tree is run on, and seeds that were seen to be well with nothing planted. */
type Trees = { readonly well: string; readonly bad: string; readonly databaseUrl: string };
const areWell = new Map<number, boolean>();

/** Whether nothing breaks there with nothing planted. */
async function isWell({ well, databaseUrl }: Trees, seed: number): Promise<boolean> {
  const known = areWell.get(seed);
  if (known !== undefined) return known;
  const run = { which: [seed], first: false, minutes: limits.minutes };
  const { ran, broken } = await simulation(well, databaseUrl, run);
  areWell.set(seed, ran === 1 && broken.length === 0);
  return ran === 1 && broken.length === 0;
}

type Looked = {
  ran: number;
  output: string;
  /** Seeds that only threw or ended their process, and those that break by themselves. */
  readonly crashed: number[];
  readonly ill: number[];
};

/** The first that finds something, of all that broke. */
async function findingIn(trees: Trees, { broken }: Found, looked: Looked): Promise<Broke | null> {
  for (const each of broken.toSorted((one, other) => one.seed - other.seed)) {
    if (!isFinding(each)) looked.crashed.push(each.seed);
    else if (await isWell(trees, each.seed)) return each;
    else looked.ill.push(each.seed);
  }
  return null;
}

function besides({ crashed, ill }: Looked): string {
  const listed = (seeds: readonly number[]) => [...new Set(seeds)].join(', ');
  const threw = crashed.length === 0 ? '' : `; only threw or ended: ${listed(crashed)}`;
  return ill.length === 0 ? threw : `${threw}; broke with nothing planted too: ${listed(ill)}`;
}

/** The seed that is known to find it, then as many as are asked for, then more until one does. */
async function lookFor(trees: Trees, name: string): Promise<string | null> {
  const { from, count, seeds, minutes } = limits;
  const end = performance.now() + minutes * 60_000;
  const looked: Looked = { ran: 0, output: '', crashed: [], ill: [] };
  const look = async (run: Omit<Run, 'minutes'>) => {
    const left = Math.max(1, (end - performance.now()) / 60_000);
    const found = await simulation(trees.bad, trees.databaseUrl, { ...run, minutes: left });
    looked.ran += found.ran;
    looked.output = found.output;
    return { ...found, by: await findingIn(trees, found, looked) };
  };
  const known = finders[name];
  const own = known === undefined ? null : await look({ which: [known], first: false });
  const some = count === 0 ? null : await look({ which: { from, seeds: count }, first: false });
  const times =
    some === null ? '' : `, ${some.broken.filter(isFinding).length} of ${some.ran} from ${from}`;
  if (own?.by) return `seed ${known}${times} (a rule broken: ${own.by.rule}${besides(looked)})`;
  let by = some?.by ?? null;
  // What only crashes there, or breaks by itself, is passed over.
  for (let next = from + count; by === null && next < from + seeds; ) {
    if (performance.now() > end) break;
    const which = { from: next, seeds: from + seeds - next };
    const more = await look({ which, first: true });
    if (more.ran === 0) break;
    by = more.by;
    next += more.ran;
  }
  if (by === null) {
    console.log(`          ${looked.ran} seeds${besides(looked)} ${looked.output}`);
    return null;
  }
  const not = known === undefined ? '' : `, and not ${known}, which is to`;
  return `seed ${by.seed}${not}${times} (a rule broken: ${by.rule}${besides(looked)})`;
}

/** On a tree that breaks by itself every bug would be found. */
async function mustBeWell({ well, databaseUrl }: Trees): Promise<void> {
  const { from, count, minutes } = limits;
  const counted = Array.from({ length: count }, (_, at) => from + at);
  const known = limits.names.flatMap((name) => finders[name] ?? []);
  const which = [...new Set([...known, ...counted])];
  if (which.length === 0) return;
  const { ran, broken, output } = await simulation(well, databaseUrl, {
    ...{ which, first: false, minutes },
  });
  if (ran !== which.length || broken.length > 0) {
    const seeds = broken.map(({ seed }) => seed);
    throw new Error(
      `nothing planted: ${ran} of ${which.length} seeds ran, ${seeds.join()} broke ${output}`,
    );
  }
  for (const seed of which) areWell.set(seed, true);
}

if (limits.list) {
  console.log(JSON.stringify(limits.names));
  process.exit(0);
}

const [well, bad] = [copyOfTree(), copyOfTree()];
const cluster = await startCluster();
const trees = { well: well.tree, bad: bad.tree, databaseUrl: cluster.adminUrl };
let survived = 0;
try {
  await mustBeWell(trees);
  for (const name of limits.names) {
    const restore = bad.plant(mutations[name] ?? []);
    const by = await lookFor(trees, name);
    restore();
    if (by === null) survived += 1;
    console.log(`${by === null ? 'SURVIVED' : 'found   '}  ${name}${by === null ? '' : `: ${by}`}`);
  }
} finally {
  await cluster.stop();
  well.remove();
  bad.remove();
}
console.log(`planted: ${limits.names.length - survived} found, ${survived} survived`);
process.exitCode = survived === 0 ? 0 : 1;
