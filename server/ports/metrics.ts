// What an operator watches, as Prometheus reads it: on a port of its own, on loopback, and only
// where PARLEY_METRICS_PORT asks for it.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, Gauge, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

/** Names begin with the deployment's short name. */
export function createMetrics(shortName: string) {
  const registry = new Registry();
  const about = (name: string, help: string) => {
    return { name: `${shortName}_${name}`, help, registers: [registry] };
  };
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ ...about(`${name}_total`, help), labelNames });
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ ...about(name, help), labelNames });
  return {
    registry,
    reorganisations: counter('reorganisations', 'Swap statuses taken back by a reorganisation'),
    passFailures: counter(
      'pass_failures',
      'Passes that failed of what the server does by itself, by service',
      'service',
    ),
    followFailures: counter('follow_failures', 'Looks at a chain that failed', 'chain'),
    chainHeight: gauge('chain_height', 'Height of the best block that was followed', 'chain'),
    decisionsAlone: counter(
      'budget_decisions_alone',
      'Decisions on a budget that a process made by itself, because Valkey did not answer',
    ),
    webhookAttempts: counter(
      'webhook_attempts',
      'Attempts to deliver to a webhook: delivered, failed (tried again later) or dropped',
      'outcome',
    ),
    /** `made`: an account; `signed_in`, `refused`. */
    signIns: counter(
      'sign_ins',
      'Proofs of logins in the browser, by way and outcome',
      'way',
      'outcome',
    ),
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
    connectionsDropped: counter(
      'connections_dropped',
      'Connections that the server ended, by why: process, network (too many) or unread',
      'why',
    ),
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
    keeper: keeperMetrics((name, help, ...labels) => gauge(`keeper_${name}`, help, ...labels)),
    haltedChains: gauge(
      'chain_halted',
      '1 while an operator has the chain halted: nothing new is traded on it',
      'chain',
    ),
    haltedAssets: gauge('halted_assets', 'Assets that an operator has halted by themselves'),
  };
}

type MakeGauge = <Label extends string>(
  name: string,
  help: string,
  ...labels: Label[]
) => Gauge<Label>;

/** Amounts in base units of the native coin. */
function keeperMetrics(gauge: MakeGauge) {
  return {
    jobs: gauge('jobs', 'Open jobs of the keeper, by purpose', 'chain', 'purpose'),
    balance: gauge('balance', 'Balance of the gas key, base units', 'chain'),
    /** For those that have not landed at depth. */
    reserved: gauge('reserved', 'Kept for relayed claims, base units', 'chain'),
    /** From midnight UTC on. */
    spentToday: gauge('spent_today', 'Counted against the cap of the UTC day, base units', 'chain'),
  };
}

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
