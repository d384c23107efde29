// The maker's clock against the market's and those of chains. A deal agreed by a wrong clock is not
// funded, which counts against the maker: the maker neither quotes nor accepts until the clock is
// right again.

import type { Millis } from '@parley/core/nominal.ts';
import { type ClockLook, clockFault, lookAtBlocks } from '@parley/sdk/clock.ts';
import type { OwnChains } from './chains.ts';
import { type Log, logWith } from './log.ts';
import { type Metrics, metricsAt } from './metrics.ts';

/** For one look at the last blocks of all chains. */
const lookMs = 10_000;

export type ClockInput = {
  readonly chains: OwnChains;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => Millis;
  readonly movedMs: () => Millis;
  readonly signal: AbortSignal;
};

export type Clock = ReturnType<typeof createClock>;

export function createClock({ chains, log, metrics, now, movedMs, signal }: ClockInput) {
  let blocks: ClockLook['chains'] = {};
  const judges: (() => void)[] = [];
  return {
    /** Against the clock of one market. Another market's clock says nothing of it. */
    at: (name: string) => {
      const own = { log: logWith(log, { market: name }), metrics: metricsAt(metrics, name) };
      let market: number | null = null;
      let fault: string | null = null;
      const judge = () => {
        const before = fault;
        fault = clockFault({ market, chains: blocks });
        if (fault !== null && before === null) own.log.error('clock_wrong', { why: fault });
        else if (fault === null && before !== null) own.log.info('clock_right');
      };
      judges.push(judge);
      return {
        isWrong: () => fault !== null,
        /** The seconds that an answer of the market is ahead of the machine's clock. */
        heard: (aheadSeconds: number) => {
          market = aheadSeconds + Math.round((now() - movedMs() - Date.now()) / 1_000);
          own.metrics.clockAhead(market);
          judge();
        },
      };
    },
    look: async () => {
      const sources = Object.values(chains).map(({ source }) => source);
      const limit = AbortSignal.any([signal, AbortSignal.timeout(lookMs)]);
      blocks = await lookAtBlocks(sources, () => Math.floor(now() / 1_000), limit);
      for (const [of, { aheadSeconds }] of Object.entries(blocks)) {
        metrics.clockAhead.set({ of }, aheadSeconds);
      }
      for (const judge of judges) judge();
    },
  };
}
