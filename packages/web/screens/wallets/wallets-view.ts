// The wallets of the account, from three answers of the market: one row a wallet, grouped by
// family.

import { type Family, families } from '@parley/core/families.ts';
import type { WalletsOfFamily } from '@parley/sdk/types.ts';
import type { Payout } from '../../market/account.ts';

export type WalletRow = {
  readonly family: Family;
  readonly address: string;
  readonly isPaid: boolean;
  /** A login of the account. */
  readonly signsIn: boolean;
  /** A swap may be told to pay there. */
  readonly receives: boolean;
  readonly isProven: boolean;
  /** `fromAt`: RFC 3339; `paid`: it is to be paid, or merely to be named. */
  readonly waits: { readonly fromAt: string; readonly paid: boolean } | null;
  readonly leavesAt: string | null;
};

/** `rows`: the one that is paid first. */
export type FamilyWallets = { readonly family: Family; readonly rows: readonly WalletRow[] };

export function walletsView(
  payouts: readonly Payout[],
  known: Readonly<Record<Family, WalletsOfFamily>>,
  loginIds: readonly string[],
): readonly FamilyWallets[] {
  return families.map((family) => {
    const own = payouts.find((each) => each.family === family);
    // The market's word `login` is of the wallet that is paid, whether it signs in or not.
    const { login: paidByKey, proven } = known[family];
    const { paid = null, receives = [], waiting = [], leaving = [] } = own ?? {};
    const addresses = new Set([
      ...(paid === null ? [] : [paid]),
      ...(paidByKey === null ? [] : [paidByKey]),
      ...receives,
      ...waiting.map(({ address }) => address),
      ...leaving.map(({ address }) => address),
      ...proven,
    ]);
    const rows = [...addresses].map((address): WalletRow => {
      const waits = waiting.find((each) => each.address === address);
      return {
        family,
        address,
        isPaid: address === paid,
        signsIn: loginIds.includes(`${family}:${address}`),
        receives: receives.includes(address),
        isProven: proven.includes(address),
        waits: waits === undefined ? null : { fromAt: waits.fromAt, paid: waits.paid },
        leavesAt: leaving.find((each) => each.address === address)?.at ?? null,
      };
    });
    return { family, rows };
  });
}

/** How many changes wait. */
export function waitsIn(all: readonly FamilyWallets[]): number {
  return all.flatMap(({ rows }) => rows).filter(({ waits, leavesAt }) => waits ?? leavesAt).length;
}
