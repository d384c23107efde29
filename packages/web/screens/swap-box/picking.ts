// Which assets the picker offers, in which order, and why one of them cannot be chosen now. Pure.

import type { Asset } from '@parley/sdk/types.ts';
import { assetName, chainName, hasWords } from '../../parts/words.ts';
import { text } from '../../texts/texts.ts';
import type { Side } from './draft.ts';

/** More are found by typing: a list that somebody can make endless is not drawn to its end. */
export const mostShown = 100;
const mostPopular = 6;

/** In this order, as far as they are listed. */
const wellKnown = ['BTC', 'USDC', 'ETH', 'USDT', 'SOL', 'TRX', 'EURC'];

/** One asset a symbol, of those that the app knows. */
export function popular(assets: readonly Asset[]): Asset[] {
  const good = assets.filter(({ enabled, verified }) => enabled && verified);
  const found = wellKnown.flatMap((symbol) => good.find((each) => each.symbol === symbol) ?? []);
  return found.slice(0, mostPopular);
}

/** Those that can be chosen first; `assets` has the verified ones first. */
export function foundBy(
  assets: readonly Asset[],
  search: string,
  closedBy: (asset: Asset) => string | null,
): Asset[] {
  const found = assets.filter((asset) =>
    hasWords(`${assetName(asset)} ${asset.chain} ${asset.address ?? ''}`, search),
  );
  const isClosed = (asset: Asset) => Number(closedBy(asset) !== null);
  return found.sort((one, other) => isClosed(one) - isClosed(other)).slice(0, mostShown);
}

/** Why an asset cannot be chosen; null: it can. */
export function closedNow(
  { chain, enabled }: Asset,
  isHalted: (chain: string) => boolean,
): string | null {
  if (enabled) return null;
  if (!isHalted(chain)) return text('swap_box.pick.closed');
  return text('swap_box.pick.halted', { chain: chainName(chain) });
}

export type Sides = {
  readonly side: Side;
  readonly chosen: Asset | undefined;
  /** The other side's. */
  readonly other: Asset | undefined;
};

/** The change of the other side with this asset; null: it stays. */
export function turnBy({ id, chain }: Asset, { side, chosen, other }: Sides): string | null {
  if (chosen === undefined || id === chosen.id || other?.chain !== chain) return null;
  return text(`swap_box.pick.turns_${side}`, { asset: assetName(chosen) });
}
