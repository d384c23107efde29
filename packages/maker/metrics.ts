// The numbers that an operator watches, as Prometheus reads them, on loopback alone.

import { createServer } from 'node:http';
import { Counter, Gauge, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

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
    quotes: counter('quotes', 'Quotes that the market took', 'pair'),
    refused: counter('refused', 'RFQs, proposals and acceptances turned down', 'step', 'code'),
    agreed: counter('agreed', 'Swaps agreed', 'pair'),
    ended: counter('ended', 'Swaps ended, by how', 'end'),
    failures: counter('failures', 'Work that failed and is done again', 'what'),
    balance: gauge('balance', 'The balance of a wallet, whole coins', 'asset'),
    promised: gauge(
      'promised',
      'The most that open quotes and swaps may take, whole coins',
      'asset',
    ),
    price: gauge('price', 'The good price of a source; absent without one', 'source'),
    swapsPayable: gauge('swaps_payable', 'Swaps that the coin of a chain pays for', 'chain'),
    openQuotes: gauge('open_quotes', 'Quotes that may be accepted'),
    openSwaps: gauge('open_swaps', 'Swaps that are not settled'),
    needsPerson: gauge('needs_person', 'Swaps that wait for a person: see the log'),
    doubted: gauge('doubted', 'Swaps and balances that met a bad answer', 'chain', 'code'),
    feedLive: gauge('feed_live', '1 while the book is whole'),
    mode: gauge('mode', '0 open, 1 paused, 2 killed, 3 the clock is wrong'),
    clockAhead: gauge('clock_ahead_seconds', 'By how much the own clock is ahead', 'of'),
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
