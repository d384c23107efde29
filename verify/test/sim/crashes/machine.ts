// One server process of the crash matrix, and what of its world outlives it: that of the
// simulation, and every other pass that `npm start` runs, on the wire where it can be ended at each
// await of what is outside.

import { setImmediate as turn } from 'node:timers/promises';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { Database } from '@parley/market/db/database.ts';
import { createLaunchpads } from '@parley/market/listing/launchpads/watch.ts';
import { createRechecks } from '@parley/market/listing/rechecks.ts';
import { sequenceFeed } from '@parley/market/market/feed-log.ts';
import { prune } from '@parley/market/market/prune.ts';
import type { Courier, Outcome, Outgoing } from '@parley/market/messages/courier.ts';
import { createMessaging } from '@parley/market/messages/messaging.ts';
import { createReminding } from '@parley/market/messages/reminders.ts';
import { passHolds } from '@parley/market/people/passing.ts';
import type { Deps } from '@parley/market/ports/deps.ts';
import { createMetrics } from '@parley/market/ports/metrics.ts';
import { createPresence } from '@parley/market/restore/presence.ts';
import type { Settings } from '@parley/market/settings/config.ts';
import type { Inspection } from '@parley/tokens/inspection.ts';
import { pino } from 'pino';
import type { TestDatabase } from '../../support/database.ts';
import type { SimChain } from '../chain.ts';
import { type Chance, chanceOf } from '../chance.ts';
import { simTime } from '../gas.ts';
import type { Node } from '../node.ts';
import { presignedOn } from '../presigned.ts';
import { type Receiver, simSettings, startProcess } from '../process.ts';
import type { Doom, Wire } from '../wire.ts';
import type { Party } from '../world.ts';

export const tokenChain = 'sim-evm';
export const gasKey = `0x${'9a'.repeat(20)}`;
export const gasFunds = 10n ** 12n;
export const rocket = 'rocket';

/** The parts that outlive every process of a world. */
export type Parts = {
  readonly database: TestDatabase;
  readonly real: Database;
  readonly nodes: readonly Node[];
  readonly parties: Party[];
  readonly receiver: Receiver;
  /** The secret of every path that receives. */
  readonly hooks: Map<string, string>;
  /** The chain's answers about tokens. */
  readonly tokens: Map<string, Inspection>;
  /** The tokens of a launchpad, oldest first. */
  readonly launched: string[];
  /** The messages to people, in order: by the same id the same. */
  readonly told: Outgoing[];
  /** Chats where nothing can be written any more. */
  readonly endedChats: Set<string>;
  readonly chance: Chance;
  /** Secrets that no database or log may hold; `shown`: until a mempool or block has it. */
  readonly secrets: Map<string, 'shown' | 'never'>;
  readonly log: string[];
  nowMs: number;
  /** That the next process starts with. */
  encryptionKey: string;
  /** Processes so far: each draws what no other one draws. */
  processes: number;
};

export function chainNamed({ nodes }: Pick<Parts, 'nodes'>, name: string): SimChain {
  const node = nodes.find(({ chain }) => chain.chain === name);
  if (node === undefined) throw new Error(`no chain ${name}`);
  return node.chain;
}

const source = {
  factory: `0x${'fa'.repeat(20)}`,
  event: 'Launched(address token)',
  token: 'token',
};
const settings: Settings = {
  ...simSettings,
  launchpads: [{ name: rocket, chain: tokenChain, source, mostAnHour: 10 }],
};
const metrics = createMetrics('parley');

/** Passes beside those of the simulation, each by the name of its part. */
function otherPasses(deps: Deps, courier: Courier) {
  // On a dev network a long silence holds nothing.
  const live = { ...deps, settings: { ...deps.settings, network: 'mainnet' } } as const;
  const { beatNow } = createPresence(live);
  const { pass } = createMessaging(deps, { email: courier, telegram: courier });
  const { deadlines, keys } = createReminding(deps);
  const sequence = async () => {
    while ((await sequenceFeed(deps)).more);
  };
  return {
    messaging: { pass },
    reminding: { deadlines, keys },
    rechecks: createRechecks(deps),
    launchpads: createLaunchpads(deps),
    pruning: { pass: () => prune(deps) },
    passing: { look: () => passHolds(deps) },
    feed: { sequence },
    presence: { beatNow },
  };
}

export type Machine = ReturnType<typeof startMachine>;

/** `doom`: where it is to end. */
export function startMachine(world: Parts, doom?: Doom) {
  const passed: string[] = [];
  let fell: string | null = null;
  world.processes += 1;
  // A node's offer is the same for all.
  const chances = { wire: 7, node: 11, random: world.processes } as const;
  const now = () => world.nowMs;
  const graces = { claimSeconds: 0, refundSeconds: 0 };
  const rich = { funds: 'rich', issued: gasFunds, dailyCap: gasFunds, graces } as const;
  const own = startProcess({
    real: world.real,
    nodes: world.nodes,
    metrics,
    now,
    settings: { ...settings, encryptionKey: world.encryptionKey },
    log: pino({ level: 'debug' }, { write: (line: string) => world.log.push(line) }),
    chanceFor: (what) => chanceOf(chances[what]),
    dooms: doom === undefined ? [] : [doom],
    onDoom: (_, where) => {
      fell = where;
    },
    onPass: (name) => passed.push(name),
    onSent: () => {},
    count: () => {},
    send: (wire) => (sending) => wire.at('send', () => world.receiver.take(sending)),
    gas: {
      posts: [{ chain: chainNamed(world, tokenChain), address: gasKey, ...rich }],
      chance: chanceOf(13),
      onSigned: () => {},
      time: simTime(
        () => turn(),
        (paused) => now() + paused,
      ),
    },
    adapted: (adapter, node, wire) => adapted(world, adapter, node, wire),
    besides: (wire) => ({ evmNodes: [contractNode(wire)] }),
  });
  const more = otherPasses(own.deps, courierOf(world, own.wire));
  const { settlement, scheduled, keeper, delivering } = own;
  const parts = { settlement, scheduled, keeper, delivering, ...more };
  /** Ends it as SIGTERM does. */
  const stop = async () => {
    await own.close();
    const ending = [more.launchpads, more.rechecks, scheduled, settlement, delivering];
    for (const each of ending) await each.stop();
  };
  /** Every pass of it, as the rows name it. */
  const passes = Object.entries(parts).flatMap(([name, part]) =>
    Object.keys(part).flatMap((verb) => (/^st(art|op)$/.test(verb) ? [] : `${name}.${verb}`)),
  );
  // `fell`: where it was ended; null while it runs.
  return { ...own, ...more, passes, stop, passed, fell: () => fell };
}

/** Takes everything, but for chats that have ended. */
function courierOf({ told, endedChats }: Parts, wire: Wire): Courier {
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

/** Tokens and launchpads on one chain. */
function adapted(world: Parts, adapter: ChainAdapter, { chain }: Node, wire: Wire): ChainAdapter {
  const scheduledSpends = presignedOn(chain, wire);
  if (chain.chain !== tokenChain) return { ...adapter, scheduledSpends };
  const inspect: ChainAdapter['inspect'] = (address) =>
    wire.at('inspect', () => {
      const found = world.tokens.get(address);
      if (found === undefined) throw new ParleyError('not_a_token', 'there is no contract', {});
      return found;
    });
  const launches: ChainAdapter['launches'] = {
    read: (_, after) =>
      wire.at('launches', () => {
        const height = world.launched.length;
        const tokens = after === null ? [] : world.launched.slice(after.height);
        return { tokens, skipped: 0, position: { height, hash: `${height}` }, isWhole: true };
      }),
    existing: (tokens) => wire.at('existing', () => tokens),
  };
  return { ...adapter, inspect, launches };
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
