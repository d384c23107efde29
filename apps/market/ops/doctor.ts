// `ops doctor`: compares every open swap with its chains, and whether the house is in order. It
// only reads, beside a market that runs or with none, and says what differs and what to do.

import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { devnetClient } from '@parley/dev/devnet/client.ts';
import { runningPostgres } from '@parley/host/postgres/postgres.ts';
import { connect, type Database, databaseLimits } from '../db/database.ts';
import { mustKeepSessions } from '../db/pooler.ts';
import { PoolerError } from '../db/session.ts';
import { type Examined, examine, partMs, wholeMs } from '../doctor/examine.ts';
import { differs, exitStatus, type Finding, linesOf, unseen } from '../doctor/findings.ts';
import type { ChainSettings } from '../settings/chains.ts';
import { readSettings, type Settings } from '../settings/config.ts';
import { devChains } from '../start/dev-network.ts';
import { named } from '../start/naming.ts';
import { print } from './operator.ts';

/** The share of a part: the database itself ends a statement before the part is given up. */
const statementShare = 0.8;
const lockShare = 0.5;
/** The process can then be held only by a connection that does not answer. */
const leaveMs = 1_000;
/** Each reads a swap at a time. */
const connections = 4;
/** The control server of a dev network answers out of its memory. */
const devMs = 10_000;

type Asked = {
  readonly swap?: string | undefined;
  readonly nodes?: true | undefined;
  readonly all?: true | undefined;
};

/** A database that lets nothing be written; a finding where it cannot be had. */
async function openDatabase({ databaseUrl, home }: Settings): Promise<Database | Finding> {
  const todo = 'start the market or its database, or set DATABASE_URL or PARLEY_HOME to it';
  const missing = (says: string) => unseen('no_database', 'the database', says, todo);
  const url = databaseUrl ?? (await runningPostgres(home));
  if (url === null) return missing(`no market runs in PARLEY_HOME ${resolve(home)}`);
  const limits = { statementMs: partMs * statementShare, lockMs: partMs * lockShare };
  const db = connect(url, { ...databaseLimits, ...limits, connections, readOnly: true });
  try {
    if (databaseUrl !== null) await mustKeepSessions(url);
    // Not the tables themselves: somebody may hold a lock of one.
    const text = `select to_regclass('gaps') is not null
      and to_regclass('swaps') is not null as ours`;
    const [row] = await db.rows<{ ours: boolean }>({ name: '', text, values: [] });
    if (row?.ours === true) return db;
    await closed(db);
    return missing('it is of another version than this');
  } catch (error) {
    await closed(db);
    if (error instanceof PoolerError) {
      return differs('pooler', 'the database', error.message, todo);
    }
    return missing(named('DATABASE_URL', error).message);
  }
}

/** A connection that does not answer is not waited for. */
async function closed(db: Database): Promise<void> {
  await Promise.race([db.close().catch(() => {}), sleep(leaveMs, undefined, { ref: false })]);
}

type Chains = { readonly chains: readonly ChainSettings[]; readonly offsetMs: number };

/**
 * The chains of the settings, else of the dev network of a market that runs. That is asked what it
 * is made of, never how its nodes are: one that hangs is for the doctor to name.
 */
export async function findChains({
  chains,
  home,
}: Pick<Settings, 'chains' | 'home'>): Promise<Chains | Finding> {
  if (chains !== null) return { chains, offsetMs: 0 };
  const where = `PARLEY_HOME ${resolve(home)}`;
  const missing = (says: string) => {
    const todo = 'see that the market runs and answers, or set PARLEY_CHAINS as for it';
    return unseen('no_chains', 'the chains', `${says}, and PARLEY_CHAINS is not set`, todo);
  };
  const note = await readFile(join(home, 'ready.json'), 'utf8').catch(() => '{}');
  const { dev } = JSON.parse(note) as { dev?: string };
  if (dev === undefined) return missing(`no dev network runs in ${where}`);
  try {
    const known = await devnetClient(dev).chains(AbortSignal.timeout(devMs));
    return { chains: devChains(known), offsetMs: known.clockOffsetSeconds * 1_000 };
  } catch (error) {
    const says = `the dev network of the market in ${where} did not say its chains at ${dev}`;
    return missing(`${says} (${(error as Error).message})`);
  }
}

function lastLine({ open, ended, nodes, counts, untold }: Examined): string {
  const { danger, differs, unseen: unknown, notice } = counts;
  const read = `${open} open and ${ended} ended swaps, ${nodes} nodes`;
  const found = `${danger} dangers, ${differs} differences, ${unknown} unseen, ${notice} notices`;
  const more = Object.entries(untold).map(([what, count]) => `${count} ${what}`);
  const rest = more.length === 0 ? '' : `; not shown: ${more.join(', ')}`;
  return `${danger + differs + unknown === 0 ? 'all well' : 'not well'}: ${read}; ${found}${rest}`;
}

export async function doctor(json: boolean, asked: Asked): Promise<number> {
  try {
    return await examineMarket(readSettings(process.env), json, asked, print);
  } finally {
    setTimeout(() => process.exit(), leaveMs).unref();
  }
}

/** Says each finding and, at the end, its counts; the exit status. */
export async function examineMarket(
  settings: Settings,
  json: boolean,
  asked: Asked,
  say: (text: string) => void,
): Promise<number> {
  const { swap = null, nodes = false, all = false } = asked;
  const [opened, found] = await Promise.all([
    nodes ? null : openDatabase(settings),
    findChains(settings),
  ]);
  const missing = [opened, found].filter((each) => each !== null && 'severity' in each);
  const db = opened === null || 'severity' in opened ? null : opened;
  const { chains, offsetMs } = 'severity' in found ? { chains: [], offsetMs: 0 } : found;
  const deps = {
    settings: { ...settings, home: resolve(settings.home) },
    db,
    chains,
    now: () => Date.now() + offsetMs,
    wall: Date.now,
    signal: AbortSignal.timeout(wholeMs),
  };
  const emit = (each: Finding) => say(json ? JSON.stringify(each) : linesOf(each));
  try {
    const examined = await examine(deps, { swap, nodes, all }, emit, missing);
    say(json ? JSON.stringify(examined) : lastLine(examined));
    return exitStatus(examined.counts);
  } finally {
    if (db !== null) await closed(db);
  }
}
