// What messages and reminders are found by: their work grows with what is due.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import type { Statement, Tx } from './database.ts';
import { claimMessages, messagesWait, pruneMessages, takePeopleEvents } from './messages.ts';
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
    await ask(note);
    const { text, values } = asked[0] ?? assert.fail();
    const explained = { name: '', text: `explain (format json) ${text}`, values };
    const plan = JSON.stringify(await database.db.rows(explained));
    for (const index of indexes) assert.match(plan, new RegExp(`"${index}"`), plan);
  });
}
