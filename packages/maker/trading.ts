// The parts that quoting, accepting and levels share.

import type { Millis } from '@parley/core/nominal.ts';
import type { Limits, PairConfig } from './config/config.ts';
import type { Log } from './log.ts';
import type { MarketMetrics } from './metrics.ts';
import type { Prices } from './prices/sources.ts';
import type { Promises } from './promises.ts';
import type { Mode } from './rules/decide.ts';
import type { Turns } from './turns.ts';

export type Trading = {
  readonly promises: Promises;
  readonly turns: Turns;
  readonly prices: Prices;
  readonly pairs: readonly PairConfig[];
  readonly limits: Limits;
  readonly log: Log;
  readonly metrics: MarketMetrics;
  readonly mode: () => Mode;
  readonly now: () => Millis;
  readonly signal: AbortSignal;
};
