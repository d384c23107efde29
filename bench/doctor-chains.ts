// The chains that the doctor is measured on: stubs with real policies, whose escrows are hashes of
// their terms, so that neither nodes nor the arithmetic of keys are measured.

import { hash } from 'node:crypto';
import type { ChainAdapter } from '../chains/adapter.ts';
import type { EscrowTerms } from '../core/terms.ts';
import { nodelessAdapters } from '../server/settle/testing/rows.ts';

export function stubChains(): ChainAdapter[] {
  return nodelessAdapters().map((each) => {
    return { ...each, plan, watch: () => {}, unwatch: () => {} };
  });
}

function plan({ chain, hashlock, payout, refund, amount, timelock }: EscrowTerms) {
  const to = [payout.address, refund.address];
  const text = JSON.stringify([chain, hashlock, ...to, String(amount), timelock]);
  return { address: `escrow-${hash('sha256', text)}`, redeemScript: null };
}
