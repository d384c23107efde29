// Bitcoin: the own payment by a wallet of this browser. A wallet is asked once, whichever tab asks
// and however often one clicks: the request is on disk before the wallet hears of it. Only the
// chain says whether it has paid.

import type { UnixSeconds } from '@parley/core/nominal.ts';
import { messageOf, WalletError } from '@parley/sdk/errors.ts';
import type { EscrowPayment } from '@parley/sdk/settle.ts';
import { readKept, writeKept } from '@parley/sdk/stores/store.ts';
import type { Kept } from './keeping.ts';
import {
  EngineError,
  type PayingWallet,
  type Problem,
  type SwapView,
  type WalletPayment,
} from './types.ts';

export type ByWalletParts = {
  readonly kept: Kept;
  readonly now: () => UnixSeconds;
  readonly one: (swapId: string) => SwapView | null;
  readonly payments: (swapId: string) => Promise<readonly EscrowPayment[]>;
};

type Entry = WalletPayment & { readonly id: string; readonly isLeft: boolean };

/** A wallet may answer after the deadline; a timer takes no more than 24 days. */
const graceSeconds = 3_600;
const mostWaitMs = 86_400_000;

const keyOf = (swapId: string) => `by wallet ${swapId}`;
const entryOf = (text: string | null) => (text === null ? null : readKept<Entry>(text));

export function byWalletOf(parts: ByWalletParts) {
  const { kept, now } = parts;
  const change = (swapId: string, next: (entry: Entry | null) => Entry | null) =>
    kept.change(keyOf(swapId), (text) => {
      const entry = next(entryOf(text));
      return entry === null ? null : writeKept(entry);
    });
  return {
    /**
     * The payment that may still come from a wallet; null: no wallet was asked, or it declined, or
     * the person left it.
     */
    of: async (swapId: string): Promise<WalletPayment | null> =>
      openOf(entryOf(await kept.get(keyOf(swapId)))),
    /** The person says that the wallet has not paid, and does not. */
    leave: (swapId: string) => change(swapId, (entry) => entry && { ...entry, isLeft: true }),
    /**
     * Asks for exactly the amount of the swap, at its escrow; resolves when the wallet has answered
     * or failed. Throws EngineError `not_to_pay`, `asked_already`, and WalletError `declined`.
     */
    pay: async (swapId: string, { name: wallet, pay }: PayingWallet) => {
      const { address, amount, notAfter } = await dueOf(parts, swapId);
      const id = crypto.randomUUID();
      const at = Math.floor(now());
      const ends = (end: Partial<Entry>) =>
        change(swapId, (entry) =>
          entry?.id === id ? { ...entry, ...end, at: Math.floor(now()) } : entry,
        );
      await change(swapId, (before) => {
        mustBeFree(before);
        return { id, wallet, at, is: 'asked', txid: null, why: null, isLeft: false };
      });
      const withinMs = Math.min((notAfter - at + graceSeconds) * 1_000, mostWaitMs);
      try {
        const txid = await pay({ payTo: address, amountSats: amount, withinMs });
        // Told after it was left too: then it has paid after all.
        await ends({ is: 'sent', txid, isLeft: false });
      } catch (error) {
        const code = error instanceof WalletError ? error.code : null;
        if (code !== 'declined') return ends({ is: 'failed', why: messageOf(error) });
        await ends({ isLeft: true });
        throw error;
      }
    },
  };
}

/** By the chains as they are now, and not as they were when the button was drawn. */
async function dueOf({ one, payments, now }: ByWalletParts, swapId: string) {
  const refused = (sentence: string) =>
    new EngineError('not_to_pay', `no wallet was asked: ${sentence}`);
  const view = one(swapId);
  const due = view?.asks.find((each) => each.kind === 'pay_by_hand');
  if (view === null || due === undefined) throw refused('no payment is due now');
  const wrong = whyNotToPay(view);
  if (wrong !== null) throw refused(wrong.sentence);
  if (isHeldUp(view)) throw refused('your nodes show too little to begin by');
  const late = now() - due.notAfter;
  if (late > 0) throw refused(`the time to pay ended ${Math.ceil(late)} s ago`);
  // Throws where the node is silent: a payment that nobody could see is none to ask for.
  const paid = (await payments(swapId)).find(({ is, spent }) => is !== 'too_little' && !spent);
  if (paid === undefined) return due;
  throw refused(`${paid.amount} sats have arrived already, by transaction ${paid.txid}`);
}

/** A payment by hand that could not be seen, or would be of other terms than were agreed. */
export function whyNotToPay({ problems, gives }: SwapView): Problem | null {
  const isOf = ({ kind, leg }: Problem) => kind === 'terms' || (kind === 'node' && leg === gives);
  return problems.find(isOf) ?? null;
}

/** Nodes of one of its chains cannot be relied on now. */
export function isHeldUp({ problems, legs: { a, b } }: SwapView): boolean {
  const isShut = problems.some(({ code }) => code === 'sources_disagree');
  return isShut || a.isHeldUp === true || b.isHeldUp === true;
}

const openOf = (entry: Entry | null) => (entry?.isLeft === false ? entry : null);

function mustBeFree(before: Entry | null): void {
  const open = openOf(before);
  if (open === null) return;
  const sentence = `${open.wallet} was asked for this payment already: answer it there`;
  throw new EngineError('asked_already', sentence);
}
