// Knowledge of the nonces that a gas key has signed with.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { lacksTimeSince } from '@parley/market/db/watched.ts';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { noncesKnown } from './attempts.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database?.drop());

const sql = (text: string) => database.db.rows({ name: '', text, values: [] });
const sign = (address: string, nonce: number, at: string, outcome: 'deep' | 'unknown' = 'deep') =>
  sql(`insert into keeper_attempts (chain, address, verb, txid, nonce, offer, most_cost, charged,
    signed_at, fate) values ('evm', '${address}', 'void', '${address} ${nonce}', ${nonce}, 1, 1, 1,
    '${at}', '${outcome}')`);

test("a key's nonces are bounded by its own final ones, not by those it signs while a node catches up", async () => {
  await sign('put back', 4, '2031-01-01');
  await sql(`insert into gaps (why, began_at, ended_at)
    values ('lineage', '2031-01-02', '2031-01-02')`);
  await sign('between', 9, '2031-01-03');
  await sign('caught up', 4, '2031-01-01');
  await sign('caught up', 9, '2031-01-03', 'unknown');
  await sign('fresh', 2, '2031-01-03', 'unknown');
  const known = (address: string) => noncesKnown(database.db, 'evm', address);
  const day = (on: number) => new Date(Date.UTC(2031, 0, on));
  assert.deepEqual(await known('put back'), { aboveDeep: 5, deepAt: day(1), aboveSigned: 5 });
  assert.deepEqual(await known('between'), { aboveDeep: 10, deepAt: day(3), aboveSigned: 10 });
  assert.deepEqual(await known('caught up'), { aboveDeep: 5, deepAt: day(1), aboveSigned: 10 });
  assert.deepEqual(await known('fresh'), { aboveDeep: null, deepAt: null, aboveSigned: 3 });
  assert.deepEqual(await known('nobody'), { aboveDeep: null, deepAt: null, aboveSigned: 0 });
  // The newest that is deep tells since when time may be missing.
  assert.equal(await lacksTimeSince(database.db, day(1)), true);
  assert.equal(await lacksTimeSince(database.db, day(3)), false);
});
