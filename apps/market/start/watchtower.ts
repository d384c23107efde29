// Wires the watchtower to the market: in the server's own process, or in one of its own, which has
// the gas keys and answers no requests.

import { randomBytes } from 'node:crypto';
import { apartDesk, createAnswering, tellPosts } from '@parley/watchtower/apart.ts';
import { forgetRows } from '@parley/watchtower/db/asked.ts';
import { sealedKinds, sealedRows } from '@parley/watchtower/db/sealed.ts';
import type { Desk, Gas, Parts, SigningTime } from '@parley/watchtower/port.ts';
import { createWatchtower, type Watchtower } from '@parley/watchtower/watchtower.ts';
import type { Logger } from 'pino';
import { connect, databaseLimits } from '../db/database.ts';
import { migrate } from '../db/migrate.ts';
import { mustKeepSessions } from '../db/pooler.ts';
import { operatorPages } from '../operator/serve.ts';
import { openAdapters } from '../ports/chains.ts';
import type { Deps } from '../ports/deps.ts';
import { keyringOf } from '../ports/keyring.ts';
import { createMetrics } from '../ports/metrics.ts';
import { serveMetrics } from '../ports/metrics-server.ts';
import { type Late, passesOf } from '../ports/passes.ts';
import { sealAnew } from '../ports/sealed-anew.ts';
import { mustHoldServerKey } from '../ports/server-key.ts';
import { longestNodePassMs, service } from '../ports/service.ts';
import type { Settings } from '../settings/config.ts';
import { mustKnowContracts } from '../settle/lanes.ts';
import { marketOf } from '../settle/watched.ts';
import { openGas } from './gas-keys.ts';
import { createFigures } from './gauges.ts';
import { meterDatabase, meterNodes, tellBuild } from './metered.ts';
import { naming } from './naming.ts';

/** Rows sealed anew by one statement. */
const resealBatch = 200;

type Keys = { readonly gas: ReadonlyMap<string, Gas>; readonly signingTime?: SigningTime };

export function partsOf(deps: Deps, keys: Keys): Parts {
  const { db, adapters, now, log, settings, metrics } = deps;
  const seal = keyringOf(settings);
  const loop: Parts['loop'] = ({ isBump = false, ...of }) =>
    service(deps, {
      ...of,
      wokenBy: isBump ? ['watchtower'] : [],
      mostPassMs: longestNodePassMs,
    });
  const market = marketOf(deps);
  return { db, adapters, now, log, seal, gauges: metrics.keeper, market, loop, ...keys };
}

export function watchtowerOf(deps: Deps, keys: Keys): Watchtower {
  return createWatchtower(partsOf(deps, keys));
}

/** The desk of a server without gas keys. */
export function deskApart(deps: Deps): Desk {
  return apartDesk(partsOf(deps, { gas: new Map() }));
}

/**
 * Seals all of it with the first of the server's keys, so that a former one may be put away. A
 * request to a watchtower lasts for seconds: the remainder after a crash is deleted.
 */
export async function resealKept(deps: Pick<Deps, 'settings' | 'db' | 'log'>): Promise<void> {
  await forgetRows(deps.db);
  for (const kind of sealedKinds) {
    const rows = { ...sealedRows(kind), before: 0, atOnce: resealBatch };
    const unread = await sealAnew<number>(deps, rows);
    if (unread > 0) deps.log.warn({ [kind]: unread }, 'records of the keeper cannot be read');
  }
}

export type Running = {
  readonly chains: readonly { readonly chain: string; readonly gasKey: string }[];
  /** Where its metrics are read; null: nowhere. */
  readonly metrics: string | null;
  /** As a market's. */
  late(): readonly Late[];
  stop(): Promise<void>;
};

/** `npm run watchtower`. Throws an Error: settings that do not fit, or an unreadable key. */
export async function startWatchtower(settings: Settings, log: Logger): Promise<Running> {
  const { databaseUrl, chains, keeper } = settings;
  if (databaseUrl === null) throw new Error('DATABASE_URL must name the market’s database');
  if (chains === null) throw new Error('PARLEY_CHAINS must name the chains to watch');
  if (typeof keeper === 'string' || keeper.length === 0) {
    throw new Error('PARLEY_KEEPER must name a gas key of at least one chain');
  }
  const { metricsPort } = settings;
  const opened = mustKeepSessions(databaseUrl).then(() => migrate(databaseUrl));
  await naming('DATABASE_URL', opened);
  const now = () => Date.now();
  const db = connect(databaseUrl, {
    ...databaseLimits,
    connections: settings.databaseConnections,
  });
  await mustHoldServerKey({ db, settings });
  const adapters = await openAdapters(settings, chains, { now, log });
  await mustKnowContracts({ db, adapters });
  const metrics = createMetrics(settings.shortName);
  // It follows nothing: the followers read again what it stores.
  const deps: Deps = { settings, db, now, randomBytes, adapters, metrics, log, follower: 0 };
  const parts = partsOf(deps, { gas: openGas(keeper, chains, adapters) });
  const watchtower = createWatchtower(parts);
  const answering = createAnswering(parts, watchtower.desk);
  const leave = meterNodes(metrics, chains);
  tellBuild(metrics, settings.network);
  meterDatabase(metrics, db.usage);
  const refresh = createFigures(deps);
  const pages = operatorPages({ ...deps, chains, databaseUrl }, refresh, { hasRequests: false });
  const served =
    metricsPort === null
      ? null
      : await naming(
          'PARLEY_METRICS_PORT',
          serveMetrics(metrics, { ...settings, metricsPort }, refresh, pages),
        );
  // A server asks it from then on.
  await tellPosts(parts);
  answering.start();
  watchtower.start();
  return {
    chains: [...parts.gas].map(([chain, { account }]) => ({ chain, gasKey: account.address })),
    metrics: served?.url ?? null,
    late: () => passesOf(db).late(),
    stop: async () => {
      leave();
      await Promise.all([answering.stop(), watchtower.stop(), served?.stop(), pages.stop()]);
      await Promise.all([...adapters.values()].map((adapter) => adapter.close()));
      await db.close();
    },
  };
}
