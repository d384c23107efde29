// A market for tests: the real application on a real database, accounts that hold wallets and
// keys, and requests as those accounts.

import { hash, randomBytes } from 'node:crypto';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { Family } from '@parley/core/families.ts';
import type { Asset } from '@parley/market/db/assets.ts';
import type { Database } from '@parley/market/db/database.ts';
import { type AppOptions, buildApp } from '@parley/market/edge/app.ts';
import { seedAssets } from '@parley/market/market/assets.ts';
import { uuidv7 } from '@parley/market/ports/ids.ts';
import type { Settings } from '@parley/market/settings/config.ts';
import type { Desk } from '@parley/watchtower/port.ts';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { testDatabase } from './database.ts';
import { type TestDeps, testDeps } from './deps.ts';

export type Scope = 'read' | 'taker' | 'maker';

export type Answer = {
  readonly status: number;
  /** The code of a refusal: the header x-parley-error. */
  readonly code: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
  readonly body: any;
};

// biome-ignore lint/suspicious/noExplicitAny: a test names the columns that it asks for
type Row = any;

export type Trader = {
  readonly accountId: string;
  readonly key: string;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
};

export type TestMarket = {
  readonly app: FastifyInstance;
  readonly deps: TestDeps;
  readonly db: Database;
  readonly url: string;
  sql(text: string, ...values: unknown[]): Promise<Row[]>;
  /** Native asset of `bitcoin`, native and dollar token of `evm-dev`. */
  readonly assets: { readonly btc: Asset; readonly eth: Asset; readonly usd: Asset };
  trader(options?: TraderOptions): Promise<Trader>;
  close(): Promise<void>;
};

export type TraderOptions = {
  readonly scopes?: readonly Scope[];
  /** Login wallets; default: one of Bitcoin and one of EVM. */
  readonly wallets?: readonly { family: Family; address: string; standing?: 'login' | 'proven' }[];
};

const dollar = '0x00000000000000000000000000000000000000d0';

export async function testMarket(options?: {
  settings?: Partial<Settings>;
  adapters?: readonly ChainAdapter[];
  connections?: number;
  app?: AppOptions;
  watchtower?: Desk;
}): Promise<TestMarket> {
  const { connections = 6, settings = {}, adapters, watchtower } = options ?? {};
  const { db, drop, url } = await testDatabase({ connections });
  const key = { encryptionKey: randomBytes(32).toString('hex') };
  const deps = testDeps({
    db,
    settings: { ...key, ...settings },
    ...(adapters && { adapters: new Map(adapters.map((each) => [each.chain, each])) }),
    ...(watchtower && { watchtower }),
  });
  const [btc, eth, usd] = await seedAssets(db, deps, [
    { chain: 'bitcoin', symbol: 'BTC', address: null, decimals: 8 },
    { chain: 'evm-dev', symbol: 'ETH', address: null, decimals: 18 },
    { chain: 'evm-dev', symbol: 'USD', address: dollar, decimals: 6 },
  ]);
  const app = await buildApp(deps, options?.app);
  return {
    app,
    deps,
    db,
    url,
    sql: (text, ...values) => db.rows({ name: '', text, values }),
    assets: { btc: btc!, eth: eth!, usd: usd! },
    trader: (wanted) => newTrader(app, deps, wanted),
    close: async () => {
      await app.close();
      await drop();
    },
  };
}

/** A fresh address of this family, well formed. */
export function someAddress(family: 'bitcoin' | 'evm'): string {
  const hex = randomBytes(20).toString('hex');
  // Base58 of random bytes would need a checksum; the stub takes any bech32 alphabet.
  if (family === 'evm') return `0x${hex}`;
  const alphabet = '023456789acdefghjklmnpqrstuvwxyz';
  return `bcrt1q${[...randomBytes(32)].map((byte) => alphabet[byte % 32]).join('')}`;
}

async function newTrader(
  app: FastifyInstance,
  deps: TestDeps,
  options: TraderOptions = {},
): Promise<Trader> {
  const { scopes = ['read', 'taker', 'maker'] } = options;
  const wallets = options.wallets ?? [
    { family: 'bitcoin', address: someAddress('bitcoin') },
    { family: 'evm', address: someAddress('evm') },
  ];
  const { accountId, key } = await insertTrader(deps, scopes, wallets);
  const request = async (options: InjectOptions): Promise<Answer> => {
    const headers = { authorization: `Bearer ${key}`, ...options.headers };
    const reply = await app.inject({ ...options, headers });
    const code = reply.headers['x-parley-error'];
    return {
      status: reply.statusCode,
      code: typeof code === 'string' ? code : null,
      body: reply.body === '' ? null : reply.json(),
    };
  };
  return {
    accountId,
    key,
    get: (url) => request({ method: 'GET', url }),
    post: (url, body, headers = {}) =>
      request({
        method: 'POST',
        url,
        headers,
        ...(body === undefined ? {} : { payload: body as object }),
      }),
  };
}

/** An account with wallets and a key, straight into the database. */
export async function insertTrader(
  deps: Pick<TestDeps, 'db' | 'now' | 'randomBytes'>,
  scopes: readonly Scope[],
  wallets: NonNullable<TraderOptions['wallets']>,
): Promise<{ accountId: string; key: string }> {
  const now = deps.now();
  const at = new Date(now);
  const accountId = uuidv7(now, deps.randomBytes);
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const key = `parley_test_${[...randomBytes(43)].map((byte) => alphabet[byte % 62]).join('')}`;
  await deps.db.rows({
    name: 'test_account',
    text: `insert into accounts (id, kind, created_at) values ($1, 'wallet', $2)`,
    values: [accountId, at],
  });
  for (const { family, address, standing = 'login' } of wallets) {
    await deps.db.rows({
      name: 'test_wallet',
      text: `insert into wallets (account_id, family, address, standing, proven_at)
        values ($1, $2, $3, $4, $5)`,
      values: [accountId, family, address, standing, at],
    });
  }
  await deps.db.rows({
    name: 'test_key',
    text: `insert into api_keys (id, account_id, hash, prefix, scopes, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      uuidv7(now, deps.randomBytes),
      accountId,
      hash('sha256', key, 'buffer'),
      key.slice(0, 18),
      scopes,
      at,
      new Date(now + 90 * 86_400_000),
    ],
  });
  return { accountId, key };
}
