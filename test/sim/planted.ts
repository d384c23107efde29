// `npm run soak -- planted`: plants one bug after the other in a copy of the tree and lets the
// simulation look for it, first at the seed that is known to find it (finders.ts), then at others.
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
import { finders } from './finders.ts';
import { mutations } from './mutations.ts';

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
  /** Seeds that broke, the least first. */
  readonly broken: readonly number[];
  /** The rule that the first of them in time broke, which need not be the least. */
  readonly rule: string | null;
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

type Looking = { readonly tree: string; readonly databaseUrl: string; readonly name: string };

const ruleOf = ({ rule }: Found) => `a rule broken: ${rule ?? 'none was told'}`;

/** The seed that is known to find it, then as many as are asked for, then more until one does. */
async function lookFor({ tree, databaseUrl, name }: Looking): Promise<string | null> {
  const { from, count, seeds, minutes } = limits;
  const began = performance.now();
  const look = (run: Omit<Run, 'minutes'>) => {
    const taken = Math.floor((performance.now() - began) / 60_000);
    return simulation(tree, databaseUrl, { ...run, minutes: Math.max(1, minutes - taken) });
  };
  const known = finders[name];
  const own = known === undefined ? null : await look({ which: [known], first: false });
  const isOwn = own !== null && own.broken.length > 0;
  const some = count === 0 ? null : await look({ which: { from, seeds: count }, first: false });
  const times = some === null ? '' : `, ${some.broken.length} of ${some.ran} seeds from ${from}`;
  if (isOwn) return `seed ${known}${times} (${ruleOf(own)})`;
  const ran = (own?.ran ?? 0) + (some?.ran ?? 0);
  const not = known === undefined ? '' : `, and not ${known}, which is to`;
  const [first] = some?.broken ?? [];
  if (some !== null && first !== undefined) return `seed ${first}${not}${times} (${ruleOf(some)})`;
  const left = seeds - count;
  // The time is for all of it.
  const isOut = performance.now() - began > minutes * 60_000;
  if (left <= 0 || isOut) return failed({ ran, output: some?.output ?? own?.output ?? '' });
  const rest = { which: { from: from + count, seeds: left }, first: true };
  const more = await look(rest);
  const [later] = more.broken;
  if (later === undefined) return failed({ ran: ran + more.ran, output: more.output });
  return `seed ${later}${not} (${ruleOf(more)})`;
}

/** On a tree that breaks by itself every bug would be found. */
async function mustBeWell(tree: string, databaseUrl: string): Promise<void> {
  const { from, count, minutes } = limits;
  const counted = Array.from({ length: count }, (_, at) => from + at);
  const known = limits.names.map((name) => finders[name] ?? from);
  const which = [...new Set([...known, ...counted])];
  const { ran, broken, output } = await simulation(tree, databaseUrl, {
    ...{ which, first: false, minutes },
  });
  if (ran === which.length && broken.length === 0) return;
  throw new Error(
    `nothing planted: ${ran} of ${which.length} seeds ran, ${broken.join()} broke ${output}`,
  );
}

function failed({ ran, output }: Pick<Found, 'ran' | 'output'>): null {
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
    const by = await lookFor({ tree, databaseUrl: cluster.adminUrl, name });
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
