// A record of a former formula: its times follow from no policy of today. The market is held to
// them all the same, and a new funding is not made under them.

import assert from 'node:assert/strict';
import test from 'node:test';
import { evmDeployment } from '@parley/chains/evm/plan.ts';
import { shardOf } from '@parley/contracts/escrows/ids.ts';
import type { LegName, Party } from '@parley/core/trade.ts';
import { VerificationError } from './errors.ts';
import type { SwapRecord } from './stores/store.ts';
import {
  bitcoinView,
  evmView,
  honestSwap,
  keptRecord,
  lastOf,
  mustRefuseLies,
  now,
  pinned,
  pinnedTo,
  shownLeg,
  swapId,
  termsOf,
  tradeOf,
} from './testing/honest.ts';
import type { Swap } from './types.ts';
import { mustFollowToday, verifyAgain, verifySwap } from './verify.ts';

/** The honest swap of a formula that had other times, each by its own number of seconds. */
function formerSwap(party: Party): Swap {
  const honest = honestSwap(party);
  const { deadlines: times } = honest;
  const refundAt = { a: times.refundAt.a - 61, b: times.refundAt.b - 7_207 };
  const deadlines = {
    initiatorFundBy: times.initiatorFundBy - 3,
    expiresAt: times.expiresAt - 5,
    counterpartyFundBy: times.counterpartyFundBy - 7,
    revealBy: times.revealBy - 11,
    refundAt,
  };
  const former = (leg: LegName) => ({
    ...shownLeg(leg, termsOf(leg, refundAt[leg], lastOf(deadlines, leg))),
    requiredConfirmations: honest.legs[leg].requiredConfirmations + 1,
  });
  return { ...honest, deadlines, legs: { a: former('a'), b: former('b') } };
}

/** The record as the former version kept it. */
function formerRecord(party: Party): SwapRecord {
  const record = keptRecord(party);
  const { swap: honest } = record;
  const { legs: shown, deadlines } = formerSwap(party);
  const former = (leg: LegName) => {
    const { timelock, requiredConfirmations, escrow, redeemScript } = shown[leg];
    const terms = termsOf(leg, timelock, lastOf(deadlines, leg));
    const kept = { address: escrow ?? '', redeemScript, terms };
    return { ...honest.legs[leg], timelock, requiredConfirmations, escrow: kept };
  };
  const swap = { ...honest, deadlines, legs: { a: former('a'), b: former('b') } };
  return { ...record, swap };
}

for (const party of ['maker', 'taker'] as const) {
  test(`the ${party}'s record of a former formula is the market's truth as before`, () => {
    const record = formerRecord(party);
    const shown = formerSwap(party);
    assert.throws(() => verifySwap(shown, record.trade, pinned, { swapId, now }), /deadlines/);
    assert.deepEqual(verifyAgain(shown, record, pinned), record.swap);
    // Nor where today's policies would begin no swap of these chains at all.
    const policy = { ...evmView.policy, lateClaimSeconds: 0 };
    const refused = pinnedTo(bitcoinView, { ...evmView, policy });
    assert.throws(() => verifySwap(shown, record.trade, refused, { swapId, now }), /refused/);
    assert.deepEqual(verifyAgain(shown, record, refused), record.swap);
  });

  test(`a market that alters any one field of what the ${party} keeps is refused`, () => {
    const record = formerRecord(party);
    mustRefuseLies(formerSwap(party), (lie) => verifyAgain(lie, record, pinned));
  });

  test(`the swap of today's formula is refused where the ${party} keeps another`, () => {
    const record = formerRecord(party);
    assert.throws(() => verifyAgain(honestSwap(party), record, pinned), {
      name: 'VerificationError',
      field: 'deadlines.initiatorFundBy',
    });
  });

  test(`the ${party} funds nothing under a former formula`, () => {
    const trade = tradeOf(party);
    const swap = verifySwap(honestSwap(party), trade, pinned, { swapId, now });
    const today: SwapRecord = { ...formerRecord(party), swap };
    mustFollowToday(today, pinned, now);
    const refused = (record: SwapRecord, known = pinned) =>
      assert.throws(() => mustFollowToday(record, known, now), { code: 'terms_outdated' });
    // Only the moment does not fit: its times are right.
    const behind = swap.agreedAt - 7_200;
    assert.throws(() => mustFollowToday(today, pinned, behind), {
      code: 'clock_wrong',
      message: /clock is 7200 s or more behind the market's/,
    });
    const late = { ...trade, acceptedAt: swap.agreedAt + 3_600 };
    assert.throws(() => mustFollowToday({ ...today, trade: late }, pinned, now + 7_200), {
      code: 'clock_wrong',
      message: /clock is 3600 s or more ahead of the market's/,
    });
    refused(formerRecord(party));
    const { legs, deadlines } = swap;
    for (const each of ['initiatorFundBy', 'counterpartyFundBy', 'revealBy'] as const) {
      refused({ ...today, swap: { ...swap, deadlines: { ...deadlines, [each]: 1 } } });
    }
    const { escrow } = formerRecord(party).swap.legs.a;
    for (const other of [
      { timelock: legs.a.timelock + 1 },
      { requiredConfirmations: legs.a.requiredConfirmations - 1 },
      { long: true },
      { escrow },
    ]) {
      refused({ ...today, swap: { ...swap, legs: { ...legs, a: { ...legs.a, ...other } } } });
    }
    const policy = { ...evmView.policy, signSeconds: evmView.policy.signSeconds + 1 };
    refused(today, pinnedTo(bitcoinView, { ...evmView, policy }));
    // An escrow in a contract that takes no new ones is its own all the same.
    const formerContracts = [evmView.deployment.contract];
    const contracts = { contract: shardOf(1).address, formerContracts };
    const deployment = evmDeployment(evmView.chainId, contracts);
    const left = pinnedTo(bitcoinView, { ...evmView, deployment });
    const lane = { ...swap.legs.a.escrow?.terms.lane, contract: formerContracts[0] };
    const shown = honestSwap(party);
    const named = { ...shown, legs: { ...shown.legs, a: { ...shown.legs.a, lane } } } as Swap;
    const kept = verifySwap(named, trade, left, { swapId, now });
    assert.equal(kept.legs.a.escrow?.address, swap.legs.a.escrow?.address);
    refused({ ...today, swap: kept, funding: { txid: 'ab'.repeat(32), raw: '00' } }, left);
    // The own leg leaves it when its funding is built.
    if (party === 'taker') refused({ ...today, swap: kept }, left);
    else mustFollowToday({ ...today, swap: kept }, left, now);
    const unknown = pinnedTo(bitcoinView, {
      ...evmView,
      deployment: evmDeployment(evmView.chainId, { contract: shardOf(1).address }),
    });
    assert.throws(() => verifySwap(named, trade, unknown, { swapId, now }), {
      name: 'VerificationError',
      got: /none of the 1 configured/,
    });
  });
}

test('an address that the other side corrects moves the escrow, under the times that were kept', () => {
  const payout = { address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906', pubkey: null };
  const record = formerRecord('maker');
  const shown = formerSwap('maker');
  const { timelock, requiredConfirmations } = shown.legs.a;
  const moved = shownLeg('a', { ...termsOf('a', timelock, lastOf(shown.deadlines, 'a')), payout });
  const legs = { ...shown.legs, a: { ...moved, requiredConfirmations } };
  const { a, b } = verifyAgain({ ...shown, legs }, record, pinned).legs;
  assert.deepEqual([a.escrow?.address, a.escrow?.terms.timelock], [moved.escrow, timelock]);
  assert.deepEqual(b, record.swap.legs.b);
  // An own address is nobody's to correct.
  const own = { ...shown, legs: { ...shown.legs, a: { ...legs.a } } };
  assert.throws(() => verifyAgain(own, formerRecord('taker'), pinned), VerificationError);
});
