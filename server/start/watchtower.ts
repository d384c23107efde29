// Wires the watchtower to the market: in the server's own process, or in one of its own, which has
// the gas keys and answers no requests.

import type { Logger } from 'pino';
import { isAborted } from '../../core/steps.ts';
import { answerAsked, apartDesk, tellPosts } from '../../watchtower/apart.ts';
import { apartPollMs, tellEveryMs } from '../../watchtower/bounds.ts';
import { sealedKinds, sealedRows } from '../../watchtower/db/sealed.ts';
import type { Desk, Gas, Parts, SigningTime } from '../../watchtower/port.ts';
import { createWatchtower, type Watchtower } from '../../watchtower/watchtower.ts';
import { connect, databaseLimits } from '../db/database.ts';
import { migrate } from '../db/migrate.ts';
import { openAdapters } from '../ports/chains.ts';
import type { Deps } from '../ports/deps.ts';
import { keyringOf } from '../ports/keyring.ts';
import { createMetrics } from '../ports/metrics.ts';
import { sealAnew } from '../ports/sealed-anew.ts';
import type { Settings } from '../settings/config.ts';
import { marketOf } from '../settle/watched.ts';
import { openGas } from './gas-keys.ts';

/** Rows sealed anew by one statement. */
const resealBatch = 200;

type Keys = { readonly gas: ReadonlyMap<string, Gas>; readonly signingTime?: SigningTime };

export function partsOf(deps: Deps, keys: Keys): Parts {
  const { db, adapters, now, log, settings, metrics } = deps;
  const seal = keyringOf(settings);
  return { db, adapters, now, log, seal, gauges: metrics.keeper, market: marketOf(deps), ...keys };
}

export function watchtowerOf(deps: Deps, keys: Keys): Watchtower {
  return createWatchtower(partsOf(deps, keys));
}

/** Of a server without gas keys. */
export function deskApart(deps: Deps): Desk {
  return apartDesk(partsOf(deps, { gas: new Map() }));
}

/** Seals all of it with the first of the server's keys, so that a former one may be put away. */
export async function resealKept(deps: Pick<Deps, 'settings' | 'db' | 'log'>): Promise<void> {
  for (const kind of sealedKinds) {
    const rows = { ...sealedRows(kind), before: 0, atOnce: resealBatch };
    const unread = await sealAnew<number>(deps, rows);
    if (unread > 0) deps.log.warn({ [kind]: unread }, 'what the keeper keeps cannot be read');
  }
}

export type Running = { readonly chains: readonly string[]; stop(): Promise<void> };

/** `npm run watchtower`. Throws an Error: settings that do not fit, or an unreadable key. */
export async function startWatchtower(settings: Settings, log: Logger): Promise<Running> {
  const { databaseUrl, chains, keeper } = settings;
  if (databaseUrl === null) throw new Error('DATABASE_URL must name the market’s database');
  if (chains === null) throw new Error('PARLEY_CHAINS must name the chains to watch');
  if (typeof keeper === 'string' || keeper.length === 0) {
    throw new Error('PARLEY_KEEPER must name a gas key of at least one chain');
  }
  await migrate(databaseUrl);
  const now = () => Date.now();
  const db = connect(databaseUrl, {
    ...databaseLimits,
    connections: settings.databaseConnections,
  });
  const adapters = await openAdapters(settings, chains, { now, log });
  const metrics = createMetrics(settings.shortName);
  const random = (count: number) => crypto.getRandomValues(Buffer.alloc(count));
  const deps: Deps = { settings, db, now, randomBytes: random, adapters, metrics, log };
  const parts = partsOf(deps, { gas: openGas(keeper, chains, adapters) });
  const watchtower = createWatchtower(parts);
  const stopping = new AbortController();
  // A server asks it from then on.
  await tellPosts(parts);
  const answering = answerForEver(parts, stopping.signal);
  watchtower.start();
  return {
    chains: [...parts.gas.keys()],
    stop: async () => {
      stopping.abort();
      await Promise.all([answering, watchtower.stop()]);
      await Promise.all([...adapters.values()].map((adapter) => adapter.close()));
      await db.close();
    },
  };
}

async function answerForEver(parts: Parts, signal: AbortSignal): Promise<void> {
  let toldAtMs = performance.now();
  while (!signal.aborted) {
    try {
      const now = performance.now();
      if (now - toldAtMs >= tellEveryMs) {
        await tellPosts(parts);
        toldAtMs = now;
      }
      await answerAsked(parts, signal);
    } catch (error) {
      if (!isAborted(signal)) parts.log.warn({ err: error }, 'what is asked cannot be read');
    }
    await new Promise((resolve) => setTimeout(resolve, apartPollMs));
  }
}
