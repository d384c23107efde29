// Whether a nonce was given to another transaction. A reorganisation that empties the pools makes
// the node count as if a kept transaction had never been, and the next one of the account gets
// its nonce. Only one of the two is mined: the one kept last has it, and the other gives way.

import { parseTransaction, recoverTransactionAddress, type TransactionSerialized } from 'viem';
import type { Kept, SwapRecord } from '../../stores/store.ts';
import { type Context, ownSides, type SetLeg } from '../context.ts';
import type { Slot } from '../send.ts';

type Asked = { readonly slot: Slot; readonly kept: Kept; readonly cancel?: boolean };

/** Of a claim or refund: not of what only uses its nonce up. */
export function isSpend({ slot, cancel = false }: Pick<Asked, 'slot' | 'cancel'>): boolean {
  return (slot === 'claim' || slot === 'refund') && !cancel;
}

/**
 * Whether another swap's transaction, kept later, has this nonce of this account. A claim or a
 * refund gives way to another one of those alone: what else it displaces is made anew at leisure.
 */
export async function isGivenAway(
  { store }: Context,
  { chain }: SetLeg,
  { swap }: SwapRecord,
  asked: Asked,
): Promise<boolean> {
  const { kept } = asked;
  for (const swapId of await store.swapIds()) {
    if (swapId === swap.id) continue;
    const record = await store.getSwap(swapId);
    if (record === null) continue;
    for (const other of keptOn(chain, record, isSpend(asked))) {
      if (isAfter(other, kept) && (await haveOneNonce(other, kept))) return true;
    }
  }
  return false;
}

function keptOn(chain: string, record: SwapRecord, spendsOnly: boolean): Kept[] {
  const { gives, gets } = ownSides(record);
  const { claim, refund, funding, approval, cancel } = record;
  const found: (Kept | null | undefined)[] = [];
  if (record.swap.legs[gets].chain === chain) found.push(claim);
  if (record.swap.legs[gives].chain === chain) {
    found.push(refund, ...(spendsOnly ? [] : [funding, approval, cancel]));
  }
  return found.filter((each) => each !== null && each !== undefined);
}

/** One order for both of them. */
function isAfter(other: Kept, kept: Kept): boolean {
  const [theirs, ours] = [other.keptAtMs ?? 0, kept.keptAtMs ?? 0];
  return theirs === ours ? other.txid > kept.txid : theirs > ours;
}

async function haveOneNonce(one: Kept, other: Kept): Promise<boolean> {
  const [first, second] = [one, other].map(({ raw }) => parseTransaction(raw as `0x${string}`));
  if (first?.nonce !== second?.nonce || first?.chainId !== second?.chainId) return false;
  const senders = [one, other].map(({ raw }) =>
    recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized }),
  );
  const [from, alsoFrom] = await Promise.all(senders);
  return from === alsoFrom;
}
