// Whether what a process does by itself is still done. Each service says when it will be heard of
// again at the latest; one that was not is late. How a pass ends does not count: a node of
// somebody else may be silent for a day.

import type { Database } from '../db/database.ts';

/** A busy machine, and a process that was stopped for a moment. */
const graceMs = 10_000;

export type Late = { readonly service: string; readonly byMs: number };

export type Passes = {
  join(service: string): Pulse;
  /** Longest first. */
  late(): Late[];
};

type Pulse = {
  /** Heard of again within so many milliseconds. */
  within(ms: number): void;
  leave(): void;
};

const ofDatabases = new WeakMap<Database['listen'], Passes>();

/** Those of the services on this database, in this process. */
export function passesOf(db: Pick<Database, 'listen'>): Passes {
  const known = ofDatabases.get(db.listen) ?? createPasses();
  ofDatabases.set(db.listen, known);
  return known;
}

/** `clock`: milliseconds, monotonic. */
function createPasses(clock: () => number = () => performance.now()): Passes {
  const all = new Set<{ readonly service: string; by: number }>();
  return {
    join: (service) => {
      const own = { service, by: Number.POSITIVE_INFINITY };
      all.add(own);
      return {
        within: (ms) => {
          own.by = clock() + ms + graceMs;
        },
        leave: () => void all.delete(own),
      };
    },
    late: () => {
      const now = clock();
      const found = [...all].filter(({ by }) => by < now);
      const late = found.map(({ service, by }) => ({ service, byMs: Math.round(now - by) }));
      return late.sort((one, other) => other.byMs - one.byMs);
    },
  };
}
