// A maker's promises, stakes and gains to come, by asset. Pure.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Asset, Swap, Thread } from '@parley/sdk/types.ts';
import { sidesOf, standingOf } from '../../market/prices.ts';
import { isOver, ownFirst } from './pnl.ts';

export type Exposure = {
  readonly asset: Asset;
  /** In quotes that the other side may accept now. */
  readonly quoted: BaseUnits;
  /** In swaps: to be locked, or locked and not yet collected by the other side. */
  readonly atStake: BaseUnits;
  readonly coming: BaseUnits;
};

type Amounts = Omit<Exposure, 'asset'>;

const nothing: Amounts = { quoted: 0n, atStake: 0n, coming: 0n };

export function exposuresOf(
  threads: readonly Thread[],
  swaps: readonly Swap[],
  { accountId, assets, nowMs }: { accountId: string; assets: readonly Asset[]; nowMs: number },
): Exposure[] {
  const found = new Map<string, Amounts>();
  const add = (assetId: string, what: keyof Amounts, amount: BaseUnits) => {
    const before = found.get(assetId) ?? nothing;
    found.set(assetId, { ...before, [what]: before[what] + amount });
  };
  for (const thread of threads) {
    if (!isPromised(thread, nowMs)) continue;
    const { gives } = sidesOf(thread.rfq, BigInt(thread.quoteAmount), 'maker');
    add(gives.assetId, 'quoted', gives.amount);
  }
  for (const swap of swaps) {
    if (isOver(swap)) continue;
    const [own, other] = ownFirst(swap, accountId);
    const isLeft = (leg: Swap['legs']['a']) =>
      leg.status !== 'claimed' && leg.status !== 'refunded';
    if (isLeft(own)) add(own.assetId, 'atStake', BigInt(own.amount));
    if (isLeft(other)) add(other.assetId, 'coming', BigInt(other.amount));
  }
  return assets.flatMap((asset) => {
    const amounts = found.get(asset.id);
    return amounts === undefined ? [] : [{ asset, ...amounts }];
  });
}

/** A counter price of the taker is no promise of the maker's. */
function isPromised(thread: Thread, nowMs: number): boolean {
  const { is } = standingOf(thread, 'maker', nowMs);
  return is === 'my_price' || is === 'waits_for_them' || is === 'waits_for_me';
}
