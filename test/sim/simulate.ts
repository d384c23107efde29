// One seed: a market, its chains and parties from nothing to the end of every swap, and what was
// wrong with it.

import { bitcoinPolicies } from '../../chains/bitcoin/policy.ts';
import type { Family } from '../../core/families.ts';
import type { ChainPolicy } from '../../core/policy.ts';
import type { Database } from '../../server/db/database.ts';
import { seedAssets } from '../../server/market/assets.ts';
import type { Metrics } from '../../server/ports/metrics.ts';
import { heldIn, newChain, tipOf, waitingAt } from './chain.ts';
import { type Chance, chanceOf } from './chance.ts';
import { escrowsOn, highValueFrom } from './deals.ts';
import { drillOf, isBare, notComeOf } from './drills.ts';
import { type Node, nodeWith } from './facts.ts';
import { healAll, mineOne, planDooms, planFaults, startMining } from './faults.ts';
import { keep, keeperOf, keepPolling, planKeeperDooms } from './keeper.ts';
import { checkKeeper, checkKept } from './keeper-oracle.ts';
import { createLine } from './line.ts';
import { type Asset, kindFor, longOf, negotiate, newDeal, type Terms } from './negotiate.ts';
import { newServer, openServer } from './opening.ts';
import { checkEvents, checkHeard, checkLoss, checkStatus, onlyMaliceLeft } from './oracle.ts';
import { ask, askPlainly, newParty } from './people.ts';
import { simSettings } from './process.ts';
import { checkClosed, checkOnce } from './promises.ts';
import { createReceiver } from './receiver.ts';
import { allRun, deliver, pollAll, pollTime } from './servers.ts';
import type { Deal, Drill, Party, View, Violation, World } from './state.ts';
import { storedEscrows } from './stored.ts';
import { chainOf, checkMoney, count, later, nodeOf, runUntil, stirAll, violate } from './world.ts';

export type Result = {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly story: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
};

const hour = 3_600;
const day = 24 * hour;
const epochMs = Date.UTC(2031, 0, 1);

/** Real numbers, but for depths: blocks are a minute apart on all but Bitcoin. */
function policyOf(
  [normal, high]: readonly [number, number],
  [settleSeconds, outageSeconds]: readonly [number, number],
  driftSeconds: number,
  windowSeconds: number | null,
): ChainPolicy {
  const reach = { settleSeconds, outageSeconds };
  return {
    ...{ floorSeconds: 4 * hour, reactSeconds: 1_800, signSeconds: 600, detectSeconds: 60 },
    normal: { ...reach, confirmations: normal },
    high: { ...reach, confirmations: high, settleSeconds: settleSeconds * (high / normal) },
    ...{ lateClaimSeconds: driftSeconds, driftSeconds, windowSeconds },
  };
}

const policies: Readonly<Record<Family | 'rollup', ChainPolicy>> = {
  bitcoin: bitcoinPolicies.mainnet,
  evm: policyOf([4, 8], [900, hour], 60, 0),
  tron: policyOf([3, 3], [900, hour], 60, 0),
  solana: policyOf([2, 2], [600, 6 * hour], 1_800, null),
  // An EVM chain whose clock stops with it.
  rollup: policyOf([4, 8], [900, 12 * hour], 1_800, 12 * hour),
};

const families = ['bitcoin', 'evm', 'tron', 'solana'] as const;

function chainsFor(chance: Chance, drill: Drill | null): Node[] {
  const wanted: readonly Family[] = drill?.families ?? [];
  const left = families.filter((each) => !wanted.includes(each)) as Family[];
  const more = Math.max(0, chance.int(2, 3) - wanted.length);
  const drawn = Array.from({ length: more }, () => {
    const [family] = left.splice(chance.int(0, left.length - 1), 1);
    return family as Family;
  });
  const picked = [...wanted, ...drawn];
  return picked.map((family) => {
    const policy = policies[drill?.isRollup && family === 'evm' ? 'rollup' : family];
    const about = { chain: `sim-${family}`, family, policy };
    return nodeWith(newChain(about, epochMs / 1_000));
  });
}

export type Shared = { readonly real: Database; readonly metrics: Metrics };

async function empty(real: Database): Promise<void> {
  await real.rows({
    name: '',
    text: `truncate accounts, wallets, api_keys, nonces, rfqs, assets, threads, hashlocks, swaps,
        legs, escrows, chain_heads, outbox, idempotency, webhooks, deliveries, delivery_attempts,
        feed_log, candidates, keeper_jobs, keeper_attempts, keeper_turns, keeper_waiters
      restart identity cascade`,
    values: [],
  });
}

async function openWorld(seed: number, { real, metrics }: Shared): Promise<World> {
  const chance = chanceOf(seed);
  const drill = drillOf(seed);
  const calm = chance.hits(0.15) && drill === null;
  const nodes = chainsFor(chance, drill);
  const receiver = createReceiver(chance.fork(), (told) => checkHeard(world, told));
  const two = chance.hits(calm || drill?.alone ? 0 : 0.25) || drill?.servers === 2;
  const servers = two ? [newServer('1'), newServer('2')] : [newServer('1')];
  const world: World = {
    seed,
    chance,
    real,
    metrics,
    settings: simSettings,
    drill,
    calm,
    nodes,
    parties: [],
    deals: [],
    receiver,
    story: [],
    counts: new Map(),
    violations: [],
    agenda: [],
    servers,
    keeper: isBare(seed) ? null : keeperOf({ seed, drill }, nodes, servers),
    line: createLine(real, chance.fork()),
    beside: [],
    begun: 0,
    alone: true,
    rushes: !calm && chance.hits(0.5) && !drill?.alone,
    startedAt: epochMs,
    nowMs: epochMs,
    ending: false,
    lied: new Set(),
    unchecked: new Set(),
    closedAt: new Map(),
    wasLate: false,
    mutedUntil: 0,
    hasNews: false,
  };
  await empty(real);
  for (const each of world.servers) await openServer(world, each);
  return world;
}

async function assetsOf(world: World): Promise<Asset[]> {
  const { servers, nodes } = world;
  const market = servers[0]?.process ?? null;
  if (market === null) throw new Error('the market is not open');
  const wanted = nodes.map(({ chain }) => ({
    chain: chain.chain,
    symbol: chain.family.toUpperCase(),
    address: null,
    decimals: 8,
    highValueFrom: highValueFrom.toString(),
  }));
  const seeded = await seedAssets(market.deps.db, market.deps, wanted);
  return seeded.map(({ id, chain }) => ({ id, chain, family: chainOf(world, chain).family }));
}

async function openDeals(world: World): Promise<void> {
  const { chance, drill } = world;
  const assets = await assetsOf(world);
  const number = drill?.deals ?? chance.int(drill?.lateAgreement ? 2 : 1, 3);
  const isTogether = drill?.lateAgreement === true || drill?.isPair === true;
  drill?.open?.(world);
  for (let index = 0; index < number; index += 1) {
    const about = termsFor(world, assets, index);
    const kinds = kindsFor(world, about, index);
    const taker = await newParty(world, `taker ${index + 1}`, kinds.taker);
    world.parties.push(taker);
    const maker = await newParty(world, `maker ${index + 1}`, kinds.maker);
    world.parties.push(maker);
    for (const each of [taker, maker]) await register(world, each);
    const deal = newDeal(world, { name: `swap ${index + 1}`, taker, maker, ...about });
    world.deals.push(deal);
    later(world, chance.int(0, isTogether ? 60 : hour), () => negotiate(world, deal));
  }
}

function termsFor({ chance, drill }: World, assets: readonly Asset[], index: number): Terms {
  const wanted: readonly Family[] = drill?.families ?? [];
  const isOf = index === 0 || drill?.lateAgreement === true || drill?.isPair === true;
  const isGiven = wanted.length > 0 && isOf;
  const fit = isGiven ? assets.filter(({ family }) => wanted.includes(family)) : assets;
  const base = chance.pick(fit);
  const quote = chance.pick(fit.filter(({ chain }) => chain !== base.chain));
  // Of two timelocks alike the longer is that of what the taker gives.
  const isBaseLong = base.family === wanted[1];
  if (drill?.isOrdered) return { base, quote, direction: isBaseLong ? 'sell_base' : 'buy_base' };
  return { base, quote, direction: chance.pick(['sell_base', 'buy_base'] as const) };
}

function kindsFor(world: World, terms: Terms, index: number) {
  const { chance, calm, drill } = world;
  const one = kindFor(chance, calm, null);
  const other = kindFor(chance, calm, one);
  const isFirst = chance.hits(0.5);
  if (drill !== null && (index === 0 || drill.isPair)) {
    const { initiator, counterparty } = drill;
    const makerInitiates = longOf(world, terms) === 'a';
    return makerInitiates
      ? { maker: initiator, taker: counterparty }
      : { maker: counterparty, taker: initiator };
  }
  return isFirst ? { taker: one, maker: other } : { taker: other, maker: one };
}

async function register(world: World, party: Party): Promise<void> {
  const path = `/${party.accountId}`;
  const { status, body } = await askPlainly(world, party, {
    method: 'POST',
    url: '/v1/webhooks',
    body: { url: `https://hooks.example.org${path}` },
  });
  if (status >= 300) throw new Error(`no webhook: ${JSON.stringify(body)}`);
  world.receiver.expect(path, body.secret);
  party.webhook = path;
}

/** Nothing of it lies or waits on a chain any more, and nothing will. */
function isOver(world: World, deal: Deal): boolean {
  if (deal.closed) return true;
  if (deal.id === null || deal.view === null) return false;
  const { view } = deal;
  const quiet = deal.chains.every((name) => {
    const chain = chainOf(world, name);
    return escrowsOn(chain, deal).every((escrow) => {
      const deep = tipOf(chain).height - chain.policy.high.confirmations;
      const waits = waitingAt(chain, escrow).length > 0;
      return (
        !waits &&
        heldIn(chain, escrow).every(({ spentBy }) => spentBy !== null && spentBy.height < deep)
      );
    });
  });
  if (!quiet) return false;
  const both = (['a', 'b'] as const).every((name) => {
    const { chain, escrow } = view.legs[name];
    return heldIn(chainOf(world, chain), escrow).length > 0;
  });
  const late = Math.max(view.deadlines.refundAt.a, view.deadlines.refundAt.b);
  return both || world.nowMs / 1_000 > late + 3 * hour;
}

/** Faults end, whoever was gone comes back, and everything goes where it belongs. */
async function finish(world: World): Promise<void> {
  checkKept(world);
  const { drill, servers, wasLate } = world;
  const waits = servers.some(({ dooms }) => dooms.length > 0);
  const isEarly = !wasLate && (drill?.lateAgreement ?? drill?.lateReveal) === true;
  if (drill?.alone && (waits || isEarly)) count(world, notComeOf(drill));
  world.ending = true;
  healAll(world);
  for (const { dooms } of world.servers) dooms.length = 0;
  world.receiver.failing = 0;
  const { deals } = world;
  const allOver = () => deals.every((deal) => isOver(world, deal));
  await runUntil(world, world.nowMs + 2 * hour * 1_000, () => allRun(world));
  await pollAll(world);
  stirAll(world);
  const timelocks = deals.flatMap(({ view }) => {
    return view === null ? [] : [view.deadlines.refundAt.a, view.deadlines.refundAt.b];
  });
  const until = Math.max(world.nowMs, ...timelocks.map((each) => each * 1_000));
  await runUntil(world, until + 12 * hour * 1_000, allOver);
  for (const { chain } of world.nodes) {
    for (let block = 0; block < 9; block += 1) mineOne(world, chain);
  }
  await pollAll(world);
  // What no block ever took is forgotten after two weeks at the latest.
  for (const { chain } of world.nodes) chain.mempool.clear();
  // An escrow that was never paid is followed for a week after its swap's last timelock.
  world.nowMs = Math.max(until, world.nowMs) + 8 * day * 1_000;
  for (const { chain } of world.nodes) mineOne(world, chain);
  await pollAll(world);
  for (const each of world.servers) await pollTime(world, each);
  await keepToTheEnd(world);
  for (let round = 0; round < 7; round += 1) {
    await deliver(world, 5);
    world.nowMs += 300_000;
  }
}

/**
 * What the keeper still has under way comes to its end. What it takes up now waits for its grace
 * of up to an hour before it is signed.
 */
async function keepToTheEnd(world: World): Promise<void> {
  const { keeper } = world;
  for (let round = 0; round < 5 && keeper !== null; round += 1) {
    for (const on of keeper.posts.keys()) {
      const { chain } = nodeOf(world, on);
      await keep(world, on);
      for (let block = 0; block < 9; block += 1) mineOne(world, chain);
    }
    world.nowMs += 1_800_000;
  }
}

async function check(world: World): Promise<void> {
  checkMoney(world);
  const open = await world.real.rows<{ id: string; status: string }>({
    name: '',
    text: 'select id, status from swaps where not done',
    values: [],
  });
  for (const { id, status } of open) {
    const deal = world.deals.find((each) => each.id === id);
    if (deal !== undefined && onlyMaliceLeft(world, deal)) {
      count(world, 'left open by a malicious party');
      continue;
    }
    const name = deal?.name ?? id;
    violate(world, 'every open swap ends', `${name} is still followed as ${status}`);
  }
  const listed = new Map<string, View>();
  for (const party of world.parties) {
    const { body } = await ask(world, party, { url: '/v1/swaps?limit=50' });
    for (const each of (body?.swaps ?? []) as View[]) listed.set(`${party.name} ${each.id}`, each);
  }
  const stored = await storedEscrows(world);
  for (const deal of world.deals) {
    if (deal.id === null) continue;
    const [first, second] = deal.sides.map(({ party }) => listed.get(`${party.name} ${deal.id}`));
    if (first === undefined || second === undefined) {
      violate(world, 'both parties see their swap', deal.name);
      continue;
    }
    deal.view = first;
    if (first.status !== second.status) violate(world, 'both parties see the same', deal.name);
    checkLoss(world, deal);
    checkStatus(world, deal, first, stored);
    checkEvents(world, deal, first);
  }
  await checkClosed(world);
  await checkOnce(world);
  await checkKeeper(world);
  for (const each of world.receiver.complaints) {
    violate(world, 'deliveries are signed and in order', each);
  }
}

export async function simulate(seed: number, shared: Shared): Promise<Result> {
  const world = await openWorld(seed, shared);
  try {
    await openDeals(world);
    for (const { chain } of world.nodes) startMining(world, chain);
    const span = 30 * hour;
    if (!world.calm && !world.drill?.alone) {
      planFaults(world, span);
      planDooms(world, span);
      planKeeperDooms(world);
    }
    if (!world.calm) world.receiver.failing = world.chance.pick([0, 0.1, 0.3]);
    keepPolling(world);
    const over = () => world.deals.every((deal) => isOver(world, deal));
    await runUntil(world, epochMs + 60 * hour * 1_000, () => over() || world.violations.length > 0);
    if (world.violations.length === 0) await finish(world);
    if (world.violations.length === 0) await check(world);
  } catch (error) {
    violate(world, 'nothing unheard of happens', (error as Error).stack ?? String(error));
  } finally {
    for (const { process } of world.servers) {
      process?.wire.kill('at the end');
      void process?.close().catch(() => {});
    }
  }
  count(world, 'swaps', world.deals.filter(({ id }) => id !== null).length);
  if (world.calm) count(world, 'calm seeds');
  if (world.servers.length > 1) count(world, 'seeds with two servers');
  if (world.drill !== null) count(world, `drill ${world.drill.name}`);
  if (world.keeper !== null) count(world, 'seeds with gas keys');
  const { violations, story, counts } = world;
  return { seed, violations, story, counts };
}
