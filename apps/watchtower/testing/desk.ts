// A market with gas keys on two real EVM chains, for the tests of the keeper: swaps between them,
// each step on its own, nothing mined and nothing looked at unless the test says so.

import { randomBytes } from 'node:crypto';
import { before } from 'node:test';
import type { EvmAdapter } from '@parley/chains/evm/adapter.ts';
import { createEvmGasAccount } from '@parley/chains/evm/gas-account.ts';
import { evmGasPolicies } from '@parley/chains/evm/gas-policy.ts';
import type { EvmContracts } from '@parley/chains/evm/plan.ts';
import { parseGasKey } from '@parley/chains/gas/keys.ts';
import type { ChainKey } from '@parley/core/families.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import { type Rpc, rpcTo } from '@parley/dev/devnet/rpc.ts';
import type { Asset } from '@parley/market/db/assets.ts';
import { buildApp } from '@parley/market/edge/app.ts';
import { createSettlement } from '@parley/market/settle/follow.ts';
import { followNone } from '@parley/market/settle/testing/shared.ts';
import {
  type Answer,
  type EvmCalls,
  evm,
  evm2,
  freshAdapters,
  must,
  newParty,
  type Party,
  send,
  signEvm,
  startWorld,
  type World,
} from '@parley/market/settle/testing/world.ts';
import { watchtowerOf } from '@parley/market/start/watchtower.ts';
import type { TestDeps } from '@parley/verify/test/support/deps.ts';
import { shared } from '@parley/verify/test/support/shared.ts';
import { createPublicClient, http, type PublicClient } from 'viem';
import type { Gas, SigningTime } from '../port.ts';
import type { Watchtower } from '../watchtower.ts';

export const both = [evm, evm2] as const;
export const gwei = 10n ** 9n;
export const ether = gwei * gwei;

/** A gas key whose parts a test puts others in the place of. */
export type Loose = { -readonly [Name in keyof Gas]: Gas[Name] };

export type DeskDeps = TestDeps & {
  readonly gas: ReadonlyMap<ChainKey, Gas>;
  readonly signingTime?: SigningTime;
};

export type Desk = Omit<World, 'deps'> & {
  readonly deps: DeskDeps;
  readonly keeper: Watchtower;
  /** The gas key on both chains. */
  readonly key: string;
  readonly gasAddress: string;
  rpc(chain: ChainKey): Rpc;
  client(chain: ChainKey): PublicClient;
};

/** The contracts of `evm`. */
type DeskOptions = { readonly contracts?: EvmContracts };

/** Bounds that hold nobody back. */
export const quietGas = () => ({
  dailyCap: ether,
  takesRequests: true,
  lowBalance: 0n,
  graces: { claimSeconds: 0, refundSeconds: 0 },
});

/** Another server of the same market: its own adapters, application and gas key. */
export async function anotherDesk(world: World, { contracts = {} }: DeskOptions): Promise<Desk> {
  const key = randomBytes(32).toString('hex');
  const adapters = freshAdapters(world.infos, world.deps.now, contracts);
  const gas = new Map<ChainKey, Gas>();
  for (const chain of both) {
    const account = createEvmGasAccount({
      key: parseGasKey('evm', key),
      adapter: adapters.get(chain) as EvmAdapter,
      policy: evmGasPolicies[chain] as (typeof evmGasPolicies)[string],
    });
    gas.set(chain, { ...quietGas(), account });
  }
  const parts = { ...world.deps, adapters };
  const keeper = watchtowerOf(parts, { gas });
  const deps = { ...parts, gas, watchtower: keeper.desk };
  const app = await buildApp(deps);
  const settlement = createSettlement(deps);
  const urlOf = (chain: ChainKey) =>
    (chain === evm ? world.infos.evm : world.infos.evm2)?.rpcUrl ?? '';
  return {
    ...world,
    app,
    deps,
    settlement,
    keeper,
    key,
    gasAddress: gas.get(evm)?.account.address ?? '',
    rpc: (chain) => rpcTo(urlOf(chain)),
    client: (chain) => createPublicClient({ transport: http(urlOf(chain)), cacheTime: 0 }),
    close: async () => {
      await keeper.stop();
      await settlement.stop();
      await app.close();
    },
  };
}

async function startChains(): Promise<World> {
  const world = await startWorld({ secondEvm: true });
  await world.dev.mining(evm2, false);
  return world;
}

async function firstDesk(world: World, options: DeskOptions = {}): Promise<Desk> {
  const desk = await anotherDesk(world, options);
  for (const chain of both) {
    await world.dev.faucet({ chain, address: desk.gasAddress, amount: ether });
  }
  return desk;
}

const sharedChains = shared(startChains, (world) => world.close());

/** With a gas key of its own, on the world of this process, once tests begin. */
export function sharedDesk(): Desk {
  const desk = {} as Desk;
  const chains = sharedChains(async () => desk.close?.());
  before(async () => {
    const world = await chains();
    await followNone(world);
    Object.assign(desk, await firstDesk(world));
  });
  return desk;
}

export async function startDesk(options: DeskOptions = {}): Promise<Desk> {
  const world = await startChains();
  const desk = await firstDesk(world, options);
  return {
    ...desk,
    close: async () => {
      await desk.close();
      await world.close();
    },
  };
}

/** The taker gives on `evm` (leg b, long) and holds the secret; the maker gives on `evm2`. */
export type Deal = {
  readonly id: string;
  readonly secret: string;
  readonly taker: Party;
  readonly maker: Party;
};

const amount = ether / 10n;

export async function agree(
  desk: Desk,
  on: { long?: Asset; longAmount?: bigint; short?: Asset; taker?: Party; maker?: Party } = {},
): Promise<Deal> {
  const { assets } = desk;
  const long = on.long ?? assets.eth;
  const short = on.short ?? (assets.eth2 as Asset);
  const taker = on.taker ?? (await newParty(desk));
  const maker = on.maker ?? (await newParty(desk));
  const { rfq } = must(
    await taker.post('/v1/rfqs', {
      direction: 'sell_base',
      baseAssetId: long.id,
      baseAmount: (on.longAmount ?? amount).toString(),
      quoteAssetId: short.id,
      ttlSeconds: 600,
    }),
  );
  const price = { quoteAmount: amount.toString() };
  const { thread } = must(await maker.post(`/v1/rfqs/${rfq.id}/quotes`, price));
  const secret = randomBytes(32).toString('hex');
  const accept = `/v1/threads/${thread.id}/accept`;
  must(await taker.post(accept, { ...price, hashlock: hashlockOf(secret) }));
  const { swap } = must(await maker.post(accept, price));
  return { id: swap.id, secret, taker, maker };
}

export async function look(desk: Desk): Promise<void> {
  for (const chain of both) await desk.settlement.pass(chain);
  await desk.settlement.passDue();
}

export async function deepen(desk: Desk, blocks = 5): Promise<void> {
  for (const chain of both) await desk.dev.mine(chain, blocks);
  await look(desk);
}

/** Signs with the party's own wallet and broadcasts, not mined. */
export async function sendOwn(
  desk: Desk,
  party: Party,
  material: EvmCalls & { chain: string },
): Promise<string> {
  const evmClient = desk.client(material.chain);
  let txid = '';
  for (const raw of await signEvm({ ...desk, evmClient }, party.evmAccount, material)) {
    txid = must(await send(party, 'evm', raw)).txid;
  }
  return txid;
}

export const legOf = ({ id }: Pick<Deal, 'id'>, leg: 'a' | 'b', verb: string) =>
  `/v1/swaps/${id}/legs/${leg}/${verb}`;

export async function fundBoth(desk: Desk, deal: Deal): Promise<void> {
  const { taker, maker } = deal;
  const gift = 2n * amount;
  await desk.dev.faucet({ chain: evm, address: taker.evmAccount.address, amount: gift });
  await desk.dev.faucet({ chain: evm2, address: maker.evmAccount.address, amount: gift });
  await sendOwn(desk, taker, must(await taker.post(legOf(deal, 'b', 'fund'))));
  await deepen(desk);
  await sendOwn(desk, maker, must(await maker.post(legOf(deal, 'a', 'fund'))));
  await deepen(desk);
}

export async function fundedDeal(desk: Desk): Promise<Deal> {
  const deal = await agree(desk);
  await fundBoth(desk, deal);
  return deal;
}

/** The initiator's own claim of the short leg, not mined. */
export async function claimOwn(desk: Desk, deal: Deal): Promise<string> {
  const { taker, secret } = deal;
  const { address } = taker.evmAccount;
  await desk.dev.faucet({ chain: evm2, address, amount: ether / 20n });
  return sendOwn(desk, taker, must(await taker.post(legOf(deal, 'a', 'claim'), { secret })));
}

type Relayable = Pick<Deal, 'id' | 'secret'> & { readonly taker: Pick<Party, 'post'> };

export function relay(deal: Relayable, headers?: Record<string, string>): Promise<Answer> {
  const body = { secret: deal.secret, relay: true };
  return deal.taker.post(legOf(deal, 'a', 'claim'), body, headers);
}

// biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
export async function swapOf(deal: Deal): Promise<any> {
  return must(await deal.taker.get(`/v1/swaps/${deal.id}`));
}

/** A pass of the keeper on each chain. */
export async function keep(desk: Desk): Promise<void> {
  for (const chain of both) await desk.keeper.pass(chain);
}

/** Makes everything that the keeper put off due now. */
export async function hurry({ deps }: WithDatabase): Promise<void> {
  const text = `update keeper_jobs set due_at = 'epoch' where state = 'open'`;
  await deps.db.rows({ name: 'test_hurry', text, values: [] });
}

/** A pass of the keeper on each chain, with everything due. */
export async function keepAll(desk: Desk): Promise<void> {
  await hurry(desk);
  await keep(desk);
}

export async function passes(desk: Desk, count = 1): Promise<void> {
  for (let pass = 0; pass < count; pass += 1) {
    await keepAll(desk);
    await deepen(desk);
  }
}

/** The base fee of the next block. */
export async function baseFee(desk: Desk, chain: ChainKey, wei: bigint): Promise<void> {
  await desk.rpc(chain)('anvil_setNextBlockBaseFeePerGas', [`0x${wei.toString(16)}`]);
}

export type AttemptRow = {
  readonly verb: string;
  readonly chain: string;
  readonly txid: string;
  readonly nonce: number;
  readonly offer: string;
  readonly outcome: string;
  readonly purpose: string | null;
  readonly state: string | null;
};

/** On one chain or, without it, on both. */
export async function attemptsOn(
  { deps }: WithDatabase,
  deal: OfSwap,
  chain: ChainKey | null = null,
): Promise<AttemptRow[]> {
  return deps.db.rows<AttemptRow>({
    name: 'test_attempts',
    text: `select a.verb, a.chain, a.txid, a.nonce, a.offer, a.fate as outcome, j.purpose, j.state
      from keeper_attempts a join keeper_jobs j on j.id = a.job_id
      where j.swap_id = $1 and a.chain = coalesce($2, a.chain) order by a.id`,
    values: [deal.id, chain],
  });
}

export type JobRow = {
  readonly verb: string;
  readonly chain: string;
  readonly purpose: string;
  readonly state: string;
  readonly last_failure: string | null;
  readonly reserve: string;
};

type WithDatabase = { readonly deps: Pick<DeskDeps, 'db'> };
type OfSwap = Pick<Deal, 'id'>;

export function jobsOf({ deps }: WithDatabase, deal: OfSwap): Promise<JobRow[]> {
  return deps.db.rows<JobRow>({
    name: 'test_jobs',
    text: `select verb, chain, purpose, state, last_failure, reserve from keeper_jobs
      where swap_id = $1 order by chain, verb`,
    values: [deal.id],
  });
}
