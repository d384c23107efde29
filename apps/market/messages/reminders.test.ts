// The reminders of each party, on both sides of each boundary, and each only once.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { insertEscrow, termsOf } from '../db/escrows.ts';
import { insertAccount } from '../settle/testing/account.ts';
import { shows } from '../settle/testing/states.ts';
import { createReminding, type Reminding } from './reminders.ts';
import { addLogins, forgetMessages, someAddress } from './testing/people.ts';
import { type Market, openSwaps } from './testing/swaps.ts';

let database: TestDatabase;
let market: Market;
let reminding: Reminding;
const start = Date.now();

before(async () => {
  database = await testDatabase();
  market = await openSwaps(database.db);
  reminding = createReminding(market.deps);
});
beforeEach(async () => {
  market.deps.freeze(start);
  await forgetMessages(database.db);
  await market.clock(0);
  // Swaps of another test are over.
  await database.db.rows({
    name: '',
    text: `update swaps set status = 'over', done = true`,
    values: [],
  });
  await database.db.rows({ name: '', text: 'update escrows set done = true', values: [] });
});
after(() => database.drop());

/** Moves the market's clock there; Unix seconds. */
const at = (seconds: number) => market.deps.freeze(seconds * 1_000);

type Told = { readonly account_id: string; readonly payload: Readonly<Record<string, unknown>> };

/** The reminders of one pass: account, kind, leg and deadline. */
async function look(by: Reminding = reminding): Promise<string[]> {
  const count = await by.deadlines();
  const rows = await database.db.rows<Told>({
    name: '',
    text: `delete from outbox where topic = 'swap.reminder' returning account_id, payload`,
    values: [],
  });
  assert.equal(rows.length, count);
  return rows.map(({ account_id, payload: { kind, leg, deadline } }) =>
    [account_id, kind, leg, deadline].join(' '),
  );
}

const line = (account: string, kind: string, leg: string, deadline: number) =>
  [account, kind, leg, deadline].join(' ');
/** The second pass. */
const never = async () => assert.deepEqual(await look(), []);

for (const [what, shown, who, kind, on, by] of [
  ['the first funder is reminded', {}, 'initiator', 'fund_by', 'long', 'initiatorFundBy'],
  [
    'the second funder is reminded, once the other leg is funded,',
    { long: shows.funded },
    ...(['counterparty', 'fund_by', 'short', 'counterpartyFundBy'] as const),
  ],
  [
    'the holder of the secret is reminded to reveal, with both legs funded,',
    { long: shows.funded, short: shows.funded },
    ...(['initiator', 'reveal_by', 'short', 'revealBy'] as const),
  ],
] as const) {
  test(`${what} when half an hour is left, once, and nobody else`, async () => {
    const made = await market.agree();
    const deadline = made.swap.state.deadlines[by];
    const facts = Object.entries(shown).map(([leg, each]) => [made[leg as 'long'], each]);
    if (kind === 'fund_by' && on === 'short') {
      at(deadline - 1_800);
      await never();
    }
    await market.show(made, Object.fromEntries(facts));
    at(deadline - 1_801);
    await never();
    at(deadline - 1_800);
    assert.deepEqual(await look(), [line(made[who], kind, made[on], deadline)]);
    await never();
    at(deadline + (kind === 'reveal_by' ? 1 : 0));
    await never();
  });
}

test('a party with its first chance at the last moment is still reminded, and not after it', async () => {
  const { swap } = await market.agree();
  const { initiatorFundBy } = swap.state.deadlines;
  at(initiatorFundBy + 1);
  await never();
  at(initiatorFundBy);
  assert.equal((await look()).length, 1);
});

test('where the time is short a party is reminded at its half', async () => {
  const { swap, initiator, long } = await market.agree();
  const { initiatorFundBy } = swap.state.deadlines;
  const text = 'update swaps set agreed_at = $2 where id = $1';
  await database.db.rows({ name: '', text, values: [swap.id, initiatorFundBy - 1_000] });
  at(initiatorFundBy - 501);
  await never();
  at(initiatorFundBy - 500);
  assert.deepEqual(await look(), [line(initiator, 'fund_by', long, initiatorFundBy)]);
});

test('who funded is told of the refund when its chain’s clock passes the timelock, not ours', async () => {
  const made = await market.agree();
  const { a, b } = made.swap.state.legs;
  const [short, long] = made.short === 'a' ? [a.timelock, b.timelock] : [b.timelock, a.timelock];
  await market.show(made, { [made.long]: shows.funded, [made.short]: shows.funded });
  at(long + 10_000);
  await market.clock(short - 1);
  await never();
  await market.clock(short);
  assert.deepEqual(await look(), [line(made.counterparty, 'refund_possible', made.short, short)]);
  await never();
  await market.clock(long - 1);
  await never();
  await market.clock(long);
  assert.deepEqual(await look(), [line(made.initiator, 'refund_possible', made.long, long)]);
  await never();
});

test('money in an escrow that a leg moved off is told of too', async () => {
  const made = await market.agree();
  const [row] = await database.db.rows<{ chain: string; terms: Parameters<typeof termsOf>[0] }>({
    name: '',
    text: 'select chain, terms from escrows where swap_id = $1 and leg = $2',
    values: [made.swap.id, made.long],
  });
  assert.ok(row !== undefined);
  await insertEscrow(database.db, {
    chain: row.chain,
    address: `0x${'f0'.repeat(19)}${made.swap.id.slice(-2)}`,
    swapId: made.swap.id,
    leg: made.long,
    terms: termsOf(row.terms),
    redeemScript: null,
    facts: shows.funded,
    at: new Date(),
  });
  const { timelock } = made.swap.state.legs[made.long];
  at(timelock);
  await market.clock(timelock);
  assert.deepEqual(await look(), [line(made.initiator, 'refund_possible', made.long, timelock)]);
});

test('a person without a channel is not reminded, and is when there is one', async () => {
  const { swap, initiator } = await market.agree();
  const text = 'delete from logins where account_id = $1';
  await database.db.rows({ name: '', text, values: [initiator] });
  at(swap.state.deadlines.initiatorFundBy - 60);
  await never();
  await addLogins(market.deps, initiator, { chats: ['77'] });
  await database.db.rows({
    name: '',
    text: 'update logins set chat_ended_at = now() where account_id = $1',
    values: [initiator],
  });
  await never();
  await addLogins(market.deps, initiator, { email: [someAddress()] });
  assert.equal((await look()).length, 1);
});

const day = 86_400_000;

async function newKey(life: number, email: readonly string[]): Promise<string> {
  const { accountId } = await insertAccount(market.deps, []);
  await addLogins(market.deps, accountId, { email });
  const values = [accountId, new Date(start), new Date(start + life)];
  const text = 'update api_keys set created_at = $2, expires_at = $3 where account_id = $1';
  await database.db.rows({ name: '', text, values });
  return accountId;
}

async function lookAtKeys(): Promise<string[]> {
  await reminding.keys();
  const text = `delete from outbox where topic = 'key.expiring' returning account_id, payload`;
  const rows = await database.db.rows<Told>({ name: '', text, values: [] });
  for (const { payload } of rows) {
    assert.deepEqual(Object.keys(payload).sort(), ['expiresAt', 'keyId', 'name', 'prefix']);
  }
  return rows.map(({ account_id }) => account_id);
}

test('the end of a key is told two weeks before, once, to who is reached', async () => {
  const accountId = await newKey(90 * day, [someAddress()]);
  await newKey(90 * day, []);
  const revoked = await newKey(90 * day, [someAddress()]);
  const text = 'update api_keys set revoked_at = now() where account_id = $1';
  await database.db.rows({ name: '', text, values: [revoked] });
  market.deps.freeze(start + 76 * day - 1);
  assert.deepEqual(await lookAtKeys(), []);
  market.deps.freeze(start + 76 * day);
  assert.deepEqual(await lookAtKeys(), [accountId]);
  assert.deepEqual(await lookAtKeys(), []);
});
