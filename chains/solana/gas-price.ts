// What a gas key pays for speed on a Solana cluster. For the price of an account a node says what
// those paid of late who named it to be written, and anybody may name any account, a program's too,
// in transactions that do next to nothing: the price is then set by whoever pays a fraction of it.
// A party's own build goes by it all the same: there it is its own money, of which it reads before
// it signs and a delay may cost all. A key's offers are bounded.

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
 * And what is paid at the escrow's account, as far as the reserve price: to hold a claim up there
 * somebody has to fill the account's part of every block. So three of four must have had it, which
 * makes a price that is set to no such end cost about what it makes the key pay.
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
