// Against whoever stole an e-mail login or a session: until when a wallet that is added may not
// receive.

import type { Tx } from '../db/database.ts';
import { walletsOf } from '../db/wallets.ts';
import type { Deps } from '../deps.ts';

/**
 * Null, so at once, on an account without any wallet: it cannot have traded, because every order
 * wants a wallet, and so there is nothing to be paid. Otherwise until the hold has passed, within
 * which its person can stop it, or end it by a signature of a wallet of before (payouts.ts).
 */
export async function waitOf(
  tx: Tx,
  deps: Pick<Deps, 'settings' | 'now'>,
  accountId: string,
): Promise<Date | null> {
  const wallets = await walletsOf(tx, accountId);
  return wallets.length === 0 ? null : holdFrom(deps);
}

/** When a hold that begins now ends. */
export function holdFrom({ settings, now }: Pick<Deps, 'settings' | 'now'>): Date {
  return new Date(now() + settings.people.payoutHoldSeconds * 1_000);
}
