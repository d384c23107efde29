// Excess in an escrow, and the moment from which it stops a reveal.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { EscrowPayment } from '@parley/chains/interface/reading.ts';
import { isMuch } from '@parley/core/facts.ts';
import type { SwapRecord } from '../stores/store.ts';
import { bitcoinView, keptRecord } from '../testing/honest.ts';
import type { Context } from './context.ts';
import { extraOf, mustHoldNoMore } from './extra.ts';

const paid = (amount: bigint, spent: EscrowPayment['spent'] = null): EscrowPayment => ({
  txid: 't',
  vout: 0,
  amount,
  confirmations: 0,
  is: 'further',
  spent,
});

test('money beyond the amount stops a reveal from a hundredth of it on', () => {
  const gone = { txid: 's', by: 'refund' } as const;
  for (const [payments, extra, much] of [
    [[paid(999n)], 0n, false],
    [[paid(1_000n)], 0n, false],
    [[paid(1_009n)], 9n, false],
    [[paid(1_010n)], 10n, true],
    [[paid(1_000n), paid(9n)], 9n, false],
    [[paid(1_000n), paid(10n)], 10n, true],
    [[paid(1_000n), paid(1_000n, gone)], 0n, false],
  ] as const) {
    assert.equal(extraOf(payments, 1_000n), extra);
    assert.equal(isMuch(extra, 1_000n), much);
  }
  assert.equal(isMuch(1n, 99n), true, 'never rounded to nothing');
});

test('paid by hand or brought back, too much waits for its owner, who gives so much and no more', async () => {
  const { amount } = keptRecord('taker').swap.legs.b;
  const extra = amount / 2n;
  const holding = (more: Partial<SwapRecord>, given: bigint): Context => {
    const adapter = { payments: async () => [paid(amount), paid(extra)] };
    const behind = { payments: async () => [paid(amount)] };
    const gone = { payments: async () => Promise.reject(new Error('it is gone')) };
    const nodes = [gone, behind, adapter];
    const chains = {
      [bitcoinView.chain]: { source: { view: bitcoinView, adapter: behind, nodes } },
    };
    return {
      record: keptRecord('taker', more),
      chains,
      limit: () => AbortSignal.timeout(1_000),
      givesExtra: (each: bigint) => each <= given,
    } as unknown as Context;
  };
  for (const [more, given, isHeld] of [
    [{ byHand: true }, 0n, true],
    [{ restored: true }, 0n, true],
    [{ restored: true }, extra - 1n, true],
    [{ restored: true }, extra, false],
    [{}, 0n, false],
  ] as const) {
    const held = mustHoldNoMore(holding(more, given));
    if (isHeld) await assert.rejects(held, { code: 'paid_too_much', facts: { extra, amount } });
    else await held;
  }
});
