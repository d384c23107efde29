// The parts that the commands of operators share: the market's database, whether a market runs or
// not, who acts and the row that says so, and the asset that is meant.

import { hostname, userInfo } from 'node:os';
import { resolve } from 'node:path';
import { harmless, onOneLine } from '@parley/host/command.ts';
import { runningPostgres } from '@parley/host/postgres/postgres.ts';
import { connect, type Database, databaseLimits, type Tx } from '../db/database.ts';
import { databaseState } from '../db/doctor.ts';
import { type Listing, searchListings } from '../db/listing.ts';
import { insertAction, type NewAction } from '../db/operator-actions.ts';
import { isTooNew, knows, version } from '../db/version.ts';
import { withoutKeys } from '../market/keys.ts';
import { isUuid } from '../ports/ids.ts';
import { readSettings } from '../settings/config.ts';
import { databaseFault } from '../start/start-errors.ts';
import type { Act } from './acts.ts';

/** Ten thousand orders take about a second. */
const usualStatementMs = 60_000;
/** The limit of one statement that revokes every key of a large market. */
export const longStatementMs = 300_000;
const mostNamed = 20;
/** The limit of the sentence that a refusal is kept with, and of an operator's name. */
const mostWhyLength = 500;
const longestName = 100;

type Means = { readonly statementMs?: number; readonly readOnly?: true };

class Misfit extends Error {}

/** It would write what later versions read otherwise, or miss what they took away. */
const tooOld = (needed: string | null) =>
  `these commands (${version}) know migrations up to ${knows}, and the database works only with ` +
  `versions that know ${needed}: use those of the version that runs (docs/upgrade.md)`;

async function openDatabase({ statementMs = usualStatementMs, readOnly }: Means) {
  const { databaseUrl, home } = readSettings(process.env);
  const url = databaseUrl ?? (await runningPostgres(home));
  if (url === null) {
    throw new Error(
      `no market runs in PARLEY_HOME ${resolve(home)}: start it, set PARLEY_HOME to the home of ` +
        'one that runs, or DATABASE_URL to its database',
    );
  }
  const mode = readOnly ? { readOnly } : {};
  const db = connect(url, { ...databaseLimits, connections: 1, statementMs, ...mode });
  try {
    const { compatibleFrom } = await databaseState(db);
    if (isTooNew(compatibleFrom)) throw new Misfit(tooOld(compatibleFrom));
    await db.rows({
      name: '',
      text: `select a.blocked_at, o.closings, w.off_for, g.holds, l.id
        from accounts a, assets o, webhooks w, halts, gaps g, operator_actions l limit 0`,
      values: [],
    });
    return db;
  } catch (error) {
    await db.close();
    if (error instanceof Misfit) throw error;
    const { code } = error as { code?: string };
    if (code === '42P01' || code === '42703') {
      throw new Error('the database is of another version: start the market of this one first');
    }
    throw databaseFault(url, error);
  }
}

/** For what takes more than one transaction; its first is by `act`. */
export async function withDatabase<Result>(
  means: Means,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const db = await openDatabase(means);
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** The command can write nothing: PostgreSQL itself refuses it. */
export const reading = <Result>(work: (db: Database) => Promise<Result>): Promise<Result> =>
  withDatabase({ readOnly: true }, work);

export type Asked = {
  readonly command: Act;
  /** Without a secret: they are kept for ever. */
  readonly arguments: Readonly<Record<string, unknown>>;
};

export type Done<Result> = {
  readonly result: Result;
  /** False: it was so already. */
  readonly changed: boolean;
  readonly facts: Readonly<Record<string, unknown>>;
};

/** Its effect and the row about it commit together. A refused act leaves a row alone. */
export const acting = <Result>(
  asked: Asked,
  work: (tx: Tx) => Promise<Done<Result>>,
  statementMs?: number,
): Promise<Result> =>
  withDatabase(statementMs === undefined ? {} : { statementMs }, (db) => act(db, asked, work));

/** The same on a connection that is open. */
export async function act<Result>(
  db: Database,
  asked: Asked,
  work: (tx: Tx) => Promise<Done<Result>>,
): Promise<Result> {
  const written = { row: false };
  try {
    return await db.transaction(async (tx) => {
      const done = await work(tx);
      await note(tx, asked, done);
      written.row = true;
      return done.result;
    });
  } catch (error) {
    // Where the commit's answer was lost it may be done, and its row is there then.
    if (written.row) throw error;
    const why = error instanceof Error ? error.message.slice(0, mostWhyLength) : '';
    // The refusal is reported in any case.
    await insertAction(db, row(asked, 'refused', { why })).catch(() => {});
    throw error;
  }
}

/** In the transaction of what was done. */
const note = (tx: Tx, asked: Asked, { changed, facts }: Omit<Done<unknown>, 'result'>) =>
  insertAction(tx, row(asked, changed ? 'done' : 'unchanged', facts));

function row(asked: Asked, outcome: NewAction['outcome'], facts: NewAction['facts']): NewAction {
  const osUser = systemUser();
  const operator = onOneLine(process.env.PARLEY_OPERATOR || osUser);
  const who = { operator: operator.slice(0, longestName), osUser, host: hostname() };
  const kept = { arguments: withoutSecrets(asked.arguments), facts: withoutSecrets(facts) };
  return { at: new Date(), ...who, command: asked.command, outcome, ...kept };
}

/** A key of a customer that somebody pasted, in a reason or anywhere, would stay for ever. */
function withoutSecrets(of: NewAction['facts']): NewAction['facts'] {
  const money = (_: string, each: unknown) => (typeof each === 'bigint' ? String(each) : each);
  return JSON.parse(withoutKeys(JSON.stringify(of, money)));
}

/** In a container the user may have no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

export const print = (text: string) => process.stdout.write(`${harmless(text)}\n`);
export const rfqs = (count: number) => (count === 1 ? '1 RFQ' : `${count} RFQs`);

export async function theAsset(db: Tx, given: string): Promise<Listing> {
  const slash = given.indexOf('/');
  const address = given.slice(slash + 1);
  const found = await searchListings(
    db,
    isUuid(given)
      ? { id: given }
      : slash === -1
        ? { symbol: given }
        : { chain: given.slice(0, slash), address: address === 'native' ? null : address },
    mostNamed + 1,
  );
  if (found.length > 1) {
    const shown = found.slice(0, mostNamed);
    const all = shown.map(({ asset: { id, chain, address } }) => `  ${id} ${chain}/${address}`);
    const count = found.length > mostNamed ? `more than ${mostNamed}` : found.length;
    throw new Error(`${count} assets are called ${given}; name one:\n${all.join('\n')}`);
  }
  if (found[0] === undefined)
    throw new Error(`there is no asset ${given}: npm run ops -- assets list shows all`);
  return found[0];
}
