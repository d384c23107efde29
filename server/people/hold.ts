// Against whoever stole an e-mail login or a session: until when what was asked for waits.

import { ParleyError } from '../../core/errors.ts';
import type { Tx } from '../db/database.ts';
import { hadWallet, waits, walletsOf } from '../db/wallets.ts';
import type { Deps } from '../deps.ts';
import { mostWaiting } from './bounds.ts';

/**
 * When a wallet that is added may receive. Null, so at once, for the first wallet that the account
 * ever has: without one it cannot have traded, because every order wants a wallet. One that was
 * removed counts, or else a thief would remove it first. Throws `too_many_wallets`.
 */
export async function waitOf(
  tx: Tx,
  deps: Pick<Deps, 'settings' | 'now'>,
  accountId: string,
): Promise<Date | null> {
  if (!(await hadWallet(tx, accountId))) return null;
  await mustHaveRoomToWait(tx, accountId, deps.now());
  return holdFrom(deps);
}

/** When a hold that begins now ends. */
export function holdFrom({ settings, now }: Pick<Deps, 'settings' | 'now'>): Date {
  return new Date(now() + settings.people.payoutHoldSeconds * 1_000);
}

/** Few enough for its person to look through. Throws `too_many_wallets`. */
export async function mustHaveRoomToWait(tx: Tx, accountId: string, nowMs: number): Promise<void> {
  const waiting = (await walletsOf(tx, accountId)).filter((each) => waits(each, nowMs)).length;
  if (waiting < mostWaiting) return;
  const sentence = `${waiting} wallets of the account wait already; stop one first`;
  throw new ParleyError('too_many_wallets', sentence, { waiting, most: mostWaiting });
}
