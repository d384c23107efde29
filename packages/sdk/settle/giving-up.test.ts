// A side that gives up: each state of the legs, by what is kept. Leg b is of EVM here, so that
// either side may release.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Party } from '@parley/core/trade.ts';
import type { Evidence } from '../evidence/judge.ts';
import type { SwapRecord } from '../stores/store.ts';
import { now } from '../testing/honest.ts';
import { type Facts, next } from './machine.ts';
import { legOf, legWith } from './record.ts';
import {
  counterpartyFundBy,
  funded,
  type Given,
  known,
  recordOf,
  refundAt,
  revealed,
  type Shown,
  shows,
} from './testing/machine.ts';

const wish = { givenUp: { keptAtMs: 1, byPerson: true } } as const;
const auto = { givenUp: { keptAtMs: 1, byPerson: false } } as const;
const wished = { givenUp: { ...wish.givenUp, told: 'wish' } } as const;
const told = { givenUp: { ...wish.givenUp, signature: '0x01', told: 'release' } } as const;
const brought = { restored: true } as const;

type Kept = Partial<SwapRecord>;
type More = Partial<Pick<Facts, 'isReleaseTried' | 'mayBeGivenUp'>> & {
  readonly wall?: number;
  readonly family?: 'bitcoin';
  /** Leg b has the form that both sides spend together. */
  readonly form?: 'p2tr';
  /** The clock of the slowest node of leg a. */
  readonly earliest?: number;
};

/** The state, and what is done in it. Leg a is the maker's, and short. */
function does(party: Party, a: Shown, b: Shown, kept: Kept, more: More = {}): string {
  const { wall = now, family = 'evm', earliest = wall, form, ...facts } = more;
  const given: Given = { kept, familyB: family };
  const record = recordOf(party, given);
  const leg = (name: 'a' | 'b', shown: Shown) => {
    const forms = name === 'b' && form ? { payoutForm: form, refundForm: form } : {};
    return { ...legWith(record, name, shows[shown]), ...forms, isFresh: true };
  };
  const told = { agreed: true, doubts: [], strayed: null, marks: {}, earliest };
  const evidence = told as unknown as Evidence;
  const legs = { a: { ...leg('a', a), evidence }, b: leg('b', b) };
  const all = { record, legs, isMarketDue: false, ...facts };
  const { state, effects } = next('preparing', all, { wall, a: wall, b: wall });
  const acts = effects.filter((each) => each.do !== 'wait');
  return `${state}: ${acts.map((each) => `${each.do} ${each.leg}`).join(', ')}`;
}

const releasedBy = (party: Party): Kept => {
  const record = recordOf(party, {});
  const { address } = legOf(record, party === 'maker' ? 'a' : 'b').escrow;
  return { released: { escrow: address, signature: '0x02' } };
};

test('a person of the initiator gives up: it funds and tells nothing more, and releases', () => {
  const rows: readonly (readonly [Shown, Shown, Kept, string, More?])[] = [
    ['none', 'none', wish, 'giving_up: tell_wish a'],
    ['none', 'none', wished, 'settled: '],
    ['none', 'none', { ...funded, ...wish }, 'giving_up: release a'],
    ['none', 'final', { ...funded, ...wish }, 'giving_up: release a'],
    ['final', 'final', { ...funded, ...wish }, 'giving_up: release a'],
    ['final', 'final', { ...funded, ...wished }, 'giving_up: release a'],
    ['final', 'final', { ...funded, ...told }, 'giving_up: '],
    // Another device gave the word.
    ['final', 'final', { ...funded, givenUp: { ...auto.givenUp, told: 'wish' } }, 'giving_up: '],
    ['refunded', 'final', { ...funded, ...told }, 'giving_up: '],
    ['final', 'final', { ...funded, ...wish }, 'giving_up: ', { isReleaseTried: true }],
    // With the secret public it claims what the chain still gives.
    ['final', 'final', { ...known, ...told }, 'claiming: claim a'],
    ['final', 'claimed', { ...revealed, ...told }, 'claiming: claim a'],
  ];
  for (const [a, b, kept, expected, more] of rows) {
    assert.equal(does('taker', a, b, kept, more), expected, `${a} ${b} ${JSON.stringify(kept)}`);
  }
});

test('the initiator gives nothing up by itself while both legs are open', () => {
  assert.equal(does('taker', 'final', 'final', funded), 'revealing: reveal a');
  const late = { wall: recordOf('taker', {}).swap.deadlines.revealBy + 1 };
  assert.equal(does('taker', 'final', 'final', funded, late), 'funded: ');
});

const together = { family: 'bitcoin', form: 'p2tr' } as const;

test('an initiator whose refund is signed by both tells no secret, and nobody raises that refund', () => {
  const out = { ...funded, refund: { txid: 'own', raw: '00' } };
  assert.equal(
    does('taker', 'final', 'final', funded, together),
    'revealing: schedule_refunds b, reveal a',
  );
  assert.equal(does('taker', 'final', 'final', out, together), 'revealing: ');
  assert.equal(does('taker', 'none', 'refundPooled', out, together), 'refunding: ');
});

test('a counterparty releases by itself what it will not be paid, and never with its own leg open', () => {
  const late = { wall: counterpartyFundBy + 1 };
  const rows: readonly (readonly [Shown, Shown, Kept, string, More?])[] = [
    ['none', 'final', {}, 'funding: fund a'],
    ['none', 'final', {}, 'waiting_to_fund: release b', late],
    ['none', 'final', {}, 'settled: ', { ...late, isReleaseTried: true }],
    ['none', 'final', {}, 'settled: ', { ...late, family: 'bitcoin' }],
    [
      'none',
      'final',
      {},
      'waiting_to_fund: schedule_claims b, release b',
      { ...late, ...together },
    ],
    ['none', 'final', auto, 'giving_up: release b'],
    ['none', 'none', auto, 'giving_up: release b'],
    ['none', 'final', told, 'settled: '],
    // A funding may be on its way, or be seen.
    ['none', 'final', { ...funded, ...wish }, 'giving_up: tell_wish b'],
    ['none', 'final', { byHand: true, ...wish }, 'giving_up: tell_wish b'],
    ['none', 'final', { ...brought, ...wish }, 'giving_up: tell_wish b'],
    // The lost device may have funded it.
    ['none', 'none', { ...brought, ...wished }, 'giving_up: '],
    ['pooled', 'final', { ...funded, ...wish }, 'giving_up: tell_wish b'],
    [
      'none',
      'final',
      { ...funded, ...wished },
      'cancelling: release b, cancel_funding a',
      { wall: refundAt.a },
    ],
    [
      'none',
      'final',
      { ...funded, ...wished },
      'cancelling: cancel_funding a',
      { wall: refundAt.a, earliest: refundAt.a - 1 },
    ],
    ['final', 'final', { ...funded, ...wish }, 'giving_up: tell_wish b'],
    ['final', 'final', { ...funded, ...wished }, 'giving_up: '],
    ['final', 'final', { ...funded, ...wished }, 'giving_up: schedule_claims b', together],
    ['refundMined', 'final', { ...funded, ...wished }, 'refunding: schedule_claims b', together],
    [
      'refunded',
      'final',
      { ...funded, ...wished },
      'refunding: schedule_claims b, release b',
      together,
    ],
    ['refunded', 'refundPooled', { ...funded, ...wished }, 'settled: ', together],
    ['refundMined', 'final', { ...funded, ...wished }, 'refunding: '],
    // Its own leg is back at depth.
    ['refunded', 'final', funded, 'refunding: release b'],
    ['refunded', 'final', { ...funded, ...wished }, 'refunding: release b'],
    ['refunded', 'final', { ...funded, ...told }, 'settled: '],
    ['refunded', 'final', known, 'claiming: claim b'],
    ['refunded', 'final', funded, 'settled: ', { wall: refundAt.b }],
  ];
  for (const [a, b, kept, expected, more] of rows) {
    assert.equal(does('maker', a, b, kept, more), expected, `${a} ${b} ${JSON.stringify(kept)}`);
  }
});

test("by the other side's release the own leg is refunded at once", () => {
  for (const party of ['maker', 'taker'] as const) {
    const leg = party === 'maker' ? 'a' : 'b';
    const kept = { ...funded, ...releasedBy(party) };
    assert.match(does(party, 'final', 'final', kept), new RegExp(`^refunding: refund ${leg}`));
    const of = { escrow: 'another', signature: '0x02' };
    assert.doesNotMatch(does(party, 'final', 'final', { ...kept, released: of }), /refund/);
  }
  // A refund before the timelock is left to no batch.
  assert.match(
    does('maker', 'refunded', 'final', { ...funded, ...releasedBy('maker') }),
    /release b/,
  );
});

test('a restored initiator tells no secret while the lost device may have given it up', () => {
  const unsure = { mayBeGivenUp: true };
  assert.equal(does('taker', 'final', 'final', brought), 'revealing: reveal a');
  assert.equal(does('taker', 'final', 'final', brought, unsure), 'revealing: ');
  const isPublic = { ...brought, ...known };
  assert.equal(does('taker', 'final', 'final', isPublic, unsure), 'claiming: claim a');
});
