// How many threads RFQs have, for the most that one may have. A count reads an entry of the index
// for each thread, and a count for each quote would read the square of them: so one count holds for
// some of the quotes after it.

/** The counts of this many RFQs are kept. */
const mostRemembered = 20_000;
/** A count holds until this process has added so much of what is left to the most. */
const share = 1 / 16;
/** Other processes add as well. */
const longestMs = 300_000;

type Count = { readonly threads: number; readonly left: number; readonly until: number };

export type ThreadCounts = {
  /** Null: to be counted. */
  of(rfqId: string): number | null;
  /** `counted`: before these were added; null: it was known. */
  added(rfqId: string, added: number, counted: number | null): void;
};

export function createThreadCounts(now: () => number, most: number): ThreadCounts {
  const counts = new Map<string, Count>();
  const fresh = (threads: number): Count => ({
    threads,
    left: (most - threads) * share,
    until: now() + longestMs,
  });
  return {
    of: (rfqId) => {
      const count = counts.get(rfqId);
      return count === undefined || count.left < 1 || count.until <= now() ? null : count.threads;
    },
    added: (rfqId, added, counted) => {
      const before = counted === null ? counts.get(rfqId) : fresh(counted);
      if (before === undefined) return;
      if (counts.size >= mostRemembered && !counts.has(rfqId)) counts.clear();
      const { threads, left, until } = before;
      counts.set(rfqId, { threads: threads + added, left: left - added, until });
    },
  };
}
