// One process of the market: the real application and passes over a wire. When it dies, another is
// started on the same database, with nothing of its memory.

import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import type { ChainAdapter } from '../../chains/adapter.ts';
import { buildApp } from '../../server/edge/app.ts';
import type { Deps } from '../../server/ports/deps.ts';
import type { Metrics } from '../../server/ports/metrics.ts';
import { readSettings, type Settings } from '../../server/settings/config.ts';
import { createSettlement, type Settlement } from '../../server/settle/follow.ts';
import {
  createScheduledRefunds,
  type ScheduledPasses,
} from '../../server/settle/scheduled-refunds.ts';
import { watchtowerOf } from '../../server/start/watchtower.ts';
import type { Send } from '../../server/webhooks/attempt.ts';
import { createDelivering, type Delivering } from '../../server/webhooks/deliver.ts';
import type { Desk, SigningTime } from '../../watchtower/port.ts';
import type { Watchtower } from '../../watchtower/watchtower.ts';
import { type AdapterParts, simAdapter } from './adapter.ts';
import type { Chance } from './chance.ts';
import type { Node } from './facts.ts';
import { type GasParts, gasOf, type Post } from './gas.ts';
import { createWire, type Wire, type WireParts } from './wire.ts';

export type MarketProcess = {
  readonly wire: Wire;
  readonly deps: Deps;
  /** Made at the first request. */
  app(): Promise<FastifyInstance>;
  close(): Promise<void>;
  readonly settlement: Settlement;
  readonly delivering: Delivering;
  readonly keeper: Watchtower;
  readonly scheduled: ScheduledPasses;
  /** What its keeper does once has been done. */
  kept: boolean;
};

export type ProcessParts = Omit<WireParts, 'chance'> &
  Pick<AdapterParts, 'now' | 'onSent' | 'count'> & {
    readonly settings: Settings;
    readonly metrics: Metrics;
    readonly log?: Logger;
    readonly nodes: readonly Node[];
    /** For the wire, each node and all else, in turn. */
    readonly chanceFor: (what: 'wire' | 'node' | 'random') => Chance;
    readonly send: (wire: Wire) => Send;
    /** Gas keys of this process, and who waits for their turn. */
    readonly gas: {
      readonly posts: Iterable<Post>;
      readonly chance: Chance;
      readonly onSigned: GasParts['onSigned'];
      readonly onWake?: (chain: string) => void;
      readonly time: SigningTime;
    } | null;
    /** What else its adapters and its other sources answer. */
    readonly adapted?: (adapter: ChainAdapter, node: Node, wire: Wire) => ChainAdapter;
    readonly besides?: (wire: Wire) => Partial<Deps>;
  };

/** Long real limits: here a node is slow because the seed says so. */
export const simSettings: Settings = {
  ...readSettings({ PARLEY_RATE_LIMIT: '10000000', PARLEY_CHAIN_TIMEOUT_MS: '60000' }),
  encryptionKey: '5a'.repeat(32),
};

const quiet = pino({ level: process.env.PARLEY_TEST_LOG ?? 'silent' });

export function startProcess(parts: ProcessParts): MarketProcess {
  const { settings, metrics, nodes, now, chanceFor, gas, onSent, count } = parts;
  const { adapted = (same) => same, besides = () => ({}), log = quiet } = parts;
  const wire = createWire({ ...parts, chance: chanceFor('wire') });
  const send = parts.send(wire);
  const about = { now, at: wire.at, onSent, count };
  const adapters = nodes.map((node) =>
    adapted(simAdapter({ ...about, node, chance: chanceFor('node') }), node, wire),
  );
  const random = chanceFor('random');
  const made: Deps = {
    settings,
    db: wire.db,
    now,
    randomBytes: (bytes) => random.bytes(bytes),
    adapters: new Map(adapters.map((each) => [each.chain, each])),
    metrics,
    log,
    ...besides(wire),
  };
  const keys = gas === null ? { gas: new Map() } : keysOf(gas, nodes, about);
  const keeper = watchtowerOf(made, keys);
  const deps: Deps = gas === null ? made : { ...made, watchtower: waking(keeper.desk, gas) };
  let app: Promise<FastifyInstance> | null = null;
  return {
    wire,
    deps,
    app: () => {
      app ??= buildApp(deps, { send });
      return app;
    },
    close: async () => (await app)?.close(),
    settlement: createSettlement(deps),
    delivering: createDelivering(deps, { send }),
    keeper,
    scheduled: createScheduledRefunds(deps),
    kept: false,
  };
}

type About = Pick<AdapterParts, 'now' | 'at' | 'onSent' | 'count'>;

/** What is asked for is polled soon, as by a watchtower in the same process. */
function waking(desk: Desk, { posts, onWake }: NonNullable<ProcessParts['gas']>): Desk {
  return {
    ...desk,
    claim: async (asking) => {
      const relayed = await desk.claim(asking);
      for (const { chain } of posts) onWake?.(chain.chain);
      return relayed;
    },
  };
}

function keysOf(
  { posts, chance, onSigned, time: signingTime }: NonNullable<ProcessParts['gas']>,
  nodes: readonly Node[],
  about: About,
) {
  const gas = gasOf(posts, (chain) => {
    const node = nodes.find((each) => each.chain === chain) as Node;
    return { ...about, node, chance: chance.fork(), onSigned };
  });
  return { gas, signingTime };
}

/** Runs the work; 'dead' when the process died of it. */
export async function unlessDead<R>(
  { wire }: Pick<MarketProcess, 'wire'>,
  work: () => Promise<R>,
): Promise<R | 'dead'> {
  if (wire.isDead()) return 'dead';
  return Promise.race([work(), wire.died.then(() => 'dead' as const)]);
}
