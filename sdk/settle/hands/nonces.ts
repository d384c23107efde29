// The nonces of an EVM account, over all swaps of the store. One nonce is chosen and kept at a
// time, so that none is for two things; and a nonce that pools have lost is first tried with what
// is kept for it, whosever swap that is.

import { ParleyError } from '../../../core/errors.ts';
import type { Kept } from '../../stores/store.ts';
import { mostFeePerGasOf, nonceOf } from '../../wallets/nonce.ts';
import type { EvmWallet, Gap } from '../../wallets/wallet.ts';
import { type Context, ownSides, sourceOf } from '../context.ts';
import { sendAlone } from '../send.ts';
import { aborted, accountKey, inTurn } from '../turns.ts';
import { type Held, isAfter, isSpend, keptOfAll, senderOf } from './given-away.ts';
import type { On, Turn } from './hand.ts';
import { isPastFunding } from './late.ts';

/**
 * What was kept so recently is on its way, though no pool shows it yet. What was kept before and is
 * in no pool may lose its nonce: the more urgent one must not wait behind it.
 */
const onItsWayMs = 15_000;

/**
 * Chooses a nonce, signs and keeps, while no other swap of this store does so for this account.
 * Whoever hangs in its turn must not hold up a claim whose secret is public, nor a refund: those
 * wait no longer than for a node, and go on. What can wait is put off.
 */
export async function inNonceTurn<T>(
  { context, leg, wallet }: On<EvmWallet>,
  work: () => Promise<T>,
  { isUrgent }: Turn,
): Promise<T> {
  const what = `nonces of ${accountKey(leg.chain, wallet.family, wallet.address)}`;
  const locked = async () => {
    context.signal?.throwIfAborted();
    const free = await lockFor(context, what);
    try {
      context.signal?.throwIfAborted();
      return await work();
    } finally {
      await free();
    }
  };
  const late = async () => {
    context.signal?.throwIfAborted();
    if (isUrgent) return work();
    const sentence = `others of ${wallet.address} are signed on ${leg.chain}: tried again soon`;
    throw new ParleyError('chain_timeout', sentence, { chain: leg.chain });
  };
  return inTurn(what, locked, { limit: context.limit(), late });
}

/** The lock of a store that several processes share, or nothing in time; returns how to free it. */
async function lockFor({ store, limit }: Context, what: string): Promise<() => Promise<void>> {
  const signal = limit();
  const asked = async () => (await store.lock?.(what, signal)) ?? null;
  // Neither a lock that fails nor one that cannot be freed changes what was kept.
  const waiting = asked().catch(() => null);
  const freed = () => waiting.then((lock) => lock?.release()).catch(() => {});
  const free = async () => {
    await Promise.race([freed(), aborted(limit())]);
  };
  const lock = await Promise.race([waiting, aborted(signal)]);
  if (lock) return free;
  // One that comes after its time is for nobody.
  void freed();
  return async () => {};
}

/** Nonces of what is on its way: for nothing else now. */
export async function takenNonces({ context, leg, wallet }: On<EvmWallet>): Promise<Set<number>> {
  const since = Date.now() - onItsWayMs;
  const onItsWay = await keptOfAll(
    context,
    leg,
    async ({ kept }) => (kept.keptAtMs ?? 0) >= since && isSentBy(wallet, kept),
  );
  return new Set(onItsWay.map(({ kept }) => nonceOf(kept)));
}

/**
 * Nonces before this one were given to transactions that no pool has any more. Kept ones are sent
 * again. Those that the node refuses or that pay too little, the others, and what its own swap
 * would take back by now, give way to payments of nothing, and not to this one signed again: two
 * of it could both be mined then.
 */
export async function fillGap(on: On<EvmWallet>, kept: Kept, turn: Turn): Promise<void> {
  const { context, leg, wallet } = on;
  const gap = await wallet.gapBefore(kept, context.limit());
  if (gap === null) return;
  const { clock } = await sourceOf(context, leg.chain).adapter.heads(context.limit());
  const at = { clock, wall: await context.now() };
  const fill = async () => {
    // What others did before this turn counts.
    const fate = await wallet.fate(kept, context.limit());
    if (fate.state !== 'waiting' || !fate.gap) return;
    await fillEach(on, gap, await heldIn(on, gap, at), kept);
  };
  await inNonceTurn(on, fill, turn);
}

/** Until they are sent nothing but the turn keeps these nonces from being chosen for others. */
async function fillEach(
  { context, leg }: On<EvmWallet>,
  gap: Gap,
  held: ReadonlyMap<number, Held>,
  kept: Kept,
): Promise<void> {
  const limit = context.limit();
  const tell = (text: string) => context.tell('waiting', leg.leg, text);
  const before = `before ${kept.txid} were lost`;
  const isTaken = async (sent: Kept) => {
    const why = await refusalOf(() => sendAlone(context, leg, sent));
    if (why !== null) context.tell('waiting', leg.leg, why, sent.txid);
    return why === null;
  };
  const again: string[] = [];
  let filled = 0;
  for (const nonce of gap.nonces) {
    // The rest is for the next look.
    if (limit.aborted) break;
    const own = held.get(nonce);
    const isWorth = own && (isSpend(own) || mostFeePerGasOf(own.kept) >= gap.baseFeePerGas);
    if (isWorth && (await isTaken(own.kept))) again.push(own.kept.txid);
    else if (await isTaken(await gap.fill(nonce))) filled += 1;
  }
  if (again.length > 0) tell(`transactions ${before}, and are sent again: ${again.join(', ')}`);
  if (filled > 0) tell(`${filled} nonces ${before}: filled by payments of nothing`);
}

/** What the node says that refuses it; null when it has it now. */
async function refusalOf(send: () => Promise<void>): Promise<string | null> {
  try {
    await send();
    return null;
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'refused_by_node') return error.message;
    // It may have it.
    throw error;
  }
}

type Clock = { readonly clock: number; readonly wall: number };

/** What swaps of the store keep for the missing nonces, and would send now. */
async function heldIn(
  { context, leg, wallet }: On<EvmWallet>,
  { nonces }: Gap,
  at: Clock,
): Promise<Map<number, Held>> {
  const missing = new Set(nonces);
  // All history is in the store: whose it is takes long to find out, and is asked of few.
  const found = await keptOfAll(
    context,
    leg,
    async ({ kept }) => missing.has(nonceOf(kept)) && isSentBy(wallet, kept),
  );
  const last = new Map<number, Held>();
  for (const each of found) {
    const other = last.get(nonceOf(each.kept));
    if (other === undefined || isBefore(other, each)) last.set(nonceOf(each.kept), each);
  }
  return new Map([...last].filter(([, each]) => isOfUse(each, at)));
}

/** By the order in which one gives way to the other. */
function isBefore(one: Held, other: Held): boolean {
  if (isSpend(one) !== isSpend(other)) return isSpend(other);
  return isAfter(other.kept, one.kept);
}

/** Whether its own swap would send it now, and not use its nonce otherwise. */
function isOfUse({ slot, record }: Held, { clock, wall }: Clock): boolean {
  const { gets } = ownSides(record);
  // Past it a claim can only tell the secret.
  if (slot === 'claim') return clock < record.swap.legs[gets].timelock;
  return slot !== 'funding' || !isPastFunding(record, wall, clock);
}

async function isSentBy({ address }: EvmWallet, kept: Kept): Promise<boolean> {
  return (await senderOf(kept)).toLowerCase() === address.toLowerCase();
}
