// What messages and reminders are found by: their work grows with what is due.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { insertAccount } from './accounts.ts';
import type { Statement, Tx } from './database.ts';
import {
  claimMessages,
  insertMessages,
  messagesWait,
  pruneMessages,
  takePeopleEvents,
} from './messages.ts';
import * as reminders from './reminders.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.drop());

const now = new Date();
const id = '0193b5a0-0000-7000-8000-000000000000';
const page = { now: 1, lead: 1, after: { swapId: id, accountId: id }, limit: 1 };
const claim = { channel: 'email', now, until: now, room: 1 } as const;

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

const found: readonly (readonly [string, (tx: Tx) => Promise<unknown>, readonly string[]])[] = [
  ['what waits', (tx) => messagesWait(tx, now), ['outbox_people', 'messages_due']],
  ['events', (tx) => takePeopleEvents(tx, 1), ['outbox_people']],
  ['what is due', (tx) => claimMessages(tx, claim), ['codes_due', 'messages_due']],
  ['old ones', (tx) => pruneMessages(tx, now, 1), ['messages_done']],
  ['first fundings', (tx) => reminders.nearFirstFunding(tx, page), ['swaps_to_fund_first']],
  ['second fundings', (tx) => reminders.nearSecondFunding(tx, page), ['swaps_to_fund_second']],
  ['reveals', (tx) => reminders.nearRevealing(tx, page), ['swaps_to_reveal']],
  ['claims', (tx) => reminders.claimable(tx, page), ['swaps_revealed', 'logins_by_account']],
  ['refunds', (tx) => reminders.refundable(tx, page), ['escrows_refundable']],
  [
    'keys',
    (tx) => reminders.takeExpiringKeys(tx, { now, until: now, lifeMs: 1, limit: 1 }),
    ['live_keys_by_expiry'],
  ],
];

for (const [what, ask, indexes] of found) {
  test(`${what}: found by an index of their own`, async () => {
    const asked: Statement[] = [];
    const note: Tx = {
      rows: async (statement) => {
        asked.push(statement);
        return [];
      },
    };
    // Some want a row.
    await ask(note).catch(() => {});
    const { text, values } = asked[0] ?? assert.fail();
    const explained = { name: '', text: `explain (format json) ${text}`, values };
    const plan = JSON.stringify(await database.db.rows(explained));
    for (const index of indexes) assert.match(plan, new RegExp(`"${index}"`), plan);
  });
}
