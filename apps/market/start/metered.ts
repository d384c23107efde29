// The use of other services by this process, for operators: the database's statements and pool, and
// the calls to nodes, each counted for the node that the settings name.

import { type Ended, exchanges } from '@parley/chains/nodes/transport-node.ts';
import type { DatabaseUsage } from '../db/usage.ts';
import { version } from '../db/version.ts';
import type { CallOutcome, Metrics } from '../ports/metrics.ts';
import { sourcesOf, urlsOf } from '../ports/node-questions.ts';
import { readAtScrape, type Sample } from '../ports/recorded.ts';
import type { ChainSettings } from '../settings/chains.ts';

export function meterDatabase(metrics: Metrics, usage: DatabaseUsage | undefined): void {
  if (usage === undefined) return;
  const { registry, shortName } = metrics;
  const show = (
    [name, help, type]: [string, string, 'counter' | 'gauge' | 'histogram'],
    read: () => Sample[],
  ) => readAtScrape(registry, { name: `${shortName}_database_${name}`, help, type }, read);
  const byName = (field: 'count' | 'seconds') => () =>
    [...usage.statements].map(([statement, use]) => ({
      labels: { statement },
      value: use[field],
    }));
  show(['statements_total', 'Statements that were sent, by name', 'counter'], byName('count'));
  show(
    ['statement_seconds_total', 'Time that their answers were waited for, by name', 'counter'],
    byName('seconds'),
  );
  show(['failures_total', 'Statements that failed, by class of SQLSTATE', 'counter'], () =>
    [...usage.failures].map(([kind, value]) => ({ labels: { class: kind }, value })),
  );
  show(['statement_duration_seconds', 'Statements, by how long they took', 'histogram'], () =>
    durationsOf(`${shortName}_database_statement_duration_seconds`, usage),
  );
  show(['pool_connections', 'Connections of this process, idle or busy', 'gauge'], () => {
    const { total, idle } = usage.pool();
    return [
      { labels: { state: 'idle' }, value: idle },
      { labels: { state: 'busy' }, value: total - idle },
    ];
  });
  show(['pool_waiting', 'Callers that wait for a connection of this process', 'gauge'], () => [
    { labels: {}, value: usage.pool().waiting },
  ]);
}

function durationsOf(name: string, { durations, statements }: DatabaseUsage): Sample[] {
  let count = 0;
  const buckets = durations.counts.map((own, at) => {
    count += own;
    return {
      metricName: `${name}_bucket`,
      labels: { le: durations.bounds[at] ?? '+Inf' },
      value: count,
    };
  });
  const seconds = [...statements.values()].reduce((sum, each) => sum + each.seconds, 0);
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: {}, value: seconds },
    { metricName: `${name}_count`, labels: {}, value: count },
  ];
}

/** Until what it returns is called. */
export function meterNodes(metrics: Metrics, chains: readonly ChainSettings[]): () => void {
  const known = chains.flatMap((chain) =>
    sourcesOf(chain).flatMap((source, at) => {
      const meter = metrics.nodes.of(chain.chain, String(at + 1));
      return urlsOf(source).map((url) => ({ url: url.replace(/\/+$/, ''), meter }));
    }),
  );
  const exact = new Map(known.map((each) => [each.url, each.meter]));
  // The longest first: a node may be served below the address of another.
  known.sort((one, other) => other.url.length - one.url.length);
  const hear = (message: unknown) => {
    const { url, ms, ...ended } = message as Ended;
    const meter = exact.get(url) ?? known.find((each) => url.startsWith(each.url))?.meter;
    meter?.(outcomeOf(ended), ms / 1_000);
  };
  exchanges.subscribe(hear);
  return () => void exchanges.unsubscribe(hear);
}

function outcomeOf({ status, failure }: Pick<Ended, 'status' | 'failure'>): CallOutcome {
  if (status !== undefined) return status < 400 ? 'answered' : 'refused';
  const name = failure instanceof Error ? failure.name : '';
  return name === 'TimeoutError' || name === 'AbortError' ? 'late' : 'failed';
}

export function tellBuild(metrics: Metrics, network: string): void {
  metrics.build.set({ version, network }, 1);
}
