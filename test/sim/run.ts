// `npm run sim`: markets simulated from seeds, every fault in them. Prints the story of each seed
// in which something broke, then one line of counts; ends with 1 if any broke.
//
//   npm run sim -- --seeds 1000 --from 1     so many seeds, from that one on
//   npm run sim -- --seed 42 --story         one seed, told whatever came of it
//   npm run sim -- --known                   first the seeds that once found something
//   npm run sim -- --minutes 2               no new seed after that time
//   npm run sim -- --json                    one line of JSON

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createMetrics } from '../../server/metrics.ts';
import { testDatabase } from '../support/database.ts';
import { type Result, simulate } from './simulate.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    story: { type: 'boolean', default: false },
    known: { type: 'boolean', default: false },
    minutes: { type: 'string' },
    first: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

type Kept = { readonly seed: number; readonly why: string };

function knownSeeds(): number[] {
  if (!values.known) return [];
  const text = readFileSync(new URL('seeds.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as Kept[]).map(({ seed }) => seed);
}

function wantedSeeds(): number[] {
  if (values.seed !== undefined) return [Number(values.seed)];
  const from = Number(values.from);
  return [...knownSeeds(), ...Array.from({ length: Number(values.seeds) }, (_, at) => from + at)];
}

/** Lines of the story that are printed: how it began, and how it ended. */
const [openingLines, closingLines] = [12, 60];

function storyOf({ seed, story, violations }: Result): string {
  const short =
    story.length <= openingLines + closingLines || values.story
      ? story
      : [...story.slice(0, openingLines), '   …', ...story.slice(-closingLines)];
  const broken = violations.map(({ rule, what }) => `   ${rule}: ${what}`);
  return [`seed ${seed}:`, ...broken, ...short.map((line) => `  ${line}`)].join('\n');
}

function lineOf(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([what, times]) => `${times} ${what}`)
    .join(', ');
}

const { db, drop } = await testDatabase({ connections: 4 });
await db.rows({
  name: '',
  text: `do $$ begin execute format('alter database %I set synchronous_commit = off',
    current_database()); end $$`,
  values: [],
});
const shared = { real: db, metrics: createMetrics('parley') };
const total = new Map<string, number>();
const broken: number[] = [];
const began = performance.now();
const limitMs = values.minutes === undefined ? Infinity : Number(values.minutes) * 60_000;
let done = 0;
for (const seed of wantedSeeds()) {
  if (performance.now() - began > limitMs) break;
  const result = await simulate(seed, shared);
  done += 1;
  for (const [what, times] of result.counts) total.set(what, (total.get(what) ?? 0) + times);
  const isBroken = result.violations.length > 0;
  if (isBroken) broken.push(seed);
  if (isBroken || values.story) console.error(storyOf(result));
  if (isBroken && values.first) break;
}
await drop();
const secondsTaken = Math.round((performance.now() - began) / 1_000);
if (values.json) {
  const counts = Object.fromEntries([...total].sort());
  console.log(JSON.stringify({ seeds: done, broken, seconds: secondsTaken, counts }));
} else {
  const lost = broken.length === 0 ? 'nobody lost' : `BROKEN in ${broken.join(', ')}`;
  console.log(`sim: ${done} seeds in ${secondsTaken} s, ${lost}: ${lineOf(total)}`);
}
// A market that died leaves requests behind that wait for ever.
process.exitCode = broken.length === 0 ? 0 : 1;
setTimeout(() => process.exit(), 3_000).unref();
