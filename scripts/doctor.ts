// `npm run doctor`: compares every open swap with its chains, and looks whether the house is in
// order. It only reads, beside a market that runs or with none, and says what differs and what to
// do.

import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { devnetClient } from '../devnet/client.ts';
import type { ChainSettings } from '../server/chain-settings.ts';
import { readSettings, type Settings } from '../server/config.ts';
import { connect, type Database, databaseLimits } from '../server/db/database.ts';
import { runningPostgres } from '../server/db/embedded/postgres.ts';
import { devChains } from '../server/dev-network.ts';
import { type DoctorDeps, type Examined, examine } from '../server/doctor/examine.ts';
import { exitStatus, type Finding, linesOf, unseen } from '../server/doctor/findings.ts';
import { databaseFault } from '../server/start-errors.ts';
import { parsed, runCommand, wholeNumber } from './command.ts';

const usage = `usage: npm run doctor [-- --json] [--swap ID] [--all] [--limit N] [--time SECONDS]
  --json   a line of JSON for each finding, and for the counts
  --swap   that swap alone, and nothing of the house
  --all    every ended swap too; else the newest 200 of them
  --limit  open swaps looked at, at most; default 100000
  --time   seconds after which it stops; default 1800
Settings as for npm start: PARLEY_CHAINS, or the dev chains of a market that runs in PARLEY_HOME;
DATABASE_URL, or the database of that market. Nothing is changed. Exit status: 0 all well,
1 something differs, 2 something could not be looked at, or the command was not understood.`;

/** One statement: a page of swaps that are still open among millions that are not. */
const statementMs = 60_000;
/** Each reads a swap at a time. */
const connections = 4;
/** Of a dev network that is asked for its chains. */
const devMs = 10_000;

type Asked = {
  readonly json: boolean;
  readonly swap: string | null;
  readonly all: boolean;
  readonly limit: number;
  readonly seconds: number;
};

function understand(args: string[]): Asked | null {
  const { values } = parsed({
    args,
    options: {
      json: { type: 'boolean' },
      swap: { type: 'string' },
      all: { type: 'boolean' },
      limit: { type: 'string' },
      time: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return null;
  const whole = (name: 'limit' | 'time', otherwise: number, most: number) => {
    const given = values[name];
    return given === undefined ? otherwise : wholeNumber(`--${name}`, given, { most });
  };
  return {
    json: values.json === true,
    swap: values.swap ?? null,
    all: values.all === true,
    limit: whole('limit', 100_000, 100_000_000),
    seconds: whole('time', 1_800, 604_800),
  };
}

type Found<T> = { readonly value: T; readonly missing: readonly Finding[] };

/** A database that lets nothing be written. */
async function openDatabase({ databaseUrl, home }: Settings): Promise<Found<Database | null>> {
  const missing = (says: string): Found<null> => {
    const todo = 'start the market or its database, or set DATABASE_URL or PARLEY_HOME to it';
    return { value: null, missing: [unseen('no_database', 'the database', says, todo, {})] };
  };
  const url = databaseUrl ?? (await runningPostgres(home));
  if (url === null) return missing(`no market runs in PARLEY_HOME ${resolve(home)}`);
  const db = connect(url, { ...databaseLimits, connections, statementMs, readOnly: true });
  try {
    await db.rows({ name: '', text: 'select 1 from halts, swaps limit 0', values: [] });
    return { value: db, missing: [] };
  } catch (error) {
    await db.close();
    const { code } = error as { code?: string };
    if (code === '42P01') return missing('it is of another version than this');
    return missing((databaseFault(url, error) as Error).message);
  }
}

type Chains = { readonly chains: readonly ChainSettings[]; readonly offsetMs: number };

/** Those of the settings, else those of the dev network of a market that runs. */
async function findChains({ chains, home }: Settings): Promise<Found<Chains>> {
  if (chains !== null) return { value: { chains, offsetMs: 0 }, missing: [] };
  try {
    const { dev } = JSON.parse(await readFile(join(home, 'ready.json'), 'utf8')) as { dev: string };
    const status = await Promise.race([devnetClient(dev).status(), tooLate()]);
    const offsetMs = status.clockOffsetSeconds * 1_000;
    return { value: { chains: devChains(status), offsetMs }, missing: [] };
  } catch {
    const says = `no dev network runs in PARLEY_HOME ${resolve(home)}, and PARLEY_CHAINS is not set`;
    const todo = 'start the market, or set PARLEY_CHAINS as for it';
    const missing = [unseen('no_chains', 'the chains', says, todo, {})];
    return { value: { chains: [], offsetMs: 0 }, missing };
  }
}

function tooLate(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error('no answer')), devMs).unref();
  });
}

function lastLine({ open, ended, nodes, counts }: Examined): string {
  const { danger, differs, unseen: unknown, notice } = counts;
  const looked = `${open} open and ${ended} ended swaps, ${nodes} nodes`;
  const found = `${danger} dangers, ${differs} differences, ${unknown} unseen, ${notice} notices`;
  return `${danger + differs + unknown === 0 ? 'all well' : 'not well'}: ${looked}; ${found}`;
}

async function run(asked: Asked): Promise<number> {
  const settings = readSettings(process.env);
  const [database, found] = await Promise.all([openDatabase(settings), findChains(settings)]);
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
  };
  try {
    const missing = [...database.missing, ...found.missing];
    const examined = await examine(deps, asked, tell, missing);
    print(asked.json ? JSON.stringify(examined) : lastLine(examined));
    return exitStatus(examined.counts);
  } finally {
    await database.value?.close();
  }
}

await runCommand({ usage, understand, run }, 2);
