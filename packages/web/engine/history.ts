// The events of a swap: told once, without its secret, and kept beyond the page that saw it.

import { opens } from '@parley/core/hashlock.ts';
import { readKept, writeKept } from '@parley/sdk/stores/store.ts';
import type { Kept } from './kept.ts';
import type { Happened } from './types.ts';

/** Entries that a browser keeps of a swap's history. The oldest go. */
export const mostHistory = 200;
const mostText = 500;

export type Histories = {
  of(swapId: string): Promise<readonly Happened[]>;
  /** Is written soon, one after the other. */
  add(swapId: string, happened: Happened): void;
  /** Resolves when all that was added is kept. */
  written(): Promise<void>;
};

const keyOf = (swapId: string) => `history ${swapId}`;
const rowsOf = (text: string | null) => (text === null ? [] : readKept<Happened[]>(text));

export function historiesOf(kept: Kept, onFault: (error: unknown) => void): Histories {
  let writing: Promise<void> = Promise.resolve();
  return {
    of: async (swapId) => rowsOf(await kept.get(keyOf(swapId))),
    add: (swapId, happened) => {
      const next = (text: string | null) => writeKept(withNews(rowsOf(text), happened));
      writing = writing.then(() => kept.change(keyOf(swapId), next)).catch(onFault);
    },
    written: () => writing,
  };
}

/** A run says again what the one before has said: that is no news. The newest 200 stay. */
export function withNews(rows: readonly Happened[], news: Happened): readonly Happened[] {
  const { step, leg, text, txid, state } = news;
  const before = rows.findLast((each) => each.step === step && each.leg === leg);
  const isSame =
    step === 'state' ? before?.state === state : before?.text === text && before.txid === txid;
  return isSame ? rows : [...rows, news].slice(-mostHistory);
}

/** Without what opens one of these hashlocks, and without transactions, which may hold it. */
export function plainText(text: string, hashlocks: readonly (string | null)[]): string {
  const isSecret = (digits: string) =>
    digits.length > 64 || hashlocks.some((each) => each !== null && opens(digits, each));
  const bare = (run: string) => (isSecret(run.replace(/^0x/, '').toLowerCase()) ? '…' : run);
  return text.replace(/(?:0x)?[0-9a-f]{64,}/gi, bare).slice(0, mostText);
}
