// The crash matrix: a line for each row, where it broke, and a line of counts; ends with 1 if
// anything broke, or if a row has no await.
//
//   npm run -s node -- verify/test/sim/crashes/run.ts                    every kill of every row
//   npm run -s node -- verify/test/sim/crashes/run.ts --kills 3 --seed 7   three of each, drawn
//   npm run -s node -- verify/test/sim/crashes/run.ts --help             the rest

import { Misused, parsed, runCommand, wholeNumber } from '@parley/host/command.ts';
import { chanceOf } from '../chance.ts';
import { type Result, some } from './matrix.ts';
import { rows } from './rows.ts';

const usage = `usage: npm run -s node -- verify/test/sim/crashes/run.ts [--kills N] [--seed N]
                     [--row PART] [--every N] [--first] [--json]
  --kills  so many of each row, drawn; without it every one
  --seed   what they are drawn from, default 1
  --row    rows whose name has this in it, default all
  --every  each Nth row alone, from which on the seed says
  --first  no further row after one broke
  --json   a line of JSON after the others
Exit status: 0 all right, 1 something broke, 2 not understood.`;

const most = { kills: 1_000_000, seed: 1_000_000_000 } as const;

function understand(args: string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parsed({
    args,
    options: {
      kills: { type: 'string' },
      seed: { type: 'string', default: '1' },
      row: { type: 'string', default: '' },
      every: { type: 'string', default: '1' },
      first: flag,
      json: flag,
      help: flag,
    },
  });
  if (values.help) return null;
  const { row, first, json } = values;
  if (!rows.some(({ name }) => name.includes(row))) {
    const names = rows.map(({ name }) => `  ${name}`).join('\n');
    throw new Misused(`no row has "${row}" in its name; there are:\n${names}`);
  }
  const seed = wholeNumber('--seed', values.seed, { least: 0, most: most.seed });
  const every = wholeNumber('--every', values.every, { most: rows.length });
  const { kills: given } = values;
  const kills = given === undefined ? null : wholeNumber('--kills', given, { most: most.kills });
  const named = rows.filter(({ name }) => name.includes(row));
  return {
    wanted: named.filter((_, at) => (at + seed) % every === 0),
    kills,
    seed,
    first,
    json,
  };
}

type Asked = NonNullable<ReturnType<typeof understand>>;

/** Each waits for the database half of the time. */
const atOnce = 2;

const isBroken = ({ awaits, failures }: Result) => awaits === 0 || failures.length > 0;

const storyOf = ({ name, failures }: Result) =>
  failures
    .slice(0, 4)
    .map(({ where, why }) => `${name}: ended ${where}\n    ${why.join('\n    ')}`)
    .join('\n');

async function playAll({ wanted, kills, seed, first }: Asked): Promise<Result[]> {
  const results: Result[] = [];
  const queue = wanted.values();
  const work = async () => {
    for (const row of queue) {
      if (first && results.some(isBroken)) return;
      // A row's draws move no other.
      const chance = chanceOf(seed * 1_000 + rows.indexOf(row));
      const choose = kills === null ? <All>(all: All) => all : some(chance, kills);
      const result = await row.play({ choose, isEnough: first });
      results.push(result);
      const { name, awaits, kills: tried, failures } = result;
      console.log(`${name}: ${awaits} awaits, ${tried} kills, ${failures.length} wrong`);
      if (isBroken(result)) console.error(storyOf(result));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}

async function run(asked: Asked): Promise<number> {
  const began = performance.now();
  const played = await playAll(asked);
  const broken = played.filter(isBroken);
  const sum = (of: (result: Result) => number) =>
    played.reduce((total, each) => total + of(each), 0);
  const awaits = sum((each) => each.awaits);
  const kills = sum((each) => each.kills);
  const wrong = sum(({ failures }) => failures.length);
  const seconds = Math.round((performance.now() - began) / 1_000);
  const how = asked.kills === null ? 'every kill' : `seed ${asked.seed}`;
  const counts = `${played.length} rows, ${awaits} awaits, ${kills} kills (${how})`;
  console.log(`crashes: ${counts}, ${wrong} wrong in ${seconds} s`);
  const told = broken.map(({ name, failures }) => ({
    where: name,
    rules: failures.map(({ where, why }) => `ended ${where}: ${why[0]}`),
  }));
  if (asked.json) {
    console.log(JSON.stringify({ rows: played.length, awaits, kills, wrong, broken: told }));
  }
  // A process that was ended leaves requests behind that wait for ever.
  setTimeout(() => process.exit(), 3_000).unref();
  return broken.length === 0 && played.length > 0 ? 0 : 1;
}

await runCommand({ usage, understand, run });
