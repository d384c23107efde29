// The numbers that an operator watches, as Prometheus reads them, on loopback alone.

import { createServer } from 'node:http';
import { Counter, Gauge, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;
/** Those that say of which market they are. */
export type MarketMetrics = ReturnType<typeof metricsAt>;

export function createMetrics() {
  const registry = new Registry();
  const about = (name: string, help: string) => {
    return { name: `parley_maker_${name}`, help, registers: [registry] };
  };
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ ...about(`${name}_total`, help), labelNames });
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ ...about(name, help), labelNames });
  return {
    registry,
    quotes: counter('quotes', 'Quotes that the market took', 'market', 'pair'),
    refused: counter(
      'refused',
      'RFQs, proposals and acceptances turned down',
      'market',
      'step',
      'code',
    ),
    agreed: counter('agreed', 'Swaps agreed', 'market', 'pair'),
    ended: counter('ended', 'Swaps ended, by how', 'market', 'end'),
    failures: counter('failures', 'Work that failed and is done again', 'market', 'what'),
    balance: gauge('balance', 'The balance of a wallet, whole coins', 'asset'),
    promised: gauge(
      'promised',
      'The most that open quotes and swaps may take, whole coins',
      'asset',
    ),
    price: gauge('price', 'The good price of a source; absent without one', 'source'),
    swapsPayable: gauge('swaps_payable', 'Swaps that the coin of a chain pays for', 'chain'),
    held: gauge('held', 'What is held once all that is agreed is settled, whole coins', 'asset'),
    tilt: gauge('tilt_bps', 'How far what is held moves the price of base', 'pair'),
    hedgeTold: counter('hedge_told', 'Notices that the hedge took', 'type'),
    hedgeGivenUp: counter('hedge_given_up', 'Notices that the hedge never took'),
    hedgeWaiting: gauge('hedge_waiting', 'Swaps of which the hedge has not taken all yet'),
    openQuotes: gauge('open_quotes', 'Quotes that may be accepted', 'market'),
    openSwaps: gauge('open_swaps', 'Swaps that are not settled', 'market'),
    needsPerson: gauge('needs_person', 'Swaps that wait for a person: see the log', 'market'),
    doubted: gauge('doubted', 'Swaps and balances that met a bad answer', 'chain', 'code'),
    feedLive: gauge('feed_live', '1 while the book is whole', 'market'),
    mode: gauge('mode', '0 open, 1 paused, 2 killed, 3 the clock is wrong', 'market'),
    clockAhead: gauge('clock_ahead_seconds', 'By how much the own clock is ahead', 'of', 'market'),
  };
}

/** The same under the name of one market. */
export function metricsAt(metrics: Metrics, market: string) {
  const counter = <Label extends string>(of: Counter<Label | 'market'>) => ({
    inc: (labels: Partial<Record<Label, string>>) => {
      of.inc({ ...labels, market } as Partial<Record<Label | 'market', string>>);
    },
  });
  const gauge = (of: Gauge<'market'>) => ({ set: (value: number) => of.set({ market }, value) });
  return {
    quotes: counter<'pair'>(metrics.quotes),
    refused: counter<'step' | 'code'>(metrics.refused),
    agreed: counter<'pair'>(metrics.agreed),
    ended: counter<'end'>(metrics.ended),
    failures: counter<'what'>(metrics.failures),
    openQuotes: gauge(metrics.openQuotes),
    openSwaps: gauge(metrics.openSwaps),
    needsPerson: gauge(metrics.needsPerson),
    feedLive: gauge(metrics.feedLive),
    mode: gauge(metrics.mode),
    clockAhead: (seconds: number) => metrics.clockAhead.set({ of: 'market', market }, seconds),
  };
}

/** Serves `/metrics` of 127.0.0.1. Throws where the port is taken. */
export async function serveMetrics({ registry }: Metrics, port: number) {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    const shown = registry.metrics().then((text) => {
      response.writeHead(200, { 'content-type': registry.contentType }).end(text);
    });
    shown.catch(() => response.destroy());
  });
  server.maxConnections = 20;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  server.unref();
  return () => {
    server.closeAllConnections();
    server.close();
  };
}
