// In the place of the four families' plans for what verifies a swap: an escrow's address is a hash
// of all its terms, without curves. The chains of the seed that is run learn of each.

import { hash } from 'node:crypto';
import { evmDeployment } from '@parley/chains/evm/plan.ts';
import type { Family } from '@parley/core/families.ts';
import type { Escrow, EscrowTerms } from '@parley/core/terms.ts';
import type { SimChain } from '../chain.ts';

const chains = new Map<string, SimChain>();

export function plansAreOf(all: readonly SimChain[]): void {
  chains.clear();
  for (const each of all) chains.set(each.chain, each);
}

export const simTron = { chainId: 7, contract: 'T-simulated' } as const;
export const simEvm = evmDeployment(31_337);
const contractOf = (family: Family | undefined) =>
  family === 'tron' ? simTron.contract : simEvm.contract;

export function escrowOf(terms: EscrowTerms): Escrow {
  const { lane, amount, ...rest } = terms;
  const bound = [rest.hashlock, rest.payout, rest.refund, rest.timelock, rest.fundBefore];
  const place = [lane?.number, lane?.counter, amount.toString()];
  const name = `${terms.chain}-${hash('sha256', JSON.stringify([bound, place])).slice(0, 12)}`;
  const chain = chains.get(terms.chain);
  // An escrow of a contract is named after it.
  const address = lane === undefined ? name : `${contractOf(chain?.family)}:${name}`;
  chain?.plans.set(address, terms);
  return { address, redeemScript: chain?.family === 'bitcoin' ? `script of ${address}` : null };
}

export const evmEscrow = escrowOf;
export const bitcoinEscrow = escrowOf;
export const tronEscrow = escrowOf;
export const solanaEscrow = escrowOf;

/** Addresses of Bitcoin's keys: an address says which key it is of. */
export const addressesOfPubkey = (pubkey: string) => ({ p2wpkh: `pays ${pubkey}` });

export function paidBy({ payout, refund }: EscrowTerms, verb: 'claim' | 'refund'): string {
  return (verb === 'claim' ? payout : refund).address;
}
