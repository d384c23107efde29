// Everything of the crash matrix that outlives a process: the database, the chains, the receivers
// of webhooks, the clock. A world is prepared once, and copied for every run.

import { bitcoinPolicies } from '../../chains/bitcoin/policy.ts';
import type { Inspection } from '../../chains/tokens/inspection.ts';
import type { Family } from '../../core/families.ts';
import type { ChainPolicy } from '../../core/policy.ts';
import type { Database } from '../../server/db/database.ts';
import type { Outgoing } from '../../server/messages/courier.ts';
import { issue, newChain, type SimChain } from '../sim/chain.ts';
import { type Chance, chanceOf } from '../sim/chance.ts';
import { type Node, nodeWith } from '../sim/facts.ts';
import type { Party } from '../sim/people.ts';
import { createReceiver, type Receiver } from '../sim/receiver.ts';
import type { Doom } from '../sim/wire.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { keep } from './kept.ts';
import { gasFunds, gasKey, type Machine, startMachine, tokenChain } from './machine.ts';

export type World = {
  readonly database: TestDatabase;
  readonly real: Database;
  readonly nodes: readonly Node[];
  readonly parties: Party[];
  readonly receiver: Receiver;
  /** The secret of every path that receives. */
  readonly hooks: Map<string, string>;
  /** What the chain says of tokens. */
  readonly tokens: Map<string, Inspection>;
  /** What a launchpad has launched, oldest first. */
  readonly launched: string[];
  /** What people were sent, in order: by the same id the same. */
  readonly told: Outgoing[];
  /** Chats where nothing can be written any more. */
  readonly endedChats: Set<string>;
  /** What each chain shows of them since time was missing, oldest first. */
  readonly hashlocks: Map<string, string[]>;
  readonly chance: Chance;
  /** What nobody may find in a database or a log; `until` it is in a mempool or block. */
  readonly secrets: Map<string, 'shown' | 'never'>;
  readonly log: string[];
  nowMs: number;
  /** That the next process starts with. */
  encryptionKey: string;
  /** Processes so far: each draws what no other one draws. */
  processes: number;
  market: Machine;
};

const epochMs = Date.UTC(2031, 0, 1);
const hour = 3_600;

const evmPolicy: ChainPolicy = {
  floorSeconds: 4 * hour,
  reactSeconds: 1_800,
  signSeconds: 600,
  detectSeconds: 60,
  normal: { confirmations: 4, settleSeconds: 900, outageSeconds: hour },
  high: { confirmations: 8, settleSeconds: 1_800, outageSeconds: hour },
  lateClaimSeconds: 60,
  driftSeconds: 60,
  windowSeconds: 0,
};

function nodeOf(family: Family, policy: ChainPolicy): Node {
  const chain = newChain({ chain: `sim-${family}`, family, policy }, epochMs / 1_000);
  return nodeWith(chain);
}

/** An empty market on Bitcoin and an EVM chain, and its first process. */
export async function openWorld(): Promise<World> {
  const database = await testDatabase({ connections: 3 });
  const world: Omit<World, 'market'> = {
    database,
    real: database.db,
    nodes: [nodeOf('bitcoin', bitcoinPolicies.mainnet), nodeOf('evm', evmPolicy)],
    parties: [],
    receiver: createReceiver(chanceOf(1), () => {}),
    hooks: new Map(),
    tokens: new Map(),
    launched: [],
    told: [],
    endedChats: new Set(),
    hashlocks: new Map(),
    chance: chanceOf(3),
    secrets: new Map(),
    log: [],
    nowMs: epochMs,
    encryptionKey: '5a'.repeat(32),
    processes: 0,
  };
  const opened = withMarket(world);
  issue(chainNamed(opened, tokenChain), gasKey, gasFunds);
  return opened;
}

function withMarket(parts: Omit<World, 'market'>, doom?: Doom): World {
  const world = parts as World;
  world.market = startMachine(world, doom);
  return world;
}

export type Prepared = {
  /** `doom`: where the first process of the copy ends. */
  readonly copy: (doom?: Doom) => Promise<World>;
  readonly drop: () => Promise<void>;
};

/** Nothing happens to this world any more: it is what copies are made of, one at a time. */
export async function seal(world: World): Promise<Prepared> {
  await endMachine(world);
  const putBack = await keep(world.real);
  const copy = async (doom?: Doom) => {
    await putBack();
    const parts = {
      ...world,
      nodes: structuredClone(world.nodes),
      receiver: createReceiver(chanceOf(1), () => {}),
      hooks: new Map(world.hooks),
      tokens: structuredClone(world.tokens),
      launched: [...world.launched],
      told: [],
      endedChats: new Set(world.endedChats),
      hashlocks: structuredClone(world.hashlocks),
      secrets: new Map(world.secrets),
      chance: chanceOf(5),
      log: [],
    };
    const copied = withMarket(parts, doom);
    for (const [path, secret] of copied.hooks) copied.receiver.expect(path, secret);
    return copied;
  };
  return { copy, drop: () => world.database.drop() };
}

export async function endMachine({ market }: World): Promise<void> {
  const { wire } = market;
  wire.kill('at the end');
  void market.stop().catch(() => {});
}

/** Another process on what the last one left. */
export function restart(world: World): void {
  void world.market.stop().catch(() => {});
  world.market = startMachine(world);
}

export function chainNamed(world: World, name: string): SimChain {
  const node = world.nodes.find(({ chain }) => chain.chain === name);
  if (node === undefined) throw new Error(`no chain ${name}`);
  return node.chain;
}

export const secondsOf = ({ nowMs }: World): number => Math.floor(nowMs / 1_000);
