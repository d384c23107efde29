// Which events a change of a swap is worth: derived from what was stored before and what is stored
// now, so that each is sent once, in order, however many steps one poll found. Pure.

import { type EscrowFacts, isFunded, legStatus } from '@parley/core/facts.ts';
import type { SwapStatus } from '@parley/core/status.ts';
import { longOf, type SwapState, shortOf } from '@parley/core/swap.ts';

type SwapTopic =
  | 'swap.funded'
  | 'secret.revealed'
  | 'swap.settled'
  | 'swap.refunded'
  | 'swap.half_settled'
  | 'swap.reorged';

export type SwapEvent = { readonly topic: SwapTopic; readonly status: SwapStatus };

export type Known = { readonly state: SwapState; readonly status: SwapStatus };

/**
 * Fundings that were told and are not shown now: while the status stood, as it does once the secret
 * is public, nothing told that they were taken back, so they are not told again.
 */
export type Told = { readonly initiatorFunded: boolean; readonly counterpartyFunded: boolean };

export const nothingTold: Told = { initiatorFunded: false, counterpartyFunded: false };

export type Change = {
  /** In the order they happened. */
  readonly events: readonly SwapEvent[];
  /** To be remembered until the next poll. */
  readonly told: Told;
};

/** The milestones that were reached, each emitted once when it becomes true. */
type Reached = {
  readonly initiatorFunded: boolean;
  readonly counterpartyFunded: boolean;
  readonly revealed: boolean;
  readonly settled: boolean;
  readonly longRefunded: boolean;
  readonly shortRefunded: boolean;
  readonly half: boolean;
};

function wasFunded(facts: EscrowFacts): boolean {
  return isFunded(facts) || (facts.funded !== null && legStatus(facts) === 'refunded');
}

function reached({ state, status }: Known): Reached {
  const long = longOf(state).facts;
  const short = shortOf(state).facts;
  const initiatorFunded = wasFunded(long);
  return {
    initiatorFunded,
    // The counterparty's leg alone is no status of its own (decisions.md, 7).
    counterpartyFunded: initiatorFunded && wasFunded(short),
    revealed: state.secret !== null || legStatus(short) === 'claimed',
    settled: legStatus(long) === 'claimed',
    longRefunded: legStatus(long) === 'refunded',
    shortRefunded: legStatus(short) === 'refunded',
    half: status === 'half_settled',
  };
}

/** The change between two stored states of one swap, one after the other. */
export function changeBetween(before: Known & { readonly told: Told }, after: Known): Change {
  const was = reached(before);
  const is = reached(after);
  const events: SwapEvent[] = [];
  const taken = (Object.keys(was) as (keyof Reached)[]).some((each) => was[each] && !is[each]);
  const reorged = taken && before.status !== after.status;
  if (reorged) events.push({ topic: 'swap.reorged', status: after.status });
  const known: Reached = {
    ...was,
    initiatorFunded: was.initiatorFunded || before.told.initiatorFunded,
    counterpartyFunded: was.counterpartyFunded || before.told.counterpartyFunded,
  };
  const tell = (each: keyof Reached, topic: SwapTopic, status: SwapStatus) => {
    if (is[each] && !known[each]) events.push({ topic, status });
  };
  tell('initiatorFunded', 'swap.funded', 'initiator_funded');
  tell('counterpartyFunded', 'swap.funded', 'counterparty_funded');
  tell('revealed', 'secret.revealed', 'initiator_claimed');
  tell('settled', 'swap.settled', 'counterparty_claimed');
  tell('longRefunded', 'swap.refunded', 'refunded');
  tell('shortRefunded', 'swap.refunded', 'refunded');
  tell('half', 'swap.half_settled', 'half_settled');
  const hidden = (each: keyof Told) => !reorged && known[each] && !is[each];
  const told = {
    initiatorFunded: hidden('initiatorFunded'),
    counterpartyFunded: hidden('counterpartyFunded'),
  };
  return { events, told };
}
