// Metrics of which this process holds plain numbers: they are read when somebody scrapes.

import type { Counter, Registry } from 'prom-client';

export type Sample = {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
};
type About = {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
};

/** A metric whose samples are read at each scrape. */
export function readAtScrape(registry: Registry, about: About, read: () => Sample[]): void {
  const metric = { ...about, aggregator: 'sum', get: async () => ({ ...about, values: read() }) };
  // A registry asks no more of a metric than this; its type names the library's own classes.
  registry.registerMetric(metric as unknown as Counter);
}
