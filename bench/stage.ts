// What reads and quotes are measured on: a PostgreSQL with its durability on, 10 000 open RFQs, and
// the market in a process of its own.

import type { Asset } from '../server/db/assets.ts';
import { connect, type Database, databaseLimits } from '../server/db/database.ts';
import { migrate } from '../server/db/migrate.ts';
import { seedAssets } from '../server/market/assets.ts';
import { startCluster } from '../test/support/cluster.ts';
import { type TestDeps, testDeps } from '../test/support/deps.ts';
import { insertTrader } from '../test/support/trading.ts';
import { type Child, startChild } from './children.ts';

export const openRfqs = 10_000;
/** Ids of the book's RFQs: this, then 12 hex digits, counted from 1. */
export const rfqIdHead = '019f0000-0000-7000-8000-';
const takers = 20;

export type Account = { readonly accountId: string; readonly key: string };

export type Stage = {
  readonly url: string;
  readonly db: Database;
  readonly deps: TestDeps;
  readonly assets: readonly Asset[];
  readonly takers: readonly Account[];
  readonly rfqIds: readonly string[];
  readonly market: Child;
  readonly port: number;
  readonly loader: Child;
  /** `SELECT version()`, shortened, and that commits wait for the disk. */
  readonly database: string;
  account(): Promise<Account>;
  stop(): Promise<void>;
};

export async function setStage(): Promise<Stage> {
  const cluster = await startCluster();
  const url = cluster.adminUrl;
  await migrate(url);
  const db = connect(url, databaseLimits);
  const deps = testDeps({ db });
  const assets = await seedAssets(db, deps, [
    { chain: 'bitcoin', symbol: 'BTC', address: null, decimals: 8 },
    { chain: 'evm-dev', symbol: 'USD', address: `0x${'d0'.repeat(20)}`, decimals: 6 },
  ]);
  let made = 0;
  const account = () => {
    made += 1;
    const tail = made.toString(16).padStart(8, '0');
    return insertTrader(
      deps,
      ['read', 'taker', 'maker'],
      [
        { family: 'bitcoin', address: `bcrt1qbench${tail}` },
        { family: 'evm', address: `0x${tail.padStart(40, '0')}` },
      ],
    );
  };
  const owners: Account[] = [];
  for (let each = 0; each < takers; each += 1) owners.push(await account());
  const rfqIds = await insertBook(db, deps, assets, owners);
  const market = startChild('market.ts');
  const { port } = await market.ask<{ port: number }>({ serve: url });
  const loader = startChild('load.ts');
  const database = await describe(db);
  return {
    url,
    db,
    deps,
    assets,
    takers: owners,
    rfqIds,
    market,
    port,
    loader,
    database,
    account,
    stop: async () => {
      await loader.stop();
      await market.stop();
      await db.close();
      await cluster.stop();
    },
  };
}

async function insertBook(
  db: Database,
  deps: TestDeps,
  assets: readonly Asset[],
  owners: readonly Account[],
): Promise<string[]> {
  const now = deps.now();
  const ids = Array.from(
    { length: openRfqs },
    (_, at) => rfqIdHead + (at + 1).toString(16).padStart(12, '0'),
  );
  await db.rows({
    name: 'bench_book',
    text: `insert into rfqs (id, creator_id, direction, base_asset_id, base_amount, quote_asset_id,
        visibility, status, created_at, expires_at, updated_at)
      select id, creator_id, 'sell_base', $3, 100000, $4, 'public', 'open', $5, $6, $5
      from unnest($1::uuid[], $2::uuid[]) n (id, creator_id)`,
    values: [
      ids,
      ids.map((_, at) => owners[at % owners.length]!.accountId),
      assets[0]!.id,
      assets[1]!.id,
      new Date(now),
      new Date(now + 86_400_000),
    ],
  });
  await db.rows({ name: 'bench_analyze', text: 'analyze', values: [] });
  return ids;
}

async function describe(db: Database): Promise<string> {
  const [row] = await db.rows<{ version: string; fsync: string; commit: string }>({
    name: 'bench_version',
    text: `select current_setting('server_version') as version,
      current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`,
    values: [],
  });
  return `PostgreSQL ${row!.version}, fsync ${row!.fsync}, synchronous_commit ${row!.commit}`;
}
