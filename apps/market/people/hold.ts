// Against whoever stole an e-mail login or a session: until when what was asked for waits.

import { ParleyError } from '@parley/core/errors.ts';
import type { Tx } from '../db/database.ts';
import { payoutsOf } from '../db/payouts.ts';
import { hadWallet, type WalletOf, waits, walletsOf } from '../db/wallets.ts';
import type { Deps } from '../ports/deps.ts';
import { mostWaiting } from './bounds.ts';

/**
 * Null, at once, for the first wallet ever: without one it cannot have traded. A removed one
 * counts, or else a thief would remove it first. Throws `too_many_wallets`.
 */
export async function waitOf(
  tx: Tx,
  deps: Pick<Deps, 'settings' | 'now'>,
  wallet: WalletOf,
): Promise<Date | null> {
  if (!(await hadWallet(tx, wallet.accountId))) return null;
  await mustHaveRoomToWait(tx, wallet.accountId, wallet, deps.now());
  return holdFrom(deps);
}

export function holdFrom({ settings, now }: Pick<Deps, 'settings' | 'now'>): Date {
  return new Date(now() + settings.people.payoutHoldSeconds * 1_000);
}

/** So few that their person can look through them. Throws `too_many_wallets`. */
export async function mustHaveRoomToWait(
  tx: Tx,
  accountId: string,
  { family, address }: Pick<WalletOf, 'family' | 'address'>,
  nowMs: number,
): Promise<void> {
  const now = new Date(nowMs);
  const held = (await walletsOf(tx, accountId)).filter((each) => waits(each, nowMs));
  const chosen = (await payoutsOf(tx, accountId, now)).filter((each) => each.fromAt > now);
  const all = new Set([...held, ...chosen].map((each) => `${each.family} ${each.address}`));
  all.delete(`${family} ${address}`);
  if (all.size < mostWaiting) return;
  const sentence = `${all.size} wallets of the account wait already; stop one first`;
  throw new ParleyError('too_many_wallets', sentence, { waiting: all.size, most: mostWaiting });
}
