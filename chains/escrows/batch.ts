// Many escrows settled at once: `claimMany` and `refundMany` of the contract, on EVM and TRON. A
// claim stands in a batch only once its secret is public. A leg that the contract leaves has shown
// its own, and so have all of a batch that reverts. Pure.

import type { Hex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { escrowsAbi } from '../../contracts/escrows/artifacts/abi.ts';
import { type Escrow, legOf } from '../../contracts/escrows/ids.ts';
import type { Secret } from '../../core/hashlock.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { Batch } from '../interface/batches.ts';

/**
 * Most escrows in one batch. By contracts/escrows/gas.snapshot.json one of ten takes up to 22 131
 * gas (a token, Amsterdam). Twenty of one payment stay below the 500 000 that a gas key spends on
 * one transaction. That is a sixtieth of a block of 30 million: a busy block has room for it. More
 * would gain little. Of the 14 051 gas that each of ten takes now, about 4 000 are its share of
 * what all have in common. And one payment that fails reverts the whole batch.
 */
export const mostInBatch = 20;

export type OpenedEscrow = { readonly escrow: Escrow; readonly secret: Secret };

export function batchData(batch: Batch, escrowOf: (terms: EscrowTerms) => Escrow): Hex {
  if (batch.verb === 'refund')
    return refundManyData(batch.legs.map(({ terms }) => escrowOf(terms)));
  return claimManyData(
    batch.legs.map(({ terms, secret }) => ({ escrow: escrowOf(terms), secret })),
  );
}

export function claimManyData(claims: readonly OpenedEscrow[]): Hex {
  const legs = claims.map(({ escrow, secret }) => legOf(escrow, `0x${secret}`));
  return encodeFunctionData({ abi: escrowsAbi, functionName: 'claimMany', args: [legs] });
}

export function refundManyData(escrows: readonly Escrow[]): Hex {
  const legs = escrows.map((escrow) => legOf(escrow, escrow.terms.hashlock));
  return encodeFunctionData({ abi: escrowsAbi, functionName: 'refundMany', args: [legs] });
}

/** Whom one transfer pays: neighbours of one token and one receiver are paid together. */
export function paymentOf(
  { token, payout, refund }: Pick<EscrowTerms, 'token' | 'payout' | 'refund'>,
  verb: 'claim' | 'refund',
): string {
  return `${token} ${verb === 'claim' ? payout.address : refund.address}`;
}

/**
 * In batches of `most` at the longest, those of one payment side by side. The order within a
 * payment stays. Throws RangeError where `most` lets none into a batch.
 */
export function inBatches<T>(
  items: readonly T[],
  payment: (item: T) => string,
  most: number = mostInBatch,
): T[][] {
  if (!(most >= 1)) throw new RangeError(`a batch holds 1 escrow at least, not ${most}`);
  const byPayment = [...Map.groupBy(items, payment).values()].flat();
  const batches: T[][] = [];
  for (let at = 0; at < byPayment.length; at += most) {
    batches.push(byPayment.slice(at, at + most));
  }
  return batches;
}
