// One price of an RFQ is on its way to the market at a time, whoever sends it: with two at once it
// would be unknown which one stands there in the end.

export type Turns = ReturnType<typeof createTurns>;

export function createTurns() {
  /** By RFQ: the work to be done once its price has arrived. */
  const taken = new Map<string, Set<() => void>>();
  return {
    isTaken: (rfqId: string): boolean => taken.has(rfqId),
    size: (): number => taken.size,
    /** The RFQ must be free. */
    take: (rfqId: string): void => {
      if (taken.has(rfqId)) throw new Error(`a price of ${rfqId} is on its way already`);
      taken.set(rfqId, new Set());
    },
    end: (rfqId: string): void => {
      const waiting = taken.get(rfqId) ?? [];
      taken.delete(rfqId);
      for (const go of waiting) go();
    },
    /** Once, after a price that is on its way has arrived. */
    after: (rfqId: string, go: () => void): void => void taken.get(rfqId)?.add(go),
  };
}
