// What the commands of operators share: the market's database, whether a market runs or not, and
// the asset that is meant.

import { resolve } from 'node:path';
import { runningPostgres } from '../host/postgres/postgres.ts';
import { connect, type Database, databaseLimits } from '../server/db/database.ts';
import { type Listing, searchListings } from '../server/db/listing.ts';
import { isUuid } from '../server/ports/ids.ts';
import { readSettings } from '../server/settings/config.ts';
import { databaseFault } from '../server/start/start-errors.ts';

/** Ten thousand orders take about a second. */
const usualStatementMs = 60_000;
/** Of one statement that revokes every key of a large market. */
export const longStatementMs = 300_000;
const mostNamed = 20;
export const mostReasonLength = 500;

export function isReason(text: string): boolean {
  return text.trim() !== '' && text.length <= mostReasonLength && !/\p{Cc}/u.test(text);
}

/** For a database that this process starts by itself: what it did is told at the end. */
export const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

export async function openDatabase(statementMs = usualStatementMs): Promise<Database> {
  const { databaseUrl, home } = readSettings(process.env);
  const url = databaseUrl ?? (await runningPostgres(home));
  if (url === null) {
    throw new Error(
      `no market runs in PARLEY_HOME ${resolve(home)}: start it, set PARLEY_HOME to the home of ` +
        'one that runs, or DATABASE_URL to its database',
    );
  }
  const db = connect(url, { ...databaseLimits, connections: 1, statementMs });
  try {
    await db.rows({
      name: '',
      text: 'select closings from assets, halts, gaps limit 0',
      values: [],
    });
    return db;
  } catch (error) {
    await db.close();
    const { code } = error as { code?: string };
    if (code === '42P01' || code === '42703') {
      throw new Error('the database is of another version: start the market of this one first');
    }
    throw databaseFault(url, error);
  }
}

export async function theAsset(db: Database, given: string): Promise<Listing> {
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
    throw new Error(`there is no asset ${given}: npm run assets -- list shows all`);
  return found[0];
}
