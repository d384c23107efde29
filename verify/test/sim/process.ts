// One process of the market: the real application and passes over a wire. When it dies, another is
// started on the same database, with nothing of its memory.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { ChainKey } from '@parley/core/families.ts';
import { buildApp } from '@parley/market/edge/app.ts';
import type { Deps } from '@parley/market/ports/deps.ts';
import type { Metrics } from '@parley/market/ports/metrics.ts';
import { readSettings, type Settings } from '@parley/market/settings/config.ts';
import { createSettlement } from '@parley/market/settle/follow.ts';
import { createScheduledSpends } from '@parley/market/settle/scheduled-spends.ts';
import { watchtowerOf } from '@parley/market/start/watchtower.ts';
import type { Send } from '@parley/market/webhooks/attempt.ts';
import { createDelivering } from '@parley/market/webhooks/deliver.ts';
import type { Sending, Sent } from '@parley/market/webhooks/send.ts';
import { signatureOf } from '@parley/market/webhooks/sign.ts';
import type { Gas, SigningTime } from '@parley/watchtower/port.ts';
import { type Logger, pino } from 'pino';
import type { Chance } from './chance.ts';
import { type GasParts, gasOf, type Post } from './gas.ts';
import { type AdapterParts, type Node, simAdapter } from './node.ts';
import { createWire, type Wire, type WireParts } from './wire.ts';

/** A delivery to a receiver of webhooks. */
export type Told = {
  readonly topic: string;
  readonly swapId: string | null;
  readonly status: string | null;
  readonly body: string;
};

export type Receiver = ReturnType<typeof createReceiver>;

/** Where the webhooks of all arrive: checks who signed, and fails as often as it is told to. */
export function createReceiver(chance: Chance, hear: (told: Told) => void) {
  const secrets = new Map<string, string>();
  const heard = new Map<string, Map<string, Told>>();
  const orders = new Map<string, { readonly ids: Set<string>; newest: string }>();
  const complaints: string[] = [];
  let failed = false;
  type Parsed = Partial<Record<'type' | 'swapId' | 'status' | 'createdAt', string>>;
  /** Each event of one swap waits for the first attempt of the one before. */
  const note = (path: string, id: string, { swapId = '', createdAt = '' }: Parsed) => {
    const order = orders.get(`${path} ${swapId}`) ?? { ids: new Set(), newest: '' };
    orders.set(`${path} ${swapId}`, order);
    if (swapId === '' || order.ids.has(id)) return;
    order.ids.add(id);
    if (createdAt < order.newest) complaints.push(`${path}: ${createdAt} after ${order.newest}`);
    order.newest = createdAt;
  };
  const keep = (path: string, id: string, body: string, parsed: Parsed) => {
    const own = heard.get(path) ?? new Map<string, Told>();
    heard.set(path, own);
    const known = own.get(id);
    if (known !== undefined && known.body !== body) complaints.push(`${id} changed`);
    if (known !== undefined) return;
    const { type: topic = '', swapId = null, status = null } = parsed;
    const told = { topic, swapId, status, body };
    own.set(id, told);
    hear(told);
  };
  const receiver = {
    failing: 0,
    complaints,
    take: async ({ url, headers, body }: Sending): Promise<Sent> => {
      const path = new URL(url).pathname;
      const right = signatureOf(secrets.get(path) ?? '', headers['x-parley-timestamp'] ?? '', body);
      if (headers['x-parley-signature'] !== right) complaints.push(`${path}: not signed`);
      const parsed = JSON.parse(body) as Parsed;
      const id = headers['x-parley-delivery'] ?? '';
      note(path, id, parsed);
      const how = chance.hits(receiver.failing) ? chance.int(1, 3) : 0;
      // 1: unreachable, 2: it has it but its answer is lost, 3: it has it and fails.
      if (how !== 1) keep(path, id, body, parsed);
      if (how > 0) failed = true;
      if (how === 0) return { status: 200, error: null };
      return how === 3 ? { status: 500, error: null } : { status: 0, error: 'no answer' };
    },
    expect: (path: string, secret: string) => void secrets.set(path, secret),
    /** The deliveries at a path, each once, in the order of first arrival. */
    heard: (path: string): readonly Told[] => [...(heard.get(path)?.values() ?? [])],
    /** Whether an attempt failed since this was asked last. */
    failedSince: () => {
      const was = failed;
      failed = false;
      return was;
    },
  };
  return receiver;
}

export type MarketProcess = ReturnType<typeof startProcess>;

type ProcessParts = Omit<WireParts, 'chance'> &
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
      readonly time: SigningTime;
    } | null;
    /** Further answers of its adapters and its other sources. */
    readonly adapted?: (adapter: ChainAdapter, node: Node, wire: Wire) => ChainAdapter;
    readonly besides?: (wire: Wire) => Partial<Deps>;
  };

/** Long real limits: here a node is slow because the seed says so. */
export const simSettings: Settings = {
  ...readSettings({ PARLEY_RATE_LIMIT: '10000000', PARLEY_CHAIN_TIMEOUT_MS: '60000' }),
  encryptionKey: '5a'.repeat(32),
};

const quiet = pino({ level: process.env.PARLEY_TEST_LOG ?? 'silent' });

export function startProcess(parts: ProcessParts) {
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
    metrics,
    log,
    randomBytes: (bytes) => random.bytes(bytes),
    adapters: new Map(adapters.map((each) => [each.chain, each])),
    ...besides(wire),
  };
  const keys = [...(gas?.posts ?? [])].map((post): [ChainKey, Gas] => {
    const node = nodes.find(({ chain }) => chain === post.chain) as Node;
    const chance = gas?.chance.fork() as Chance;
    return [post.chain.chain, gasOf(post, { ...about, node, chance, onSigned: gas?.onSigned })];
  });
  const keeper = watchtowerOf(made, {
    gas: new Map(keys),
    ...(gas && { signingTime: gas.time }),
  });
  const deps = gas === null ? made : { ...made, watchtower: keeper.desk };
  let app: ReturnType<typeof buildApp> | null = null;
  return {
    wire,
    deps,
    keeper,
    /** Made at the first request. */
    app: () => {
      app ??= buildApp(deps, { send });
      return app;
    },
    close: async () => (await app)?.close(),
    settlement: createSettlement(deps),
    delivering: createDelivering(deps, { send }),
    scheduled: createScheduledSpends(deps),
    /** Whether its keeper has done its first work. */
    kept: false,
  };
}

/** Runs the work; 'dead' when the process died of it. */
export async function unlessDead<R>(
  { wire }: Pick<MarketProcess, 'wire'>,
  work: () => Promise<R>,
): Promise<R | 'dead'> {
  if (wire.isDead()) return 'dead';
  return Promise.race([work(), wire.died.then(() => 'dead' as const)]);
}
