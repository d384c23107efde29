// What an operator watches, as Prometheus reads it: on a port of its own, on loopback, and only
// where PARLEY_METRICS_PORT asks for it.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, Gauge, Registry } from 'prom-client';

export type Metrics = {
  /** A reorganisation took a swap's status back. */
  readonly reorganisations: Counter;
  /** Looks at a chain that failed, by chain. */
  readonly followFailures: Counter<'chain'>;
  /** Height of the best block that was followed, by chain. */
  readonly chainHeight: Gauge<'chain'>;
  /** Decisions on a budget that a process made by itself, because Valkey did not answer. */
  readonly decisionsAlone: Counter;
  /** Attempts to deliver to a webhook, by outcome: delivered, failed (again later), dropped. */
  readonly webhookAttempts: Counter<'outcome'>;
  /** Proofs of logins in the browser, by way and outcome: made (an account), signed_in, refused. */
  readonly signIns: Counter<'way' | 'outcome'>;
  /** Messages to people, by channel and outcome: sent, failed (again later), dropped, ended. */
  readonly messages: Counter<'channel' | 'outcome'>;
  /** Makers on the feed now. */
  readonly feedMakers: Gauge;
  /** Sockets of the feed that were ended by us, by close code. */
  readonly feedEnded: Counter<'code'>;
  /** Connections that were ended: too many (process, network), or nothing is read (unread). */
  readonly connectionsDropped: Counter<'why'>;
  /** Looks at tokens in the background, by outcome: pass, wait, reject, failed. */
  readonly tokenLooks: Counter<'outcome'>;
  /** Launches of launchpads: taken, known (already), skipped (no token), left_out (too many). */
  readonly launches: Counter<'launchpad' | 'outcome'>;
  /** Looks at launchpads that failed. */
  readonly launchpadFailures: Counter<'launchpad'>;
  /** Of the keeper, by chain; amounts in base units of the native coin. */
  readonly keeper: KeeperMetrics;
  /** 1 while an operator has this chain halted. */
  readonly haltedChains: Gauge<'chain'>;
  /** Assets that an operator has halted by themselves. */
  readonly haltedAssets: Gauge;
  readonly registry: Registry;
};

export type KeeperMetrics = {
  /** Open jobs, by purpose: relay, secret, refund. */
  readonly jobs: Gauge<'chain' | 'purpose'>;
  readonly balance: Gauge<'chain'>;
  /** Kept for relays that have not landed at depth. */
  readonly reserved: Gauge<'chain'>;
  /** Counted against the cap since midnight UTC. */
  readonly spentToday: Gauge<'chain'>;
};

/** Names begin with the deployment's short name. */
export function createMetrics(shortName: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    keeper: keeperMetrics(shortName, registers),
    reorganisations: new Counter({
      name: `${shortName}_reorganisations_total`,
      help: 'Swap statuses taken back by a reorganisation',
      registers,
    }),
    followFailures: new Counter({
      name: `${shortName}_follow_failures_total`,
      help: 'Looks at a chain that failed',
      labelNames: ['chain'],
      registers,
    }),
    chainHeight: new Gauge({
      name: `${shortName}_chain_height`,
      help: 'Height of the best block that was followed',
      labelNames: ['chain'],
      registers,
    }),
    decisionsAlone: new Counter({
      name: `${shortName}_budget_decisions_alone_total`,
      help: 'Decisions on a budget that a process made by itself, because Valkey did not answer',
      registers,
    }),
    signIns: new Counter({
      name: `${shortName}_sign_ins_total`,
      help: 'Proofs of logins in the browser, by way and outcome',
      labelNames: ['way', 'outcome'],
      registers,
    }),
    webhookAttempts: new Counter({
      name: `${shortName}_webhook_attempts_total`,
      help: 'Attempts to deliver to a webhook: delivered, failed (tried again later) or dropped',
      labelNames: ['outcome'],
      registers,
    }),
    messages: new Counter({
      name: `${shortName}_messages_total`,
      help: 'Messages to people: sent, failed (tried again later), dropped, or ended (chat gone)',
      labelNames: ['channel', 'outcome'],
      registers,
    }),
    tokenLooks: new Counter({
      name: `${shortName}_token_looks_total`,
      help: 'Looks at tokens in the background, by outcome: pass, wait, reject or failed',
      labelNames: ['outcome'],
      registers,
    }),
    launches: new Counter({
      name: `${shortName}_launches_total`,
      help: 'Launches of launchpads, by outcome: taken, known, skipped or left_out',
      labelNames: ['launchpad', 'outcome'],
      registers,
    }),
    launchpadFailures: new Counter({
      name: `${shortName}_launchpad_failures_total`,
      help: 'Looks at launchpads that failed',
      labelNames: ['launchpad'],
      registers,
    }),
    ...haltGauges(shortName, registers),
    ...clientMetrics(shortName, registers),
  };
}

function clientMetrics(
  shortName: string,
  registers: Registry[],
): Pick<Metrics, 'feedMakers' | 'feedEnded' | 'connectionsDropped'> {
  return {
    feedMakers: new Gauge({
      name: `${shortName}_feed_makers`,
      help: 'Makers on the feed now',
      registers,
    }),
    feedEnded: new Counter({
      name: `${shortName}_feed_ended_total`,
      help: 'Sockets of the feed that were ended by the server, by close code',
      labelNames: ['code'],
      registers,
    }),
    connectionsDropped: new Counter({
      name: `${shortName}_connections_dropped_total`,
      help: 'Connections that the server ended, by why: process, network (too many) or unread',
      labelNames: ['why'],
      registers,
    }),
  };
}

function keeperMetrics(shortName: string, registers: Registry[]): KeeperMetrics {
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Gauge({ name: `${shortName}_keeper_${name}`, help, labelNames, registers });
  return {
    jobs: gauge('jobs', 'Open jobs of the keeper, by purpose', ['chain', 'purpose']),
    balance: gauge('balance', 'Balance of the gas key, base units', ['chain']),
    reserved: gauge('reserved', 'Kept for relayed claims, base units', ['chain']),
    spentToday: gauge('spent_today', 'Counted against the cap of the UTC day, base units', [
      'chain',
    ]),
  };
}

function haltGauges(
  shortName: string,
  registers: Registry[],
): Pick<Metrics, 'haltedChains' | 'haltedAssets'> {
  return {
    haltedChains: new Gauge({
      name: `${shortName}_chain_halted`,
      help: '1 while an operator has the chain halted: nothing new is traded on it',
      labelNames: ['chain'],
      registers,
    }),
    haltedAssets: new Gauge({
      name: `${shortName}_halted_assets`,
      help: 'Assets that an operator has halted by themselves',
      registers,
    }),
  };
}

/** Serves `GET /metrics` on 127.0.0.1; port 0 takes any free one. */
export async function serveMetrics(
  { registry }: Metrics,
  port: number,
): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}/metrics`,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
