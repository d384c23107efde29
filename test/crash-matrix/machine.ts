// One server process of the crash matrix: that of the simulation, and every other pass that
// `npm start` runs, on the wire where it can be ended at each await of what is outside.

import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import type { ChainAdapter } from '../../chains/adapter.ts';
import type { HashlockReader } from '../../chains/interface/history.ts';
import { ParleyError } from '../../core/errors.ts';
import { createLaunchpads } from '../../server/listing/launchpads/watch.ts';
import { createRechecks } from '../../server/listing/rechecks.ts';
import { sequenceFeed } from '../../server/market/feed-log.ts';
import { prune } from '../../server/market/prune.ts';
import type { Courier, Outcome } from '../../server/messages/courier.ts';
import { createMessaging } from '../../server/messages/messaging.ts';
import { createReminding } from '../../server/messages/reminders.ts';
import { passHolds } from '../../server/people/passing.ts';
import type { Deps } from '../../server/ports/deps.ts';
import { createMetrics } from '../../server/ports/metrics.ts';
import { createPresence } from '../../server/restore/presence.ts';
import type { Settings } from '../../server/settings/config.ts';
import { chanceOf } from '../sim/chance.ts';
import type { Node } from '../sim/facts.ts';
import { type Post, simTime } from '../sim/gas.ts';
import { type MarketProcess, simSettings, startProcess } from '../sim/process.ts';
import type { Doom, Wire } from '../sim/wire.ts';
import { chainNamed, gasFunds, gasKey, type Parts, tokenChain } from './parts.ts';
import { presignedOn } from './presigned.ts';

export const rocket = 'rocket';

const settings: Settings = {
  ...simSettings,
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

/** Passes beside those of the simulation, each by the name of its part. */
function passesOf(deps: Deps, courier: Courier) {
  // A node of a dev chain is never asked whether it catches up.
  const live = { ...deps, settings: { ...deps.settings, network: 'mainnet' } } as const;
  const { beatNow, readNow } = createPresence(live);
  const messaging = createMessaging(deps, { email: courier, telegram: courier });
  const { deadlines, keys } = createReminding(deps);
  const sequence = async () => {
    while ((await sequenceFeed(deps)).more);
  };
  return {
    messaging: { pass: messaging.pass },
    reminding: { deadlines, keys },
    rechecks: createRechecks(deps),
    launchpads: createLaunchpads(deps),
    pruning: { pass: () => prune(deps) },
    passing: { look: () => passHolds(deps) },
    feed: { sequence },
    presence: { beatNow, readNow },
  };
}

type More = ReturnType<typeof passesOf>;

export type Machine = MarketProcess &
  More & {
    /** Ends it as SIGTERM does. */
    stop(): Promise<void>;
    /** What has passed so far. */
    readonly passed: readonly string[];
    /** Where it was ended; null while it runs. */
    fell(): string | null;
  };

/** `doom`: where it is to end. */
export function startMachine(world: Parts, doom?: Doom): Machine {
  const passed: string[] = [];
  let fell: string | null = null;
  world.processes += 1;
  // What a node offers is the same for all.
  const chances = { wire: 7, node: 11, random: world.processes } as const;
  const now = () => world.nowMs;
  const onGas = { posts: [postOn(world)], chance: chanceOf(13), onSigned: () => {} };
  const own = startProcess({
    ...{ real: world.real, nodes: world.nodes, metrics, now },
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
      ...onGas,
      time: simTime(
        () => turn(),
        (paused) => now() + paused,
      ),
    },
    adapted: (adapter, node, wire) => adapted(world, adapter, node, wire),
    besides: (wire) => ({ evmNodes: [contractNode(wire)] }),
  });
  const more = passesOf(own.deps, courierOf(world, own.wire));
  const stop = async () => {
    await own.close();
    for (const { stop: end } of [more.launchpads, more.rechecks, own.scheduled]) await end();
    for (const { stop: end } of [own.settlement, own.delivering]) await end();
  };
  return { ...own, ...more, stop, passed, fell: () => fell };
}

function postOn(world: Parts): Post {
  const chain = chainNamed(world, tokenChain);
  const graces = { claimSeconds: 0, refundSeconds: 0 };
  const rich = { funds: 'rich', issued: gasFunds, dailyCap: gasFunds } as const;
  return { chain, address: gasKey, ...rich, graces };
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

/** Tokens and launchpads on one chain, and what both show of hashlocks. */
function adapted(world: Parts, adapter: ChainAdapter, node: Node, wire: Wire): ChainAdapter {
  const hashlocks = hashlocksOn(node.chain.chain, world, wire);
  const scheduledRefunds = presignedOn(node.chain, wire);
  if (node.chain.chain !== tokenChain) return { ...adapter, scheduledRefunds, hashlocks };
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
  return { ...adapter, inspect, launches, hashlocks };
}

/** Two a page. */
function hashlocksOn(chain: string, { hashlocks }: Parts, wire: Wire): HashlockReader {
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
