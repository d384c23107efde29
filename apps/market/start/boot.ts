// Starts the whole market from its settings and stops it again, in an order that loses nothing:
// database and dev chains, schema, adapters, followers, then HTTP; the other way round to stop.

import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { access, constants, mkdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { mostProofBytes } from '@parley/chains/evm/proof.ts';
import { type Rpc, rpcClient } from '@parley/chains/nodes/rpc.ts';
import { withResolvers } from '@parley/core/engines.ts';
import { has } from '@parley/core/families.ts';
import type { Devnet } from '@parley/dev/devnet/devnet.ts';
import { startPostgres } from '@parley/host/postgres/postgres.ts';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { analyzeAssets, findCuratedAsset } from '../db/assets.ts';
import { connect, type Database, databaseLimits } from '../db/database.ts';
import { migrate } from '../db/migrate.ts';
import { mustKeepSessions } from '../db/pooler.ts';
import { PoolerError } from '../db/session.ts';
import { buildApp } from '../edge/app.ts';
import { connectionsWithin, openFiles } from '../edge/connections.ts';
import { createLaunchpads } from '../listing/launchpads/watch.ts';
import { marketsOf } from '../listing/market-checks.ts';
import { openMarketData } from '../listing/providers/open.ts';
import { createRechecks } from '../listing/rechecks.ts';
import { seedAssets } from '../market/assets.ts';
import { createFiat } from '../market/fiat.ts';
import { createHaltsWatch } from '../market/halts.ts';
import { createPruning } from '../market/prune.ts';
import { byTurns } from '../market/turns.ts';
import { createMessaging } from '../messages/messaging.ts';
import { createReminding } from '../messages/reminders.ts';
import { resealMessages } from '../messages/sealed.ts';
import { operatorPages } from '../operator/serve.ts';
import { createPassing } from '../people/passing.ts';
import { openAdapters } from '../ports/chains.ts';
import type { Deps } from '../ports/deps.ts';
import { stocked } from '../ports/ids.ts';
import { createMetrics } from '../ports/metrics.ts';
import { serveMetrics } from '../ports/metrics-server.ts';
import { type Late, passesOf } from '../ports/passes.ts';
import { createReads } from '../ports/reads.ts';
import { mustHoldServerKey } from '../ports/server-key.ts';
import { workOf } from '../ports/work.ts';
import { createPresence } from '../restore/presence.ts';
import type { AssetSettings, ChainSettings } from '../settings/chains.ts';
import { devEvmChain, type Settings } from '../settings/config.ts';
import { createSettlement } from '../settle/follow.ts';
import { mustKnowContracts } from '../settle/lanes.ts';
import { createScheduledSpends } from '../settle/scheduled-spends.ts';
import { createDelivering } from '../webhooks/deliver.ts';
import { resealSecrets } from '../webhooks/register.ts';
import { appChains } from './app-chains.ts';
import {
  devAssets,
  devChains,
  devPeople,
  devWeb,
  giveGas,
  peopleWith,
  type ReadyChain,
  servedChains,
} from './dev-network.ts';
import { devKeeper, openGas } from './gas-keys.ts';
import { createFigures } from './gauges.ts';
import { meterDatabase, meterNodes, tellBuild } from './metered.ts';
import { naming } from './naming.ts';
import { createNodeWatch } from './node-watch.ts';
import { deskApart, resealKept, watchtowerOf } from './watchtower.ts';
import { noWeb, type OpenedWeb, webConfig, webOf } from './web.ts';

export type Ready = {
  readonly ready: true;
  readonly url: string;
  /** The state of the app for browsers, where there is something to say. */
  readonly app: string | null;
  readonly network: string;
  readonly chains: readonly ReadyChain[];
  /** The dev network's control address; null where there are no dev chains. */
  readonly dev: string | null;
  /** The dev network's page of mails, and the issuer of its identity provider. */
  readonly inbox?: string;
  readonly identityProvider?: string;
  /** Where Prometheus metrics and the operator's page are, if asked for. */
  readonly metrics?: string;
  readonly operator?: string;
  readonly database: 'embedded' | 'external';
};

export type Market = {
  readonly ready: Ready;
  /** The missing times that agreements wait for. */
  readonly held: readonly string[];
  /** The services that were not heard of in time: it hangs. */
  late(): readonly Late[];
  /** Why it cannot go on, once a node of the dev network is gone. */
  readonly broken: Promise<string>;
  stop(): Promise<void>;
};

/** The dev network starts first, and is told this of the market later. */
type Opened = { db?: Database; url?: string };

/** Things to undo, last first. */
type Stack = (() => Promise<void>)[];

/** Starts everything; stops the started parts again when a later part fails. */
export async function startMarket(
  settings: Settings,
  log: Logger,
  web: Promise<OpenedWeb> = noWeb,
): Promise<Market> {
  const undo: Stack = [];
  try {
    return await start(settings, log, undo, web);
  } catch (error) {
    await unwind(undo, log);
    throw error;
  }
}

async function unwind(undo: Stack, log: Logger): Promise<void> {
  for (const step of undo.splice(0).reverse()) {
    await step().catch((error: unknown) => log.error({ err: error }, 'a part did not stop'));
  }
}

async function start(
  given: Settings,
  log: Logger,
  undo: Stack,
  opening: Promise<OpenedWeb>,
): Promise<Market> {
  const files = openFiles();
  const limited = { ...given, connections: connectionsWithin(given.connections, files) };
  log.info({ connections: limited.connections, nofile: files }, 'connections that are served');
  await mustBeFree(limited);
  const home = resolve(limited.home);
  await naming('PARLEY_HOME', openHome(home));
  const { databaseUrl: own } = limited;
  if (own !== null) await openSessions(own, limited, log);
  const clock = { offsetMs: 0 };
  const now = () => Date.now() + clock.offsetMs;
  const market: Opened = {};
  const { promise: broken, resolve: ended } = withResolvers<string>();
  const [databaseUrl, devnet] = await startParts([
    openDatabase(limited, home, log, undo),
    openDevnet({ settings: limited, home, log, undo, clock, market, ended }),
  ]);
  const settings = { ...limited, people: peopleWith(limited, devnet) };
  clock.offsetMs = (devnet?.clockOffsetSeconds ?? 0) * 1000;
  const db = connect(databaseUrl, {
    ...databaseLimits,
    connections: settings.databaseConnections,
  });
  undo.push(() => db.close());
  market.db = db;
  await mustHoldServerKey({ db, settings });
  const chains = settings.chains ?? devChains(devnet);
  const adapters = await openAdapters(settings, chains, { now, log });
  undo.push(() => closeAll(adapters));
  await mustKnowContracts({ db, adapters });
  const evmNodes = byTurns(nodesForProofs(chains, settings));
  const metrics = createMetrics(settings.shortName);
  const follower = randomInt(1, 2 ** 31);
  const made = {
    settings,
    db,
    now,
    randomBytes: stocked(randomBytes),
    adapters,
    log,
    metrics,
    follower,
  };
  const gas = await openKeys(settings, home, chains, adapters, devnet);
  const marketData = openMarketData(settings.marketData, chains, log);
  const markets = marketsOf(marketData, settings.listingRules);
  const presence = createPresence(made);
  const reads = openReads(made, undo);
  const parts: Deps = { ...made, ...reads, evmNodes, markets, presence };
  await presence.begin();
  undo.push(() => presence.stop());
  const watching = watchtowerOf(parts, { gas });
  const watchtower = settings.keeper === 'apart' ? deskApart(parts) : watching.desk;
  const messaging = createMessaging(parts);
  const fiat = openFiat(made, undo);
  const deps: Deps = { ...parts, ...fiat, watchtower, messaging };
  await seedAssets(db, deps, assetsOf(settings, chains, devnet));
  await analyzeAssets(db);
  await resealSecrets(deps);
  await resealKept(deps);
  await resealMessages(deps);
  // Stopped in the other order: a part that makes work ends before the one that does it.
  const delivering = createDelivering(deps);
  const reminding = createReminding(deps);
  const passing = createPassing(deps);
  const settlement = createSettlement(deps);
  const scheduled = createScheduledSpends(deps);
  const rechecks = createRechecks(deps);
  const launchpads = createLaunchpads(deps);
  const pruning = createPruning(deps);
  const halts = createHaltsWatch(deps);
  const tellers = [delivering, messaging, reminding, passing];
  const followers = [settlement, scheduled, watching];
  for (const each of [...tellers, ...followers, rechecks, launchpads, pruning, halts]) {
    each.start();
    undo.push(() => each.stop());
  }
  const opened = await opening;
  const known = appChains(chains, devnet?.chains ?? []);
  const config = () => webConfig(settings, clock, known, devWeb(devnet));
  const app = await buildApp(deps, { web: webOf(opened, config) });
  const url = await listen(app, settings);
  market.url = url;
  undo.push(() => app.close());
  const metricsUrl = await openMetrics(deps, { chains, databaseUrl }, undo);
  const ready: Ready = {
    ready: true,
    url,
    app: opened.said,
    network: settings.network,
    chains: servedChains(chains, devnet, gas),
    dev: devnet?.dev ?? null,
    ...devPeople(devnet),
    ...(metricsUrl === null
      ? {}
      : { metrics: metricsUrl, operator: new URL('/operator', metricsUrl).href }),
    database: settings.databaseUrl === null ? 'embedded' : 'external',
  };
  await announce(home, ready, undo);
  let stopping: Promise<void> | null = null;
  return {
    ready,
    held: await presence.held(),
    late: () => passesOf(db).late(),
    broken,
    stop: () => {
      stopping ??= drain(app, settings.drainSeconds).then(() => unwind(undo, log));
      return stopping;
    },
  };
}

/** Balancers see that it is not ready, and send nothing more before its sockets close. */
async function drain(app: FastifyInstance, seconds: number): Promise<void> {
  app.edge.health.drain();
  if (seconds > 0) await sleep(seconds * 1_000);
}

/** The folder where state lives. */
async function openHome(home: string): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  await access(home, constants.R_OK | constants.W_OK | constants.X_OK);
}

/** The operator's gas keys; those of dev chains are made here, and given coins. */
async function openKeys(
  settings: Settings,
  home: string,
  chains: readonly ChainSettings[],
  adapters: ReadonlyMap<string, ChainAdapter>,
  devnet: Devnet | null,
) {
  const { keeper } = settings;
  const isDev = keeper === 'dev' && devnet !== null;
  const own = typeof keeper === 'string' ? [] : keeper;
  const wanted = isDev ? devKeeper(home, chains) : own;
  const gas = openGas(wanted, chains, adapters);
  if (isDev) {
    const signal = AbortSignal.timeout(settings.chainTimeoutMs);
    await giveGas(devnet, [...gas.values()], signal);
  }
  return gas;
}

/** Clients of their own: the answer of a stranger's contract is read only so far. */
function nodesForProofs(chains: readonly ChainSettings[], settings: Settings): Rpc[] {
  const attemptTimeoutMs = settings.chainTimeoutMs;
  return chains.flatMap((each) =>
    has(each, 'contractWallets')
      ? [
          rpcClient({
            chain: each.chain,
            urls: each.rpcUrls,
            attemptTimeoutMs,
            mostBytes: mostProofBytes,
          }),
        ]
      : [],
  );
}

/** Waits for both, so that a part still starting when the other fails is undone as well. */
async function startParts<A, B>(parts: readonly [Promise<A>, Promise<B>]): Promise<[A, B]> {
  const [a, b] = await Promise.allSettled(parts);
  if (a.status === 'rejected') throw a.reason;
  if (b.status === 'rejected') throw b.reason;
  return [a.value, b.value];
}

/** The database of the settings, and its replica: each connection has to be a session. */
async function openSessions(url: string, { databaseReadUrl }: Settings, log: Logger) {
  await naming('DATABASE_URL', mustKeepSessions(url));
  if (databaseReadUrl !== null) {
    // One that does not answer is none.
    await mustKeepSessions(databaseReadUrl, true).catch((error: unknown) => {
      if (error instanceof PoolerError) throw new Error(`DATABASE_READ_URL: ${error.message}`);
    });
  }
  await naming('DATABASE_URL', migrated(url, log));
}

async function migrated(url: string, log: Logger): Promise<void> {
  const began = performance.now();
  const migrations = await migrate(url);
  if (migrations.length === 0) return;
  const milliseconds = Math.round(performance.now() - began);
  log.info({ migrations, milliseconds }, 'the database was migrated');
}

async function openDatabase(settings: Settings, home: string, log: Logger, undo: Stack) {
  if (settings.databaseUrl !== null) return settings.databaseUrl;
  const postgres = await startPostgres({ dir: home, log });
  undo.unshift(() => postgres.stop());
  await migrated(postgres.url, log);
  return postgres.url;
}

type DevnetParts = {
  readonly settings: Settings;
  readonly home: string;
  readonly log: Logger;
  readonly undo: Stack;
  readonly clock: { offsetMs: number };
  readonly market: Opened;
  readonly ended: (why: string) => void;
};

async function openDevnet(parts: DevnetParts): Promise<Devnet | null> {
  const { settings, home, log, undo, clock, market, ended } = parts;
  if (settings.chains !== null || settings.network !== 'dev') return null;
  // Brings simulators of whole chains along, which a market on chains of its own is without.
  const { startDevnet } = await naming(
    'a production install has no dev network, set PARLEY_NETWORK and PARLEY_CHAINS',
    import('@parley/dev/devnet/devnet.ts'),
  );
  const starting = startDevnet({
    dir: join(home, 'chains'),
    log,
    people: true,
    controlPort: settings.devControlPort,
    evmChains: Array.from({ length: settings.devEvmChains }, (_, index) => devEvmChain(index)),
    ended: (chain) => ended(`the node of ${chain} has ended`),
    moveClock: (seconds) => {
      clock.offsetMs += seconds * 1000;
      const open = market.db;
      const moved = ['swaps', 'feed outbox', 'jobs', 'messages', 'webhooks'] as const;
      if (open !== undefined) for (const each of moved) workOf(open).ring(each);
    },
    resolveAsset: async (idOrSymbol) => {
      const open = market.db;
      return open === undefined ? null : findCuratedAsset(open, idOrSymbol);
    },
    market: () => {
      const { url } = market;
      const { productName, shortName } = settings;
      return url === undefined ? null : { url, productName, shortName };
    },
  });
  const devnet = await starting;
  undo.unshift(() => devnet.stop());
  return devnet;
}

/** A replica that does not answer is none: the primary is asked meanwhile. */
function openReads(deps: Deps, undo: Stack): Pick<Deps, 'reads'> {
  const { databaseReadUrl: url, databaseConnections } = deps.settings;
  if (url === null) return {};
  const replica = connect(url, {
    ...databaseLimits,
    connections: databaseConnections,
    readOnly: true,
  });
  const reads = createReads(deps, replica);
  reads.start();
  undo.push(async () => {
    await reads.stop();
    await replica.close();
  });
  return { reads };
}

function openFiat(deps: Deps, undo: Stack): Pick<Deps, 'fiat'> {
  const { fiatUrl } = deps.settings;
  if (fiatUrl === null) return {};
  const fiat = createFiat(deps, fiatUrl);
  fiat.start();
  undo.push(() => fiat.stop());
  return { fiat: fiat.prices };
}

type Watched = { readonly chains: readonly ChainSettings[]; readonly databaseUrl: string };

async function openMetrics(deps: Deps, { chains, databaseUrl }: Watched, undo: Stack) {
  const { settings, metrics, db } = deps;
  const { metricsPort } = settings;
  if (metricsPort === null) return null;
  tellBuild(metrics, settings.network);
  meterDatabase(metrics, db.usage);
  const leave = meterNodes(metrics, chains);
  undo.push(async () => leave());
  const watch = createNodeWatch(deps, chains);
  watch.start();
  undo.push(() => watch.stop());
  const refresh = createFigures(deps);
  const pages = operatorPages({ ...deps, chains, databaseUrl }, refresh, { hasRequests: true });
  undo.push(() => pages.stop());
  const serving = serveMetrics(metrics, { ...settings, metricsPort }, refresh, pages);
  const served = await naming('PARLEY_METRICS_PORT', serving);
  undo.push(() => served.stop());
  return served.url;
}

function assetsOf(
  settings: Settings,
  chains: readonly ChainSettings[],
  devnet: Devnet | null,
): readonly AssetSettings[] {
  return settings.assets ?? devAssets(chains, devnet);
}

async function closeAll(adapters: ReadonlyMap<string, ChainAdapter>): Promise<void> {
  await Promise.all([...adapters.values()].map((adapter) => adapter.close()));
}

/** Taken ports are refused at once, before a database is migrated and nodes are started. */
async function mustBeFree({ host, port, metricsHost, metricsPort }: Settings): Promise<void> {
  await naming(`HOST ${host} and PORT ${port}`, bindOnce({ host, port }));
  if (metricsPort === null) return;
  await naming('PARLEY_METRICS_PORT', bindOnce({ host: metricsHost, port: metricsPort }));
}

async function bindOnce(address: { readonly host: string; readonly port: number }): Promise<void> {
  const server = createServer().listen(address);
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}

async function listen(app: FastifyInstance, settings: Settings): Promise<string> {
  const { host, port } = settings;
  await naming(`HOST ${host} and PORT ${port}`, app.listen({ host, port }));
  const { port: taken, address, family } = app.server.address() as AddressInfo;
  const shown = ['0.0.0.0', '::'].includes(address) ? '127.0.0.1' : address;
  return `http://${family === 'IPv6' && shown.includes(':') ? `[${shown}]` : shown}:${taken}`;
}

/** Other programs on this machine find the market by this file. */
async function announce(home: string, ready: Ready, undo: Stack): Promise<void> {
  const file = join(home, 'ready.json');
  await writeFile(file, `${JSON.stringify(ready)}\n`, { mode: 0o600 });
  undo.push(() => rm(file, { force: true }));
}
