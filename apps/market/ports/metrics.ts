// The figures that an operator watches, as Prometheus reads them. Names begin with the deployment's
// short name. Those that go on with `market` say the same in each process, because they are read
// from the database (apps/market/start/gauges.ts); all others are of this process.

import { swapStatuses } from '@parley/core/status.ts';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { readAtScrape } from './recorded.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** Seconds. Reads take a few milliseconds, what asks nodes a second; past ten a client is gone. */
const requestBounds = [0.005, 0.025, 0.1, 0.25, 1, 2.5, 10];
/** Seconds: a node beside us, one far away, one that is slow, and `PARLEY_CHAIN_TIMEOUT_MS`. */
const callBounds = [0.025, 0.1, 0.5, 1, 2.5, 5];

export function createMetrics(shortName: string) {
  const registry = new Registry();
  const make = makersOf(registry, shortName);
  const { counter, gauge } = make;
  return {
    registry,
    shortName,
    http: httpMetrics(make),
    nodes: nodeMetrics(make),
    market: marketMetrics(make),
    keeper: keeperMetrics((name, help, ...labels) => gauge(`keeper_${name}`, help, ...labels)),
    ...settlingMetrics(make),
    ...tellingMetrics(make),
    ...listingMetrics(make),
    passFailures: counter(
      'pass_failures',
      'Passes that failed of what the server does by itself, by service',
      'service',
    ),
    passesLate: gauge(
      'pass_late_seconds',
      'How long a service was not heard of beyond its time; services in time have none',
      'service',
    ),
    decisionsAlone: counter(
      'budget_decisions_alone',
      'Decisions on a budget that a process made by itself, because Valkey did not answer',
    ),
    /** `made`: an account; `signed_in`, `refused`. */
    signIns: counter(
      'sign_ins',
      'Proofs of logins in the browser, by way and outcome',
      'way',
      'outcome',
    ),
    accountsMade: counter(
      'accounts_made',
      'Accounts that were made: by a wallet’s first API key, or in the browser',
      'by',
    ),
    connectionsDropped: counter(
      'connections_dropped',
      'Connections that the server ended, by why: process, network (too many), stranger (had shown no key) or unread',
      'why',
    ),
    build: gauge(
      'build_info',
      'Always 1: which version runs, on which network',
      'version',
      'network',
    ),
    replicaBehind: gauge(
      'database_replica_behind_seconds',
      'Since the replica had all that the primary has; above 5 it is not read from',
    ),
    databaseUp: gauge('database_up', '1 while the market’s figures could be read at this scrape'),
    figuresSeconds: gauge('figures_seconds', 'How long reading the market’s figures took'),
  };
}

export type Makers = ReturnType<typeof makersOf>;

function makersOf(registry: Registry, shortName: string) {
  const about = (name: string, help: string) => {
    return { name: `${shortName}_${name}`, help, registers: [registry] };
  };
  return {
    counter: <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter({ ...about(`${name}_total`, help), labelNames }),
    gauge: <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Gauge({ ...about(name, help), labelNames }),
    /** Seconds since a moment of each chain, read when it is scraped. */
    ages: (name: string, help: string) => agesOf(registry, `${shortName}_${name}`, help),
    histogram: <Label extends string>(
      name: string,
      help: string,
      bounds: readonly number[],
      ...labelNames: Label[]
    ) => new Histogram({ ...about(name, help), buckets: [...bounds], labelNames }),
  };
}

/** `clock`: milliseconds, monotonic. */
function agesOf(registry: Registry, name: string, help: string) {
  const moments = new Map<string, number>();
  readAtScrape(registry, { name, help, type: 'gauge' }, () =>
    [...moments].map(([chain, at]) => {
      return { labels: { chain }, value: (performance.now() - at) / 1_000 };
    }),
  );
  return {
    now: (chain: string) => void moments.set(chain, performance.now()),
    /** So many seconds ago. */
    ago: (chain: string, seconds: number) =>
      void moments.set(chain, performance.now() - seconds * 1_000),
    /** 0 where there was none. */
    seconds: (chain: string) => {
      const at = moments.get(chain);
      return at === undefined ? 0 : (performance.now() - at) / 1_000;
    },
    forget: (chain: string) => void moments.delete(chain),
  };
}

/** One of each route and method. */
export type RouteMeter = { readonly ended: (status: number, seconds: number) => void };

function httpMetrics({ counter, histogram }: Makers) {
  const requests = counter(
    'http_requests',
    'Requests that were answered, by method, template of the route, and class of status',
    ...(['method', 'route', 'code'] as const),
  );
  const durations = histogram(
    'http_request_duration_seconds',
    'From the headers of a request to the last byte of its answer',
    requestBounds,
    ...(['method', 'route'] as const),
  );
  return {
    /** `route`: its template, never a path with an id in it. */
    of: (method: string, route: string): RouteMeter => ({
      ended: (status, seconds) => {
        requests.inc({ method, route, code: `${Math.min(5, Math.floor(status / 100))}xx` });
        durations.observe({ method, route }, seconds);
      },
    }),
    refusals: counter('http_refusals', 'Refusals by their code (docs/errors.md)', 'code'),
    malformed: counter('http_malformed', 'Connections whose bytes were no request of HTTP'),
  };
}

export type CallOutcome = 'answered' | 'refused' | 'late' | 'failed';

/** `node`: its place in PARLEY_CHAINS from 1 on; its address may hold a key. */
function nodeMetrics({ counter, gauge, histogram }: Makers) {
  const durations = histogram(
    'node_call_duration_seconds',
    'Calls to a node, whatever came of them',
    callBounds,
    ...(['chain', 'node'] as const),
  );
  const calls = counter(
    'node_calls',
    'Calls to a node: answered, refused (HTTP 400 or more), late, or failed',
    ...(['chain', 'node', 'outcome'] as const),
  );
  return {
    of: (chain: string, node: string) => {
      return (outcome: CallOutcome, seconds: number) => {
        calls.inc({ chain, node, outcome });
        durations.observe({ chain, node }, seconds);
      };
    },
    up: gauge('node_up', '1 if the node answered when it was last looked at', 'chain', 'node'),
    faults: gauge(
      'node_fault',
      '1 where a node is behind, has a wrong clock, or is of another chain (wrong)',
      ...(['chain', 'node', 'fault'] as const),
    ),
    disagree: gauge('chain_nodes_disagree', '1 if nodes of a chain show different blocks', 'chain'),
  };
}

function settlingMetrics({ counter, gauge, ages }: Makers) {
  const swapChanges = counter(
    'swap_changes',
    'Changes of swaps, by the status they came to',
    'status',
  );
  // From 0 on: a rule misses the first increase of a counter that begins at 1.
  for (const status of swapStatuses) swapChanges.inc({ status }, 0);
  return {
    swapChanges,
    reorganisations: counter('reorganisations', 'Swap statuses taken back by a reorganisation'),
    followFailures: counter('follow_failures', 'Looks at a chain that failed', 'chain'),
    followBehind: ages(
      'follow_behind_seconds',
      'Since a look at the chain left nothing unreconciled: no change is older',
    ),
    chainLeader: gauge('chain_leader', '1 while this process follows the chain', 'chain'),
    chainHeight: gauge('chain_height', 'Height of the best block that was followed', 'chain'),
    haltedChains: gauge(
      'chain_halted',
      '1 while an operator has the chain halted for new swaps',
      'chain',
    ),
    haltedAssets: gauge('halted_assets', 'Assets that an operator has halted by themselves'),
  };
}

function tellingMetrics({ counter, gauge }: Makers) {
  const webhookAttempts = counter(
    'webhook_attempts',
    'Attempts to deliver to a webhook: delivered, failed (tried again later) or dropped',
    'outcome',
  );
  // From 0 on: a rule compares what failed with what was delivered.
  for (const outcome of ['delivered', 'failed', 'dropped']) webhookAttempts.inc({ outcome }, 0);
  const messagesTaken = gauge(
    'messages_taken_timestamp_seconds',
    'When a channel last showed that it takes messages, Unix seconds; 0: not yet',
    'channel',
  );
  const messagesDown = gauge(
    'messages_down_timestamp_seconds',
    'When nothing could be sent on a channel for the last time, Unix seconds; 0: not yet',
    'channel',
  );
  for (const channel of ['email', 'telegram']) {
    for (const each of [messagesTaken, messagesDown]) each.set({ channel }, 0);
  }
  return {
    webhookAttempts,
    messagesTaken,
    messagesDown,
    messages: counter(
      'messages',
      'Messages to people: sent, failed (tried again later), dropped, or ended (chat gone)',
      'channel',
      'outcome',
    ),
    feedMakers: gauge('feed_makers', 'Makers on the feed now'),
    feedEnded: counter(
      'feed_ended',
      'Sockets of the feed that were ended by the server, by close code',
      'code',
    ),
  };
}

function listingMetrics({ counter }: Makers) {
  return {
    tokenLooks: counter(
      'token_looks',
      'Looks at tokens in the background, by outcome: pass, wait, reject or failed',
      'outcome',
    ),
    /** `known` already; `skipped`: no token; `left_out`: too many. */
    launches: counter(
      'launches',
      'Launches of launchpads, by outcome: taken, known, skipped or left_out',
      'launchpad',
      'outcome',
    ),
    launchpadFailures: counter(
      'launchpad_failures',
      'Looks at launchpads that failed',
      'launchpad',
    ),
  };
}

type MakeGauge = Makers['gauge'];

/** Amounts in base units of the native coin. */
function keeperMetrics(gauge: MakeGauge) {
  return {
    jobs: gauge('jobs', 'Open jobs of the keeper, by purpose', 'chain', 'purpose'),
    balance: gauge('balance', 'Balance of the gas key, base units', 'chain'),
    lowBalance: gauge('low_balance', 'Below it the gas key has little left, base units', 'chain'),
    reserved: gauge('reserved', 'Kept for what is promised or in flight, base units', 'chain'),
    /** From midnight UTC on. */
    spentToday: gauge('spent_today', 'Counted against the cap of the UTC day, base units', 'chain'),
    dailyCap: gauge('daily_cap', 'Cap of the UTC day, base units; 0: nothing is sent', 'chain'),
  };
}

/** Read from the database at a scrape (apps/market/start/gauges.ts): the same in each process. */
function marketMetrics(make: Makers) {
  const gauge: MakeGauge = (name, help, ...labels) => make.gauge(`market_${name}`, help, ...labels);
  return {
    swaps: gauge('swaps', 'Swaps that are not done, by status and value', 'status', 'value'),
    nextDeadline: gauge(
      'next_deadline_seconds',
      'Until the next deadline of an open swap, by the step that it ends; none without one',
      'step',
    ),
    overdueSteps: gauge(
      'overdue_steps',
      'Steps that the market should have taken by itself a minute ago, by step; at most 1000',
      'step',
    ),
    overdueOldest: gauge(
      'overdue_oldest_seconds',
      'How long the oldest of them is overdue',
      'step',
    ),
    waitingOldest: gauge(
      'waiting_oldest_seconds',
      'Age of the oldest event that waits to be handed out, by whom it is for',
      'audience',
    ),
    deliveriesOldest: gauge(
      'deliveries_due_oldest_seconds',
      'How long the oldest delivery to a webhook is due and in nobody’s hands',
    ),
    webhooksFailing: gauge(
      'webhooks_failing',
      'Webhooks whose receiver took no delivery since one failed; at most 1000',
    ),
    webhookAccountsFailing: gauge(
      'webhook_accounts_failing',
      'Accounts that such a webhook is of: one has many by itself, and many have a fault of ours',
    ),
    webhooksFailingOldest: gauge(
      'webhooks_failing_oldest_seconds',
      'How long the receiver takes none that has failed for longest',
    ),
    messagesOldest: gauge(
      'messages_due_oldest_seconds',
      'How long the oldest message to a person is due and not sent',
      'channel',
    ),
    headAge: gauge('chain_head_age_seconds', 'Since the newest block was seen first', 'chain'),
    headExpected: gauge(
      'chain_head_expected_seconds',
      'Within this time a next block is seen, or the chain is late',
      'chain',
    ),
    agrees: gauge(
      'agrees',
      '1 while acceptances become swaps; 0: time is missing from the database',
    ),
    accounts: gauge('accounts', 'Accounts, as PostgreSQL last estimated them'),
    connections: gauge('database_connections', 'Connections to the database, of all its users'),
    mostConnections: gauge('database_connections_max', 'How many the database takes'),
  };
}
