// The crash matrix: prints where it broke, the table, and one line of counts; ends with 1 if
// anything broke, or if a row has no await.
//
//   npm run -s node -- test/crash-matrix/run.ts                    every kill of every row
//   npm run -s node -- test/crash-matrix/run.ts --kills 3 --seed 7   three of each, drawn
//   npm run -s node -- test/crash-matrix/run.ts --row broadcast      rows whose name has this
//   npm run -s node -- test/crash-matrix/run.ts --first              no further row after one broke

import { parseArgs } from 'node:util';
import { chanceOf } from '../sim/chance.ts';
import { all, type Choose, play, type Result, some, storyOf, tableOf } from './matrix.ts';
import { migrations, playMigrations } from './migrations.ts';
import { rows } from './rows.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string' },
    seed: { type: 'string', default: '1' },
    row: { type: 'string', default: '' },
    first: { type: 'boolean', default: false },
    told: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

/** Each waits for the database half of the time. */
const atOnce = 2;

const { kills } = values;
const results: Result[] = [];
const isBroken = ({ awaits, failures }: Result) => awaits.length === 0 || failures.length > 0;
const began = performance.now();
const plays = [
  ...rows.map((row) => ({
    name: row.name,
    run: (choose: Choose) => play(row, choose, values.first),
  })),
  { name: migrations.name, run: playMigrations },
];
const queue = plays.filter(({ name }) => name.includes(values.row)).values();

async function work(): Promise<void> {
  for (const each of queue) {
    if (values.first && results.some(isBroken)) return;
    // What one row draws moves no other.
    const chance = chanceOf(Number(values.seed) * 1_000 + plays.indexOf(each));
    const result = await each.run(kills === undefined ? all : some(chance, Number(kills)));
    results.push(result);
    if (isBroken(result)) console.error(storyOf(result));
    if (values.told) console.error(`${results.length} of ${plays.length}: ${each.name}`);
  }
}

await Promise.all(Array.from({ length: atOnce }, work));
const played = plays.flatMap(({ name }) => results.filter(({ row }) => row.name === name));
const broken = played.filter(isBroken);
const sum = (of: (result: Result) => number) => played.reduce((total, each) => total + of(each), 0);
const counts = {
  rows: played.length,
  awaits: sum(({ awaits }) => awaits.length),
  kills: sum(({ kills }) => kills),
  wrong: sum(({ failures }) => failures.length),
};
console.log(tableOf(played));
const seconds = Math.round((performance.now() - began) / 1_000);
const how = kills === undefined ? 'every kill' : `seed ${values.seed}`;
console.log(
  `crashes: ${counts.rows} rows, ${counts.awaits} awaits, ${counts.kills} kills (${how}), ` +
    `${counts.wrong} wrong in ${seconds} s`,
);
if (values.json)
  console.log(JSON.stringify({ ...counts, broken: broken.map(({ row }) => row.name) }));
// A process that was ended leaves requests behind that wait for ever.
process.exitCode = broken.length === 0 && played.length > 0 ? 0 : 1;
setTimeout(() => process.exit(), 3_000).unref();
