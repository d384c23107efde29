// How accounts kept what they agreed to: the count, its audience, the makers that an RFQ refuses,
// and how many swaps one may agree to and not fund.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { unfundedOf } from '../db/agreements.ts';
import type { Database } from '../db/database.ts';
import { refused } from '../edge/testing/edge.ts';
import { negotiating, price, secretLock } from '../edge/testing/negotiating.ts';
import { accept } from './agreement.ts';
import { recount } from './standing.ts';
import { untilBlocked } from './testing/blocked.ts';
import { placesOf } from './unfunded.ts';

const market = await negotiating({ settings: { unfundedSwaps: 2 } });
const { taker, deps, sql } = market;
const dayMs = 86_400_000;
// No midnight comes by itself.
deps.freeze();
/** An hour past the next midnight. */
const tomorrow = () => deps.advance(dayMs - (deps.now() % dayMs) + 3_600_000);

const named = `update legs set escrow = swap_id || leg, payout_address = 'p', refund_address = 'r'
  where swap_id = $1`;
const planned = `insert into escrows (chain, address, swap_id, leg, terms, facts, created_at)
  select l.chain, l.escrow, l.swap_id, l.leg, '{}', '{"funded": null}', s.created_at
  from legs l join swaps s on s.id = l.swap_id where s.id = $1`;
const fund = (leg: 'a' | 'b', seconds: number) =>
  `update escrows set facts = facts || '{"funded": {"deep": true}}', funding_deep_at = created_at,
    funding_seen_at = created_at + interval '${seconds} seconds'
    where swap_id = $1 and leg = '${leg}'`;

/** A swap of two traders, of whom the first asked and gives bitcoin, which is long. */
async function swapped(
  [own, other]: readonly (typeof taker)[],
  status: string,
  ...changes: string[]
): Promise<string> {
  const { id } = await market.rfq({}, own);
  const quoted = (await market.quote(other!, id)).body.thread.id;
  await market.accept(own!, quoted, { hashlock: secretLock() });
  const { swap } = (await market.accept(other!, quoted)).body;
  await sql('update swaps set status = $2 where id = $1', swap.id, status);
  for (const text of [named, planned, ...changes]) await sql(text, swap.id);
  return swap.id;
}

const counts = ({ agreed, settled, abandoned, refunded, medianFundSeconds }: Counts) => ({
  agreed,
  settled,
  abandoned,
  refunded,
  medianFundSeconds,
});
type Counts = Record<
  'agreed' | 'settled' | 'abandoned' | 'refunded' | 'medianFundSeconds',
  number | null
>;
const none = { agreed: 0, settled: 0, abandoned: 0, refunded: 0, medianFundSeconds: null };

test('an account’s standing counts whole days that are over, and what was its own to do', async () => {
  // Not within half an hour of a midnight, which cuts off the time to react.
  tomorrow();
  const own = await market.trader();
  const other = await market.trader();
  const third = await market.trader();
  const { id } = await market.rfq({}, own);
  const open = (await market.quote(other, id)).body.thread.id as string;
  const record = async (by: typeof taker) => (await by.get(`/v1/threads/${open}/record`)).body;
  refused(await third.get(`/v1/threads/${open}/record`), '404 unknown_thread');
  const today = await record(own);
  assert.deepEqual(counts(today), none);
  assert.equal(today.accountId, other.accountId);
  assert.equal((await record(other)).accountId, own.accountId);
  assert.equal(Date.parse(today.since) % dayMs, 0);
  const both = [own, other];
  const unnamed = (by: 'a' | 'b') =>
    `update legs set escrow = null, refund_address = null where swap_id = $1 and leg = '${by}'`;
  const unpaid = (leg: 'a' | 'b') => `update legs set escrow = null, payout_address = null
    where swap_id = $1 and leg = '${leg}'`;
  for (const seconds of [30, 50, 90]) {
    await swapped(both, 'counterparty_claimed', fund('b', seconds), fund('a', 2 * seconds));
  }
  await swapped([own, third], 'counterparty_claimed');
  await swapped(both, 'expired'); // The initiator did not fund.
  await swapped(both, 'expired', unnamed('b'));
  await swapped(both, 'expired', unpaid('b')); // The other side did not say where it is paid.
  await swapped(both, 'refunded', fund('b', 50)); // The other side did not fund.
  await swapped(both, 'refunded', fund('b', 50), fund('a', 100)); // No secret was shown.
  // The initiator did not say where it is paid, so the other side could not fund.
  await swapped(both, 'refunded', fund('b', 50), unpaid('a'));
  const passed = (deadline: string, by: number) =>
    `update swaps set ${deadline} = agreed_at / 86400 * 86400 + 86400 - ${by} where id = $1`;
  // Money is still locked, and it is known already through whom.
  const revealable = [fund('b', 50), fund('a', 100), passed('reveal_by', 1)];
  await swapped(both, 'counterparty_funded', ...revealable);
  const stillInTime = passed('reveal_by', 0);
  await swapped(both, 'counterparty_funded', ...revealable.slice(0, 2), stillInTime);
  const high = await swapped(both, 'half_settled', fund('b', 50));
  await sql(
    `update assets set high_value_from = 500000 where id =
      (select asset_id from legs where swap_id = $1 and leg = 'b')`,
    high,
  );
  await sql(`update legs set amount = 500000 where swap_id = $1 and leg = 'b'`, high);
  await swapped(both, 'initiator_funded', fund('b', 50), passed('counterparty_fund_by', 1));
  assert.deepEqual(counts(await record(other)), none);
  tomorrow();
  const mine = await record(other);
  const theirs = await record(own);
  assert.deepEqual(counts(mine), {
    agreed: 2,
    settled: 2,
    abandoned: 5,
    refunded: 4,
    medianFundSeconds: 50,
  });
  assert.deepEqual(counts(theirs), {
    agreed: 1,
    settled: 1,
    abandoned: 3,
    refunded: 4,
    medianFundSeconds: 100,
  });
  assert.deepEqual(mine.high, { agreed: 1, settled: 0, abandoned: 0, refunded: 1 });
  assert.equal(Date.parse(mine.countedUntil), Math.floor(deps.now() / dayMs) * dayMs);
  assert.equal(Date.parse(mine.countedUntil) - Date.parse(mine.countedFrom), 29 * dayMs);
  // It goes with what the account asks and quotes, for all who see that.
  const posted = await market.rfq({}, own);
  const { accountId: _, since: __, ...standing } = mine;
  assert.deepEqual(posted.creatorStanding, standing);
  const quoted = (await market.quote(other, posted.id)).body.thread;
  const { settled } = quoted.makerStanding;
  assert.deepEqual([quoted.rfq.creatorStanding, settled], [standing, theirs.settled]);
  deps.advance(30 * dayMs);
  const thread = (await own.get(`/v1/threads/${open}`)).body;
  assert.deepEqual(
    [counts(thread.makerStanding), counts(thread.rfq.creatorStanding)],
    [none, none],
  );
});

test('an account is counted once a day, by all who wait together, and again after a failure', async () => {
  const names: string[] = [];
  let fails = true;
  let gate = Promise.resolve();
  const rows: Database['rows'] = async ({ name, values }) => {
    if (name === 'standings_count') names.push(...values.filter(Array.isArray).flat());
    if (fails) throw new Error('the connection was lost');
    await gate;
    return [];
  };
  const db = { ...market.db, rows };
  const counts = (ids: readonly string[], nowMs: number) =>
    Promise.allSettled(ids.map((id) => recount(db, [id], nowMs)));
  const morning = 2 * dayMs;
  const evening = 3 * dayMs - 1;
  const lost = await counts(['a', 'b', 'a'], morning);
  assert.ok(lost.every(({ status }) => status === 'rejected'));
  fails = false;
  await counts(['a', 'b', 'a'], morning);
  await counts(['a', 'b'], evening);
  assert.deepEqual(names, ['a', 'b', 'a', 'b']);
  const { promise, resolve: open } = Promise.withResolvers<void>();
  gate = promise;
  const first = counts(['a'], evening + 1);
  await waitUntil(() => names.length === 5);
  const joined = counts(['a'], evening + 1);
  await new Promise(setImmediate);
  open();
  await Promise.all([first, joined]);
  // A request that began before midnight finds what was counted since.
  await counts(['a'], evening);
  assert.deepEqual(names.slice(4), ['a']);
  // A process remembers 20 000 accounts.
  const many = Array.from({ length: 19_999 }, (_, at) => `${at}`);
  for (let from = 0; from < many.length; from += 5_000) {
    await counts(many.slice(from, from + 5_000), evening + 1);
  }
  await counts(['a'], evening + 1);
  assert.equal(names.length, 5 + many.length);
  await counts(['one more'], evening + 1);
  await counts(['a'], evening + 1);
  assert.deepEqual(names.slice(5 + many.length), ['one more', 'a']);
  // A clock that was set far ahead and back: no count lasts until then.
  await counts(['a'], 99 * dayMs);
  names.length = 0;
  await counts(['a'], evening + 1);
  assert.deepEqual(names, ['a']);
});

test('an account has not abandoned what the other side kept from it until it was too late', async () => {
  const late = (by: 'maker' | 'taker') => `update swaps set named_late_by = '${by}' where id = $1`;
  const deepAt = (leg: 'a' | 'b', seconds: string) => `update escrows e
    set funding_deep_at = to_timestamp(${seconds} + 1) from swaps s
    where s.id = $1 and e.swap_id = s.id and e.leg = '${leg}'`;
  const unplanned = `update legs set escrow = null, refund_address = null
    where swap_id = $1 and leg = 'a'`;
  // The first asks, is the taker and the initiator, and funds leg b.
  for (const [status, changes, ofInitiator, ofOther] of [
    ['expired', [late('maker')], 0, 1],
    ['expired', [late('taker')], 1, 0],
    ['expired', [unplanned], 0, 1],
    ['refunded', [fund('b', 9), late('taker')], 1, 0],
    ['refunded', [fund('b', 9), late('maker')], 0, 1],
    ['refunded', [fund('b', 9), deepAt('b', 's.expires_at')], 0, 0],
    ['refunded', [fund('b', 9), fund('a', 9)], 1, 0],
    ['refunded', [fund('b', 9), fund('a', 9), deepAt('a', 's.reveal_by')], 0, 0],
  ] as const) {
    const both = [await market.trader(), await market.trader()] as const;
    await swapped(both, status, ...changes);
    const until = Math.floor(deps.now() / 1_000) + 1;
    const of = { from: until - 86_400, until, limit: 200 };
    const ids = both.map(({ accountId }) => accountId);
    const found = await unfundedOf(market.db, ids, of);
    const abandoned = ids.map((id) => found.find((each) => each.accountId === id)?.abandoned);
    assert.deepEqual(abandoned, [ofInitiator, ofOther], `${status} ${changes.join('\n')}`);
  }
  // Funded too late, which is not taken back for a day: it takes no place for so long.
  const both = [await market.trader(), await market.trader()] as const;
  const passed = 'update swaps set counterparty_fund_by = agreed_at - 1 where id = $1';
  const tooLate = [fund('b', 9), deepAt('b', 's.expires_at'), passed];
  await swapped(both, 'initiator_funded', ...tooLate);
  const until = Math.floor(deps.now() / 1_000) + 1;
  const of = { from: until - 86_400, until, limit: 200 };
  const [other] = await unfundedOf(market.db, [both[1].accountId], of);
  assert.deepEqual([other?.unfunded, other?.abandoned], [0, 0]);
});

test('an abandoned swap is counted however many were settled since', async () => {
  const both = [await market.trader(), await market.trader()] as const;
  await swapped(both, 'expired');
  for (let count = 0; count < 2; count += 1) await swapped(both, 'counterparty_claimed');
  const until = Math.floor(deps.now() / 1_000) + 1;
  const of = { from: until - 86_400, until, limit: 1 };
  const [found] = await unfundedOf(market.db, [both[0].accountId], of);
  assert.equal(found?.abandoned, 1);
});

test('an RFQ may want settled swaps of who quotes it, those of days that are over', async () => {
  const own = await market.trader();
  const maker = await market.trader();
  const other = await market.trader();
  await swapped([own, maker], 'counterparty_claimed');
  const rfq = await market.rfq({ minSettled: 2 });
  assert.equal(rfq.minSettled, 2);
  const listed = (await maker.get('/v1/rfqs')).body.rfqs;
  assert.equal(listed.find(({ id }: { id: string }) => id === rfq.id).minSettled, 2);
  tomorrow();
  await swapped([maker, other], 'counterparty_claimed');
  const wants = async () => {
    const { id } = await market.rfq({ minSettled: 2 });
    return market.quote(maker, id);
  };
  const early = await wants();
  refused(early, '403 too_few_settled');
  assert.match(early.body.error, /at least 2 settled swaps; yours has 1 of the 29 days before/);
  const { id } = await market.rfq({ minSettled: 1 });
  assert.equal((await market.quote(maker, id)).status, 201);
  tomorrow();
  const quoted = await wants();
  assert.equal(quoted.status, 201);
  // It is asked again at the acceptance: swaps of before count no more by then.
  const { rfqId, id: threadId } = quoted.body.thread;
  await sql(`update rfqs set expires_at = expires_at + interval '40 days' where id = $1`, rfqId);
  const take = (by: typeof taker, words: object) => market.accept(by, threadId, words);
  const hashlock = secretLock();
  deps.advance(28 * dayMs);
  const late = await take(taker, { hashlock });
  refused(late, '403 too_few_settled');
  assert.match(late.body.error, /at least 2 settled swaps; the maker’s has 1 of the 29 days/);
  for (const by of [own, other]) await swapped([maker, by], 'counterparty_claimed');
  tomorrow();
  const accepted = await take(taker, { hashlock });
  assert.equal(accepted.status, 200, JSON.stringify(accepted.body));
  for (const minSettled of [0, 1_001, 1.5, '2']) {
    refused(await taker.post('/v1/rfqs', market.wanted({ minSettled })), '400 bad_field');
  }
});

test('places for unfunded swaps are earned by settling, and lost by abandoning', () => {
  for (const [settled, abandoned, free, places] of [
    [0, 0, 5, 5] as const,
    [3, 0, 5, 5] as const,
    [4, 0, 5, 6] as const,
    [0, 1, 5, 3] as const,
    [0, 2, 5, 1] as const,
    [4, 9, 5, 1] as const,
    [379, 0, 5, 99] as const,
    [400, 0, 5, 100] as const,
    [0, 0, 1_000, 1_000] as const,
  ]) {
    assert.equal(placesOf({ settled, abandoned }, free), places, `${settled} ${abandoned} ${free}`);
  }
});

/** A thread that the first, who asked and is the initiator, has accepted. */
async function accepted([own, other]: readonly (typeof taker)[]): Promise<string> {
  const { id } = await market.rfq({}, own);
  const threadId = (await market.quote(other!, id)).body.thread.id;
  const { status, body } = await market.accept(own!, threadId, { hashlock: secretLock() });
  assert.equal(status, 200, JSON.stringify(body));
  return threadId;
}

test('an account with its places full of unfunded swaps agrees to none, as either side, and by no race', async () => {
  const own = await market.trader();
  const other = await market.trader();
  const third = await market.trader();
  const threads = [await accepted([own, other]), await accepted([own, third])] as const;
  const waiting = await accepted([own, third]);
  assert.equal((await market.accept(other, threads[0])).status, 200);
  // One place is left, and two acceptances want it.
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const first = market.db.transaction(async (tx) => {
    const words = { quoteAmount: BigInt(price), hashlock: null };
    await accept(tx, deps, third.accountId, threads[1], words);
    reached.resolve();
    await gate.promise;
  });
  first.catch(reached.resolve);
  await reached.promise;
  const second = market.accept(third, waiting);
  await untilBlocked(market.db, 1);
  gate.resolve();
  await first;
  const lost = await second;
  refused(lost, '409 too_many_unfunded');
  assert.match(lost.body.error, /^the other side has agreed to as many/);
  const { id } = await market.rfq({}, own);
  const quoted = (await market.quote(other, id)).body.thread.id;
  const full = await market.accept(own, quoted, { hashlock: secretLock() });
  refused(full, '409 too_many_unfunded');
  assert.match(
    full.body.error,
    /agreed to 2 swaps that it has not funded yet; it may have 2: 2, and/,
  );
  // A maker that funds second has a place less once the initiator has funded, and not before.
  const swapOf = async (id: string) => (await other.get(`/v1/threads/${id}`)).body.swapId;
  const toFund = [threads[0]];
  for (let count = 0; count < 2; count += 1) {
    toFund.push(await accepted([await market.trader(), other]));
    assert.equal((await market.accept(other, toFund.at(-1)!)).status, 200);
  }
  for (const each of toFund.slice(1)) {
    for (const text of [named, planned, fund('b', 9)]) await sql(text, await swapOf(each));
  }
  const more = await accepted([await market.trader(), other]);
  refused(await market.accept(other, more), '409 too_many_unfunded');
  await sql(fund('a', 9), await swapOf(toFund[1]!));
  assert.equal((await market.accept(other, more)).status, 200);
  // A funding that is seen frees the place of who made it.
  for (const text of [named, planned, fund('b', 9)]) await sql(text, await swapOf(threads[0]));
  assert.equal((await market.accept(own, quoted, { hashlock: secretLock() })).status, 200);
  // An abandoned swap takes a place for as long as it is counted.
  await sql(`update swaps set status = 'expired' where taker_id = $1`, own.accountId);
  await sql(
    `update legs set escrow = swap_id || leg, payout_address = 'p', refund_address = 'r'
    where swap_id in (select id from swaps where taker_id = $1)`,
    own.accountId,
  );
  const last = await accepted([own, third]);
  assert.equal((await market.accept(third, last)).status, 200);
  const { id: next } = await market.rfq({}, own);
  const late = (await market.quote(third, next)).body.thread.id;
  const gone = await market.accept(own, late, { hashlock: secretLock() });
  refused(gone, '409 too_many_unfunded');
  assert.match(gone.body.error, /it may have 1: .* less 2 for each of 2 abandoned/);
});

test('a taker that funds second has a place less from the agreement on, until nobody funds first', async () => {
  const own = await market.trader();
  const agreed = async () => {
    const maker = await market.trader();
    const { id } = await market.rfq({ direction: 'buy_base' }, own);
    const threadId = (await market.quote(maker, id)).body.thread.id;
    await market.accept(maker, threadId, { hashlock: secretLock() });
    return market.accept(own, threadId);
  };
  const first = await agreed();
  assert.deepEqual([first.status, first.body.thread.initiator], [200, 'maker']);
  assert.equal((await agreed()).status, 200);
  refused(await agreed(), '409 too_many_unfunded');
  await sql('update swaps set initiator_fund_by = 0 where id = $1', first.body.swap.id);
  assert.equal((await agreed()).status, 200);
});
