// The reads that all callers within a moment share.

type Moments<T> = {
  /** By `read`, unless that was done for this key a moment ago. A failure is not kept. */
  of(key: string, read: () => Promise<T>): Promise<T>;
};

/**
 * Keeps at most `most` keys; the one read longest ago goes first. `clock`: milliseconds, monotonic.
 */
export function createMoments<T>(
  ms: number,
  most: number,
  clock: () => number = () => performance.now(),
): Moments<T> {
  const kept = new Map<string, { readonly at: number; readonly reading: Promise<T> }>();
  return {
    of: (key, read) => {
      const known = kept.get(key);
      if (known !== undefined && clock() - known.at < ms) return known.reading;
      const reading = read();
      kept.delete(key);
      kept.set(key, { at: clock(), reading });
      for (const old of kept.keys()) {
        if (kept.size <= most) break;
        kept.delete(old);
      }
      reading.catch(() => kept.get(key)?.reading === reading && kept.delete(key));
      return reading;
    },
  };
}
