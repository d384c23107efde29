// Which addresses a deal needs of its person, and which ones there are to choose from. Pure.

import { type ChainKey, type Family, has } from '@parley/core/families.ts';
import { asTyped } from '@parley/core/typed.ts';
import type { WalletsOfFamily } from '@parley/sdk/types.ts';
import type { Payout } from '../../market/account.ts';
import type { Terms } from './terms.ts';

export type AddressNeed = {
  readonly chain: ChainKey;
  readonly family: Family;
  /**
   * `paid`: the own gain goes there. `refund`: only a refund does. `funder`: it pays in, and gets a
   * refund.
   */
  readonly use: 'paid' | 'refund' | 'funder';
  /** Addresses of this account, the likeliest first. */
  readonly options: readonly string[];
  /** Bitcoin: any other address may be named. */
  readonly isFree: boolean;
};

export type Known = {
  readonly families: ReadonlyMap<ChainKey, Family>;
  readonly payouts: readonly Pick<Payout, 'family' | 'paid' | 'receives'>[];
  readonly wallets: Readonly<Record<Family, WalletsOfFamily>>;
  /** The address of the phrase's key: escrows pay by it, and never to it. */
  readonly ownKey: string | null;
};

/** null: this app does not know one of the chains. */
export function needsOf(
  { gives, gets }: Pick<Terms, 'gives' | 'gets'>,
  { families, payouts, wallets, ownKey }: Known,
): readonly [gives: AddressNeed, gets: AddressNeed] | null {
  const from = families.get(gives.chain);
  const to = families.get(gets.chain);
  if (from === undefined || to === undefined) return null;
  const receiving = (family: Family) => {
    const known = payouts.find((each) => each.family === family);
    const all = unique([known?.paid ?? null, ...(known?.receives ?? [])]);
    return all.filter((each) => each !== ownKey);
  };
  const paying = (family: Family) => {
    const { login, proven } = wallets[family];
    return unique([login, ...proven]);
  };
  const isFree = (family: Family) => has(family, 'coins');
  // A refund on Solana goes to an address that may be paid; on EVM and TRON to whoever funds.
  const funding = has(from, 'namesFunder') ? paying(from) : receiving(from);
  return [
    {
      chain: gives.chain,
      family: from,
      options: funding,
      isFree: isFree(from),
      use: isFree(from) ? 'refund' : 'funder',
    },
    {
      chain: gets.chain,
      family: to,
      options: receiving(to),
      isFree: isFree(to),
      use: 'paid',
    },
  ];
}

function unique(addresses: readonly (string | null)[]): string[] {
  return [...new Set(addresses.filter((each) => each !== null))];
}

/** The chosen address, else the likeliest; '' where there is none. */
export function chosenAddress(
  { chain, options }: Pick<AddressNeed, 'chain' | 'options'>,
  chosen: Readonly<Record<ChainKey, string>>,
): string {
  return asTyped(chosen[chain] ?? options[0] ?? '').trim();
}

export type Unsure = {
  readonly use: 'paid' | 'refund';
  readonly chain: ChainKey;
  readonly address: string;
};

/**
 * Addresses that are the market's word alone: they were not typed here, and no wallet of this page
 * has them. A market could name its own. The funder's address is asked of its wallet in any case.
 */
export function unsureOf(
  needs: readonly AddressNeed[],
  chosen: Readonly<Record<ChainKey, string>>,
  isConnected: (family: Family, address: string) => boolean,
): Unsure[] {
  return needs.flatMap((need): Unsure[] => {
    const { use, chain, family, isFree } = need;
    const address = chosenAddress(need, chosen);
    const isTyped = isFree && chosen[chain] !== undefined;
    const isSure = isTyped || address === '' || isConnected(family, address);
    return use === 'funder' || isSure ? [] : [{ use, chain, address }];
  });
}
