// What lies in an escrow beyond the amount, and from when on that stops a reveal.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { EscrowPayment } from '../../chains/interface/reading.ts';
import { extraOf, isMuch } from './extra.ts';

const paid = (amount: bigint, spent: EscrowPayment['spent'] = null): EscrowPayment => ({
  ...{ txid: 't', vout: 0, amount, confirmations: 0, is: 'further', spent },
});

test('what is beyond the amount stops a reveal from a hundredth of it on', () => {
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
