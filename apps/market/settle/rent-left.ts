// The rent that a claim on Solana left in the escrow's account, of swaps that are over and followed
// no more: read again when somebody reads the swap and it may have been fetched since. Seldom, and
// no read waits long for it.

import { within } from '@parley/chains/nodes/time-limit.ts';
import type { EscrowFacts } from '@parley/core/facts.ts';
import type { LegName } from '@parley/core/trade.ts';
import { noteRentLeft } from '../db/escrows.ts';
import { clocksOf, type Swap } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { createMoments } from '../ports/moments.ts';
import { currentEscrow } from './escrows.ts';
import { isRentDue } from './view.ts';

/**
 * The rent that a claim on Solana left is read once in this time. The stored answer is shown
 * meanwhile.
 */
const freshMs = 15_000;
const patienceMs = 500;
const mostEscrows = 1_000;

type RentLooks = {
  /** The swap with what is left now, where its chain answers in half a second. */
  of(swap: Swap): Promise<Swap>;
};

export function createRentLooks(deps: Pick<Deps, 'adapters' | 'db' | 'log' | 'now'>): RentLooks {
  const kept = createMoments<EscrowFacts | null>(freshMs, mostEscrows);
  const lookAt = async (swap: Swap, name: LegName): Promise<EscrowFacts | null> => {
    const { chain, facts } = swap.state.legs[name];
    const escrow = currentEscrow(swap, name);
    const adapter = deps.adapters.get(chain);
    if (!swap.done || !isRentDue(swap.state.legs[name], clocksOf(swap, deps.now()))) return null;
    if (escrow === null || adapter === undefined) return null;
    const { address } = escrow;
    return kept.of(address, async () => {
      const signal = AbortSignal.timeout(patienceMs);
      try {
        const shown = await within(signal, chain, adapter.readEscrow(escrow, signal));
        const { rentLeft, ...rest } = facts;
        if (shown.rentLeft?.lamports === rentLeft?.lamports) return null;
        const now = shown.rentLeft === undefined ? rest : { ...rest, rentLeft: shown.rentLeft };
        await noteRentLeft(deps.db, { chain, address, facts: now });
        return now;
      } catch (error) {
        deps.log.debug({ chain, err: error }, 'the rest of a claim was not polled');
        return null;
      }
    });
  };
  return {
    of: async (swap) => {
      const [a, b] = await Promise.all([lookAt(swap, 'a'), lookAt(swap, 'b')]);
      if (a === null && b === null) return swap;
      const { legs } = swap.state;
      const withFacts = (name: LegName, facts: EscrowFacts | null) =>
        facts === null ? legs[name] : { ...legs[name], facts };
      const fresh = { a: withFacts('a', a), b: withFacts('b', b) };
      return { ...swap, state: { ...swap.state, legs: fresh } };
    },
  };
}
