// Blocks of the true chains, when they come, and which are taken back.

import type { LegName } from '@parley/core/trade.ts';
import { choosing, clockAt, cutOff, mine, type SimChain, tipOf } from '../chain.ts';
import type { Chance } from '../chance.ts';
import { noteDepths } from './oracle.ts';
import { later, nowSeconds } from './time.ts';
import { count, tell, type World } from './world.ts';

function secondsTo({ chance, calm }: World, chain: SimChain): number {
  if (chain.family !== 'bitcoin') {
    return !calm && chance.hits(0.02) ? chance.int(120, 280) : chance.int(30, 90);
  }
  const spread = -Math.log(1 - chance.int(0, 999) / 1_000) * 600;
  return Math.round(Math.min(2_000, Math.max(5, spread)));
}

export function startMining(world: World, leg: LegName): void {
  const chain = world.chains[leg];
  const next = () => {
    if (!world.standing.has(chain)) mineOne(world, chain, world.chance);
    later(secondsTo(world, chain) * 1_000, next, true);
  };
  later(secondsTo(world, chain) * 1_000, next, true);
}

function mineOne(world: World, chain: SimChain, chance: Chance): void {
  const before = clockAt(chain, tipOf(chain).height);
  const { txs, height } = mine(chain, nowSeconds(), choosing(chain, chance));
  for (const { tx, ok } of txs) {
    tell(world, `${chain.chain} ${height}: ${tx.verb} at ${tx.escrow}${ok ? '' : ' fails'}`);
  }
  const now = clockAt(chain, height);
  const hasPassed = Object.values(world.times.refundAt).some((at) => before < at && now >= at);
  if (txs.length > 0 || hasPassed) world.news += 1;
  const isWatched = [...chain.holdings.values()].some(([held]) => {
    return held !== undefined && height - held.height < 10;
  });
  if (isWatched) world.news += 1;
  if (isWatched) noteDepths(world);
}

/** Fewer blocks than the depth that counts; `isDeeper`: beyond what anybody promises. */
export function reorganise(world: World, chain: SimChain, isDeeper: boolean): void {
  const { chance } = world;
  const { confirmations } = chain.policy.normal;
  const depth = isDeeper ? confirmations + chance.int(0, 2) : chance.int(1, confirmations - 1);
  if (tipOf(chain).height < 12 + depth) return;
  cutOff(chain, depth, () => chance.hits(0.85));
  for (let each = 0; each <= depth; each += 1) {
    mine(chain, nowSeconds(), (sent) => chance.hits(0.5) && choosing(chain, chance)(sent));
  }
  world.news += 1;
  if (isDeeper) world.excuse = 'a block at depth was taken back';
  count(world, isDeeper ? 'deep reorganisation' : 'reorganisation');
  tell(world, `${chain.chain} takes ${depth} blocks back`);
}

/** Another chain from some blocks ago on, which a node takes for the true one for a while. */
export function forkOf(chain: SimChain, depth: number, seed: number): SimChain {
  const holdings = new Map(
    [...chain.holdings].map(([escrow, held]) => [escrow, held.map((each) => ({ ...each }))]),
  );
  const fork: SimChain = {
    ...chain,
    blocks: [...chain.blocks],
    mempool: new Map(chain.mempool),
    about: new Map(chain.about),
    holdings,
    balances: new Map(chain.balances),
    shown: new Map(chain.shown),
    spent: new Set(chain.spent),
    forks: chain.forks + 1_000 + seed,
  };
  cutOff(fork, depth, () => true);
  return fork;
}

export function mineFork(world: World, fork: SimChain): void {
  mine(fork, nowSeconds(), (sent) => world.chance.hits(0.3) && choosing(fork, world.chance)(sent));
}
