// One server process of the crash matrix: the real application and every pass that `npm start`
// runs, over the wire of the simulation, on which it can be ended at each await of what is outside.

import { setImmediate as turn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import type { ChainAdapter } from '../../chains/adapter.ts';
import type { HashlockReader } from '../../chains/interface/history.ts';
import type { Inspection } from '../../chains/tokens/inspection.ts';
import { ParleyError } from '../../core/errors.ts';
import { buildApp } from '../../server/edge/app.ts';
import { createKeeper, type Keeper } from '../../server/keeper/passes.ts';
import { createLaunchpads, type Launchpads } from '../../server/listing/launchpads/watch.ts';
import { createRechecks, type Rechecks } from '../../server/listing/rechecks.ts';
import { sequenceFeed } from '../../server/market/feed-log.ts';
import { type Pruned, prune } from '../../server/market/prune.ts';
import type { Courier, Outcome } from '../../server/messages/courier.ts';
import { createMessaging, type Messaging } from '../../server/messages/messaging.ts';
import { createReminding, type Reminding } from '../../server/messages/reminders.ts';
import { passHolds } from '../../server/people/passing.ts';
import type { Deps } from '../../server/ports/deps.ts';
import { createMetrics } from '../../server/ports/metrics.ts';
import { createPresence, type Running } from '../../server/restore/presence.ts';
import { readSettings, type Settings } from '../../server/settings/config.ts';
import { createSettlement, type Settlement } from '../../server/settle/follow.ts';
import {
  createScheduledRefunds,
  type ScheduledPasses,
} from '../../server/settle/scheduled-refunds.ts';
import type { Send } from '../../server/webhooks/attempt.ts';
import { createDelivering, type Delivering } from '../../server/webhooks/deliver.ts';
import { simAdapter } from '../sim/adapter.ts';
import type { SimChain } from '../sim/chain.ts';
import { chanceOf } from '../sim/chance.ts';
import { createWire, type Doom, type Wire } from '../sim/wire.ts';
import { gasOn } from './gas.ts';
import { presignedOn } from './presigned.ts';
import { chainNamed, type World } from './world.ts';

export const rocket = 'rocket';
export const tokenChain = 'sim-evm';

export const settings: Settings = {
  ...readSettings({ PARLEY_RATE_LIMIT: '10000000', PARLEY_CHAIN_TIMEOUT_MS: '60000' }),
  launchpads: [
    {
      name: rocket,
      chain: tokenChain,
      source: { factory: `0x${'fa'.repeat(20)}`, event: 'Launched(address token)', token: 'token' },
      mostAnHour: 10,
    },
  ],
};
const metrics = createMetrics('parley');

export type Passes = {
  readonly keeper: Keeper;
  readonly settlement: Settlement;
  readonly scheduled: ScheduledPasses;
  readonly delivering: Delivering;
  readonly messaging: Pick<Messaging, 'pass'>;
  readonly reminding: Pick<Reminding, 'deadlines' | 'keys'>;
  readonly rechecks: Rechecks;
  readonly launchpads: Launchpads;
  readonly pruning: { pass(): Promise<Pruned> };
  readonly passing: { look(): Promise<number> };
  readonly feed: { sequence(): Promise<void> };
  readonly presence: Pick<Running, 'beatNow' | 'readNow'>;
};

export type Machine = Passes & {
  readonly wire: Wire;
  readonly deps: Deps;
  /** Made at the first request. */
  app(): Promise<FastifyInstance>;
  /** Ends it as SIGTERM does. */
  stop(): Promise<void>;
  /** What has passed so far. */
  readonly passed: readonly string[];
  /** Where it was ended; null while it runs. */
  fell(): string | null;
};

/** `doom`: where it is to end. */
export function startMachine(world: World, doom?: Doom): Machine {
  const passed: string[] = [];
  let fell: string | null = null;
  const wire = createWire({
    real: world.real,
    chance: chanceOf(7),
    onFate: (_, where) => {
      fell = where;
    },
    onPass: (name) => passed.push(name),
  });
  if (doom !== undefined) wire.doom(doom);
  world.processes += 1;
  // What a node offers is the same for all.
  const own = chanceOf(world.processes);
  const deps: Deps = {
    settings: { ...settings, encryptionKey: world.encryptionKey },
    db: wire.db,
    now: () => world.nowMs,
    randomBytes: (bytes) => own.bytes(bytes),
    adapters: new Map(adaptersOf(world, wire).map((each) => [each.chain, each])),
    evmNodes: [contractNode(wire)],
    gas: new Map([[tokenChain, gasOn(chainNamed(world, tokenChain), wire)]]),
    signingTime: waitingIn(world),
    metrics,
    log: pino({ level: 'debug' }, { write: (line: string) => world.log.push(line) }),
  };
  const send: Send = (sending) => wire.at('send', () => world.receiver.take(sending));
  let app: Promise<FastifyInstance> | null = null;
  const passes = passesOf(deps, send, courierOf(world, wire));
  return {
    ...passes,
    wire,
    deps,
    passed,
    fell: () => fell,
    app: () => {
      app ??= buildApp(deps, { send });
      return app;
    },
    stop: async () => {
      await (await app)?.close();
      await passes.launchpads.stop();
      await passes.rechecks.stop();
      await passes.scheduled.stop();
      await passes.settlement.stop();
      await passes.delivering.stop();
    },
  };
}

/** Whoever waits for a turn to sign waits by the world's clock, and in no time. */
function waitingIn(world: World): NonNullable<Deps['signingTime']> {
  let waitedMs = 0;
  return {
    elapsedMs: () => waitedMs,
    pause: async (ms, signal) => {
      signal.throwIfAborted();
      waitedMs += ms;
      await turn();
    },
    limit: () => new AbortController().signal,
    turnClock: () => new Date(world.nowMs + waitedMs),
  };
}

/** Takes everything, but for chats that have ended. */
function courierOf({ told, endedChats }: World, wire: Wire): Courier {
  return {
    send: (outgoing) =>
      wire.at('message send', (): Outcome => {
        if (endedChats.has(outgoing.to)) return { kind: 'ended', error: 'HTTP 403' };
        told.push(outgoing);
        return { kind: 'sent' };
      }),
    close: () => {},
  };
}

function passesOf(deps: Deps, send: Send, courier: Courier): Passes {
  // A node of a dev chain is never asked whether it catches up.
  const live = { ...deps, settings: { ...deps.settings, network: 'mainnet' } } as const;
  const { beatNow, readNow } = createPresence(live);
  const messaging = createMessaging(deps, { email: courier, telegram: courier });
  const { deadlines, keys } = createReminding(deps);
  return {
    keeper: createKeeper(deps),
    settlement: createSettlement(deps),
    scheduled: createScheduledRefunds(deps),
    delivering: createDelivering(deps, { send }),
    messaging: { pass: messaging.pass },
    reminding: { deadlines, keys },
    rechecks: createRechecks(deps),
    launchpads: createLaunchpads(deps),
    pruning: { pass: () => prune(deps) },
    passing: { look: () => passHolds(deps) },
    feed: {
      sequence: async () => {
        while ((await sequenceFeed(deps)).more);
      },
    },
    presence: { beatNow, readNow },
  };
}

function adaptersOf(world: World, wire: Wire): ChainAdapter[] {
  const tokens: Pick<ChainAdapter, 'inspect' | 'launches'> = {
    inspect: (address) => wire.at('inspect', () => said(world, address)),
    launches: {
      read: (_, after) =>
        wire.at('launches', () => {
          const height = world.launched.length;
          const tokens = after === null ? [] : world.launched.slice(after.height);
          const position = { height, hash: `${height}` };
          return { tokens, skipped: 0, position, isWhole: true };
        }),
      existing: (tokens) => wire.at('existing', () => tokens),
    },
  };
  return world.nodes.map((node) => {
    const adapter = simAdapter({
      node,
      chance: chanceOf(11),
      now: () => world.nowMs,
      at: wire.at,
      onSent: () => {},
      count: () => {},
    });
    const hashlocks = hashlocksOn(node.chain, world, wire);
    return node.chain.chain === tokenChain
      ? { ...adapter, ...tokens, hashlocks }
      : { ...adapter, scheduledRefunds: presignedOn(node.chain, wire), hashlocks };
  });
}

/** Two a page. */
function hashlocksOn({ chain }: SimChain, { hashlocks }: World, wire: Wire): HashlockReader {
  const shown = hashlocks.get(chain) ?? [];
  return {
    begin: () => wire.at(`${chain} beginHashlocks`, () => '0'),
    next: (cursor) =>
      wire.at(`${chain} nextHashlocks`, () => {
        const page = shown.slice(Number(cursor), Number(cursor) + 2);
        const to = Number(cursor) + page.length;
        const left = shown.length - to;
        // Its clock is ahead of every gap.
        const shownUntil = Number.MAX_SAFE_INTEGER;
        return { hashlocks: page, shownUntil, cursor: `${to}`, isWhole: left === 0, left };
      }),
  };
}

function said(world: World, address: string): Inspection {
  const found = world.tokens.get(address);
  if (found === undefined) throw new ParleyError('not_a_token', 'there is no contract', {});
  return found;
}

/** Says of every contract wallet that it signed. */
function contractNode(wire: Wire): NonNullable<Deps['evmNodes']>[number] {
  const call = () => wire.at('contract', () => `0x1626ba7e${'00'.repeat(28)}`);
  return { chain: tokenChain, sources: 1, call, ask: call, batch: async () => [] };
}

/** Turns of the event loop in which what was begun after an answer comes to its end. */
export async function quiet(machine: Machine): Promise<void> {
  for (let before = -1; before !== machine.passed.length; ) {
    before = machine.passed.length;
    for (let turns = 0; turns < 12; turns += 1) await turn();
  }
}

/** Runs the work; 'dead' where the process was ended in it. */
export async function orDead<R>({ wire }: Machine, work: () => Promise<R>): Promise<R | 'dead'> {
  if (wire.isDead()) return 'dead';
  return Promise.race([work(), wire.died.then(() => 'dead' as const)]);
}
