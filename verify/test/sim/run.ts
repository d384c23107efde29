// `npm run sim`: markets simulated from seeds, every fault in them; or the SDK's driver of one
// swap, on nodes that fail, stand still and lie. Prints the story of each seed in which something
// broke, then one line of counts by kind; ends with 1 if any broke, or if a kind is missing that so
// many seeds meet: then that nobody lost says less than it seems to.

import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Misused, parsed, runCommand, wholeNumber } from '@parley/host/command.ts';
import { type Done, runCrew, type World } from './crew.ts';
import { fairSeeds, kindsOf } from './kinds.ts';

const usage = `usage: npm run sim -- [--seeds N] [--from N] [--seed N] [--known] [--workers N]
                     [--driver | --python] [--story] [--json]
  --seeds    so many, default 100
  --from     the first of them, default 1
  --seed     that one alone, or several: 7,8,31
  --known    the seeds that once found something first
  --workers  so many processes, default one a core
  --driver   no markets: two people of one swap, who run the SDK's driver
  --python   the same, where one or both run the driver of the Python package
  --story    the story of every seed that is run is told, whatever came of it
  --json     one line of JSON
Every 500 seeds it says how far it is.
Exit status: 0 nobody lost, 1 somebody did, or a fault was not met that so many seeds meet, 2 not
understood.`;

const mostSeeds = 10_000_000;
const mostSeed = Number.MAX_SAFE_INTEGER - mostSeeds;
/** Each has a database and some hundred MB. */
const mostProcesses = 64;

/** Seeds in which something once broke, or that find a planted bug: run first ever after. */
function knownSeeds(): number[] {
  const text = readFileSync(new URL('seeds.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as readonly { readonly seed: number }[]).map(({ seed }) => seed);
}

function understand(args: string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parsed({
    args,
    options: {
      seeds: { type: 'string', default: '100' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string', default: '' },
      workers: { type: 'string', default: String(availableParallelism()) },
      story: flag,
      known: flag,
      driver: flag,
      python: flag,
      json: flag,
      help: flag,
    },
  });
  if (values.help) return null;
  const { story, known, driver, python, json } = values;
  if (known && (driver || python)) throw new Misused('--known are seeds of markets alone');
  if (driver && python) throw new Misused('--driver and --python are two');
  const world = python ? 'python' : driver ? 'driver' : 'markets';
  const seed = (option: string, given: string) =>
    wholeNumber(option, given, { least: 0, most: mostSeed });
  const only = values.seed.split(',').filter(Boolean);
  const from = seed('--from', values.from);
  const number = wholeNumber('--seeds', values.seeds, { most: mostSeeds });
  const counted = Array.from({ length: number }, (_, at) => from + at);
  const wanted = [...new Set([...(known ? knownSeeds() : []), ...counted])].slice(0, number);
  return {
    seeds: only.length > 0 ? only.map((each) => seed('--seed', each)) : wanted,
    workers: wholeNumber('--workers', values.workers, { most: mostProcesses }),
    world: world as World,
    story,
    json,
  };
}

type Counts = ReadonlyMap<string, number>;

/** Kinds that so many seeds should have met and did not: then that nobody lost says less. */
function missedIn(met: Counts, world: World, seeds: number): string[] {
  if (seeds < fairSeeds) return [];
  return kindsOf[world].filter((kind) => (met.get(kind) ?? 0) === 0);
}

function storyOf({ seed, story, violations }: Done): string {
  const broken = violations.map(({ rule, what }) => `   ${rule}: ${what}`);
  return [`seed ${seed}:`, ...broken, ...story.map((line) => `  ${line}`)].join('\n');
}

const toldEach = 500;

async function run(asked: NonNullable<ReturnType<typeof understand>>): Promise<number> {
  const total = new Map<string, number>();
  const broken: Done[] = [];
  const began = performance.now();
  let done = 0;
  const { world } = asked;
  await runCrew(asked.seeds, asked, (result) => {
    done += 1;
    for (const [kind, times] of result.counts) total.set(kind, (total.get(kind) ?? 0) + times);
    const isBroken = result.violations.length > 0;
    if (isBroken) broken.push(result);
    if (isBroken || asked.story) console.error(storyOf(result));
    if (done % toldEach === 0) console.error(`${done} of ${asked.seeds.length} seeds are done`);
  });
  const seconds = Math.round((performance.now() - began) / 1_000);
  const missed = missedIn(total, world, done);
  const counts = [...total].sort(([one], [other]) => (one < other ? -1 : 1));
  broken.sort((one, other) => one.seed - other.seed);
  if (asked.json) {
    const told = broken.map(({ seed, violations }) => ({
      where: `seed ${seed}`,
      rules: violations.map(({ rule }) => rule),
    }));
    const met = Object.fromEntries(counts);
    console.log(JSON.stringify({ seeds: done, broken: told, missed, seconds, met }));
  } else {
    const seeds = broken.map(({ seed }) => seed).join(', ');
    const lost = broken.length === 0 ? 'nobody lost' : `BROKEN in ${seeds}`;
    const lacks = missed.length === 0 ? '' : `NOT MET: ${missed.join(', ')}; `;
    const met = counts.map(([kind, times]) => `${times} ${kind}`).join(', ');
    const what =
      world === 'markets' ? 'seeds' : `seeds of the ${world === 'python' ? 'Python ' : ''}driver`;
    console.log(`sim: ${done} ${what} in ${seconds} s, ${lost}; ${lacks}${met}`);
  }
  return broken.length === 0 && missed.length === 0 && done > 0 ? 0 : 1;
}

await runCommand({ usage, understand, run });
