// Nonces that pools have lost: each is tried with what is kept for it, else given to a payment of
// nothing.

import { isRefusedByNode, messageOf } from '../../errors.ts';
import type { Kept } from '../../stores/store.ts';
import { mostFeePerGasOf, nonceOf } from '../../wallets/nonce.ts';
import type { EvmWallet, Gap } from '../../wallets/wallet.ts';
import { sourceOf } from '../context.ts';
import { ownSides } from '../record.ts';
import { sendAlone } from '../send.ts';
import type { On } from './hand.ts';
import { type Held, isAfter, isSentBy, isSpend, keptOfAll, withNonceLock } from './nonces.ts';

type Clock = { readonly clock: number; readonly wall: number };
type Filling = {
  readonly gap: Gap;
  readonly at: Clock;
  /** Whether it has the lock: else others may be choosing nonces. */
  readonly isAlone: boolean;
  readonly limit: AbortSignal;
};

/**
 * Kept claims and refunds are sent again; all else gives way to payments of nothing, since a
 * funding passes its own gates. Resolves to whether nothing is left for the next pass.
 */
export async function fillGap(on: On<EvmWallet>, kept: Kept, isUrgent: boolean): Promise<boolean> {
  const { context, leg, wallet } = on;
  const gap = await wallet.gapBefore(kept, context.limit());
  if (gap === null) return true;
  const { clock } = await sourceOf(context, leg.chain).adapter.heads(context.limit());
  const at = { clock, wall: await context.now() };
  const fill = async (isAlone: boolean) => {
    // What others did before counts.
    const fate = await wallet.fate(kept, context.limit());
    if (fate.state !== 'waiting' || !fate.gap) return true;
    // Others wait for as long as for a node: this ends well before they go on without a lock.
    return fillEach(on, { gap, at, isAlone, limit: context.limit(1 / 2) }, kept);
  };
  return withNonceLock(on, fill, isUrgent);
}

/** Until they are sent nothing but the lock keeps these nonces from being chosen for others. */
async function fillEach(on: On<EvmWallet>, filling: Filling, kept: Kept): Promise<boolean> {
  const { context, leg } = on;
  const before = `before ${kept.txid} were lost`;
  const again: string[] = [];
  let filled = 0;
  let isThrough = true;
  for (const nonce of filling.gap.nonces) {
    const sent = filling.limit.aborted ? null : await fillOne(on, filling, nonce);
    if (sent === null) isThrough = false;
    else if (sent === 'nothing') filled += 1;
    else again.push(sent.txid);
  }
  if (again.length > 0)
    context.waits(leg, `transactions ${before}, and are sent again: ${again.join(', ')}`);
  if (filled > 0) context.waits(leg, `${filled} nonces ${before}: filled by payments of nothing`);
  return isThrough;
}

/** What the node has with this nonce now; null: this nonce is for the next pass. */
async function fillOne(
  on: On<EvmWallet>,
  { gap, at, isAlone, limit }: Filling,
  nonce: number,
): Promise<Kept | 'nothing' | null> {
  // What is urgent may have been given a nonce without the lock: asked for each anew.
  const sinceMs = Date.now();
  const own = lastOf(await heldWith(on, nonce), at);
  if (own && (isSpend(own) || mostFeePerGasOf(own.kept) >= gap.baseFeePerGas)) {
    const sent = await isTaken(on, own.kept, limit);
    if (sent !== 'refused') return sent === 'taken' ? own.kept : null;
  }
  if (!isAlone) return null;
  const nothing = await gap.fill(nonce, limit);
  if ((await heldWith(on, nonce, sinceMs)).length > 0) return null;
  return (await isTaken(on, nothing, limit)) === 'taken' ? 'nothing' : null;
}

/** Where it is not clear what a node does with it, it may have it. */
async function isTaken(
  { context, leg }: On<EvmWallet>,
  sent: Kept,
  limit: AbortSignal,
): Promise<'taken' | 'refused' | 'unclear'> {
  try {
    await sendAlone(context, leg, sent, limit);
    return 'taken';
  } catch (error) {
    context.signal?.throwIfAborted();
    context.waits(leg, messageOf(error), { txid: sent.txid });
    return isRefusedByNode(error) ? 'refused' : 'unclear';
  }
}

/** What swaps of the store keep with this nonce of the account, or have kept since then. */
function heldWith(on: On<EvmWallet>, nonce: number, sinceMs?: number): Promise<Held[]> {
  // All history is in the store: whose it is takes long to find out, and is asked of few.
  const isWanted = async ({ kept }: Held) => nonceOf(kept) === nonce && isSentBy(on, kept);
  return keptOfAll(on.context, on.leg, isWanted, { sinceMs });
}

/** The one that the others give way to, where it would be sent now. */
function lastOf(found: readonly Held[], at: Clock): Held | null {
  const [last] = found.toSorted((one, other) => (isBefore(one, other) ? 1 : -1));
  return last !== undefined && isOfUse(last, at) ? last : null;
}

function isBefore(one: Held, other: Held): boolean {
  if (isSpend(one) !== isSpend(other)) return isSpend(other);
  return isAfter(other.kept, one.kept);
}

/** Whether its own swap lets it go out now, whoever sends it. */
function isOfUse({ slot, record }: Held, { clock, wall }: Clock): boolean {
  const { timelock } = record.swap.legs[ownSides(record).gets];
  switch (slot) {
    case 'claim':
      // Past it a claim can only tell the secret.
      return clock < timelock;
    case 'refund':
    case 'cancel':
      return true;
    case 'approval':
      return false;
    case 'funding':
      // Promised to the other side with the own claim, while that one may still land.
      return record.claim !== null && wall < timelock;
  }
}
