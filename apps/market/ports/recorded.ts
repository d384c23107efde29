// The counts at each request, statement and call: plain numbers, of which texts are made when
// somebody scrapes. prom-client makes one of the labels at each observation, which takes 0.7 to 1.1
// µs; here one takes 20 ns.

import type { Counter, Registry } from 'prom-client';

type Labels = Readonly<Record<string, string | number>>;
export type Sample = {
  readonly labels: Labels;
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

export type Observe = (seconds: number) => void;

type Child = { readonly labels: Labels; readonly counts: Float64Array; sum: number };

/** A histogram of seconds; `bounds` ascend. The caller keeps the child of its labels. */
export function createHistogram(
  registry: Registry,
  { bounds, ...about }: Omit<About, 'type'> & { readonly bounds: readonly number[] },
): (labels: Labels) => Observe {
  const children: Child[] = [];
  readAtScrape(registry, { ...about, type: 'histogram' }, () =>
    children.flatMap((child) => samplesOf(about.name, bounds, child)),
  );
  return (labels) => {
    const child: Child = { labels, counts: new Float64Array(bounds.length + 1), sum: 0 };
    // Not before something was observed: most routes are never asked.
    let isShown = false;
    return (seconds) => {
      if (!isShown) isShown = children.push(child) > 0;
      let at = 0;
      while (at < bounds.length && seconds > bounds[at]!) at += 1;
      child.counts[at]! += 1;
      child.sum += seconds;
    };
  };
}

function samplesOf(name: string, bounds: readonly number[], child: Child): Sample[] {
  const { labels, counts, sum } = child;
  let count = 0;
  const buckets = [...counts].map((own, at) => {
    count += own;
    const le = bounds[at] ?? '+Inf';
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
