// The operator's gas keys of a simulated market, which servers have them, when their keeper polls,
// and what becomes of what it sends. About a third of the markets have any. All of it is drawn from
// a random stream of its own: a market without tells the same story as if there were no keeper.

import { forget, issue, rivalsOf, type SimChain, type SimTransaction, tipOf } from './chain.ts';
import { type Chance, chanceOf } from './chance.ts';
import { type Funds, type Post, reserveFee } from './gas.ts';
import type { Node } from './node.ts';
import type { MarketProcess } from './process.ts';
import { attempt, isActive, noteActivity } from './servers.ts';
import {
  count,
  type Drill,
  later,
  planKeep,
  type Server,
  type SimKeeper,
  seconds,
  sql,
  stirAll,
  stirKeeper,
  tell,
  type World,
} from './world.ts';

/** The least fee of a transaction that a block takes. */
const leastFee = 3;
/** The offset that keeps them apart from all else that is drawn from a seed. */
const ownStream = 2 ** 40;

/** Kept without a keeper: each finds the bug that it is kept for. */
const before = new Set([1, 2, 3033, 6, 7, 11, 45, 227]);

function postOn({ chain }: Node, chance: Chance, given: Funds | null): Post {
  const drawn = chance.pick(['rich', 'rich', 'rich', 'rich', 'poor', 'capped'] as const);
  const funds = given ?? drawn;
  const issued = { rich: 1_000_000n, poor: BigInt(chance.int(0, 500)), capped: 1_000_000n }[funds];
  const small = BigInt(given === null ? chance.int(0, 24) % 18 : chance.int(0, leastFee - 1));
  const dailyCap = { rich: 100_000n, poor: 100_000n, capped: small }[funds];
  const address = `gas-${chain.chain}-${chance.hex(8)}`;
  issue(chain, address, issued);
  const grace = chance.pick([0, 60, 300]);
  // One that soon comes to its cap is eager.
  const claimSeconds = funds === 'capped' ? 0 : grace;
  const refundSeconds = chance.pick([0, 600, 3_600]);
  return { chain, address, funds, issued, dailyCap, graces: { claimSeconds, refundSeconds } };
}

/** With a drill's keys they are all of one kind, and nothing happens to what they send. */
export function keeperOf(
  { seed, drill }: { readonly seed: number; readonly drill: Drill | null },
  nodes: readonly Node[],
  servers: readonly Server[],
) {
  const { keys = null } = drill ?? {};
  if (keys === 'none') return null;
  const chance = chanceOf(seed + ownStream);
  if ((before.has(seed) || chance.hits(0.5)) && keys === null) return null;
  const able = nodes.filter(({ chain }) => chain.family !== 'bitcoin');
  const posts = new Map(able.map((node) => [node.chain.chain, postOn(node, chance, keys)]));
  const names = servers.map(({ name }) => name);
  const on = new Set(chance.hits(0.3) ? [chance.pick(names)] : names);
  const maps = { planned: new Map(), sent: new Map(), asked: new Map() };
  const troubles = keys === null ? chance.int(0, 4) : 0;
  const keeper: SimKeeper = { chance, posts, on, ...maps, storing: [], keep, troubles };
  return keeper;
}

/** Looks of the keeper at one chain, by one of the servers or by several at once. */
export async function keep(world: World, on: string): Promise<void> {
  const { keeper, servers, ending } = world;
  if (keeper === null) return;
  const { chance } = keeper;
  const able = servers.filter(({ name, process }) => process !== null && keeper.on.has(name));
  if (able.length === 0) return planKeep(world, on, 60);
  const all = !ending && able.length > 1 && chance.hits(0.2);
  const chosen = all ? able : [chance.pick(able)];
  // Its loops for relays and for all else run side by side.
  const twice = !ending && chance.hits(0.1);
  world.begun += chosen.length - 1;
  await Promise.all(
    [...chosen, ...(twice ? chosen : [])].map((server) => keepOn(world, server, on)),
  );
  await planNext(world, on);
}

async function keepOn(world: World, server: Server, on: string): Promise<void> {
  const work = async (process: MarketProcess) => {
    if (!process.kept) await process.keeper.begin();
    process.kept = true;
    return process.keeper.pass(on);
  };
  await attempt(world, server, work, (why) =>
    tell(world, `the keeper's poll of ${on} fails: ${why}`),
  );
}

/** A step due by then is not urgent: the chain did not change otherwise. */
const soonSeconds = 120;

async function planNext(world: World, on: string): Promise<void> {
  const { keeper, nowMs } = world;
  if (keeper === null) return;
  const turn = await world.line.take();
  const [row] = await sql<{ due: Date | null; relays: boolean | null }>(
    world.real,
    `select min(due_at) as due, bool_or(purpose = 'relay') as relays from keeper_jobs
      where chain = $1 and state = 'open'`,
    [on],
  ).finally(turn.end);
  if (row?.due == null) return;
  const left = Math.ceil((row.due.getTime() - nowMs) / 1_000);
  const { chain } = keeper.posts.get(on) as Post;
  const isBusy = row.relays === true || world.ending || isActive(chain);
  const pause = isBusy ? keeper.chance.int(15, 75) : keeper.chance.int(300, 900);
  planKeep(world, on, left > soonSeconds ? left + keeper.chance.int(0, 60) : pause);
}

/** Beside what stirs it: as if it polled all the time. */
export function keepPolling(world: World): void {
  const { keeper } = world;
  if (keeper === null) return;
  later(world, keeper.chance.int(5_000, 9_000), () => {
    if (world.ending) return;
    stirKeeper(world);
    keepPolling(world);
  });
}

/**
 * A node has taken something: a gas key's transaction is written down, and may get into trouble.
 */
export function noteSent(world: World, chain: SimChain, txid: string): SimTransaction | null {
  const { keeper, calm, ending } = world;
  const tx = chain.mempool.get(txid)?.tx;
  if (keeper === null || tx?.gas === undefined) return null;
  const { nonce } = tx.gas;
  const same = [...keeper.sent.values()].filter((each) => each.chain === chain);
  const isBump =
    nonce !== null && same.some((each) => each.txid !== txid && each.tx.gas?.nonce === nonce);
  if (isBump) count(world, 'keeper bumps');
  if (tx.verb === 'move') count(world, 'keeper nonces taken by nothing');
  if (!keeper.sent.has(txid)) {
    keeper.sent.set(txid, { chain, txid, tx, at: seconds(world), lost: false });
  }
  tell(world, `the keeper sends ${tx.verb} at ${tx.escrow}, fee ${tx.fee}, nonce ${nonce ?? '-'}`);
  if (!calm && !ending && keeper.troubles > 0 && keeper.chance.hits(0.6))
    trouble(world, chain, txid);
  return tx;
}

/** Just what it sent is forgotten, or no longer pays enough. */
function trouble(world: World, chain: SimChain, txid: string): void {
  const keeper = world.keeper as SimKeeper;
  const { chance } = keeper;
  keeper.troubles -= 1;
  if (chance.hits(0.6)) {
    later(world, chance.int(0, 30), () => {
      if (!forget(chain, txid)) return;
      noteLost(world, chain);
      noteActivity(world, chain);
    });
    return;
  }
  const factor = chance.int(3, 8);
  if (chain.feeFloor * factor > reserveFee / 2) return;
  chain.feeFloor *= factor;
  count(world, 'fees rise (spells)');
  tell(world, `${chain.chain}: fees rise to ${chain.feeFloor}`);
  later(world, chance.int(120, 900), () => {
    chain.feeFloor = 2;
    stirAll(world, chain.chain);
  });
}

/** Notes its transactions that nodes and blocks have forgotten. */
export function noteLost(world: World, chain: SimChain): void {
  for (const each of world.keeper?.sent.values() ?? []) {
    if (each.chain !== chain || each.lost || chain.mempool.has(each.txid)) continue;
    const { coins, gas } = each.tx;
    const dead = gas?.diesAt != null && gas.diesAt <= tipOf(chain).time;
    if (rivalsOf(chain, coins).length > 0 || dead || coins.some((coin) => chain.spent.has(coin)))
      continue;
    each.lost = true;
    count(world, 'keeper transactions lost');
    tell(world, `${chain.chain} forgets a ${each.txid.slice(0, 8)} of the keeper`);
  }
}

/** Where a death or a loss is worth most. */
const delicate = [
  'keeper_insert_asked',
  'keeper_insert_attempt',
  'keeper_mark_sent',
  'keeper_store_shown',
  'keeper_store_fate',
  'keeper_take_key',
  'keeper_end_key',
  'keeper_take_due',
  'keeper_take_up_revealed',
  'keeper_end_job',
  ' gas sign',
  ' broadcast',
] as const;

export function planKeeperDooms(world: World): void {
  const { keeper, servers } = world;
  if (keeper === null) return;
  const { chance } = keeper;
  const able = servers.filter(({ name }) => keeper.on.has(name));
  for (let left = chance.int(0, 2); left > 0; left -= 1) {
    const kind = chance.pick(['crash', 'crash', 'cut'] as const);
    const when = chance.pick(['before', 'after'] as const);
    const doom = { kind, when, at: chance.pick(delicate), left: chance.int(1, 2) };
    chance.pick(able).dooms.push(doom);
  }
}
