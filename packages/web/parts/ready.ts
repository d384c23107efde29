// The steps before a maker may quote: the other side may accept at once, and an acceptance needs a
// checked phrase and a wallet on both chains. Pure.

import { type Family, has } from '@parley/core/families.ts';
import type { WalletsOfFamily } from '@parley/sdk/types.ts';
import type { VaultState } from '../engine/types.ts';
import type { Payout } from '../market/account.ts';

export type Need = {
  /** `wallet`: to pay with. `payout`: to be paid at, or refunded. */
  readonly what: 'phrase' | 'key' | 'wallet' | 'payout';
  /** The family of a wallet; null for the phrase. */
  readonly family: Family | null;
  readonly isDone: boolean;
};

export type Prepared = {
  readonly vault: VaultState['kind'];
  /** The phrase's key that holds escrows on Bitcoin; null: there is no phrase yet. */
  readonly ownKey: string | null;
  readonly payouts: readonly Pick<Payout, 'family' | 'paid' | 'receives'>[];
  readonly wallets: Readonly<Record<Family, WalletsOfFamily>>;
};

/** In the order in which a person does them. */
export function needsBefore(
  gives: Family,
  gets: Family,
  { vault, ownKey, payouts, wallets }: Prepared,
): Need[] {
  const paidOn = (family: Family) => payouts.find((each) => each.family === family);
  const wallet = (family: Family): Need => {
    const paid = paidOn(family);
    const isPaid = paid !== undefined && (paid.paid !== null || paid.receives.length > 0);
    const { login, proven } = wallets[family];
    const isShown = login !== null || proven.length > 0;
    if (!has(family, 'coins')) {
      // A refund goes to the funder, or where the chain does not know it, to an address that is paid.
      const isToBePaid = family === gets || !has(family, 'namesFunder');
      return isToBePaid
        ? { what: 'payout', family, isDone: isPaid }
        : { what: 'wallet', family, isDone: isShown };
    }
    const isVouched = ownKey !== null && paid?.receives.includes(ownKey) === true;
    return { what: 'key', family, isDone: isVouched };
  };
  const families = [...new Set([gives, gets])];
  return [{ what: 'phrase', family: null, isDone: vault === 'checked' }, ...families.map(wallet)];
}
