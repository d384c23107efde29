// Adapters of which a test says what each escrow shows.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { lookBy } from '@parley/chains/testing/showing.ts';
import { type EscrowFacts, nothingSeen } from '@parley/core/facts.ts';

export type Told = {
  /** The facts that each escrow shows, by address; a function may wait or throw. */
  readonly script: ReadonlyMap<string, () => EscrowFacts | Promise<EscrowFacts>>;
  /** Takes each escrow that is read. */
  readonly asked: WatchedEscrow[];
  /** Addresses that the next poll tells, once. */
  readonly touched: string[];
};

/** The adapter by what the test tells at that moment. */
export const scriptedBy =
  (told: () => Told) =>
  (adapter: ChainAdapter): ChainAdapter => {
    const heads = { height: 1, hash: 'h', clock: 1 };
    return {
      ...adapter,
      look: lookBy({
        heads: async () => heads,
        readEscrow: async (escrow) => {
          told().asked.push(escrow);
          return (await told().script.get(escrow.address)?.()) ?? nothingSeen;
        },
      }),
      changes: async () => ({ touched: told().touched.splice(0), heads }),
    };
  };
