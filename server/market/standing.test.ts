// How accounts kept what they agreed to: what is counted, who is told, and whom an RFQ refuses.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refused } from '../edge/testing/edge.ts';
import { negotiating, secretLock } from '../edge/testing/negotiating.ts';

const market = await negotiating();
const { taker, deps, sql } = market;
const dayMs = 86_400_000;
// No midnight comes by itself.
deps.freeze();
/** The next midnight. */
const tomorrow = () => deps.advance(dayMs - (deps.now() % dayMs));

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
  ...{ agreed, settled, abandoned, refunded, medianFundSeconds },
});
type Counts = Record<
  'agreed' | 'settled' | 'abandoned' | 'refunded' | 'medianFundSeconds',
  number | null
>;
const none = { agreed: 0, settled: 0, abandoned: 0, refunded: 0, medianFundSeconds: null };

test('an account’s standing counts whole days that are over, and what was its own to do', async () => {
  const [own, other, third] = [
    await market.trader(),
    await market.trader(),
    await market.trader(),
  ] as const;
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
  await swapped(both, 'initiator_funded', fund('b', 50), passed('counterparty_fund_by', 1));
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
  assert.deepEqual(counts(await record(other)), none);
  tomorrow();
  const [mine, theirs] = [await record(other), await record(own)];
  assert.deepEqual(counts(mine), {
    ...{ agreed: 2, settled: 2, abandoned: 5, refunded: 4, medianFundSeconds: 50 },
  });
  assert.deepEqual(counts(theirs), {
    ...{ agreed: 1, settled: 1, abandoned: 3, refunded: 4, medianFundSeconds: 100 },
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

test('an RFQ may want settled swaps of who quotes it, those of days that are over', async () => {
  const [own, maker, other] = [
    await market.trader(),
    await market.trader(),
    await market.trader(),
  ] as const;
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
  assert.equal((await wants()).status, 201);
  for (const minSettled of [0, 1_001, 1.5, '2']) {
    refused(await taker.post('/v1/rfqs', market.wanted({ minSettled })), '400 bad_field');
  }
});
