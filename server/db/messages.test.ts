// Messages that are taken in hand.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { insertAccount } from './accounts.ts';
import type { Tx } from './database.ts';
import { claimMessages, insertMessages } from './messages.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.drop());

const now = new Date();
const id = '0193b5a0-0000-7000-8000-000000000000';

test('what one process takes in hand no other does, nor waits for it: codes and all else', async () => {
  const { db } = database;
  const accountId = '0193b5a0-0000-7000-8000-00000000000a';
  await insertAccount(db, { id: accountId, kind: 'browser', createdAt: now });
  const sealed = { channel: 'email', loginId: null, sealed: Buffer.of(1), keyVersion: 1 } as const;
  const ids = ['b', 'c', 'd', 'e'].map((each) => id.slice(0, -1) + each);
  const messages = ids.map((each, at) => ({
    ...sealed,
    id: each,
    accountId: at < 2 ? null : accountId,
    event: 'any',
  }));
  await insertMessages(db, messages, now);
  const until = new Date(now.getTime() + 1);
  const take = async (tx: Tx, room: number) =>
    (await claimMessages(tx, { channel: 'email', now, until, room })).map((each) => each.id).sort();
  await db.transaction(async (tx) => {
    assert.deepEqual(await take(tx, 1), [ids[0]]);
    assert.deepEqual(await take(db, 2), [ids[1], ids[2]], 'codes first');
    assert.deepEqual(await take(db, 9), [ids[3]]);
    assert.deepEqual(await take(db, 9), []);
  });
  await db.transaction(async (tx) => {
    const later = { channel: 'email', now: until, until: new Date(until.getTime() + 1) } as const;
    assert.equal((await claimMessages(tx, { ...later, room: 4 })).length, 4);
    assert.deepEqual(await claimMessages(db, { ...later, room: 4 }), []);
  });
});
