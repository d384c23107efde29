// The known facts of swaps that are being brought back, and their amounts in words. Pure.

import type { RescueFile, RescueSwap } from '@parley/sdk/rescue/file.ts';
import { ownSides } from '@parley/sdk/settle/record.ts';
import type { PinnedAsset } from '@parley/sdk/trade.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { amountText, type Listed, symbolOf } from '../../parts/words.ts';

/** A rescue file as it was read. */
export type Opened = { readonly file: RescueFile; readonly text: string };

/**
 * Tokens of a swap that the app does not know by itself: anybody's can have the name of another
 * one. By what the swap pays, and not by the list alone.
 */
export function contractsOf(
  { trade }: RescueSwap,
  listed: readonly Asset[],
): readonly { readonly id: string; readonly contract: string }[] {
  return [trade.base, trade.quote].flatMap(({ id, chain, token, decimals }) => {
    const isKnown = listed.some(
      (each) =>
        each.verified &&
        each.chain === chain &&
        each.address === token &&
        each.decimals === decimals,
    );
    return token === null || isKnown ? [] : [{ id, contract: token }];
  });
}

/**
 * Where the other side's coins would go, a market's word like the rest: a person who has lost a
 * device would reveal its secret for coins that are paid to somebody else. null: to a key of the
 * phrase.
 */
export function paidAtOf({ trade, swap }: RescueSwap): { chain: string; address: string } | null {
  const { address, pubkey } = trade.payTo;
  const { chain } = swap.legs[ownSides({ trade }).gets];
  return pubkey === null ? { chain, address } : null;
}

export function amountsOf(
  { trade, swap }: RescueSwap,
  listed: readonly Listed[],
): { gives: string; gets: string } {
  const [own, other] = trade.party === 'maker' ? (['a', 'b'] as const) : (['b', 'a'] as const);
  const said = (leg: 'a' | 'b') => {
    const { assetId, amount, family } = swap.legs[leg];
    const asset: PinnedAsset = assetId === trade.base.id ? trade.base : trade.quote;
    return amountText(amount, asset.decimals, symbolOf(asset, family, listed));
  };
  return { gives: said(own), gets: said(other) };
}
