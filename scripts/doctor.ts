// `npm run doctor`: compares every open swap with its chains, and looks whether the house is in
// order. It only reads, beside a market that runs or with none, and says what differs and what to
// do.

import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runningPostgres } from '../host/postgres/postgres.ts';
import { connect, type Database, databaseLimits } from '../server/db/database.ts';
import {
  chainShare,
  type DoctorDeps,
  type Examined,
  examine,
  partMs,
  wholeMs,
} from '../server/doctor/examine.ts';
import { exitStatus, type Finding, linesOf, unseen } from '../server/doctor/findings.ts';
import { isUuid } from '../server/ports/ids.ts';
import { readSettings, type Settings } from '../server/settings/config.ts';
import { databaseFault } from '../server/start/start-errors.ts';
import { Misused, parsed, runCommand, usualOptions, wholeNumber } from './command.ts';
import { type Found, findChains } from './doctor-chains.ts';

const usage = `usage: npm run doctor [-- --json] [--swap ID] [--all] [--limit N] [--time SECONDS]
                        [--part SECONDS]
  --json   a line of JSON for each finding, and for the counts
  --swap   that swap alone, and nothing of the house
  --all    every ended swap too; else the newest 200 of them
  --limit  open swaps looked at, at most; default 100000
  --time   seconds after which it stops; default 3600. Of these it waits for one chain's swaps for
           three quarters at most
  --part   seconds for a part of it: a node, a check of the house, a page of swaps; default 60
Settings as for npm start: PARLEY_CHAINS, or the dev chains of a market that runs in PARLEY_HOME;
DATABASE_URL, or the database of that market. Nothing is changed. Exit status: 0 all well,
1 something differs, 2 something could not be looked at and no danger was seen, or the command was
not understood.`;

/** Of a part: the database itself ends a statement before the part is given up. */
const statementShare = 0.8;
const lockShare = 0.5;
/** What still holds the process then is a connection that does not answer. */
const leaveMs = 1_000;
/** Each reads a swap at a time. */
const connections = 4;

type Asked = {
  readonly json: boolean;
  readonly swap: string | null;
  readonly all: boolean;
  readonly limit: number;
  readonly seconds: number;
  readonly partMs: number;
};

function understand(args: string[]): Asked | null {
  const { values } = parsed({
    args,
    options: {
      ...usualOptions,
      swap: { type: 'string' },
      all: { type: 'boolean' },
      limit: { type: 'string' },
      time: { type: 'string' },
      part: { type: 'string' },
    },
  });
  if (values.help === true) return null;
  if (values.swap !== undefined && !isUuid(values.swap)) {
    throw new Misused(`--swap is the id of a swap, a UUID, not "${values.swap}"`);
  }
  const whole = (name: 'limit' | 'time' | 'part', otherwise: number, most: number) => {
    const given = values[name];
    return given === undefined ? otherwise : wholeNumber(`--${name}`, given, { most });
  };
  return {
    json: values.json === true,
    swap: values.swap ?? null,
    all: values.all === true,
    limit: whole('limit', 100_000, 100_000_000),
    seconds: whole('time', wholeMs / 1_000, 604_800),
    partMs: 1_000 * whole('part', partMs / 1_000, 3_600),
  };
}

/** A database that lets nothing be written. */
async function openDatabase(
  { databaseUrl, home }: Settings,
  partMs: number,
): Promise<Found<Database | null>> {
  const missing = (says: string): Found<null> => {
    const todo = 'start the market or its database, or set DATABASE_URL or PARLEY_HOME to it';
    return { value: null, missing: [unseen('no_database', 'the database', says, todo, {})] };
  };
  const url = databaseUrl ?? (await runningPostgres(home));
  if (url === null) return missing(`no market runs in PARLEY_HOME ${resolve(home)}`);
  const db = connect(url, {
    ...databaseLimits,
    connections,
    statementMs: partMs * statementShare,
    lockMs: partMs * lockShare,
    readOnly: true,
  });
  try {
    // Not the tables themselves: somebody may hold a lock of one.
    const text = `select to_regclass('halts') is not null
      and to_regclass('swaps') is not null as ours`;
    const [row] = await db.rows<{ ours: boolean }>({ name: '', text, values: [] });
    if (row?.ours === true) return { value: db, missing: [] };
    await db.close();
    return missing('it is of another version than this');
  } catch (error) {
    await closed(db);
    return missing((databaseFault(url, error) as Error).message);
  }
}

/** A connection that does not answer is not waited for. */
async function closed(db: Database): Promise<void> {
  await Promise.race([db.close().catch(() => {}), sleep(leaveMs, undefined, { ref: false })]);
}

function lastLine({ open, ended, nodes, counts, untold }: Examined): string {
  const { danger, differs, unseen: unknown, notice } = counts;
  const looked = `${open} open and ${ended} ended swaps, ${nodes} nodes`;
  const found = `${danger} dangers, ${differs} differences, ${unknown} unseen, ${notice} notices`;
  const more = Object.entries(untold).map(([what, count]) => `${count} ${what}`);
  const rest = more.length === 0 ? '' : `; not shown: ${more.join(', ')}`;
  const well = danger + differs + unknown === 0 ? 'all well' : 'not well';
  return `${well}: ${looked}; ${found}${rest}`;
}

async function run(asked: Asked): Promise<number> {
  const settings = readSettings(process.env);
  const [database, found] = await Promise.all([
    openDatabase(settings, asked.partMs),
    findChains(settings),
  ]);
  const { chains, offsetMs } = found.value;
  const print = (text: string) => process.stdout.write(`${text}\n`);
  const tell = (finding: Finding) => print(asked.json ? JSON.stringify(finding) : linesOf(finding));
  const deps: DoctorDeps = {
    settings: { ...settings, home: resolve(settings.home) },
    db: database.value,
    chains,
    now: () => Date.now() + offsetMs,
    wall: Date.now,
    signal: AbortSignal.timeout(asked.seconds * 1_000),
    limits: { partMs: asked.partMs, chainMs: asked.seconds * 1_000 * chainShare },
  };
  try {
    const missing = [...database.missing, ...found.missing];
    const examined = await examine(deps, asked, tell, missing);
    print(asked.json ? JSON.stringify(examined) : lastLine(examined));
    return exitStatus(examined.counts);
  } finally {
    if (database.value !== null) await closed(database.value);
    setTimeout(() => process.exit(), leaveMs).unref();
  }
}

await runCommand({ usage, understand, run }, 2);
