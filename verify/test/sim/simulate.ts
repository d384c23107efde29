// One seed: a market, its chains and parties from nothing to the end of every swap, and what was
// wrong with it; how processes of the market start, and which of their commits are late.

import type { Family } from '@parley/core/families.ts';
import type { Database } from '@parley/market/db/database.ts';
import { seedAssets } from '@parley/market/market/assets.ts';
import type { Metrics } from '@parley/market/ports/metrics.ts';
import { crashed } from '../planted/bugs.ts';
import { type Holding, heldIn, newChain, policies, tipOf, waitingAt } from './chain.ts';
import { type Chance, chanceOf } from './chance.ts';
import type { Done } from './crew.ts';
import { drillOf, isBare } from './drills.ts';
import { healAll, mineOne, planDooms, planFaults, startMining } from './faults.ts';
import { simTime } from './gas.ts';
import { keep, keeperOf, keepPolling, noteSent, planKeeperDooms } from './keeper.ts';
import { checkKeeper, checkKept, checkSent, checkSigned } from './keeper-oracle.ts';
import {
  type Asset,
  kindFor,
  longOf,
  negotiate,
  newDeal,
  overtake,
  type Terms,
} from './negotiate.ts';
import { type Node, nodeWith } from './node.ts';
import {
  checkClosed,
  checkEvents,
  checkHeard,
  checkLoss,
  checkOnce,
  checkStatus,
  onlyMaliceLeft,
} from './oracle.ts';
import { ask, askPlainly, newParty } from './people.ts';
import { presignedOn } from './presigned.ts';
import { createReceiver, simSettings, startProcess } from './process.ts';
import {
  allRun,
  deliver,
  nameOf,
  noteActivity,
  noteClosed,
  poll,
  pollAll,
  pollTime,
} from './servers.ts';
import { createLine } from './wire.ts';
import {
  chainOf,
  checkMoney,
  count,
  type Deal,
  type Drill,
  escrowsOn,
  highValueFrom,
  isPublic,
  later,
  nodeOf,
  type Party,
  runUntil,
  type Server,
  sql,
  stirAll,
  stirKeeper,
  tell,
  type View,
  violate,
  type World,
} from './world.ts';

function newServer(name: string): Server {
  const server: Server = {
    name,
    process: null,
    timePolledAt: 0,
    dooms: [],
    planned: new Set(),
    unsure: new Set(),
    polling: new Set(),
    reopen: async (world) => {
      await openServer(world, server);
      tell(world, `${nameOf(world, server)} is started again`);
      await pollAll(world);
      stirAll(world);
      stirKeeper(world);
    },
  };
  return server;
}

const kinds = {
  crash: { name: 'crash', does: 'dies' },
  cut: { name: 'connection lost', does: 'loses a connection' },
  wait: { name: 'overtaken', does: 'is overtaken' },
} as const;

/** Whether it is the commit that the drill wants late. */
function lateOf(world: World, wrote: ReadonlySet<string>): string | null {
  const { drill } = world;
  if (drill?.lateAgreement && wrote.has('swap_insert')) return 'the first agreement';
  const tells = wrote.has('swap_update') && wrote.has('outbox_insert');
  const [deal] = world.deals;
  if (!drill?.lateReveal || !tells || deal === undefined) return null;
  return isPublic(world, deal) ? 'what tells the secret' : null;
}

/** Commits that are late, and how late: some others are served before. */
function holdBack(world: World, wrote: ReadonlySet<string>): number {
  const { chance, rushes, ending } = world;
  const late = world.wasLate ? null : lateOf(world, wrote);
  if (late !== null) {
    world.wasLate = true;
    world.alone = false;
    count(world, 'commit late');
    tell(world, `${late} commits late`);
    world.beside.push(overtake(world));
    // It goes on when nobody else wants to be served.
    return Number.POSITIVE_INFINITY;
  }
  if (!rushes || ending || !chance.hits(0.05)) return 0;
  count(world, 'commit late');
  world.alone = false;
  // A poll meanwhile must not take a missing one for one that never comes.
  if (chance.hits(0.4)) {
    const server = chance.pick(world.servers);
    for (const { chain } of world.nodes) world.beside.push(poll(world, server, chain.chain));
  }
  return chance.int(2, 40);
}

async function openServer(world: World, server: Server): Promise<void> {
  const { real, metrics, nodes, chance, line, keeper } = world;
  const gas = keeper?.on.has(server.name) ? keeper : null;
  for (const { chain } of nodes) server.unsure.add(chain.chain);
  const now = () => world.nowMs;
  const process = startProcess({
    real,
    settings: simSettings,
    metrics,
    nodes,
    line,
    now,
    chanceFor: () => chance.fork(),
    gas: gas && {
      posts: gas.posts.values(),
      chance: gas.chance.fork(),
      onSigned: (chain, tx) => checkSigned(world, chain, tx),
      time: simTime(() => line.take().then((turn) => turn.end()), now),
    },
    dooms: server.dooms,
    ...(world.drill?.leaves && {
      adapted: (adapter, { chain }, wire) =>
        chain.family === 'bitcoin'
          ? { ...adapter, scheduledSpends: presignedOn(chain, wire) }
          : adapter,
    }),
    send: () => (sending) => world.receiver.take(sending),
    onDoom: (kind, where) => {
      count(world, kinds[kind].name);
      tell(world, `${nameOf(world, server)} ${kinds[kind].does} ${where}`);
    },
    holdsBack: (wrote) => holdBack(world, wrote),
    onStored: (statement) => noteClosed(world, statement),
    onSent: (chain, txid, wasShown) => {
      noteActivity(world, chain);
      const tx = noteSent(world, chain, txid);
      if (tx !== null) checkSent(world, txid, tx, wasShown);
    },
    count: (fault) => count(world, fault),
  });
  // Its making takes turns of the event loop, whose number a seed does not decide.
  await process.app();
  server.process = process;
}

const hour = 3_600;
const day = 24 * hour;
const epochMs = Date.UTC(2031, 0, 1);

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

const empty = (real: Database) =>
  sql(
    real,
    `truncate accounts, wallets, api_keys, nonces, rfqs, assets, threads, hashlocks, swaps,
        legs, escrows, chain_heads, outbox, idempotency, webhooks, deliveries, delivery_bodies,
        delivery_attempts, feed_log, candidates, keeper_jobs, keeper_attempts, keeper_turns,
        scheduled_spends, jobs
      restart identity cascade`,
  );

async function openWorld(seed: number, shared: Shared): Promise<World> {
  const chance = chanceOf(seed);
  const drill = drillOf(seed);
  const calm = chance.hits(0.15) && drill === null;
  const nodes = chainsFor(chance, drill);
  const receiver = createReceiver(chance.fork(), (told) => checkHeard(world, told));
  const two = chance.hits(calm || drill?.alone ? 0 : 0.25) || drill?.servers === 2;
  const servers = two ? [newServer('1'), newServer('2')] : [newServer('1')];
  const world: World = {
    ...shared,
    seed,
    chance,
    drill,
    calm,
    nodes,
    receiver,
    servers,
    keeper: isBare(seed) ? null : keeperOf({ seed, drill }, nodes, servers),
    line: createLine(shared.real, chance.fork()),
    rushes: !calm && chance.hits(0.5) && !drill?.alone,
    parties: [],
    deals: [],
    story: [],
    violations: [],
    agenda: [],
    beside: [],
    counts: new Map(),
    closedAt: new Map(),
    lied: new Set(),
    unchecked: new Set(),
    begun: 0,
    alone: true,
    ending: false,
    wasLate: false,
    mutedUntil: 0,
    hasNews: false,
    startedAt: epochMs,
    nowMs: epochMs,
  };
  await empty(shared.real);
  for (const each of servers) await openServer(world, each);
  return world;
}

async function assetsOf({ servers, nodes }: World): Promise<Asset[]> {
  const market = servers[0]?.process;
  if (market == null) throw new Error('the market is not open');
  const wanted = nodes.map(({ chain }) => ({
    chain: chain.chain,
    symbol: chain.family.toUpperCase(),
    address: null,
    decimals: 8,
    highValueFrom: highValueFrom.toString(),
  }));
  const seeded = await seedAssets(market.deps.db, market.deps, wanted);
  return seeded.map(({ id, chain }) => {
    return { id, chain, family: chainOf({ nodes }, chain).family };
  });
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
  // The longer of two equal timelocks is that of the taker's coin.
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
  const hook = { url: `https://hooks.example.org${path}` };
  const asked = { method: 'POST', url: '/v1/webhooks', body: hook } as const;
  const { status, body } = await askPlainly(world, party, asked);
  if (status >= 300) throw new Error(`no webhook: ${JSON.stringify(body)}`);
  world.receiver.expect(path, body.secret);
  party.webhook = path;
}

/** No transaction of it lies or waits on a chain any more, and none will. */
function isOver(world: World, deal: Deal): boolean {
  if (deal.closed) return true;
  if (deal.id === null || deal.view === null) return false;
  const { view } = deal;
  const quiet = deal.chains.every((name) => {
    const chain = chainOf(world, name);
    return escrowsOn(chain, deal).every((escrow) => {
      const final = tipOf(chain).height - chain.policy.high.confirmations;
      const isTaken = ({ spentBy }: Holding) => spentBy !== null && spentBy.height < final;
      return waitingAt(chain, escrow).length === 0 && heldIn(chain, escrow).every(isTaken);
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
  if (drill?.alone && (waits || isEarly)) {
    count(world, `drill ${drill.name}: its moment did not come`);
  }
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
  // A transaction that no block ever took is forgotten after two weeks at the latest.
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
 * The keeper's open jobs come to their end. A new job waits for its grace of up to an hour before
 * it is signed.
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
  const { real, deals, parties, receiver } = world;
  type Open = { readonly id: string; readonly status: string };
  for (const { id, status } of await sql<Open>(
    real,
    'select id, status from swaps where not done',
  )) {
    const deal = deals.find((each) => each.id === id);
    if (deal !== undefined && onlyMaliceLeft(world, deal)) {
      count(world, 'left open by a malicious party');
    } else {
      const name = deal?.name ?? id;
      violate(world, 'every open swap ends', `${name} is still followed as ${status}`);
    }
  }
  const listed = new Map<string, View>();
  for (const party of parties) {
    const { body } = await ask(world, party, { url: '/v1/swaps?limit=50' });
    for (const each of (body?.swaps ?? []) as View[]) listed.set(`${party.name} ${each.id}`, each);
  }
  const escrows = await sql<{ address: string }>(real, 'select address from escrows');
  const stored = new Set(escrows.map(({ address }) => address));
  for (const deal of deals) {
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
  for (const each of receiver.complaints) {
    violate(world, 'deliveries are signed and in order', each);
  }
}

export async function simulate(seed: number, shared: Shared): Promise<Done> {
  const world = await openWorld(seed, shared);
  const { calm, drill, keeper, violations } = world;
  try {
    await openDeals(world);
    for (const { chain } of world.nodes) startMining(world, chain);
    const span = 30 * hour;
    if (!calm && !drill?.alone) {
      planFaults(world, span);
      planDooms(world, span);
      planKeeperDooms(world);
    }
    if (!calm) world.receiver.failing = world.chance.pick([0, 0.1, 0.3]);
    keepPolling(world);
    const over = () => world.deals.every((deal) => isOver(world, deal));
    await runUntil(world, epochMs + 60 * hour * 1_000, () => over() || violations.length > 0);
    if (violations.length === 0) await finish(world);
    if (violations.length === 0) await check(world);
  } catch (error) {
    violate(world, crashed.threw, (error as Error).stack ?? String(error));
  } finally {
    for (const { process } of world.servers) {
      process?.wire.kill('at the end');
      void process?.close().catch(() => {});
    }
  }
  count(world, 'swaps', world.deals.filter(({ id }) => id !== null).length);
  if (calm) count(world, 'calm seeds');
  if (world.servers.length > 1) count(world, 'seeds with two servers');
  if (drill !== null) count(world, `drill ${drill.name}`);
  if (keeper !== null) count(world, 'seeds with gas keys');
  return { seed, violations, story: world.story, counts: [...world.counts] };
}
