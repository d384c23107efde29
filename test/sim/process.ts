// One process of the market: the real application, follower and deliveries over a wire. When it
// dies, another is started on the same database, with nothing of its memory.

import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import type { Database } from '../../server/db/database.ts';
import { buildApp } from '../../server/edge/app.ts';
import { createKeeper, type Keeper } from '../../server/keeper/passes.ts';
import type { Deps } from '../../server/ports/deps.ts';
import type { Metrics } from '../../server/ports/metrics.ts';
import { readSettings, type Settings } from '../../server/settings/config.ts';
import { createSettlement, type Settlement } from '../../server/settle/follow.ts';
import {
  createScheduledRefunds,
  type ScheduledPasses,
} from '../../server/settle/scheduled-refunds.ts';
import type { Send } from '../../server/webhooks/attempt.ts';
import { createDelivering, type Delivering } from '../../server/webhooks/deliver.ts';
import { type AdapterParts, simAdapter } from './adapter.ts';
import type { Chance } from './chance.ts';
import type { Node } from './facts.ts';
import type { GasParts } from './gas.ts';
import { gasOf, type SimKeeper, simTime } from './keeper.ts';
import type { Line } from './line.ts';
import { createWire, type Doom, type Fate, type Wire, type WireParts } from './wire.ts';

export type MarketProcess = {
  readonly wire: Wire;
  readonly deps: Deps;
  readonly app: FastifyInstance;
  readonly settlement: Settlement;
  readonly delivering: Delivering;
  readonly keeper: Keeper;
  readonly scheduled: ScheduledPasses;
  /** What its keeper does once has been done. */
  kept: boolean;
};

export type ProcessParts = {
  readonly real: Database;
  readonly settings: Settings;
  readonly metrics: Metrics;
  readonly nodes: readonly Node[];
  readonly now: () => number;
  readonly chance: Chance;
  readonly send: Send;
  readonly line: Line;
  /** Gas keys of this process. */
  readonly gas: SimKeeper | null;
  readonly onWake: (chain: string) => void;
  readonly onSigned: GasParts['onSigned'];
  readonly dooms: Doom[];
  readonly holdsBack: (wrote: ReadonlySet<string>) => number;
  readonly onStored: NonNullable<WireParts['onStored']>;
  readonly onFate: (fate: Fate, where: string) => void;
  readonly onSent: AdapterParts['onSent'];
  readonly onRung: NonNullable<AdapterParts['onRung']>;
  readonly count: (fault: string) => void;
};

/** Long real limits: here a node is slow because the seed says so. */
export const simSettings: Settings = {
  ...readSettings({ PARLEY_RATE_LIMIT: '10000000', PARLEY_CHAIN_TIMEOUT_MS: '60000' }),
  encryptionKey: '5a'.repeat(32),
};

const log = pino({ level: process.env.PARLEY_TEST_LOG ?? 'silent' });

export async function startProcess(parts: ProcessParts): Promise<MarketProcess> {
  const { real, chance, settings, metrics, now, onSent, onRung, count } = parts;
  const { line, dooms, onFate, onStored, holdsBack } = parts;
  const about = { line, dooms, onFate, onStored, holdsBack };
  const wire = createWire({ real, chance: chance.fork(), ...about });
  const adapters = parts.nodes.map((node) =>
    simAdapter({ node, chance: chance.fork(), now, at: wire.at, onSent, onRung, count }),
  );
  const own = chance.fork();
  const keys = gasKeys(parts, wire);
  const made: Deps = {
    settings,
    db: wire.db,
    now,
    randomBytes: (bytes) => own.bytes(bytes),
    adapters: new Map(adapters.map((each) => [each.chain, each])),
    metrics,
    log,
    ...keys,
  };
  const keeper = createKeeper(made);
  const deps: Deps = parts.gas === null ? made : { ...made, keeper: { wake: parts.onWake } };
  const app = await buildApp(deps);
  const settlement = createSettlement(deps);
  const delivering = createDelivering(deps, { send: parts.send });
  const scheduled = createScheduledRefunds(deps);
  return { wire, deps, app, settlement, delivering, keeper, scheduled, kept: false };
}

function gasKeys(parts: ProcessParts, wire: Wire) {
  const { gas, nodes, now, onSent, onSigned, count, line } = parts;
  if (gas === null) return {};
  const chance = gas.chance.fork();
  const keys = gasOf(gas.posts.values(), (chain) => {
    const node = nodes.find((each) => each.chain === chain) as Node;
    return { node, chance: chance.fork(), now, at: wire.at, onSent, onSigned, count };
  });
  return { gas: keys, signingTime: simTime(line, now) };
}

/** Runs the work; 'dead' when the process died of it. */
export async function unlessDead<R>(
  { wire }: MarketProcess,
  work: () => Promise<R>,
): Promise<R | 'dead'> {
  if (wire.isDead()) return 'dead';
  return Promise.race([work(), wire.died.then(() => 'dead' as const)]);
}
