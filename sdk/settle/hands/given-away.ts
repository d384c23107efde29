// Whether a nonce was given to another transaction. A reorganisation that empties the pools makes
// the node count as if a kept transaction had never been, and the next one of the account gets
// its nonce. Only one of the two is mined: the one kept last has it, and the other gives way.

import { recoverTransactionAddress, type TransactionSerialized } from 'viem';
import type { Kept, SwapRecord } from '../../stores/store.ts';
import { chainIdOf, nonceOf } from '../../wallets/nonce.ts';
import { type Context, ownSides, type SetLeg, tellOnce } from '../context.ts';
import type { Slot } from '../send.ts';

export type Sent = { readonly slot: Slot; readonly kept: Kept };
export type Held = Sent & { readonly record: SwapRecord };
type Asked = Sent & { readonly cancel?: boolean };

/** Of a claim or refund: not of what only uses its nonce up. */
export function isSpend({ slot, cancel = false }: Pick<Asked, 'slot' | 'cancel'>): boolean {
  return (slot === 'claim' || slot === 'refund') && !cancel;
}

/**
 * Whether another swap's transaction, kept later, has this nonce of this account. A claim or a
 * refund gives way to another one of those alone: what else it displaces is made anew at leisure.
 */
export async function isGivenAway(
  context: Context,
  leg: SetLeg,
  swapId: string,
  asked: Asked,
): Promise<boolean> {
  const { kept } = asked;
  const isWanted = async ({ slot, kept: other, record }: Held) => {
    if (record.swap.id === swapId || (isSpend(asked) && !isSpend({ slot }))) return false;
    // What was mined is not sent again while its block stands.
    if (record[slot] !== other) return false;
    return isAfter(other, kept) && haveOneNonce(other, kept);
  };
  return (await keptOfAll(context, leg, isWanted, { sinceMs: kept.keptAtMs })).length > 0;
}

type Since = { readonly sinceMs?: number | undefined; readonly isUrgent?: boolean | undefined };

/**
 * What all swaps of the store keep for this chain since then, as far as it is wanted. A record that
 * cannot be read keeps no other swap's claim from being signed: it is left out, and that is said
 * once.
 */
export async function keptOfAll(
  context: Context,
  leg: SetLeg,
  isWanted: (held: Held) => Promise<boolean>,
  { sinceMs = 0, isUrgent }: Since,
): Promise<Held[]> {
  const found: Held[] = [];
  const isAsked = async (held: Held) => (held.kept.keptAtMs ?? 0) >= sinceMs && isWanted(held);
  for (const swapId of await context.store.swapIds(sinceMs, isUrgent)) {
    try {
      found.push(...(await keptOfOne(context, leg, swapId, isAsked)));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const text = `the record of swap ${swapId} is left out where nonces are chosen: ${why}`;
      tellOnce(context, leg, text);
    }
  }
  return found;
}

async function keptOfOne(
  { store }: Context,
  { chain }: SetLeg,
  swapId: string,
  isWanted: (held: Held) => Promise<boolean>,
): Promise<Held[]> {
  const record = await store.getSwap(swapId);
  if (record === null) return [];
  const found: Held[] = [];
  for (const sent of keptOn(chain, record)) {
    const held = { ...sent, record };
    if (await isWanted(held)) found.push(held);
  }
  return found;
}

/** What of a record was sent on this chain. */
function keptOn(chain: string, record: SwapRecord): Sent[] {
  const { gives, gets } = ownSides(record);
  const slots = ['claim', 'refund', 'funding', 'approval', 'cancel'] as const;
  const all = slots.map((slot) => ({ slot, kept: record[slot] }));
  // A reorganisation may have taken it back with what came after it.
  const sent = [...all, { slot: 'approval' as const, kept: record.approved }];
  const here = ({ slot }: { slot: Slot }) =>
    record.swap.legs[slot === 'claim' ? gets : gives].chain === chain;
  return sent.flatMap(({ slot, kept }) => (kept && here({ slot }) ? [{ slot, kept }] : []));
}

/** One order for both of them. */
export function isAfter(other: Kept, kept: Kept): boolean {
  const [theirs, ours] = [other.keptAtMs ?? 0, kept.keptAtMs ?? 0];
  return theirs === ours ? other.txid > kept.txid : theirs > ours;
}

async function haveOneNonce(one: Kept, other: Kept): Promise<boolean> {
  if (nonceOf(one) !== nonceOf(other) || chainIdOf(one) !== chainIdOf(other)) return false;
  const [from, alsoFrom] = await Promise.all([one, other].map(senderOf));
  return from === alsoFrom;
}

export function senderOf({ raw }: Kept): Promise<string> {
  return recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized });
}
