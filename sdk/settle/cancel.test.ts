// When a funding that was sent counts as late.

import assert from 'node:assert/strict';
import test from 'node:test';
import { nothingSeen } from '../../core/facts.ts';
import type { SwapRecord } from '../stores/store.ts';
import { honestSwap, now, swapId, tradeOf, views } from '../testing/honest.ts';
import { verifySwap } from '../verify.ts';
import { isLate } from './cancel.ts';
import type { Seen } from './context.ts';

const trade = tradeOf('maker');
const swap = verifySwap(honestSwap('maker'), trade, views, { swapId, now });
const kept = { txid: 'ab'.repeat(32), raw: '00' };
const record: SwapRecord = {
  trade,
  swap,
  funding: kept,
  claim: null,
  refund: null,
  publicSecret: null,
};
const { counterpartyFundBy } = swap.deadlines;
const past = counterpartyFundBy + 1;

/** The maker funds leg a, the short one. */
function seen(more: { wall?: number; clock?: number; facts?: object } = {}): Seen {
  const { wall = past, clock = past, facts = {} } = more;
  const legs = {
    a: { long: false, facts: { ...nothingSeen, ...facts } },
    b: { long: true, facts: nothingSeen },
  };
  const state = { legs, deadlines: swap.deadlines };
  return { state, clocks: { wall, a: clock, b: past + 99_999 } } as unknown as Seen;
}

test('a funding is late once the own clock and its chain are both past the time to fund', () => {
  assert.equal(isLate(record, seen()), true);
  assert.equal(isLate(record, seen({ wall: counterpartyFundBy })), false);
  assert.equal(isLate(record, seen({ clock: counterpartyFundBy })), false);
});

test('a funding in a block is not late, and one that only waits is', () => {
  const shown = (confirmations: number) => ({
    funded: { txid: kept.txid, confirmations, deep: false },
  });
  assert.equal(isLate(record, seen({ facts: shown(0) })), true);
  assert.equal(isLate(record, seen({ facts: shown(1) })), false);
});

test('without a funding, or with the other leg claimed, nothing is cancelled', () => {
  assert.equal(isLate({ ...record, funding: null }, seen()), false);
  assert.equal(isLate({ ...record, claim: kept }, seen()), false);
});
