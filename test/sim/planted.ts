// `npm run soak -- planted`: plants one bug after the other in a copy of the tree and lets the
// simulation look for it. Prints the first seed that finds each, and how many of the first ones do.
// One that no seed finds is printed, and the exit status is 1.
//
//   npm run -s node -- test/sim/planted.ts                  all of them
//   npm run -s node -- test/sim/planted.ts 'gates|live'     those whose names fit
//   npm run -s node -- test/sim/planted.ts --help           the rest

import { spawn } from 'node:child_process';
import { Misused, parsed, understood, wholeNumber } from '../../scripts/command.ts';
import { startCluster } from '../support/cluster.ts';
import { copyOfTree } from '../support/planted.ts';
import { mostWorkers } from './crew.ts';
import { mutations } from './mutations.ts';

const usage = `usage: npm run -s node -- test/sim/planted.ts [PATTERN] [--count N] [--seeds N]
                     [--minutes N] [--from N] [--workers N] [--list]
  PATTERN    of the names of the bugs, default all
  --count    so many seeds are run whatever they find, default 20
  --seeds    so many at the most, until one finds it, default 100
  --minutes  for each bug, default 10
  --from     the first seed, default 1
  --workers  so many processes, default one a core
  --list     the names, nothing run
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
      ...{ list: flag, help: flag, count: number(20), seeds: number(100), minutes: number(10) },
      ...{ from: number(1), workers: number(mostWorkers) },
    },
  });
  if (values.help) return null;
  const [pattern = '', more] = positionals;
  if (more !== undefined) throw new Misused(`one pattern, and not "${more}" too`);
  return {
    names: namesLike(pattern),
    list: values.list,
    count: wholeNumber('--count', values.count, { most: most.seeds }),
    seeds: wholeNumber('--seeds', values.seeds, { most: most.seeds }),
    minutes: wholeNumber('--minutes', values.minutes, { most: most.minutes }),
    from: wholeNumber('--from', values.from, { most: most.seeds }),
    workers: wholeNumber('--workers', values.workers, { most: most.workers }),
  };
}

const limits = understood({ usage, understand });

type Found = {
  readonly ran: number;
  /** Seeds that broke, the least first. */
  readonly broken: readonly number[];
  /** The rule that the first of them in time broke, which need not be the least. */
  readonly rule: string | null;
  readonly output: string;
};

type Run = {
  readonly from: number;
  readonly seeds: number;
  readonly first: boolean;
  readonly minutes: number;
};

/** One that hangs is ended a while after the simulation should have ended itself. */
const graceMs = 6 * 60_000;

async function simulation(tree: string, databaseUrl: string, run: Run): Promise<Found> {
  const args = ['test/sim/run.ts', '--seeds', String(run.seeds), '--from', String(run.from)];
  args.push('--minutes', String(run.minutes), '--workers', String(limits.workers));
  args.push('--json', '--no-keep', ...(run.first ? ['--first'] : []));
  const env = { ...process.env, PARLEY_TEST_DATABASE_URL: databaseUrl };
  const signal = AbortSignal.timeout(run.minutes * 60_000 + graceMs);
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
  const { from, count, seeds, minutes } = limits;
  const began = performance.now();
  const some = await simulation(tree, databaseUrl, { from, seeds: count, first: false, minutes });
  const [first] = some.broken;
  const ruleOf = ({ rule }: Found) => `a rule broken: ${rule ?? 'none was told'}`;
  if (first !== undefined) {
    return `seed ${first}, ${some.broken.length} of ${some.ran} seeds (${ruleOf(some)})`;
  }
  const left = seeds - count;
  // The time is for both.
  const minutesLeft = minutes - Math.ceil((performance.now() - began) / 60_000);
  if (some.ran === 0 || left <= 0 || minutesLeft <= 0) return failed(some);
  const rest = { from: from + count, seeds: left, first: true, minutes: minutesLeft };
  const more = await simulation(tree, databaseUrl, rest);
  const [later] = more.broken;
  if (later === undefined) return failed({ ...more, ran: some.ran + more.ran });
  return `seed ${later}, none of the ${some.ran} before (${ruleOf(more)})`;
}

/** On a tree that breaks by itself every bug would be found. */
async function mustBeWell(tree: string, databaseUrl: string): Promise<void> {
  const { from, count: seeds, minutes } = limits;
  const { ran, broken, output } = await simulation(tree, databaseUrl, {
    ...{ from, seeds, first: false, minutes },
  });
  if (ran > 0 && broken.length === 0) return;
  throw new Error(`nothing planted, and seeds ${broken.join()} of ${ran} break ${output}`);
}

function failed({ ran, output }: Found): null {
  console.log(`          ${ran} seeds ${output}`);
  return null;
}

if (limits.list) {
  console.log(JSON.stringify(limits.names));
  process.exit(0);
}

const { tree, plant, remove } = copyOfTree();
const cluster = await startCluster();
let survived = 0;
try {
  await mustBeWell(tree, cluster.adminUrl);
  for (const name of limits.names) {
    const restore = plant(mutations[name] ?? []);
    const by = await lookFor(tree, cluster.adminUrl);
    restore();
    if (by === null) survived += 1;
    console.log(`${by === null ? 'SURVIVED' : 'found   '}  ${name}${by === null ? '' : `: ${by}`}`);
  }
} finally {
  await cluster.stop();
  remove();
}
console.log(`planted: ${limits.names.length - survived} found, ${survived} survived`);
process.exitCode = survived === 0 ? 0 : 1;
