// The events of a swap, in the app's words: amounts in whole coins. The sentence of a wallet, a
// node or the market stands below them, as it was said. Pure.

import type { Happened, LegView, SwapView } from '../../engine/types.ts';
import { type Listed, symbolOf } from '../../parts/labels.ts';
import { chainName } from '../../parts/names.ts';
import { text } from '../../texts/texts.ts';
import { amountsOf } from './shown.ts';
import { inCoins } from './warnings.ts';

/** Events with a sentence that is unknown before they happen. */
const saidBySomebody: readonly Happened['step'][] = [
  ...(['wallet_refused', 'waiting', 'market_refused', 'market_lied', 'store', 'evidence'] as const),
];

type ToldHappened = { readonly said: string; readonly detail: string | null };

export function happenedText(
  { step, state, leg, text: told }: Happened,
  swap: SwapView,
  listed: readonly Listed[],
): ToldHappened {
  const { gives, gets } = amountsOf({ swap }, listed);
  const of: LegView = swap.legs[leg ?? swap.gives];
  const values = { gives, gets, chain: chainName(of.chain), address: of.ownAddress };
  const said =
    step === 'state'
      ? text(`settlement.happened.state.${state}`, values)
      : text(`settlement.happened.${step}`, values);
  const coin = symbolOf({ ...of.asset, token: null }, of.family, listed);
  return { said, detail: saidBySomebody.includes(step) ? inCoins(told, coin) : null };
}
