// The costs of a taker beside the amount it gives, and the balance it needs for them. Pure.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Asset, Pair } from '@parley/sdk/types.ts';

export type Coin = Pick<Asset, 'id' | 'symbol' | 'decimals' | 'chain'>;

export type CostLine = {
  readonly what: 'fund' | 'claim' | 'refund' | 'deposit';
  readonly coin: Coin;
  readonly units: BaseUnits;
  /** It is taken out of the amount: no coins are needed for it. */
  readonly fromAmount: boolean;
};

type Need = { readonly coin: Coin; readonly units: BaseUnits };

export type Costs = {
  readonly lines: readonly CostLine[];
  /**
   * Amounts of each chain's own coin, at most, beside the amount; chains that need no coin are left
   * out.
   */
  readonly needs: readonly Need[];
  /** Chains that do not tell their fees now. */
  readonly unknown: readonly string[];
  readonly usualSeconds: number | null;
  /** Until it is paid or has its own back; null: not told, and more than `lockedSeconds`. */
  readonly worstSeconds: number | null;
  readonly lockedSeconds: number;
};

/** The fee that is taken out of what comes of this asset; 0 where other coins pay it. */
export function takenFrom({ address, chain }: Asset, { lines }: Pick<Costs, 'lines'>): BaseUnits {
  const line = lines.find(({ what, fromAmount }) => what === 'claim' && fromAmount);
  return line !== undefined && address === null && line.coin.chain === chain ? line.units : 0n;
}

/** Usual costs of a swap that works, by coin. */
export function feesOf({ lines }: Pick<Costs, 'lines'>): Need[] {
  const paid = lines.filter(({ what }) => what === 'fund' || what === 'claim');
  return paid.flatMap(({ coin, units }) => (units > 0n ? [{ coin, units }] : []));
}

/** The taker funds leg `b` and is paid by leg `a`. `coins`: the native coin of each chain. */
export function costsOf({ legs, initiator, expected }: Pair, coins: readonly Coin[]): Costs {
  const { a: gets, b: gives } = legs;
  const coinOf = (chain: string) => coins.find((each) => each.chain === chain);
  const paid = coinOf(gives.chain);
  const got = coinOf(gets.chain);
  const lines: CostLine[] = [];
  const needs: Need[] = [];
  if (paid !== undefined && gives.costs !== null) {
    const { fund, refund, deposit, settlesFromAmount } = gives.costs;
    const line = { coin: paid, fromAmount: false };
    lines.push({ ...line, what: 'fund', units: BigInt(fund.usual) });
    if (deposit !== null) lines.push({ ...line, what: 'deposit', units: BigInt(deposit.locked) });
    const back = { fromAmount: settlesFromAmount, units: BigInt(refund.usual) };
    lines.push({ ...line, ...back, what: 'refund' });
    // A refund is paid after the funding, out of the same coins.
    const refunding = settlesFromAmount ? 0n : BigInt(refund.most);
    needs.push({
      coin: paid,
      units: BigInt(fund.most) + BigInt(deposit?.locked ?? 0) + refunding,
    });
  }
  if (got !== undefined && gets.costs !== null) {
    const { claim, settlesFromAmount } = gets.costs;
    const line = { coin: got, fromAmount: settlesFromAmount, units: BigInt(claim.usual) };
    lines.splice(1, 0, { ...line, what: 'claim' });
    if (!settlesFromAmount) needs.push({ coin: got, units: BigInt(claim.most) });
  }
  const told = (leg: Pair['legs']['a'], coin: Coin | undefined) =>
    coin !== undefined && leg.costs !== null;
  const unknown = [
    ...(told(gives, paid) ? [] : [gives.chain]),
    ...(told(gets, got) ? [] : [gets.chain]),
  ];
  const own = expected?.[initiator === 'taker' ? 'initiator' : 'counterparty'] ?? null;
  return {
    lines,
    needs: needs.filter(({ units }) => units > 0n),
    unknown,
    usualSeconds: own?.usualSeconds ?? null,
    worstSeconds: own?.worstSeconds ?? null,
    lockedSeconds: gives.timelockSeconds,
  };
}
