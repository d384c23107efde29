// Many escrows settled at once, each claim only once its secret is public. Pure.

import type { Hex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { escrowsAbi } from '../../contracts/escrows/artifacts/abi.ts';
import { type Escrow, legOf } from '../../contracts/escrows/ids.ts';
import type { Secret } from '../../core/hashlock.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { Batch } from '../interface/batches.ts';

/** Twenty of one payment stay below a gas key's 500 000 gas (gas.snapshot.json: 22 131 each). */
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

export function paymentOf(
  { token, payout, refund }: Pick<EscrowTerms, 'token' | 'payout' | 'refund'>,
  verb: 'claim' | 'refund',
): string {
  return `${token} ${verb === 'claim' ? payout.address : refund.address}`;
}

/** Those of one payment side by side, in their order. Throws RangeError where `most` is below 1. */
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
