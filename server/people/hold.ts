// Against a thief of somebody's e-mail: until when a wallet that is added may not receive.

import type { Tx } from '../db/database.ts';
import { walletsOf } from '../db/wallets.ts';
import type { Deps } from '../deps.ts';
import { isWalletSession, type Session } from './sessions.ts';

/**
 * Null, so at once, from a wallet session, and on an account without any wallet: that cannot have
 * traded, because every order wants a wallet, and so there is nothing to be paid. Otherwise until
 * the hold has passed, within which its person can stop it.
 */
export async function waitOf(
  tx: Tx,
  deps: Pick<Deps, 'settings' | 'now'>,
  session: Session,
): Promise<Date | null> {
  const now = deps.now();
  const { payoutHoldSeconds } = deps.settings.people;
  if (await isWalletSession(tx, session, now)) return null;
  const wallets = await walletsOf(tx, session.accountId);
  return wallets.length === 0 ? null : new Date(now + payoutHoldSeconds * 1_000);
}
