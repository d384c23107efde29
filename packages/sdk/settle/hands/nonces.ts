// The nonces of an EVM account, over all swaps of the store. After a reorganisation two kept
// transactions may share one: the later has it.

import { ParleyError } from '@parley/core/errors.ts';
import { has } from '@parley/core/families.ts';
import { recoverTransactionAddress, type TransactionSerialized } from 'viem';
import { messageOf } from '../../errors.ts';
import { haveOneVersion, type Kept, type SwapRecord } from '../../stores/store.ts';
import { aborted, locked } from '../../waiting.ts';
import { chainIdOf, nonceOf } from '../../wallets/evm.ts';
import type { EvmWallet } from '../../wallets/wallet.ts';
import { type Context, type On, sourceOf } from '../context.ts';
import { accountKey, ownSides, type SetLeg } from '../record.ts';

export type Slot = 'approval' | 'funding' | 'cancel' | 'claim' | 'refund';
/** `isMined`: an approval that was, and that a reorganisation may take back. */
type Sent = { readonly slot: Slot; readonly kept: Kept; readonly isMined?: boolean };
type Held = Sent & { readonly record: SwapRecord };
type Asked = Sent & { readonly cancel?: boolean };

/** Whether this is a claim or refund, and not a transaction that only uses its nonce up. */
export function isSpend({ slot, cancel = false }: Pick<Asked, 'slot' | 'cancel'>): boolean {
  return (slot === 'claim' || slot === 'refund') && !cancel;
}

/** A claim or refund gives way only to another of those. */
export async function isGivenAway(context: Context, leg: SetLeg, asked: Asked): Promise<boolean> {
  const { kept } = asked;
  const isWanted = async ({ slot, kept: other, record, isMined = false }: Held) => {
    if (record.swap.id === context.swapId || (isSpend(asked) && !isSpend({ slot }))) return false;
    // It is not sent again while its block stands.
    if (isMined) return false;
    return isAfter(other, kept) && haveOneNonce(other, kept);
  };
  return (await keptOfAll(context, leg, isWanted, { sinceMs: kept.keptAtMs })).length > 0;
}

/** The version of a batch that another of its swaps has raised, and that has the nonce now. */
export async function laterOfBatch(
  context: Context,
  leg: SetLeg,
  kept: Kept,
): Promise<Kept | null> {
  const { swapId } = context;
  // A swap may have replaced it for itself alone, maybe at the same nonce: that funds no other.
  const isWanted = async ({ slot, kept: other, record }: Held) => {
    const isOther = slot === 'funding' && record.swap.id !== swapId && isAfter(other, kept);
    const isOfBatch = isOther && (other.batch?.includes(swapId) ?? false);
    return isOfBatch && haveOneVersion(other, kept) && haveOneNonce(other, kept);
  };
  const [later] = await keptOfAll(context, leg, isWanted, { sinceMs: kept.keptAtMs });
  return later?.kept ?? null;
}

/**
 * A batch is sent once each of its swaps keeps it, or what took its place, and none is given up. A
 * crash may come before that: sent then, it would open an escrow whose own record knows of no
 * funding.
 */
export async function isWhole({ store }: Context, kept: Kept): Promise<boolean> {
  const { batch = [] } = kept;
  const records = await Promise.all(batch.map((swapId) => store.getSwap(swapId)));
  return records.every((record) => {
    if (record === null) return true;
    const { funding, givenUp } = record;
    return givenUp === undefined && funding !== null && haveOneVersion(funding, kept);
  });
}

type Since = { readonly sinceMs?: number | undefined; readonly isUrgent?: boolean | undefined };

/** A record that cannot be read keeps no other claim from being signed: it is left out. */
async function keptOfAll(
  context: Context,
  leg: SetLeg,
  isWanted: (held: Held) => Promise<boolean>,
  { sinceMs = 0, isUrgent }: Since,
): Promise<Held[]> {
  const { store } = context;
  const found: Held[] = [];
  for (const swapId of await store.swapIds(sinceMs, isUrgent)) {
    try {
      const record = await store.getSwap(swapId);
      if (record === null) continue;
      for (const sent of keptOn(leg.chain, record)) {
        const held = { ...sent, record };
        if ((held.kept.keptAtMs ?? 0) >= sinceMs && (await isWanted(held))) found.push(held);
      }
    } catch (error) {
      const text = `the record of swap ${swapId} is left out where nonces are chosen`;
      context.waits(leg, `${text}: ${messageOf(error)}`, { once: true });
    }
  }
  return found;
}

/** The transactions of a record that were sent on this chain. */
function keptOn(chain: string, record: SwapRecord): Sent[] {
  const { gives, gets } = ownSides(record);
  const chainOf = (slot: Slot) => record.swap.legs[slot === 'claim' ? gets : gives].chain;
  const slots = ['claim', 'refund', 'funding', 'approval', 'cancel'] as const;
  const { approved } = record;
  const sent = slots.flatMap((slot): Sent[] => {
    const kept = record[slot];
    return kept ? [{ slot, kept }] : [];
  });
  if (approved) sent.push({ slot: 'approval', kept: approved, isMined: true });
  return sent.filter(({ slot }) => chainOf(slot) === chain);
}

/** One order for both of them. */
function isAfter(other: Kept, kept: Kept): boolean {
  const theirs = other.keptAtMs ?? 0;
  const ours = kept.keptAtMs ?? 0;
  return theirs === ours ? other.txid > kept.txid : theirs > ours;
}

async function haveOneNonce(one: Kept, other: Kept): Promise<boolean> {
  if (nonceOf(one) !== nonceOf(other) || chainIdOf(one) !== chainIdOf(other)) return false;
  const [from, alsoFrom] = await Promise.all([one, other].map(senderOf));
  return from === alsoFrom;
}

function senderOf({ raw }: Kept): Promise<string> {
  return recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized });
}

/** A market may hold it for 20 of these seconds, and one's own node comes after that. */
export const onItsWayMs = 35_000;

/** Urgent work waits for the lock no longer than for a node, and goes on without it. */
export async function withNonceLock<T>(
  on: On<EvmWallet>,
  work: () => Promise<T>,
  isUrgent: boolean,
): Promise<T> {
  const { context, leg, wallet } = on;
  const what = `nonces of ${accountKey(leg.chain, wallet.family, wallet.address)}`;
  // One for both, or patience would add up.
  const limit = context.limit();
  const late = async () => {
    context.signal?.throwIfAborted();
    if (isUrgent) return work();
    const sentence = `others of ${wallet.address} are signed on ${leg.chain}: tried again soon`;
    throw new ParleyError('chain_timeout', sentence, { chain: leg.chain });
  };
  const underLock = async () => {
    context.signal?.throwIfAborted();
    const free = await lockFor(on, what, limit);
    if (free === null) return late();
    try {
      context.signal?.throwIfAborted();
      return await work();
    } finally {
      await free();
    }
  };
  return locked(what, underLock, { limit, late });
}

/** How to free the store's lock, or null where it was not got. */
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
    const text = 'the lock of the store fails, and what can wait is not signed';
    context.waits(leg, `${text}: ${messageOf(error)}`, { once: true });
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

/** Nonces of transactions on their way. An urgent one waits for no store. */
export async function takenNonces(on: On<EvmWallet>, isUrgent?: boolean): Promise<Set<number>> {
  const { context, leg } = on;
  const sinceMs = Date.now() - onItsWayMs;
  const whole = new Map<string, Promise<boolean>>();
  const isWanted = async ({ kept }: { kept: Kept }) => {
    const { txid } = kept;
    const asked = whole.get(txid) ?? isWhole(context, kept);
    whole.set(txid, asked);
    return (await asked) && isSentBy(on, kept);
  };
  const onItsWay = await keptOfAll(context, leg, isWanted, { sinceMs, isUrgent });
  return new Set(onItsWay.map(({ kept }) => nonceOf(kept)));
}

async function isSentBy({ context, leg, wallet }: On<EvmWallet>, kept: Kept) {
  const { view } = sourceOf(context, leg.chain);
  if (!has(view, 'nonces') || chainIdOf(kept) !== view.chainId) return false;
  return (await senderOf(kept)).toLowerCase() === wallet.address.toLowerCase();
}
