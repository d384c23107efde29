// `npm run sim`: markets simulated from seeds, every fault in them. Prints the story of each seed
// in which something broke, then one line of counts; ends with 1 if any broke.
//
//   npm run sim -- --seeds 1000 --from 1     so many seeds, from that one on
//   npm run sim -- --seed 42 --story         one seed, told whatever came of it
//   npm run sim -- --help                    the rest

import { readFileSync } from 'node:fs';
import { Misused, parsed, understood, wholeNumber } from '../../scripts/command.ts';
import { mostWorkers, runCrew } from './crew.ts';
import { lineOf, missedIn, tallyOf } from './kinds.ts';
import type { Done } from './worker.ts';

const usage = `usage: npm run sim -- [--seeds N] [--from N] [--seed N] [--known] [--minutes N]
                     [--least N] [--workers N] [--first] [--story] [--json]
  --seeds    so many, default 100
  --from     the first of them, default 1
  --seed     that one alone, or several: 7,8,31
  --known    the seeds that once found something first
  --minutes  no new seed after that time, but for those of --least
  --least    so many seeds however long they take, default 0
  --workers  so many processes, default one a core
  --first    no further than the first that broke
  --story    the story of every seed that is run is told, whatever came of it
  --json     one line of JSON
Every 500 seeds it says how far it is; after SIGTERM or Ctrl-C it begins no
new one, waits for those under way and counts.
Exit status: 0 nobody lost, 1 somebody did, a fault was not met that so many seeds meet, nothing was
run or it was stopped, 2 not understood.`;

const mostSeeds = 10_000_000;
const mostSeed = Number.MAX_SAFE_INTEGER - mostSeeds;
const mostMinutes = 10_080;
/** Each has a database and some hundred MB. */
const mostProcesses = 64;

function understand(args: string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parsed({
    args,
    options: {
      seeds: { type: 'string', default: '100' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      minutes: { type: 'string' },
      least: { type: 'string', default: '0' },
      workers: { type: 'string', default: String(mostWorkers) },
      ...{ story: flag, known: flag, first: flag, json: flag, help: flag },
    },
  });
  if (values.help) return null;
  const { story, known, first, json, minutes } = values;
  const seed = (option: string, given: string) =>
    wholeNumber(option, given, { least: 0, most: mostSeed });
  if (minutes !== undefined && !(Number(minutes) > 0 && Number(minutes) <= mostMinutes)) {
    throw new Misused(`--minutes is a number above 0, at most ${mostMinutes}, not "${minutes}"`);
  }
  return {
    seeds: wholeNumber('--seeds', values.seeds, { most: mostSeeds }),
    least: wholeNumber('--least', values.least, { least: 0, most: mostSeeds }),
    from: seed('--from', values.from),
    only:
      values.seed === undefined ? [] : values.seed.split(',').map((each) => seed('--seed', each)),
    workers: wholeNumber('--workers', values.workers, { most: mostProcesses }),
    limitMs: minutes === undefined ? Number.POSITIVE_INFINITY : Number(minutes) * 60_000,
    ...{ story, known, first, json },
  };
}

const asked = understood({ usage, understand });

/** Seeds in which something once broke, or that find a planted bug: run first ever after. */
function knownSeeds(): number[] {
  const text = readFileSync(new URL('seeds.json', import.meta.url), 'utf8');
  const all = JSON.parse(text) as readonly { readonly seed: number; readonly why: string }[];
  return asked.known ? all.map(({ seed }) => seed) : [];
}

/** The known ones are the first of as many as were asked for. */
function wantedSeeds(): number[] {
  const { only, from, seeds } = asked;
  if (only.length > 0) return only;
  const counted = Array.from({ length: seeds }, (_, at) => from + at);
  return [...new Set([...knownSeeds(), ...counted])].slice(0, seeds);
}

/** Lines of the story that are printed: how it began, and how it ended. */
const [openingLines, closingLines] = [12, 60];

function storyOf({ seed, story, violations }: Done): string {
  const short =
    story.length <= openingLines + closingLines || asked.story
      ? story
      : [...story.slice(0, openingLines), '   …', ...story.slice(-closingLines)];
  const broken = violations.map(({ rule, what }) => `   ${rule}: ${what}`);
  return [`seed ${seed}:`, ...broken, ...short.map((line) => `  ${line}`)].join('\n');
}

const toldEach = 500;
const wanted = wantedSeeds();
const total = new Map<string, number>();
const broken: Done[] = [];
const began = performance.now();
let done = 0;
let isStopped = false;
// More than once: whatever started this hands on what it was sent as well.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    isStopped = true;
  });
}
const hasTime = (begun: number) => begun < asked.least || performance.now() - began < asked.limitMs;
const goesOn = (begun: number) =>
  !isStopped && hasTime(begun) && !(asked.first && broken.length > 0);
await runCrew({
  seeds: wanted,
  workers: asked.workers,
  goesOn,
  onDone: (result) => {
    done += 1;
    for (const [kind, times] of result.counts) total.set(kind, (total.get(kind) ?? 0) + times);
    const isBroken = result.violations.length > 0;
    if (isBroken) broken.push(result);
    if (isBroken || asked.story) console.error(storyOf(result));
    if (done % toldEach === 0) console.error(`${done} of ${wanted.length} seeds are done`);
  },
});
const secondsTaken = Math.round((performance.now() - began) / 1_000);
const missed = missedIn(total, done);
broken.sort((one, other) => one.seed - other.seed);
if (asked.json) {
  const told = broken.map(({ seed, violations }) => ({
    where: `seed ${seed}`,
    rules: violations.map(({ rule }) => rule),
  }));
  const facts = { seeds: done, wanted: wanted.length, broken: told, missed, seconds: secondsTaken };
  console.log(JSON.stringify({ ...facts, ...tallyOf(total) }));
} else {
  const lost =
    broken.length === 0 ? 'nobody lost' : `BROKEN in ${broken.map(({ seed }) => seed).join(', ')}`;
  const ran = `${done} of ${wanted.length} seeds in ${secondsTaken} s`;
  const lacks = missed.length === 0 ? '' : `NOT MET: ${missed.join(', ')}; `;
  console.log(`sim: ${ran}, ${lost}; ${lacks}${lineOf(total)}`);
}
const isWell = broken.length === 0 && missed.length === 0;
process.exitCode = isWell && done > 0 && !isStopped ? 0 : 1;
