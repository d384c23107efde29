// In the place of the four families' plans for what verifies a swap: an escrow's address is a hash
// of all its terms, without curves. The chains of the seed that is run learn of each.

import { hash } from 'node:crypto';
import type { Escrow, EscrowTerms } from '../../../core/terms.ts';
import type { SimChain } from '../chain.ts';

const chains = new Map<string, SimChain>();

export function plansAreOf(all: readonly SimChain[]): void {
  chains.clear();
  for (const each of all) chains.set(each.chain, each);
}

export function escrowOf(terms: EscrowTerms): Escrow {
  const { lane, amount, ...rest } = terms;
  const bound = [rest.hashlock, rest.payout, rest.refund, rest.timelock, rest.fundBefore];
  const place = [lane?.number, lane?.counter, amount.toString()];
  const address = `${terms.chain}-${hash('sha256', JSON.stringify([bound, place])).slice(0, 24)}`;
  const chain = chains.get(terms.chain);
  chain?.plans.set(address, terms);
  return { address, redeemScript: chain?.family === 'bitcoin' ? `script of ${address}` : null };
}

export const evmEscrow = escrowOf;
export const bitcoinEscrow = escrowOf;
export const tronEscrow = escrowOf;
export const solanaEscrow = escrowOf;

/** Of Bitcoin's keys: an address says which key it is of. */
export const addressesOfPubkey = (pubkey: string) => ({ p2wpkh: `pays ${pubkey}` });
