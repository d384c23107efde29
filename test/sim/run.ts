// `npm run sim`: markets simulated from seeds, every fault in them. Prints the story of each seed
// in which something broke, then one line of counts; ends with 1 if any broke.
//
//   npm run sim -- --seeds 1000 --from 1     so many seeds, from that one on
//   npm run sim -- --seed 42 --story         one seed, told whatever came of it
//   npm run sim -- --known                   first the seeds that once found something
//   npm run sim -- --minutes 2               no new seed after that time
//   npm run sim -- --workers 1               so many processes; otherwise one a core
//   npm run sim -- --first                   no further than the first that broke
//   npm run sim -- --json                    one line of JSON
//   npm run sim -- --no-keep                 seeds that broke are not added to seeds.json

import { parseArgs } from 'node:util';
import { mostWorkers, runCrew } from './crew.ts';
import { type Kept, keep, keptSeeds } from './kept.ts';
import { addTo, lineOf, tallyOf } from './tally.ts';
import type { Done } from './worker.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    story: { type: 'boolean', default: false },
    known: { type: 'boolean', default: false },
    minutes: { type: 'string' },
    workers: { type: 'string', default: String(mostWorkers) },
    first: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    'no-keep': { type: 'boolean', default: false },
  },
});

function knownSeeds(): number[] {
  return values.known ? keptSeeds().map(({ seed }) => seed) : [];
}

/** The known ones are the first of as many as were asked for. */
function wantedSeeds(): number[] {
  if (values.seed !== undefined) return [Number(values.seed)];
  const [from, most] = [Number(values.from), Number(values.seeds)];
  const counted = Array.from({ length: most }, (_, at) => from + at);
  return [...new Set([...knownSeeds(), ...counted])].slice(0, most);
}

/** Lines of the story that are printed: how it began, and how it ended. */
const [openingLines, closingLines] = [12, 60];

function storyOf({ seed, story, violations }: Done): string {
  const short =
    story.length <= openingLines + closingLines || values.story
      ? story
      : [...story.slice(0, openingLines), '   …', ...story.slice(-closingLines)];
  const broken = violations.map(({ rule, what }) => `   ${rule}: ${what}`);
  return [`seed ${seed}:`, ...broken, ...short.map((line) => `  ${line}`)].join('\n');
}

const wanted = wantedSeeds();
const total = new Map<string, number>();
const broken: number[] = [];
const found: Kept[] = [];
const began = performance.now();
const limitMs = values.minutes === undefined ? Infinity : Number(values.minutes) * 60_000;
let done = 0;
await runCrew({
  seeds: wanted,
  workers: Number(values.workers),
  goesOn: () =>
    performance.now() - began < limitMs && !(values.first === true && broken.length > 0),
  onDone: (result) => {
    done += 1;
    addTo(total, result.counts);
    const isBroken = result.violations.length > 0;
    const [first] = result.violations;
    if (first !== undefined) {
      broken.push(result.seed);
      found.push({ seed: result.seed, why: `${first.rule}: ${first.what}` });
    }
    if (isBroken || values.story) console.error(storyOf(result));
  },
});
const secondsTaken = Math.round((performance.now() - began) / 1_000);
if (!values['no-keep']) keep(found);
const tally = tallyOf(total);
broken.sort((one, other) => one - other);
if (values.json) {
  const facts = { seeds: done, wanted: wanted.length, broken, seconds: secondsTaken };
  console.log(JSON.stringify({ ...facts, ...tally }));
} else {
  const lost = broken.length === 0 ? 'nobody lost' : `BROKEN in ${broken.join(', ')}`;
  const ran = `${done} of ${wanted.length} seeds in ${secondsTaken} s`;
  console.log(`sim: ${ran}, ${lost}; ${lineOf(tally)}`);
}
process.exitCode = broken.length === 0 && done > 0 ? 0 : 1;
