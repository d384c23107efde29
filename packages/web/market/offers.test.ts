// The party whose move it is in a thread, the best quote, and what of it arrives.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rfq, Thread } from '@parley/sdk/types.ts';
import { keptBps, landingOf, makersIn } from './offers.ts';
import { isTakenBack, offeredBy, offersOf, standingOf } from './prices.ts';

const nowMs = Date.parse('2026-11-27T12:00:00Z');
const iso = (seconds: number) => new Date(nowMs + seconds * 1_000).toISOString();
const rfq = {
  direction: 'sell_base',
  baseAmount: '1000',
  expiresAt: iso(60),
} as Rfq;

function thread(fields: Partial<Thread> = {}): Thread {
  const { quoteAmount = '500', proposedBy = 'maker' } = fields;
  return {
    id: 't',
    status: 'open',
    swapId: null,
    makerAccepted: false,
    takerAccepted: false,
    acceptanceExpiresAt: null,
    rfq,
    createdAt: iso(-60),
    quoteAmount,
    proposedBy,
    messages: [{ by: proposedBy, quoteAmount, at: iso(-60) }],
    ...fields,
  } as Thread;
}

test('the side to move, for both, up to when an acceptance lapses or a price ends', () => {
  const accepted = { makerAccepted: true, acceptanceExpiresAt: iso(1) };
  for (const [fields, at, taker, maker] of [
    [{}, 0, 'their_price', 'my_price'],
    [{ proposedBy: 'taker' }, 0, 'my_price', 'their_price'],
    [accepted, 0, 'waits_for_me', 'waits_for_them'],
    [accepted, 999, 'waits_for_me', 'waits_for_them'],
    [accepted, 1_000, 'their_price', 'my_price'],
    [
      { ...accepted, makerAccepted: false, takerAccepted: true },
      0,
      'waits_for_them',
      'waits_for_me',
    ],
    [{ quoteExpiresAt: iso(1) }, 999, 'their_price', 'my_price'],
    [{ quoteExpiresAt: iso(1) }, 1_000, 'price_over', 'price_over'],
    [{ ...accepted, quoteExpiresAt: iso(1) }, 1_000, 'price_over', 'price_over'],
    [{ status: 'closed' }, 0, 'closed', 'closed'],
    [{}, 59_999, 'their_price', 'my_price'],
    [{}, 60_000, 'closed', 'closed'],
    [{ status: 'agreed', swapId: 's', makerAccepted: true }, 90_000, 'agreed', 'agreed'],
  ] as const) {
    const each = thread(fields as Partial<Thread>);
    const is = (party: 'maker' | 'taker') => standingOf(each, party, nowMs + at).is;
    assert.deepEqual([is('taker'), is('maker')], [taker, maker], JSON.stringify([fields, at]));
  }
});

test('a price that its maker took back may be followed by another while the order is open', () => {
  const withdrawnAt = iso(0);
  for (const [status, is] of [
    ['negotiating', true],
    ['expired', false],
    ['agreed', false],
  ] as const) {
    assert.equal(isTakenBack({ withdrawnAt, rfq: { ...rfq, status } }), is, status);
  }
  assert.equal(isTakenBack({ withdrawnAt: null, rfq: { ...rfq, status: 'negotiating' } }), false);
});

const said = (...prices: [by: 'maker' | 'taker', amount: string][]) =>
  thread({
    proposedBy: prices.at(-1)?.[0] ?? 'maker',
    quoteAmount: prices.at(-1)?.[1] ?? '0',
    messages: prices.map(([by, quoteAmount]) => ({ by, quoteAmount, at: iso(0) })),
  });

test("a maker's offer is its own last price, never the counter of the other side", () => {
  assert.equal(offeredBy('maker', said(['maker', '5'])), 5n);
  assert.equal(offeredBy('maker', said(['maker', '5'], ['maker', '6'], ['taker', '900'])), 6n);
  assert.equal(offeredBy('maker', said(['taker', '900'])), null);
});

test('the best offer is first: the most that is got, the least that is given, ended ones last', () => {
  const named = (id: string, amount: string, more: Partial<Thread> = {}) => ({
    ...said(['maker', amount]),
    id,
    ...more,
  });
  const older = iso(-600);
  const all = [
    named('low', '480'),
    named('ended', '999', { status: 'closed' }),
    named('high', '510'),
    named('over', '600', { quoteExpiresAt: iso(0) }),
    named('same', '500'),
    named('older', '500', { createdAt: older }),
  ];
  const order = (threads: Thread[]) => offersOf(threads, null, nowMs).map((each) => each.thread.id);
  assert.deepEqual(order(all), ['high', 'older', 'same', 'low', 'over', 'ended']);
  const buying = { ...rfq, direction: 'buy_base' } as Rfq;
  const given = order(all.map((each) => ({ ...each, rfq: buying })));
  assert.deepEqual(given, ['low', 'older', 'same', 'high', 'over', 'ended']);
});

test('an offer is held against recent agreements, for the amount of the order', () => {
  const recent = { baseAmount: 2n, quoteAmount: 1n };
  const bps = (each: Thread) => offersOf([each], recent, nowMs)[0]?.advantageBps;
  assert.equal(bps(said(['maker', '500'])), 0);
  assert.equal(bps(said(['maker', '505'])), 100);
  // The maker's price counts, though the taker has named a better one since.
  assert.equal(bps(said(['maker', '495'], ['taker', '600'])), -100);
});

test('a claim that pays itself is taken out of what arrives, and never more than all of it', () => {
  const costs = (settlesFromAmount: boolean) =>
    ({ costs: { settlesFromAmount, claim: { usual: '30', most: '60' } } }) as never;
  assert.deepEqual(landingOf(100n, costs(true)), { units: 70n, fee: 30n });
  assert.deepEqual(landingOf(20n, costs(true)), { units: 0n, fee: 30n });
  assert.deepEqual(landingOf(100n, costs(false)), { units: 100n, fee: 0n });
  assert.deepEqual(landingOf(100n, { costs: null }), { units: 100n, fee: 0n });
  assert.deepEqual(landingOf(100n, undefined), { units: 100n, fee: 0n });
});

test('the kept part of a record is rounded down, and a maker counts once however many its levels', () => {
  const kept = (settled: number, abandoned: number) => keptBps({ settled, abandoned } as never);
  assert.equal(kept(2, 1), 6_666);
  assert.equal(kept(10_000, 1), 9_999);
  assert.equal(kept(3, 0), 10_000);
  assert.deepEqual([kept(0, 0), keptBps(null)], [null, null]);
  assert.equal(makersIn([{ makerId: 'a' }, { makerId: 'b' }, { makerId: 'a' }]), 2);
});
