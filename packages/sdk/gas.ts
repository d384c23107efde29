// A wallet's balance of its chain's own coin, and the most that its side of a swap may take of it:
// read by the customer's own node, before anything is agreed. It refuses nothing.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { ChainSource } from './chains.ts';
import type { PinnedAsset } from './trade.ts';

export type GasSide = {
  /** `gives`: it pays in, and takes back what fails. `gets`: it collects. */
  readonly side: 'gives' | 'gets';
  readonly asset: Pick<PinnedAsset, 'token'>;
  /** Base units of the asset. */
  readonly amount: BaseUnits;
  readonly address: string;
};

/** Base units of the chain's own coin. Costs are the most that may be taken, at present fees. */
export type GasLook = {
  readonly has: BaseUnits;
  /** To pay in: fees, the amount where it is that coin, and a deposit. */
  readonly fund: BaseUnits;
  /** To take it back, after that. */
  readonly refund: BaseUnits;
  readonly claim: BaseUnits;
  /** The balance of the token that it gives; null: it gives none, or its chain does not say. */
  readonly holds: BaseUnits | null;
  /** Whether the token can be paid in by a signature that somebody else sends (EIP-3009). */
  readonly isSignable: boolean;
};

/** null: no coin is needed, since fees are taken out of the amount (Bitcoin). */
export async function gasOf(
  { adapter }: Pick<ChainSource, 'adapter'>,
  { side, asset: { token }, amount, address }: GasSide,
  signal: AbortSignal,
): Promise<GasLook | null> {
  const [costs, has] = await Promise.all([
    adapter.costs?.(token, signal),
    adapter.coins?.(address, signal),
  ]);
  if (costs === undefined || has === undefined || costs.settlesFromAmount) return null;
  if (side === 'gets') {
    return { has, fund: 0n, refund: 0n, claim: costs.claim.most, holds: null, isSignable: false };
  }
  const given = token === null ? amount : 0n;
  const refund = { address, pubkey: null };
  return {
    has,
    claim: 0n,
    refund: costs.refund.most,
    fund: costs.fund.most + (costs.deposit?.locked ?? 0n) + given,
    holds: token === null ? null : ((await adapter.held?.({ token, refund }, signal)) ?? null),
    isSignable: token !== null && (await isSignable({ adapter }, token, address, signal)),
  };
}

/** Found by trying: a node that cannot try it knows of none. */
async function isSignable(
  { adapter }: Pick<ChainSource, 'adapter'>,
  token: string,
  address: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { ways } = adapter;
  try {
    const authorization = (await ways?.abilities(token, signal))?.authorization ?? null;
    return authorization !== null && (await ways?.signsByKey(address, signal)) === true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
