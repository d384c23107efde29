// A market between two chains in memory, with gas keys on both and a real database, for the tests
// of the watchtower: a test says when blocks are mined or read. Each test begins with empty
// chains, keys that have signed nothing, and a clock that stands at noon of the next day.

import { randomBytes } from 'node:crypto';
import { after, before, beforeEach } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { showing } from '@parley/chains/testing/showing.ts';
import type { ChainKey } from '@parley/core/families.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { Asset } from '@parley/market/db/assets.ts';
import { escrowsOfSwap, termsOf } from '@parley/market/db/escrows.ts';
import { storeHeads } from '@parley/market/db/heads.ts';
import { buildApp } from '@parley/market/edge/app.ts';
import { reconcile } from '@parley/market/settle/reconcile.ts';
import { insertAccount } from '@parley/market/settle/testing/account.ts';
import { insertAgreed, insertAsset, someWallets } from '@parley/market/settle/testing/rows.ts';
import { must, requestsTo } from '@parley/market/settle/testing/world.ts';
import { partsOf } from '@parley/market/start/watchtower.ts';
import { testDatabase } from '@parley/verify/test/support/database.ts';
import { testDeps } from '@parley/verify/test/support/deps.ts';
import type { FundAsking, Gas, Parts, SigningTime } from '../port.ts';
import { realTime } from '../step.ts';
import { createWatchtower, type Watchtower } from '../watchtower.ts';
import {
  type AttemptRow,
  attemptsOn,
  type DeskDeps,
  hurry,
  type JobRow,
  jobsOf,
  type Loose,
  quietGas,
  relay,
} from './desk.ts';
import { ether, type MemoryChain, memoryChain, signatureFor } from './memory.ts';

/** The chain of the long legs, and that of the short ones, whose claims show the secret. */
export const long = 'evm-dev';
export const short = 'evm-dev-2';
const firstNoon = Date.UTC(2031, 0, 1, 12);
const dayMs = 86_400_000;

let pausedMs = 0;
/**
 * As patient as real time, and 25 times as fast. Its clock counts pauses alone, and those at one
 * time once: work that a slow machine keeps long uses up nobody's patience.
 */
export const quickTime: SigningTime = {
  ...realTime,
  elapsedMs: () => pausedMs,
  pause: async (ms, signal) => {
    const endMs = pausedMs + ms;
    await sleep(ms / 25, undefined, { signal });
    pausedMs = Math.max(pausedMs, endMs);
  },
};

export type Options = {
  readonly signingTime?: SigningTime;
  /** Chains that it has the key of. */
  readonly on?: readonly ChainKey[];
  readonly address?: string;
  readonly encryptionKey?: string;
  readonly db?: DeskDeps['db'];
};

export type Party = ReturnType<typeof requestsTo> & {
  readonly accountId: string;
  readonly address: string;
};
/** The taker funds the long leg and holds the secret; the maker funds the short one. */
export type Deal = {
  readonly id: string;
  readonly secret: string;
  readonly taker: Party;
  readonly maker: Party;
};
type Dealing = {
  readonly base?: Asset;
  readonly quote?: Asset;
  readonly amount?: bigint;
  readonly taker?: Party;
  readonly maker?: Party;
};

/** One process of the market. */
export type Server = {
  readonly deps: DeskDeps;
  readonly app: Awaited<ReturnType<typeof buildApp>>;
  readonly keeper: Watchtower;
  readonly gas: ReadonlyMap<ChainKey, Loose>;
  close(): Promise<void>;
};

type Chains = ReadonlyMap<ChainKey, MemoryChain>;

async function openServer(base: DeskDeps, chains: Chains, options: Options): Promise<Server> {
  const { on = [long, short], address = '', signingTime = quickTime, encryptionKey } = options;
  const { db = base.db } = options;
  const gas = new Map<ChainKey, Loose>();
  for (const chain of on) {
    const account = chains.get(chain)?.account(address) as Gas['account'];
    gas.set(chain, { ...quietGas(), account });
  }
  const adapters = new Map([...chains].map(([chain, each]) => [chain, each.adapter()]));
  const settings = { ...base.settings, ...(encryptionKey && { encryptionKey }) };
  const parts = { ...base, db, settings, adapters, gas, signingTime };
  const keeper = createWatchtower(partsOf(parts, parts));
  const deps = { ...parts, watchtower: keeper.desk };
  const app = await buildApp(deps);
  const close = async () => {
    await keeper.stop();
    await app.close();
  };
  return { deps, app, keeper, gas, close };
}

type Place = {
  readonly server: Server;
  readonly chains: Chains;
  /** Swaps that are followed. */
  readonly followed: Set<string>;
};
type Run = (text: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;

export type Market = Server &
  ReturnType<typeof timeOf> &
  Awaited<ReturnType<typeof dealsOf>> &
  ReturnType<typeof watchOf> & {
    readonly long: MemoryChain;
    readonly short: MemoryChain;
    readonly run: Run;
    /** Another server of it, with the same key unless told. */
    open(options?: Options): Promise<Server>;
  };

export async function openMarket(options: Options = {}): Promise<Market> {
  const database = await testDatabase({ connections: 10 });
  const settings = { encryptionKey: randomBytes(32).toString('hex') };
  const base: DeskDeps = { ...testDeps({ db: database.db, settings }), gas: new Map() };
  base.freeze(firstNoon);
  const chains = new Map([long, short].map((chain) => [chain, memoryChain(chain)]));
  const address = `0x${'6a'.repeat(20)}`;
  const server = await openServer(base, chains, { address, ...options });
  const place = { server, chains, followed: new Set<string>() };
  const time = timeOf(place);
  const others: Server[] = [];
  return {
    ...server,
    ...time,
    ...(await dealsOf(place, time)),
    ...watchOf(place),
    long: chainOf(place, long),
    short: chainOf(place, short),
    run: runOf(place),
    open: async (of = {}) => {
      const other = await openServer(base, chains, { address, ...of });
      others.push(other);
      return other;
    },
    close: async () => {
      for (const each of [...others, server]) await each.close();
      await database.drop();
    },
  };
}

/** The market of a file, with all that its tests do to it. */
export function onMarket(options: Options = {}): Market {
  const market = {} as Market;
  before(async () => void Object.assign(market, await openMarket(options)));
  beforeEach(() => market.reset());
  after(() => market.close?.());
  return market;
}

const chainOf = ({ chains }: Pick<Place, 'chains'>, chain: ChainKey) =>
  chains.get(chain) as MemoryChain;

const runOf =
  ({ server: { deps } }: Place): Run =>
  (text, values = []) =>
    deps.db.rows<Record<string, unknown>>({ name: '', text, values });

/** Time: blocks, reads of them, and passes of the watchtower. */
function timeOf(place: Place) {
  const { server, chains, followed } = place;
  const { deps, keeper, gas } = server;
  const run = runOf(place);
  let noon = firstNoon;
  const given = new Map([...gas].map(([chain, each]) => [chain, { ...each }]));
  const reset = async () => {
    await run('truncate keeper_attempts, keeper_jobs, keeper_turns, gaps cascade');
    await run('update swaps set done = true, kept = true');
    await run('update escrows set done = true, kept = true');
    followed.clear();
    noon += dayMs;
    deps.freeze(noon);
    for (const [chain, each] of chains) {
      each.reset(noon / 1_000);
      (deps.adapters as Map<ChainKey, ChainAdapter>).set(chain, each.adapter());
      Object.assign(gas.get(chain) ?? {}, { ...given.get(chain), ...quietGas() });
    }
  };
  const look = async () => {
    for (const [chain, { state }] of chains) {
      const heads = { height: state.height, hash: 'h', clock: state.clock };
      await storeHeads(deps.db, chain, { ...heads, doneTo: null }, new Date(deps.now()), null);
    }
    const signal = AbortSignal.timeout(20_000);
    for (const id of followed) {
      const found = await reconcile(deps, id, { chains: 'all', signal });
      if (found?.done) followed.delete(id);
    }
  };
  const mine = (blocks = 1) => {
    for (const each of chains.values()) each.mine(blocks);
  };
  const deepen = async () => {
    mine(5);
    await look();
  };
  const keep = async () => {
    for (const chain of gas.keys()) await keeper.pass(chain);
  };
  const keepAll = async () => {
    await hurry({ deps });
    await keep();
  };
  return {
    reset,
    look,
    mine,
    deepen,
    keep,
    keepAll,
    hurry: () => hurry({ deps }),
    passes: async (count = 1) => {
      for (let pass = 0; pass < count; pass += 1) {
        await keepAll();
        await deepen();
      }
    },
    /** One pass on the chain of the short legs, with everything due. */
    turn: async () => {
      await hurry({ deps });
      await keeper.pass(short);
    },
    baseFee: (wei: bigint) => {
      for (const { state } of chains.values()) state.baseFee = wei;
    },
  };
}

/** Acts of parties. */
async function dealsOf(place: Place, { deepen, keep }: ReturnType<typeof timeOf>) {
  const { server, followed } = place;
  const { deps, app, gas } = server;
  const run = runOf(place);
  const eth = await insertAsset(deps, long, null, null);
  const eth2 = await insertAsset(deps, short, null, null);
  const party = async (): Promise<Party> => {
    const { evm: wallet } = someWallets();
    const { accountId, key } = await insertAccount(deps, [wallet]);
    return { accountId, address: wallet.address, ...requestsTo(app, key) };
  };
  const agree = async (of: Dealing = {}): Promise<Deal> => {
    const { base = eth, quote = eth2, amount = ether / 10n } = of;
    const taker = of.taker ?? (await party());
    const maker = of.maker ?? (await party());
    const secret = randomBytes(32).toString('hex');
    const amounts = { baseAmount: amount, quoteAmount: ether / 10n };
    const terms = { direction: 'sell_base', base, quote, ...amounts } as const;
    const parties = { makerId: maker.accountId, takerId: taker.accountId };
    const agreement = { ...parties, hashlock: hashlockOf(secret) };
    const id = await deps.db.transaction((tx) => insertAgreed(tx, deps, terms, agreement));
    followed.add(id);
    const rows = await escrowsOfSwap(deps.db, id);
    for (const row of rows) chainOf(place, row.chain).plans(termsOf(row.terms));
    return { id, secret, taker, maker };
  };
  /** By its funder, final. */
  const fund = async (deal: Deal, ...on: readonly ChainKey[]) => {
    for (const chain of on) {
      const { address, terms } = await escrowOn(place, deal, chain);
      chainOf(place, chain).send(terms.refund.address, { verb: 'fund', escrow: address });
    }
    await deepen();
  };
  const funded = async (of: Dealing = {}) => {
    const deal = await agree(of);
    await fund(deal, long, short);
    return deal;
  };
  const reveal = ({ id, secret }: Deal) =>
    run('update swaps set secret = $2 where id = $1', [id, secret]);
  return {
    agree,
    fund,
    funded,
    party,
    reveal,
    /** By its receiver, waiting. */
    claim: async (deal: Deal, chain: ChainKey = short) => {
      const { address: escrow, terms } = await escrowOn(place, deal, chain);
      const call = { verb: 'claim', escrow, secret: deal.secret } as const;
      return chainOf(place, chain).send(terms.payout.address, call);
    },
    /** Both legs funded and the secret public, with a job for each chain and nothing signed. */
    public: async (of: Dealing = {}) => {
      const deal = await funded(of);
      await reveal(deal);
      for (const each of gas.values()) each.dailyCap = 0n;
      await keep();
      for (const each of gas.values()) each.dailyCap = ether;
      return deal;
    },
    /** A token of the second chain, that is paid by signature. */
    dollar: () => insertAsset(deps, short, `0x${randomBytes(20).toString('hex')}`, null),
  };
}

async function escrowOn({ server: { deps } }: Place, { id }: Deal, chain: ChainKey) {
  const row = (await escrowsOfSwap(deps.db, id)).find((each) => each.chain === chain);
  if (row === undefined) throw new Error(`it has no escrow on ${chain}`);
  return { ...row, terms: termsOf(row.terms) };
}

/** Requests to the watchtower, and what shows of it. */
function watchOf(place: Place) {
  const { deps, keeper, gas } = place.server;
  return {
    escrowOn: (deal: Deal, chain: ChainKey = short) => escrowOn(place, deal, chain),
    parts: (): Parts => partsOf(deps, deps),
    key: (chain: ChainKey = short) => gas.get(chain) as Loose,
    /** The adapter of a chain, altered for this test. */
    show: (over: Partial<ChainAdapter>, chain: ChainKey = short) => {
      const altered = showing(chainOf(place, chain).adapter(), over);
      (deps.adapters as Map<ChainKey, ChainAdapter>).set(chain, altered);
    },
    attempts: (deal: Deal, chain: ChainKey | null = short): Promise<AttemptRow[]> =>
      attemptsOn({ deps }, deal, chain),
    jobs: (deal: Deal): Promise<JobRow[]> => jobsOf({ deps }, deal),
    job: async (deal: Deal, chain: ChainKey = short): Promise<JobRow | undefined> =>
      (await jobsOf({ deps }, deal)).find((each) => each.chain === chain),
    relay: (deal: Deal, headers?: Record<string, string>) => relay(deal, headers),
    // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
    swap: async (deal: Deal): Promise<any> => must(await deal.taker.get(`/v1/swaps/${deal.id}`)),
    /** Asks for the funding of the short leg to be sent, as the route does. */
    askFunding: async (deal: Deal, more: Partial<FundAsking> = {}) => {
      const { address: escrow } = await escrowOn(place, deal, short);
      const { accountId } = deal.maker;
      return keeper.desk.fund({
        accountId,
        swapId: deal.id,
        leg: 'a',
        escrow,
        signature: signatureFor(escrow),
        signal: AbortSignal.timeout(20_000),
        admit: async () => {},
        ...more,
      });
    },
  };
}
