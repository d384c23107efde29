// The crash matrix: prints where it broke, the table, and one line of counts; ends with 1 if
// anything broke, or if a row has no await.
//
//   npm run -s node -- test/crash-matrix/run.ts                    every kill of every row
//   npm run -s node -- test/crash-matrix/run.ts --kills 3 --seed 7   three of each, drawn
//   npm run -s node -- test/crash-matrix/run.ts --help             the rest

import { Misused, parsed, runCommand, wholeNumber } from '../../scripts/command.ts';
import { chanceOf } from '../sim/chance.ts';
import { all, type Choose, play, type Result, some, storyOf, tableOf } from './matrix.ts';
import { migrations, playMigrations } from './migrations.ts';
import { rows } from './rows.ts';

const usage = `usage: npm run -s node -- test/crash-matrix/run.ts [--kills N] [--seed N]
                     [--row PART] [--every N] [--first] [--told] [--json]
  --kills  so many of each row, drawn; without it every one
  --seed   what they are drawn from, default 1
  --row    rows whose name has this in it, default all
  --every  each Nth row alone, from which on the seed says
  --first  no further row after one broke
  --told   a line for each row that is done
  --json   a line of JSON after the others
Exit status: 0 all right, 1 something broke, 2 not understood.`;

const most = { kills: 1_000_000, seed: 1_000_000_000 } as const;

type Asked = {
  /** Null: every one. */
  readonly kills: number | null;
  readonly seed: number;
  readonly row: string;
  readonly every: number;
  readonly first: boolean;
  readonly told: boolean;
  readonly json: boolean;
};

type Play = { readonly name: string; run(choose: Choose, first: boolean): Promise<Result> };

const plays: readonly Play[] = [
  ...rows.map((row) => ({
    name: row.name,
    run: (choose: Choose, first: boolean) => play(row, choose, first),
  })),
  { name: migrations.name, run: playMigrations },
];

function understand(args: string[]): Asked | null {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parsed({
    args,
    options: {
      kills: { type: 'string' },
      seed: { type: 'string', default: '1' },
      row: { type: 'string', default: '' },
      every: { type: 'string', default: '1' },
      ...{ first: flag, told: flag, json: flag, help: flag },
    },
  });
  const { kills, seed, row, every, first, told, json, help } = values;
  if (help) return null;
  if (!plays.some(({ name }) => name.includes(row))) {
    const names = plays.map(({ name }) => `  ${name}`).join('\n');
    throw new Misused(`no row has "${row}" in its name; there are:\n${names}`);
  }
  return {
    kills: kills === undefined ? null : wholeNumber('--kills', kills, { most: most.kills }),
    seed: wholeNumber('--seed', seed, { least: 0, most: most.seed }),
    every: wholeNumber('--every', every, { most: plays.length }),
    ...{ row, first, told, json },
  };
}

/** Each waits for the database half of the time. */
const atOnce = 2;

const isBroken = ({ awaits, failures }: Result) => awaits.length === 0 || failures.length > 0;

/** In the order of the rows. */
async function playAll({ kills, seed, row, every, first, told }: Asked): Promise<Result[]> {
  const named = plays.filter(({ name }) => name.includes(row));
  const wanted = named.filter((_, at) => (at + seed) % every === 0);
  const results = new Map<Play, Result>();
  const queue = wanted.values();
  const work = async () => {
    for (const each of queue) {
      if (first && [...results.values()].some(isBroken)) return;
      // What one row draws moves no other.
      const chance = chanceOf(seed * 1_000 + plays.indexOf(each));
      const result = await each.run(kills === null ? all : some(chance, kills), first);
      results.set(each, result);
      if (isBroken(result)) console.error(storyOf(result));
      if (told) console.error(`${results.size} of ${wanted.length}: ${each.name}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return wanted.flatMap((each) => results.get(each) ?? []);
}

async function run(asked: Asked): Promise<number> {
  const began = performance.now();
  const played = await playAll(asked);
  const broken = played.filter(isBroken);
  const sum = (of: (result: Result) => number) =>
    played.reduce((total, each) => total + of(each), 0);
  const counts = {
    rows: played.length,
    awaits: sum(({ awaits }) => awaits.length),
    kills: sum(({ kills }) => kills),
    wrong: sum(({ failures }) => failures.length),
  };
  console.log(tableOf(played));
  const seconds = Math.round((performance.now() - began) / 1_000);
  const how = asked.kills === null ? 'every kill' : `seed ${asked.seed}`;
  console.log(
    `crashes: ${counts.rows} rows, ${counts.awaits} awaits, ${counts.kills} kills (${how}), ` +
      `${counts.wrong} wrong in ${seconds} s`,
  );
  const told = broken.map(({ row, failures }) => ({
    where: row.name,
    rules: failures.map(({ where, why }) => `ended ${where}: ${why[0]}`),
  }));
  if (asked.json) console.log(JSON.stringify({ ...counts, broken: told }));
  // A process that was ended leaves requests behind that wait for ever.
  setTimeout(() => process.exit(), 3_000).unref();
  return broken.length === 0 && played.length > 0 ? 0 : 1;
}

await runCommand({ usage, understand, run });
