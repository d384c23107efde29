// The processor time of a swap, from its RFQ to its end, by three server processes that share one
// PostgreSQL and by one of them alone, while the others stand still: the same swaps between the same
// people over the same chains, in turns. The people and the chains are in this process, which is not
// counted.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CoinName } from '@parley/dev/demo/place.ts';
import { startPostgres } from '@parley/host/postgres/postgres.ts';
import { newCustomer } from '@parley/verify/test/support/customers.ts';
import { agreed, type Deal, finish, type Pair, shows } from '@parley/verify/test/support/deals.ts';
import { type FaultProxy, faultProxy } from '@parley/verify/test/support/fault-proxy.ts';
import { type Ground, type Server, startStage } from '@parley/verify/test/support/stage.ts';
import { bars } from './bars.ts';
import { flagsOfStart } from './children.ts';
import { isMiniature, usually } from './miniature.ts';
import { atMost, type Effort, median, type Row } from './report.ts';
import { ticksOf, ticksPerSecond } from './ticks.ts';

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
const coins: readonly (readonly [CoinName, CoinName])[] = [
  ['SOL', 'ETH'],
  ['BTC', 'EVM dollar'],
  ['ETH', 'TRX'],
  ['TRON dollar', 'SOL'],
];
/** In a round, for each second of it. */
const swapsPerSecond = 8;
/**
 * Three processes compile their code three times: compilers take 80 ms of a swap in the first round,
 * 25 after eight rounds of a swap a pair, and as much as of one process after eight of three.
 */
const warmRounds = usually(8, 0);
const warmSwaps = 3;
/** The idle time of processes is measured for so long before, and is no part of a swap. */
const idleMs = 20_000;
const processes = 3;

export type Market = {
  readonly stage: Ground;
  /** The postmaster's. */
  readonly database: number;
  /** The ways of the people to the processes. */
  readonly fronts: readonly FaultProxy[];
  readonly pairs: readonly Pair[];
};

type Spent = { readonly servers: number; readonly database: number };

export async function benchProcesses({ rounds, seconds }: Effort): Promise<Row[]> {
  const undo: (() => unknown)[] = [];
  try {
    const market = await opened(undo, Math.ceil(seconds * swapsPerSecond));
    // It follows from the start on, and no round waits until a lease has moved to it.
    const first = await market.stage.startServer();
    const others = Array.from({ length: processes - 1 }, () => market.stage.startServer());
    return await processRows(market, [first, ...(await Promise.all(others))], rounds);
  } finally {
    for (const step of undo.toReversed()) await step();
  }
}

export async function processRows(
  market: Market,
  servers: readonly Server[],
  rounds: number,
): Promise<Row[]> {
  const idle = new Map([
    [around, await idleOf(market, servers)],
    // The first process follows all chains, which takes more than to stand by.
    [alone, await apart(servers, (first) => idleOf(market, [first]))],
  ]);
  let turn = 0;
  const next = (work: typeof around, each = 1) => {
    turn += 1;
    return work(market, servers, idle.get(work)!, { turn, each });
  };
  for (let round = 0; round < warmRounds; round += 1) await next(around, warmSwaps);
  const one: Spent[] = [];
  const three: Spent[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // Blocks that the others missed while they stood still are no swap's cost.
    if (round > 0) await next(around);
    three.push(await next(around));
    one.push(await next(alone));
  }
  return rowsOf(one, three);
}

async function opened(undo: (() => unknown)[], swaps: number) {
  const dir = await mkdtemp(join(tmpdir(), 'parley-processes-'));
  undo.push(() => rm(dir, { recursive: true, force: true }));
  const postgres = await startPostgres({ dir, log: quiet });
  undo.push(() => postgres.stop());
  const note = await readFile(join(dir, 'postgres/data/postmaster.pid'), 'utf8');
  const stage = await startStage({ env: { DATABASE_URL: postgres.url }, flags: flagsOfStart() });
  undo.push(() => stage.close());
  const fronts = await Promise.all(Array.from({ length: processes }, () => faultProxy(1)));
  undo.push(() => Promise.all(fronts.map((each) => each.close())));
  const pairs: Pair[] = [];
  const market = { stage, database: Number(note.split('\n')[0]), fronts, pairs };
  const { market: helper, port } = await stage.startServer();
  point(market, [port]);
  while (pairs.length < swaps) {
    const [taker, maker] = [0, 1].map((at) => {
      const url = `http://127.0.0.1:${fronts[(pairs.length + at) % processes]!.port}`;
      return newCustomer({ ...stage, url }, `Person ${2 * pairs.length + at}`);
    });
    pairs.push([await taker!, await maker!]);
  }
  await helper.stop();
  return market;
}

function point({ fronts }: Market, ports: readonly number[]): void {
  for (const [at, each] of fronts.entries()) each.pointTo(ports[at % ports.length]!);
}

/** Milliseconds a second, of one of each. */
type Idle = Spent;

async function idleOf({ database }: Market, servers: readonly Server[]): Promise<Idle> {
  if (isMiniature) return { servers: 0, database: 0 };
  await sleep(idleMs);
  const pids = pidsOf(servers);
  const before = [ticksOf(pids), ticksOf([database])] as const;
  await sleep(idleMs);
  const each = (of: readonly number[], since: number) =>
    (((ticksOf(of) - since) / ticksPerSecond) * 1_000_000) / idleMs / servers.length;
  return { servers: each(pids, before[0]), database: each([database], before[1]) };
}

const pidsOf = (servers: readonly Server[]) => servers.map((each) => each.market.child.pid!);

const alone: typeof around = (market, servers, idle, swaps) =>
  apart(servers, (first) => around(market, [first], idle, swaps));

/** By the first process, while the others stand still. */
async function apart<Result>(
  [first, ...others]: readonly Server[],
  work: (first: Server) => Promise<Result>,
): Promise<Result> {
  const tell = (signal: NodeJS.Signals) => {
    for (const each of others) each.market.child.kill(signal);
  };
  tell('SIGSTOP');
  try {
    return await work(first!);
  } finally {
    tell('SIGCONT');
  }
}

type Swaps = { readonly turn: number; readonly each: number };

/**
 * So many swaps of each pair, settled at once, shared out among these processes: the time of one of
 * them.
 */
async function around(
  market: Market,
  servers: readonly Server[],
  idle: Idle,
  { turn, each }: Swaps,
): Promise<Spent> {
  const { stage, pairs } = market;
  point(
    market,
    servers.map(({ port }) => port),
  );
  const pids = pidsOf(servers);
  const before = [ticksOf(pids), ticksOf([market.database])] as const;
  const began = performance.now();
  const deals: Deal[] = [];
  const agreeing = Array.from({ length: each }, () => pairs).flat();
  for (const [at, [one, other]] of agreeing.entries()) {
    const [b, a] = coins[at % coins.length]!;
    // Coins go back in each second round, so that nobody runs out of them.
    const pair: Pair = turn % 2 === 0 ? [one, other] : [other, one];
    deals.push(await agreed(stage, pair, b, a));
  }
  await Promise.all(
    deals.map(async (deal) => {
      await finish(stage, deal);
      await shows(deal, 'it is settled', ({ status }) => status === 'counterparty_claimed');
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  const spent = (of: readonly number[], since: number, idleMs: number) =>
    (((ticksOf(of) - since) / ticksPerSecond) * 1_000 - seconds * servers.length * idleMs) /
    deals.length;
  return {
    servers: spent(pids, before[0], idle.servers),
    database: spent([market.database], before[1], idle.database),
  };
}

function rowsOf(one: readonly Spent[], three: readonly Spent[]): Row[] {
  const rows = [
    ['the servers', ({ servers }: Spent) => servers],
    ['the servers and PostgreSQL', ({ servers, database }: Spent) => servers + database],
  ] as const;
  return rows.map(([who, of]) => {
    const value = median(three.map(of));
    const limit = median(one.map(of));
    const name = `processes: processor time of a swap, three processes, beyond idle: ${who}`;
    return atMost(name, { value, unit: 'ms', limit, bar: bars.processes.three }, 'one process');
  });
}
