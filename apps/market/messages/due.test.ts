// The reminders of a party, as a rule by itself, and the candidates that are read for it at all.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { EscrowFacts } from '@parley/core/facts.ts';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { claimable, refundable } from '../db/reminders.ts';
import type { Swap } from '../db/swaps.ts';
import { type Show, shows } from '../settle/testing/states.ts';
import { dueOf } from './due.ts';
import { type Agreed, type Market, openSwaps } from './testing/swaps.ts';
import type { ReminderKind } from './texts.ts';

let database: TestDatabase;
let market: Market;
let made: Agreed;
before(async () => {
  database = await testDatabase();
  market = await openSwaps(database.db);
  made = await market.agree();
});
after(() => database.drop());

const { secret } = shows.claimed;

/** The swap with its legs showing this, and all clocks at an instant. */
function shown(long: EscrowFacts, short: EscrowFacts, isPublic: boolean, clock: number): Swap {
  const { swap } = made;
  const { a, b } = swap.state.legs;
  const factsOf = (leg: typeof a) => ({ ...leg, facts: leg.long ? long : short });
  const legs = { a: factsOf(a), b: factsOf(b) };
  const state = { ...swap.state, legs, secret: isPublic ? secret : null };
  return { ...swap, state, chainClocks: { a: clock, b: clock } };
}

type Kinds = readonly ReminderKind[];

/** The reminders of each side then. */
function kindsOf(swap: Swap, now: number): Record<'initiator' | 'counterparty', Kinds> {
  const all = ['fund_by', 'reveal_by', 'claim_now', 'refund_possible'] as const;
  const of = (account: string) =>
    all.filter((kind) => dueOf(swap, account, kind, now * 1_000) !== null);
  return { initiator: of(made.initiator), counterparty: of(made.counterparty) };
}

const cases: readonly (readonly [Show, Show, boolean, Kinds, Kinds])[] = [
  ['nothing', 'nothing', false, ['fund_by'], []],
  ['seen', 'nothing', false, [], []],
  ['funded', 'nothing', false, [], ['fund_by']],
  ['funded', 'seen', false, [], []],
  ['funded', 'funded', false, ['reveal_by'], []],
  ['funded', 'funded', true, ['claim_now'], ['claim_now']],
  ['funded', 'claiming', true, [], ['claim_now']],
  ['funded', 'claimed', true, [], ['claim_now']],
  ['claiming', 'claiming', true, [], []],
  ['claiming', 'claimed', true, [], []],
  ['claimed', 'claimed', true, [], []],
];

for (const [long, short, isPublic, initiator, counterparty] of cases) {
  const words = `${long}, ${short}${isPublic ? ', secret public' : ''}`;
  test(`${words}: ${initiator.join() || 'nothing'} / ${counterparty.join() || 'nothing'}`, () => {
    const now = made.swap.agreedAt + 10;
    const swap = shown(shows[long], shows[short], isPublic, now);
    assert.deepEqual(kindsOf(swap, now), { initiator, counterparty });
  });
}

test('a refund is told of from the timelock on by its chain’s clock, while money is there', () => {
  const { a, b } = made.swap.state.legs;
  const { timelock } = a.long ? b : a;
  const of = (facts: EscrowFacts, clock: number) =>
    dueOf(
      shown(shows.nothing, facts, false, clock),
      made.counterparty,
      'refund_possible',
      (timelock + 90) * 1_000,
    );
  assert.equal(of(shows.funded, timelock - 1), null);
  assert.deepEqual([of(shows.funded, timelock)?.deadline], [timelock]);
  assert.equal(of(shows.refunding, timelock), null);
  assert.equal(of({ ...shows.claimed, balance: 5n, empty: false }, timelock), null);
});

test('a stranger is reminded of nothing', () => {
  assert.equal(dueOf(made.swap, 'somebody else', 'fund_by', market.deps.now()), null);
});

const page = {
  now: 0,
  lead: 0,
  after: {
    swapId: '00000000-0000-0000-0000-000000000000',
    accountId: '00000000-0000-0000-0000-000000000000',
  },
  limit: 10,
};

test('a seen claim, or a refund whose time has not come, reminds nobody', async () => {
  const { db } = database;
  const accounts = async (find: typeof claimable) =>
    (await find(db, page)).map(({ accountId }) => accountId);
  await market.show(made, { [made.long]: shows.funded, [made.short]: shows.claiming }, secret);
  assert.deepEqual(await accounts(claimable), [made.counterparty]);
  const { timelock } = made.swap.state.legs[made.long];
  await market.clock(timelock - 1);
  assert.deepEqual(await accounts(refundable), []);
  await market.clock(timelock);
  assert.deepEqual(await accounts(refundable), [made.initiator]);
  await market.show(made, { [made.long]: { ...shows.claimed, balance: 5n } });
  assert.deepEqual(await accounts(refundable), []);
});
