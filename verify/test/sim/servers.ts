// The processes of the market: how they die, and when they poll chains and deliver. Two of them
// share one database in some markets, as behind a load balancer. A good poll at a chain has stored
// exactly what the node shows: a lost event, an unfollowed escrow or a fact of yesterday shows
// itself here.

import { type EscrowFacts, nothingSeen } from '@parley/core/facts.ts';
import type { Statement } from '@parley/market/db/database.ts';
import { type SimChain, type SimTransaction, submit, tipOf } from './chain.ts';
import { shownBy } from './node.ts';
import { type MarketProcess, unlessDead } from './process.ts';
import {
  count,
  later,
  nodeOf,
  type Server,
  seconds,
  sql,
  stirAll,
  stirKeeper,
  tell,
  violate,
  type World,
} from './world.ts';

type Row = {
  readonly address: string;
  readonly facts: Omit<EscrowFacts, 'balance'> & { readonly balance: string };
  readonly required: number;
};

/** A swap that could not be reconciled is polled again by then. */
const againSeconds = 90;

function digestOf(facts: EscrowFacts | Row['facts']): string {
  const { funded, claimed, refunded, balance, empty } = facts;
  const moves = [funded, claimed, refunded].map((each) => each && [each.txid, each.deep]);
  return JSON.stringify([moves, balance.toString(), empty]);
}

async function checkStored(world: World, on: string): Promise<void> {
  const node = nodeOf(world, on);
  if (node.down || node.slow) return;
  const { begun } = world;
  const turn = await world.line.take();
  const rows = await sql<Row>(
    world.real,
    `select e.address, e.facts, l.required_confirmations as required
      from escrows e join swaps s on s.id = e.swap_id
      join legs l on l.swap_id = e.swap_id and l.leg = e.leg
      where e.chain = $1 and not e.done and (s.due_at is null or s.due_at > $2)`,
    [on, seconds(world) + againSeconds],
  ).finally(turn.end);
  // The node may have changed while this waited.
  if (world.begun !== begun) return;
  count(world, 'checked facts', rows.length);
  for (const { address, facts, required } of rows) {
    const shown = shownBy(node, { escrow: address, required, secret: null });
    if (digestOf(shown) === digestOf(facts ?? nothingSeen)) continue;
    tell(world, `stored ${digestOf(facts)}, shown ${digestOf(shown)}`);
    violate(world, 'what was polled is stored', `${address} on ${on}`);
  }
}

/** Since when a swap is closed, which its row does not say: `updatedAt` stays once it has ended. */
export function noteClosed({ closedAt, nowMs }: World, { name, text, values }: Statement): void {
  if (name !== 'swap_update') return;
  const written = (column: string) => {
    const [, place] = new RegExp(`\\b${column} = \\$(\\d+)`).exec(text) ?? [];
    if (place === undefined) throw new Error(`swap_update sets no ${column}`);
    return values[Number(place) - 1];
  };
  const id = written('id') as string;
  if (written('done') === false) closedAt.delete(id);
  else if (!closedAt.has(id)) closedAt.set(id, nowMs);
}

export const nameOf = ({ servers }: World, { name }: Server) =>
  servers.length === 1 ? 'the market' : `server ${name}`;

/** A server that answers requests; null when none does. */
export function aServer(world: World): Server | null {
  const alive = world.servers.filter(({ process }) => process !== null);
  if (alive.length < 2) return alive[0] ?? null;
  return world.chance.pick(alive);
}

export const allRun = ({ servers }: World) => servers.every(({ process }) => process !== null);

/** One that died in an event is started anew after a while, on the same database. */
export function noteDeaths(world: World): void {
  for (const server of world.servers) {
    const dead = server.process;
    if (dead === null || !dead.wire.isDead()) continue;
    server.process = null;
    void dead.close().catch(() => {});
    const alone = world.servers.length === 1 || world.keeper?.on.size === 1;
    const longest = alone ? 150 : world.chance.pick([150, 3_600]);
    later(world, world.chance.int(1, longest), () => server.reopen(world));
  }
}

export function killServer(world: World, server: Server, why: string): void {
  if (server.process === null) return;
  count(world, 'crash');
  tell(world, `${nameOf(world, server)} dies ${why}`);
  server.process.wire.kill(why);
  noteDeaths(world);
}

/** A transaction reached a mempool or block: followers of the chain poll soon. */
export function noteActivity(world: World, chain: SimChain): void {
  world.unchecked.add(chain.chain);
  activeAt.set(chain, tipOf(chain).height);
  planPoll(world, chain);
}

const activeAt = new WeakMap<SimChain, number>();

export function isActive(chain: SimChain): boolean {
  const since = tipOf(chain).height - (activeAt.get(chain) ?? -100);
  return since <= chain.policy.high.confirmations;
}

/** Within the time that the service is allowed to notice. */
export function planPoll(world: World, chain: SimChain): void {
  for (const server of world.servers) planOne(world, server, chain);
}

function planOne(world: World, server: Server, chain: SimChain): void {
  const name = chain.chain;
  if (server.planned.has(name)) return;
  server.planned.add(name);
  const within = Math.floor(chain.policy.detectSeconds * 0.8);
  later(world, world.chance.int(1, within), async () => {
    server.planned.delete(name);
    // Now and then all of them move at once.
    if (world.chance.hits(0.1)) await pollAll(world);
    else await poll(world, server, name);
  });
}

/** Null: the process died of it, or it failed, and `failed` is told why. */
export async function attempt<R>(
  world: World,
  { process }: Server,
  work: (process: MarketProcess) => Promise<R>,
  failed: (why: string) => void,
): Promise<R | null> {
  if (process === null) return null;
  try {
    const done = await unlessDead(process, () => work(process));
    if (done !== 'dead') return done;
    noteDeaths(world);
  } catch (error) {
    failed((error as Error).message.slice(0, 60));
  }
  return null;
}

async function pass(world: World, server: Server, chain: string): Promise<void> {
  const { begun } = world;
  const { unsure, polling } = server;
  const work = ({ settlement }: MarketProcess) => settlement.pass(chain);
  const polled = await attempt(world, server, work, (why) => {
    polling.delete(chain);
    unsure.add(chain);
    tell(world, `a poll of ${chain} fails: ${why}`);
    later(world, 30, () => poll(world, server, chain));
  });
  if (polled === null) return;
  polling.delete(chain);
  const { left, touched, reconciled } = polled;
  if (left > 0) later(world, 2, () => poll(world, server, chain));
  if (touched > 0) stirAll(world, chain);
  if (touched > 0 || reconciled > 0) stirKeeper(world);
  if (reconciled > 0) world.hasNews = true;
  const isAlone = world.alone && world.begun === begun && world.line.held() === 0;
  const isNews = touched > 0 || unsure.has(chain) || world.unchecked.has(chain);
  if (left > 0 || !isAlone || !isNews) return;
  unsure.delete(chain);
  // A fact's disappearance may be told to that server alone which saw and stored it.
  const waits = world.servers.some(
    ({ process: its, planned, unsure: not, polling }) =>
      its === null || [planned, not, polling].some((each) => each.has(chain)),
  );
  if (waits) return;
  world.unchecked.delete(chain);
  await checkStored(world, chain);
}

/** One pass over a chain, and what it says that time changed; then the deliveries. */
export async function poll(world: World, server: Server, chain: string): Promise<void> {
  if (server.process === null) return;
  await pass(world, server, chain);
  if (world.nowMs - server.timePolledAt > timeEveryMs) await pollTime(world, server);
  if (world.drill?.leaves) await sendLeft(world, server);
  if (world.hasNews) await deliver(world);
}

/** Claims that a party has left. */
async function sendLeft(world: World, server: Server): Promise<void> {
  const work = ({ scheduled }: MarketProcess) => scheduled.pass();
  const sent = await attempt(world, server, work, (why) => {
    tell(world, `signed claims are not sent: ${why}`);
  });
  if ((sent ?? 0) > 0) count(world, 'signed claims sent');
}

/** A change by time alone is never urgent. */
const timeEveryMs = 600_000;

export async function pollTime(world: World, server: Server): Promise<void> {
  if (server.process === null) return;
  server.timePolledAt = world.nowMs;
  const work = ({ settlement }: MarketProcess) => settlement.passDue();
  const done = await attempt(world, server, work, (why) => {
    tell(world, `a poll of what is due fails: ${why}`);
    later(world, 30, () => pollTime(world, server));
  });
  if (done !== null && done > 0) world.hasNews = true;
}

/** When a delivery that failed comes again: 15, 30, 60, 120 and 240 s later. */
const againAfter = [16, 31, 61, 121, 241];

/** By one of the servers, now and then by all of them at once. */
export async function deliver(world: World, tries = 0): Promise<void> {
  const { servers, chance, nowMs, mutedUntil } = world;
  if (!world.ending && nowMs < mutedUntil) return;
  const all = servers.length > 1 && !world.ending && chance.hits(0.2);
  const chosen = all ? servers : [aServer(world)];
  world.hasNews = false;
  world.begun += chosen.length - 1;
  await Promise.all(chosen.map((each) => deliverFrom(world, each, tries)));
}

async function deliverFrom(world: World, server: Server | null, tries: number): Promise<void> {
  if (server?.process == null) return;
  const work = ({ delivering }: MarketProcess) => delivering.pass().then(() => true);
  let hasFailed = false;
  const done = await attempt(world, server, work, (why) => {
    hasFailed = true;
    tell(world, `deliveries fail: ${why}`);
    if (tries < 5) later(world, 10, () => deliver(world, tries + 1));
  });
  if (done === null && !hasFailed) return;
  for (const after of againAfter) {
    if (world.receiver.failedSince()) later(world, after, () => deliver(world, 5));
  }
}

/** A party hands a transaction to a node of its own. */
export function sendDirect(world: World, chain: SimChain, tx: SimTransaction): void {
  submit(chain, tx);
  noteActivity(world, chain);
}

export async function pollAll(world: World): Promise<void> {
  const polls = world.servers.flatMap((server) =>
    world.nodes.map(({ chain }) => ({ server, chain: chain.chain })),
  );
  for (const { server, chain } of polls) if (server.process !== null) server.polling.add(chain);
  if (world.calm || world.chance.hits(0.5)) {
    world.begun += 1;
    await Promise.all(polls.map(({ server, chain }) => poll(world, server, chain)));
    world.begun += 1;
    return;
  }
  for (const { server, chain } of polls) await poll(world, server, chain);
}
