// A world of the crash matrix is prepared once, and copied for every run.

import { bitcoinPolicies } from '../../chains/bitcoin/policy.ts';
import type { Family } from '../../core/families.ts';
import type { ChainPolicy } from '../../core/policy.ts';
import { issue, newChain } from '../sim/chain.ts';
import { chanceOf } from '../sim/chance.ts';
import { type Node, nodeWith } from '../sim/facts.ts';
import { createReceiver } from '../sim/receiver.ts';
import type { Doom } from '../sim/wire.ts';
import { testDatabase } from '../support/database.ts';
import { keep } from './kept.ts';
import { type Machine, startMachine } from './machine.ts';
import { chainNamed, gasFunds, gasKey, type Parts, tokenChain } from './parts.ts';

/** A world and the process that runs in it now. */
export type World = Parts & { market: Machine };

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
  const world: Parts = {
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

function withMarket(parts: Parts, doom?: Doom): World {
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

export const secondsOf = ({ nowMs }: World): number => Math.floor(nowMs / 1_000);
