// The nonces of an EVM account, over all swaps of the store: one is chosen and kept at a time, so
// that none is for two things.

import { ParleyError } from '../../../core/errors.ts';
import type { Kept } from '../../stores/store.ts';
import { chainIdOf, nonceOf } from '../../wallets/nonce.ts';
import type { EvmWallet } from '../../wallets/wallet.ts';
import { sourceOf, tellOnce } from '../context.ts';
import { aborted, accountKey, inTurn } from '../turns.ts';
import { keptOfAll, senderOf } from './given-away.ts';
import type { On, Turn } from './hand.ts';

/**
 * What was kept so recently is on its way, though no pool shows it yet: a market may hold it for 20
 * of these seconds, and one's own node comes after that. What was kept before and is in no pool may
 * lose its nonce: the more urgent one must not wait behind it.
 */
export const onItsWayMs = 35_000;

/**
 * Chooses a nonce, signs and keeps, while no other swap of this store does so for this account.
 * Whoever hangs in its turn must not hold up a claim whose secret is public, nor a refund: those
 * wait no longer than for a node, and go on, not alone then. What can wait is put off.
 */
export async function inNonceTurn<T>(
  on: On<EvmWallet>,
  work: (isAlone: boolean) => Promise<T>,
  { isUrgent }: Turn,
): Promise<T> {
  const { context, leg, wallet } = on;
  const what = `nonces of ${accountKey(leg.chain, wallet.family, wallet.address)}`;
  // One for both, or patience would add up.
  const limit = context.limit();
  const late = async () => {
    context.signal?.throwIfAborted();
    if (isUrgent) return work(false);
    const sentence = `others of ${wallet.address} are signed on ${leg.chain}: tried again soon`;
    throw new ParleyError('chain_timeout', sentence, { chain: leg.chain });
  };
  const locked = async () => {
    context.signal?.throwIfAborted();
    const free = await lockFor(on, what, limit);
    if (free === null) return late();
    try {
      context.signal?.throwIfAborted();
      return await work(true);
    } finally {
      await free();
    }
  };
  return inTurn(what, locked, { limit, late });
}

/**
 * The lock of a store that several processes share: how to free it, or null where it was not got in
 * time, or cannot be got.
 */
async function lockFor(
  { context, leg }: On<EvmWallet>,
  what: string,
  limit: AbortSignal,
): Promise<(() => Promise<void>) | null> {
  const { store } = context;
  if (store.lock === undefined) return async () => {};
  const asked = async () => (await store.lock?.(what, limit)) ?? null;
  const waiting = asked().catch((error: unknown) => {
    if (limit.aborted) return null;
    const why = error instanceof Error ? error.message : String(error);
    const text = `the lock of the store fails, and what can wait is not signed: ${why}`;
    tellOnce(context, leg, text);
    return null;
  });
  // One that cannot be freed changes nothing of what was kept.
  const freed = () => waiting.then((lock) => lock?.release()).catch(() => {});
  const free = async () => {
    await Promise.race([freed(), aborted(context.limit())]);
  };
  const lock = await Promise.race([waiting, aborted(limit)]);
  if (lock) return free;
  // One that comes after its time is for nobody.
  void freed();
  return null;
}

/** Nonces of what is on its way: for nothing else now. What is urgent waits for no store. */
export async function takenNonces(on: On<EvmWallet>, isUrgent?: boolean): Promise<Set<number>> {
  const { context, leg } = on;
  const sinceMs = Date.now() - onItsWayMs;
  const isWanted = ({ kept }: { kept: Kept }) => isSentBy(on, kept);
  const onItsWay = await keptOfAll(context, leg, isWanted, { sinceMs, isUrgent });
  return new Set(onItsWay.map(({ kept }) => nonceOf(kept)));
}

/** Whether its nonce is one of this account on this chain. */
export async function isSentBy({ context, leg, wallet }: On<EvmWallet>, kept: Kept) {
  const { view } = sourceOf(context, leg.chain);
  if (view.family !== 'evm' || chainIdOf(kept) !== view.chainId) return false;
  return (await senderOf(kept)).toLowerCase() === wallet.address.toLowerCase();
}
