// Whether a person wants to be asked for a signature: a wallet opens by a click, never by itself.

import type { Millis } from '@parley/core/nominal.ts';
import type { Signing } from '../words.ts';
import type { AskedFor, Asks } from './wallet.ts';

/** A person reads, unlocks a wallet, and looks for a hardware key. */
const defaultWithinMs = 120_000;

export type Asking = Asks & {
  /** The person has clicked: the next pass of `settle` asks. */
  want(what: AskedFor): void;
  /** The last signings that the wallet was asked for; empty before. */
  shown(what: AskedFor): readonly Signing[];
};

/** One for all wallets and swaps of a page. */
export function asking(withinMs: Millis = defaultWithinMs): Asking {
  const wanted = new Set<string>();
  const shown = new Map<string, readonly Signing[]>();
  const keyOf = ({ swapId, verb }: AskedFor) => `${verb} ${swapId}`;
  return {
    withinMs,
    want: (what) => void wanted.add(keyOf(what)),
    isWanted: (what) => wanted.has(keyOf(what)),
    shows: (what, signings) => void shown.set(keyOf(what), signings),
    shown: (what) => shown.get(keyOf(what)) ?? [],
    over: (what) => void wanted.delete(keyOf(what)),
  };
}
