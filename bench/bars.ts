// The bars of the design, all in one place. A name ends in its unit where the bar is a limit; all
// others are ratios against a peer of the same run. Gas has its limits in
// contracts/escrows/gas.snapshot.json. A bar that is missed stays, and the row says MISS.

export const bars = {
  reads: { book: 0.74, swap: 0.9, large: 0.85, memoryMiB: 300 },
  quotes: { one: 0.65, batches: 1.2, frames: 1.2, large: 0.85 },
  accept: { soonMs: 50 },
  processes: { three: 1.15 },
  feed: { lastMaker: 1.5, lastMakerMs: 100, frames: 0.8, socketKiB: 20 },
  webhooks: { oneSlow: 0.9, soonMs: 250 },
  events: { soonMs: 250 },
  start: { readySeconds: 20 },
  verify: { signedMs: 5 },
  requests: { stallMs: 50, fundExchanges: 8, claimExchanges: 12, chargedMs: 600 },
  idle: { statementsPerSecond: 5, processorPercent: 1 },
  signIn: { known: 1.05 },
  web: {
    scriptBytes: 150 * 1_024,
    paintMs: 1_000,
    interactiveMs: 1_500,
    /** As browsers sum it up. */
    shift: 0.02,
    quoteMs: 300,
    growth: 1.1,
  },
  package: {
    tarballBytes: 440 * 1_024,
    unpackedBytes: 1_550 * 1_024,
    files: 360,
    verifyingBytes: 72 * 1_024,
    askingBytes: 3 * 1_024,
    settlingBytes: 190 * 1_024,
  },
} as const;
