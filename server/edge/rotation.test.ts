// The server's key is replaced while stored replies and cursors of the old one are about: a server
// started with both, then with the new one alone, on the same database.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import Type from 'typebox';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { testDeps } from '../../test/support/deps.ts';
import { insertTrader, someAddress } from '../../test/support/trading.ts';
import { connect } from '../db/database.ts';
import { seedAssets } from '../market/assets.ts';
import { buildApp } from './app.ts';
import { command } from './command.ts';
import { type Call, caller } from './testing/edge.ts';

const [old, fresh] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')] as const;

let database: TestDatabase;
let key: string;
let assets: readonly string[];
let runs = 0;

before(async () => {
  database = await testDatabase();
  const deps = testDeps({ db: database.db });
  const wallets = (['bitcoin', 'evm'] as const).map((family) => ({
    family,
    address: someAddress(family),
  }));
  key = (await insertTrader(deps, ['taker'], wallets)).key;
  const seeded = await seedAssets(database.db, deps, [
    { chain: 'bitcoin', symbol: 'BTC', address: null, decimals: 8 },
    { chain: 'evm-dev', symbol: 'ETH', address: null, decimals: 18 },
  ]);
  assets = seeded.map(({ id }) => id);
});
after(() => database.drop());

/** A server started with these keys, for as long as the work takes. */
async function serving(encryptionKey: string, work: (call: Call) => Promise<void>): Promise<void> {
  const db = connect(database.url);
  const deps = testDeps({ db, settings: { encryptionKey } });
  const app = await buildApp(deps, {
    register: (own) =>
      command({ app: own, deps, tag: 'test' }, 'POST /v1/sealed', 'test', {
        about: 'test',
        replies: { 200: Type.Object({ run: Type.Integer() }) },
        secret: true,
        run: async () => {
          runs += 1;
          return { status: 200, body: { run: runs } };
        },
      }),
  });
  try {
    await work(caller(app));
  } finally {
    await app.close();
    await db.close();
  }
}

const sealed = (call: Call, name: string) =>
  call('POST', '/v1/sealed', { key, headers: { 'idempotency-key': name } });

async function versions(): Promise<number[]> {
  const rows = await database.db.rows<{ version: number }>({
    name: 'test_versions',
    text: 'select distinct key_version as version from idempotency',
    values: [],
  });
  return rows.map(({ version }) => version);
}

test('a stored reply outlives the replacement of its key, and is refused, not run, without it', async () => {
  await serving(old, async (call) => {
    assert.deepEqual((await sealed(call, 'first')).body, { run: 1 });
  });
  await serving(`${fresh},${old}`, async (call) => {
    const replayed = await sealed(call, 'first');
    assert.deepEqual(
      [replayed.body, replayed.headers['idempotency-replayed']],
      [{ run: 1 }, 'true'],
    );
    assert.deepEqual((await sealed(call, 'second')).body, { run: 2 });
    assert.equal((await versions()).length, 2);
  });
  await serving(fresh, async (call) => {
    assert.deepEqual((await sealed(call, 'second')).body, { run: 2 });
    for (let tries = 0; tries < 2; tries += 1) {
      const refused = await sealed(call, 'first');
      assert.deepEqual([refused.status, refused.headers['x-parley-error']], [409, 'reply_sealed']);
      assert.equal(refused.headers['idempotency-replayed'], undefined);
      assert.match(refused.body.error, /status 200.*nothing was run again/);
    }
    assert.equal(runs, 2);
  });
  // Nothing is lost: the old key brought back shows the reply again.
  await serving(`${fresh},${old}`, async (call) => {
    assert.deepEqual((await sealed(call, 'first')).body, { run: 1 });
  });
});

test('a list goes on where it was while its key is replaced, and not after', async () => {
  const next = async (call: Call, cursor: string | null) => {
    const at = cursor === null ? '' : `&cursor=${cursor}`;
    return call('GET', `/v1/rfqs?limit=1${at}`, { key });
  };
  let cursor = '';
  await serving(old, async (call) => {
    for (let count = 0; count < 3; count += 1) {
      const body = {
        direction: 'sell_base',
        baseAssetId: assets[0],
        baseAmount: '100000',
        quoteAssetId: assets[1],
        ttlSeconds: 600,
      };
      assert.equal((await call('POST', '/v1/rfqs', { key, body })).status, 201);
    }
    cursor = (await next(call, null)).body.nextCursor;
  });
  await serving(`${fresh},${old}`, async (call) => {
    const { status, body } = await next(call, cursor);
    assert.equal(status, 200);
    assert.equal(body.rfqs.length, 1);
    assert.equal((await next(call, body.nextCursor)).status, 200);
  });
  await serving(fresh, async (call) => {
    const refused = await next(call, cursor);
    assert.deepEqual([refused.status, refused.headers['x-parley-error']], [400, 'bad_cursor']);
  });
});
