// The contract's state of one escrow: its state, and what follows from it. Pure.

import type { Fact } from '@parley/core/errors.ts';
import { alreadyFunded, holdsNothing } from '../kit/builders.ts';
import type { Verb } from './touches.ts';

/** By the number that `stateOf` answers. The last two are told in contracts/escrows/README.md. */
const states = ['never', 'open', 'claimed', 'refunded', 'ended', 'void'] as const;

export type EscrowState = {
  /** `ended`: the lane holds a later escrow. `void`: the counter went to other terms. */
  readonly state: (typeof states)[number];
};

/** Reads the word of the contract's view; null: it is no such word. */
export function stateIn(word: bigint | undefined): EscrowState | null {
  const state = states[Number(word)];
  return state === undefined ? null : { state };
}

const ranks: Readonly<Record<EscrowState['state'], number>> = {
  never: 0,
  void: 0,
  open: 1,
  claimed: 2,
  refunded: 2,
  ended: 3,
};
export const settledRank = ranks.claimed;
export const rankOf = ({ state }: EscrowState) => ranks[state];
export const isUnfunded = (shown: EscrowState) => rankOf(shown) === 0;
export const isSettled = (shown: EscrowState) => rankOf(shown) === settledRank;

/** The last act; null: no act, or the state does not tell. */
export function verbOf({ state }: EscrowState): Verb | null {
  switch (state) {
    case 'open':
      return 'fund';
    case 'claimed':
      return 'claim';
    case 'refunded':
      return 'refund';
    case 'never':
    case 'void':
    case 'ended':
      return null;
  }
}

/** Shown where no transaction is found to have done what the state says. */
export const unknownTxid = 'unknown';

/** Throws `already_funded`. */
export function mustBeUnfunded(escrow: string, shown: EscrowState): void {
  if (!isUnfunded(shown)) throw alreadyFunded(escrow);
}

/** Throws `nothing_there`. `fact`: the name of its state in facts. */
export function mustHold(chain: string, escrow: string, shown: EscrowState, fact = 'state'): void {
  const { state } = shown;
  if (state === 'open') return;
  const facts: Readonly<Record<string, Fact>> = { [fact]: state };
  const why = isUnfunded(shown) ? 'never funded' : state;
  throw holdsNothing(chain, escrow, `holds nothing: ${why}`, facts);
}
