// The market on which reads and quotes are measured: a PostgreSQL with its durability on, 10 000
// open RFQs or as many as asked for, ended ones beside them, and the market in a process of its
// own.

import type { Asset } from '@parley/market/db/assets.ts';
import { connect, type Database, databaseLimits } from '@parley/market/db/database.ts';
import { migrate } from '@parley/market/db/migrate.ts';
import { seedAssets } from '@parley/market/market/assets.ts';
import { startWorld } from '@parley/market/settle/testing/world.ts';
import { startCluster } from '@parley/verify/test/support/cluster.ts';
import { testDatabase } from '@parley/verify/test/support/database.ts';
import { type TestDeps, testDeps } from '@parley/verify/test/support/deps.ts';
import { insertTrader } from '@parley/verify/test/support/trading.ts';
import { type Child, startChild } from './children.ts';
import type { Load, Loaded } from './load.ts';
import { isMiniature, sharing, usually } from './miniature.ts';

/** RFQs of the book; those that ended and are kept for 30 days. */
export type Volume = { readonly open: number; readonly ended: number };
export const usualVolume: Volume = { open: usually(10_000, 40), ended: 0 };
/** Ids of the book's RFQs: this, then 12 hex digits, counted from 1. */
export const rfqIdHead = '019f0000-0000-7000-8000-';
const endedIdHead = '019e0000-0000-7000-8000-';
/** Filling a million rows takes half a minute. */
const fillLimits = { ...databaseLimits, connections: 1, statementMs: 600_000 };
const fillAtOnce = 1_000_000;
const takers = 20;

export type Account = { readonly accountId: string; readonly key: string };

export type Stage = {
  readonly url: string;
  readonly db: Database;
  readonly deps: TestDeps;
  readonly assets: readonly Asset[];
  readonly takers: readonly Account[];
  readonly volume: Volume;
  /** The RFQs of the book, the oldest first. */
  rfqId(at: number): string;
  readonly market: Child<typeof import('./market.ts')>;
  readonly port: number;
  readonly loader: Child<typeof import('./load.ts')>;
  /** `SELECT version()`, shortened, and that commits wait for the disk. */
  readonly database: string;
  account(): Promise<Account>;
  stop(): Promise<void>;
};

/** A PostgreSQL of its own with the market's tables. */
export async function freshDatabase(limits: Partial<typeof databaseLimits> = {}) {
  if (isMiniature) {
    const { url, db, drop } = await testDatabase({ connections: 10 });
    return { url, db, stop: drop };
  }
  const cluster = await startCluster();
  const url = cluster.adminUrl;
  await migrate(url);
  const db = connect(url, { ...databaseLimits, ...limits });
  const stop = async () => {
    await db.close();
    await cluster.stop();
  };
  return { url, db, stop };
}

/** Sends requests for some seconds; throws when any was answered otherwise. */
export async function loaded(
  { loader, port: own }: Pick<Stage, 'loader' | 'port'>,
  asked: Omit<Load, 'port' | 'from'> & { readonly port?: number; readonly status?: number },
): Promise<Loaded> {
  const { port = own, status = 200, ...load } = asked;
  const answer = await loader.ask('load', { ...load, port, from: 0 });
  if (Object.keys(answer.statuses).some((each) => each !== String(status))) {
    throw new Error(`answers by status: ${JSON.stringify(answer.statuses)}`);
  }
  return answer;
}

/** The market's answer; throws unless it is a success. */
export async function posted(
  port: number,
  path: string,
  { key }: Pick<Account, 'key'>,
  body: object,
): Promise<Record<string, { id: string }>> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  return (await answer.json()) as Record<string, { id: string }>;
}

/** An RFQ of the first two of these assets. */
export function orderOf(assets: readonly Pick<Asset, 'id'>[]) {
  const [base, quote] = assets;
  const ids = { baseAssetId: base?.id, quoteAssetId: quote?.id };
  return { direction: 'sell_base', baseAmount: '100000', ttlSeconds: 3_600, ...ids };
}

export const setStage = sharing(async (volume: Volume = usualVolume): Promise<Stage> => {
  const { url, db, stop } = await freshDatabase();
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
  await fillRfqs(url, volume, assets, owners);
  const market: Stage['market'] = startChild('market.ts');
  const port = await market.ask('serve', url);
  const loader: Stage['loader'] = startChild('load.ts');
  const database = await describe(db);
  return {
    url,
    db,
    deps,
    assets,
    takers: owners,
    volume,
    rfqId: (at) => idOf(rfqIdHead, at + 1),
    market,
    port,
    loader,
    database,
    account,
    stop: async () => {
      await loader.stop();
      await market.stop();
      await stop();
    },
  };
});

/** A market with real nodes of Bitcoin and an EVM chain, and no limit of requests. */
export const setWorld = sharing(async () => {
  const unlimited = { rateLimit: 10_000_000, mintLimit: 1_000_000, listingLimit: 1_000_000 };
  // The chains are polled as `npm start` polls dev chains.
  const settings = { ...unlimited, webhookNetworks: ['127.0.0.1'], followIntervalMs: 300 };
  const world = await startWorld({ settings });
  return { ...world, stop: () => world.close() };
});

const idOf = (head: string, number: number) => head + number.toString(16).padStart(12, '0');

async function fillRfqs(
  url: string,
  { open, ended }: Volume,
  assets: readonly Asset[],
  owners: readonly Account[],
): Promise<void> {
  const db = connect(url, fillLimits);
  // The rows name what is there: no reference is checked.
  const unchecked = { name: 'bench_fill_unchecked', values: [] };
  await db.rows({ ...unchecked, text: 'set session_replication_role = replica' });
  const fill = (status: 'open' | 'expired', head: string, from: number, to: number) =>
    db.rows({
      name: 'bench_fill',
      text: `insert into rfqs (id, creator_id, direction, base_asset_id, base_amount,
          quote_asset_id, visibility, status, created_at, expires_at, updated_at)
        select ($1 || lpad(to_hex(n), 12, '0'))::uuid, ($2::uuid[])[1 + n % $3], 'sell_base', $4,
          100000, $5, 'public', $6, ends - interval '1 day', ends, ends
        from generate_series($7::int, $8::int) n, lateral (select case when $6 = 'open'
          then now() + interval '1 day'
          else now() - n * interval '1 second' / 10 end as ends) e`,
      values: [
        head,
        owners.map(({ accountId }) => accountId),
        owners.length,
        assets[0]!.id,
        assets[1]!.id,
        status,
        from,
        to,
      ],
    });
  for (const [status, head, count] of [
    ['expired', endedIdHead, ended],
    ['open', rfqIdHead, open],
  ] as const) {
    for (let from = 1; from <= count; from += fillAtOnce) {
      await fill(status, head, from, Math.min(count, from + fillAtOnce - 1));
    }
  }
  if (!isMiniature) {
    // As autovacuum would: tables without rows are never analyzed.
    const filled = 'accounts, api_keys, assets, rfqs, wallets';
    await db.rows({ name: 'bench_analyze', text: `vacuum analyze ${filled}`, values: [] });
    await db.rows({ name: 'bench_checkpoint', text: 'checkpoint', values: [] });
  }
  await db.close();
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
