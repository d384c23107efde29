// A batch settles what can be paid and leaves the rest, on the virtual machines of both families.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getAddress, type Hex, zeroAddress } from 'viem';
import {
  accountOf,
  call,
  encoded,
  escrowOf,
  fund,
  funder,
  payout,
  refund,
  START,
  secretOf,
  session,
  third,
} from './bench/session.ts';
import { legOf } from './ids.ts';

/** Leaves code that jumps to its own beginning for ever. */
const burning: Hex = '0x635b6000566000526004601cf3';

for (const machine of ['prague', 'tron'] as const) {
  test(`a payout that burns all gas is left, and no group has less than promised: ${machine}`, async () => {
    const s = await session(machine);
    await s.chain.give(accountOf('last').address, 1n);
    const burner = getAddress(await s.chain.create(burning, START));
    const payouts = [payout.address, burner, accountOf('last').address];
    const escrows = payouts.map((to, i) => escrowOf(zeroAddress, i, 1, funder.address, to));
    for (const escrow of escrows) await fund(s, escrow);
    const groups = escrows.map((escrow, i) => {
      const legs = [legOf(escrow, 'claim', secretOf(i))];
      return { token: zeroAddress, to: escrow.terms.payout, legs };
    });
    const batch = (gasEach: bigint) =>
      call(s, third.address, encoded('claimMany', [groups, gasEach]));
    await assert.rejects(batch(20_000_000n)); // more than there is
    const paid = await batch(300_000n);
    assert.ok(paid > 300_000 && paid < 420_000, `${paid}: one group burnt its own`);
    for (const [i, escrow] of escrows.entries()) {
      if (i === 1) await refund(s, escrow);
      else await assert.rejects(refund(s, escrow));
    }
  });
}
