// What a gas key pays for speed. Anybody may name any account in cheap transactions and so raise
// its price, so a key's offers are bounded; a party's own build pays its own money.

import { larger, smaller } from '../../core/amounts.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { SolanaGasPolicy } from './gas-policy.ts';
import { recentPrices } from './node.ts';
import { usualPrice } from './prices.ts';
import type { Watch } from './watch.ts';

type Asked = {
  readonly rpc: Watch['rpc'];
  readonly terms: EscrowTerms;
  readonly signal: AbortSignal;
};

/** Three of four blocks took this or less, by the cheapest in each: no stranger makes that dear. */
export async function placePrice({ rpc, terms, signal }: Asked): Promise<bigint> {
  return usualPrice(terms, await recentPrices(rpc, [], signal));
}

/**
 * Also the escrow account's price, up to the reserve: three of four blocks must have had it, so
 * raising it costs about what the key pays.
 */
export async function offerPrice(
  asked: Asked,
  escrow: string,
  { leastUnitPrice, reserveUnitPrice }: SolanaGasPolicy,
): Promise<bigint> {
  const { rpc, signal } = asked;
  const [place, prices] = await Promise.all([
    placePrice(asked),
    recentPrices(rpc, [escrow], signal),
  ]);
  const here = prices[Math.floor(prices.length / 4)] ?? 0n;
  return larger(smaller(here, reserveUnitPrice), larger(place, leastUnitPrice));
}
