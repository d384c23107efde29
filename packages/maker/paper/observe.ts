// Looks at markets, prices and fees as anybody can, and tells each observation as a line: the feed
// by an account that holds nothing, agreements without a key, fees by the maker's own nodes. No key
// file is read, and nothing is posted.

import type { Millis } from '@parley/core/nominal.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { openSource } from '@parley/trader/sources.ts';
import type { ChainConfig, Config, MarketConfig } from '../config/config.ts';
import { type Log, logWith } from '../log.ts';
import { type Metrics, metricsAt } from '../metrics.ts';
import { hearSource } from '../prices/sources.ts';
import { repeating } from '../repeating.ts';
import { holdingOf } from '../rules/inventory.ts';
import type { Observed } from './lines.ts';
import { type Emit, watchMarket } from './watch-market.ts';

const startAgainMs = 30_000;
const costsMs = 30_000;
/** A longer text is no price. */
const mostPriceLength = 200;

export type ObserveInput = {
  readonly config: Config;
  /** For the API keys of this observer, one a market. */
  readonly folder: string;
  readonly now: () => Millis;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  /** In order of time. */
  readonly take: (line: Observed) => void;
};

/** Until the signal. `snapshot`: lines that say what is known now, for one who begins to read. */
export function observe(input: ObserveInput): { snapshot(): readonly Observed[] } {
  const { config, now, log, signal } = input;
  const known = new Map<string, Observed>();
  let last: Millis = 0;
  const emit: Emit = (line) => {
    last = Math.max(last, now());
    const observed = { ...line, at: last } as Observed;
    remember(known, observed);
    input.take(observed);
  };
  for (const each of config.prices) {
    const { name: source } = each;
    const take = (said: unknown) => {
      const isText = typeof said === 'string' && said.length <= mostPriceLength;
      if (isText || typeof said === 'number') emit({ is: 'price', source, said });
    };
    const failed = (error: unknown) =>
      log.debug('price_unread', { source, error: messageOf(error) });
    hearSource(each, { take, failed, signal });
  }
  for (const market of config.markets) watchOne(input, market, emit);
  for (const chain of config.chains) readCosts(input, chain, emit);
  return { snapshot: () => [...known.values()].map((line) => ({ ...line, at: last })) };
}

/** The lines that still say something: one of each thing. Markets come before what is of them. */
function remember(known: Map<string, Observed>, line: Observed): void {
  switch (line.is) {
    case 'gone':
      known.delete(`rfq ${line.market} ${line.rfqId}`);
      break;
    case 'rfq':
      known.set(`rfq ${line.market} ${line.rfq.id}`, line);
      break;
    case 'market':
    case 'feed':
      known.set(`${line.is} ${line.market}`, line);
      break;
    case 'price':
      known.set(`price ${line.source}`, line);
      break;
    case 'costs':
      known.set(`costs ${line.holding}`, line);
      break;
    case 'agreement':
  }
}

function watchOne(input: ObserveInput, market: MarketConfig, emit: Emit): void {
  const { config, folder, signal } = input;
  const { name } = market;
  const log = logWith(input.log, { market: name });
  const metrics = metricsAt(input.metrics, name);
  watchMarket({ config, folder, market, log, metrics, signal, emit }).catch((error: unknown) => {
    if (!signal.aborted) log.error('observer_failed', { error: messageOf(error) });
  });
}

/** Fees of a chain by its nodes, told where they have changed. */
function readCosts(input: ObserveInput, of: ChainConfig, emit: Emit): void {
  const { config, now, log, metrics, signal } = input;
  const { chain, isDev } = of;
  const told = new Map<string, string>();
  const opened = { source: null as Awaited<ReturnType<typeof openSource>> | null };
  signal.addEventListener('abort', () => void opened.source?.adapter.close());
  const assets = config.assets.filter((each) => each.chain === chain);
  repeating({ log, failures: metrics.failures, signal })(`fees of ${chain}`, costsMs, async () => {
    opened.source ??= await openSource(chain, of, {
      isDev,
      now: () => Math.floor(now() / 1_000),
    });
    const limit = AbortSignal.any([signal, AbortSignal.timeout(startAgainMs)]);
    for (const { token } of assets) {
      const holding = holdingOf({ chain, token });
      const found = await opened.source.adapter.costs?.(token, limit);
      if (found === undefined) throw new Error(`the fees of ${chain} cannot be read`);
      const { fund, claim, refund, deposit, settlesFromAmount } = found;
      const costs = {
        fund: String(fund.most),
        claim: String(claim.most),
        refund: String(refund.most),
        deposit: String(deposit?.locked ?? 0n),
        settlesFromAmount,
      };
      const text = JSON.stringify(costs);
      if (told.get(holding) === text) continue;
      told.set(holding, text);
      emit({ is: 'costs', holding, costs });
    }
  });
}
