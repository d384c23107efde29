// Every combination of what can be kept and shown, searched for what must never be.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { EscrowFacts } from '@parley/core/facts.ts';
import type { LegName, Party } from '@parley/core/trade.ts';
import type { SwapRecord } from '../stores/store.ts';
import { now } from '../testing/honest.ts';
import { type Facts, next } from './machine.ts';
import { legWith, ownSides } from './record.ts';
import {
  counterpartyFundBy,
  funded,
  type Given,
  initiatorFundBy,
  kept,
  known,
  recordOf,
  refundAt,
  revealBy,
  revealed,
  type Shown,
  shows,
} from './testing/machine.ts';

const statuses = Object.keys(shows) as Shown[];
const instants = [initiatorFundBy, counterpartyFundBy, revealBy, refundAt.a, refundAt.b];
/** Own clock and chains' together, and each past the other. */
const moments = instants.flatMap((each) => [
  ...[now, each, each + 1].map((at) => [at, at] as const),
  ...([
    [each + 1, now],
    [now, each + 1],
  ] as const),
]);
const slots: Partial<SwapRecord>[] = [
  {},
  funded,
  known,
  revealed,
  { byHand: true },
  { ...funded, refund: kept },
  { restored: true } as const,
];

test('in no state does it fund, reveal, claim, refund or end where it must not', () => {
  let searched = 0;
  for (const party of ['maker', 'taker'] as const) {
    for (const own of slots) {
      for (const a of statuses)
        for (const b of statuses) {
          for (const [wall, clock] of moments) {
            searched += 1;
            mustBeSafe(party, { a, b, wall, clock, kept: own });
          }
        }
    }
  }
  assert.equal(searched, 2 * slots.length * statuses.length ** 2 * moments.length);
});

function mustBeSafe(
  party: Party,
  given: Given & { a: Shown; b: Shown; wall: number; clock: number },
) {
  const { wall, clock } = given;
  const record = recordFor(party, given.kept ?? {});
  const { gives, gets } = ownSides(record);
  const { facts, clocks } = { facts: legsFor(record, given), clocks: { wall, a: clock, b: clock } };
  const { state, effects } = next('preparing', facts, clocks);
  const own = shows[given[gives]] as EscrowFacts;
  const other = shows[given[gets]] as EscrowFacts;
  const latest = Math.max(wall, clock);
  const isPublic = record.publicSecret !== null || own.secret !== null || other.secret !== null;
  const what = () => `${party} ${JSON.stringify(given)} ${state}: ${JSON.stringify(effects)}`;
  for (const { do: doing, leg } of effects) {
    switch (doing) {
      case 'fund':
        assert.ok(leg === gives && !isPublic && own.funded === null, what());
        assert.ok(record.restored === undefined, what());
        assert.ok(latest <= (party === 'taker' ? initiatorFundBy : counterpartyFundBy), what());
        assert.ok(party === 'taker' || (other.funded?.deep && other.refunded === null), what());
        break;
      case 'reveal':
        assert.ok(party === 'taker' && leg === 'a' && !isPublic && latest <= revealBy, what());
        assert.ok(own.funded?.deep && other.funded?.deep, what());
        assert.ok(own.refunded === null && other.refunded === null, what());
        break;
      case 'claim':
        assert.ok(leg === gets && record.publicSecret !== null && other.funded !== null, what());
        assert.ok(gets === 'b' || clock < refundAt.a, what());
        break;
      case 'refund':
        assert.ok(leg === gives && own.balance > 0n, what());
        assert.ok(gives === 'a' ? clock >= refundAt.a : clock > refundAt.b, what());
        break;
      case 'cancel_funding':
        assert.ok(record.claim === null && (own.funded?.confirmations ?? 0) === 0, what());
        break;
    }
  }
  const urgent = effects.filter((each) => ['fund', 'reveal', 'cancel_funding'].includes(each.do));
  assert.ok(urgent.length <= 1, what());
  if (state !== 'settled') return;
  const isPast = gives === 'a' ? clock >= refundAt.a : clock > refundAt.b;
  const isOwn = record.byHand || record.restored || !/^(short|pooled)/.test(given[gives]);
  const isSpent = own.claimed?.deep || own.refunded?.deep;
  assert.ok(own.balance === 0n || (!isPast && (isSpent || !isOwn)), what());
  const isOpen = other.balance > 0n && other.funded !== null && !other.refunded?.deep;
  assert.ok(!isPublic || !isOpen || other.claimed?.deep, what());
}

const records = new Map<string, SwapRecord>();
/** Verified once: the search is of millions. */
function recordFor(party: Party, own: Partial<SwapRecord>): SwapRecord {
  const base = records.get(party) ?? recordOf(party, {});
  records.set(party, base);
  return { ...base, ...own };
}

function legsFor(record: SwapRecord, given: { a: Shown; b: Shown }): Facts {
  const leg = (name: LegName) => ({ ...legWith(record, name, shows[given[name]]), isFresh: true });
  return { record, legs: { a: leg('a'), b: leg('b') }, isMarketDue: false };
}
