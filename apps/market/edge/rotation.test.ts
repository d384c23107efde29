// The server's key is replaced while stored replies and cursors of the old one are about: a server
// started with both, then with the new one alone, on the same database.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { testDatabase } from '@parley/verify/test/support/database.ts';
import { testDeps } from '@parley/verify/test/support/deps.ts';
import { insertTrader } from '@parley/verify/test/support/trading.ts';
import Type from 'typebox';
import { connect } from '../db/database.ts';
import { buildApp } from './app.ts';
import { command } from './command.ts';
import { type Call, caller } from './testing/edge.ts';

const old = randomBytes(32).toString('hex');
const fresh = randomBytes(32).toString('hex');
const database = await testDatabase();
after(() => database.drop());
const { key } = await insertTrader(testDeps({ db: database.db }), ['read'], []);
let runs = 0;

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

// The rotation of cursors is in cursor.test.ts.
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
  // The reply is not lost: the old key brought back shows the reply again.
  await serving(`${fresh},${old}`, async (call) => {
    assert.deepEqual((await sealed(call, 'first')).body, { run: 1 });
  });
});
