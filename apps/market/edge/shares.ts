// How many of something are open at once, by name: the share of a client, and that of the network
// around it.

export type Share = { readonly name: string; readonly most: number };

/** One of each share was taken, up to the one that had no more. */
export type Taken<T extends Share> = {
  /** Null = each had one left. */
  readonly over: T | null;
  release(): void;
};

export function createShares() {
  const counts = new Map<string, number>();
  const change = (name: string, by: number): number => {
    const count = (counts.get(name) ?? 0) + by;
    if (count === 0) counts.delete(name);
    else counts.set(name, count);
    return count;
  };
  return {
    /** A refusal by one share takes nothing from those after it. */
    take: <T extends Share>(shares: readonly T[]): Taken<T> => {
      const taken: string[] = [];
      const over = shares.find(({ name, most }) => {
        taken.push(name);
        return change(name, 1) > most;
      });
      const release = () => {
        for (const name of taken) change(name, -1);
      };
      return { over: over ?? null, release };
    },
  };
}
