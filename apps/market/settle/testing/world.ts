// A whole market on real chains for the tests of settlement: PostgreSQL, bitcoind, anvil, the HTTP
// application, and parties with keys. Blocks are mined and chains followed only when a test asks.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { bitcoinAdapter } from '@parley/chains/bitcoin/adapter.ts';
import { addressesOfPubkey, signLeaves, signSighashes } from '@parley/chains/bitcoin/keys.ts';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { evmAdapter } from '@parley/chains/evm/adapter.ts';
import type { EvmContracts } from '@parley/chains/evm/plan.ts';
import { evmChains } from '@parley/chains/evm/policy.ts';
import type { BtcSighash } from '@parley/chains/interface/material.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import { type DevnetClient, devnetClient } from '@parley/dev/devnet/client.ts';
import type { ChainInfo } from '@parley/dev/devnet/dev-chain.ts';
import { type Devnet, startDevnet } from '@parley/dev/devnet/devnet.ts';
import { type Rpc, rpcTo } from '@parley/dev/devnet/rpc.ts';
import { testDatabase } from '@parley/verify/test/support/database.ts';
import { type TestDeps, testDeps } from '@parley/verify/test/support/deps.ts';
import type { FastifyInstance } from 'fastify';
import { createPublicClient, type Hex, http, type PublicClient } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { Asset } from '../../db/assets.ts';
import { buildApp } from '../../edge/app.ts';
import { seedAssets } from '../../market/assets.ts';
import type { Settings } from '../../settings/config.ts';
import { createSettlement, type Settlement } from '../follow.ts';
import { insertAccount } from './account.ts';

export const bitcoin = 'bitcoin-regtest';
export const evm = 'evm-dev';
export const evm2 = 'evm-dev-2';

export type World = {
  readonly app: FastifyInstance;
  readonly deps: TestDeps;
  readonly dev: DevnetClient;
  readonly urls: { readonly database: string; readonly control: string };
  readonly settlement: Settlement;
  readonly assets: {
    readonly btc: Asset;
    readonly eth: Asset;
    readonly usd: Asset;
    readonly signed: Asset;
    /** A hostile token, which takes a fee. */
    readonly fee: Asset;
    readonly eth2: Asset | null;
  };
  readonly bitcoinRpc: Rpc;
  readonly faucetRpc: Rpc;
  readonly evmClient: PublicClient;
  readonly infos: {
    readonly bitcoin: ChainInfo;
    readonly evm: ChainInfo;
    /** Only when asked for. */
    readonly evm2: ChainInfo | null;
  };
  close(): Promise<void>;
};

const quiet = { info: () => {}, warn: () => {}, error: () => {} };

/** Adapters of their own over the world's nodes, as another process would have. */
export function freshAdapters(
  infos: World['infos'],
  now: () => number,
  contracts: EvmContracts = {},
): Map<string, ChainAdapter> {
  const adapters: ChainAdapter[] = [
    bitcoinAdapter({
      chain: bitcoin,
      network: 'regtest',
      source: { coreUrl: infos.bitcoin.rpcUrl },
      now: () => Math.floor(now() / 1000),
    }),
    evmAdapter({
      chain: evm,
      chainId: evmChains[evm].chainId,
      rpcUrls: [infos.evm.rpcUrl],
      policy: evmChains[evm].policy,
      ...contracts,
    }),
  ];
  if (infos.evm2 !== null) {
    const rpcUrls = [infos.evm2.rpcUrl];
    adapters.push(evmAdapter({ chain: evm2, ...evmChains[evm2], rpcUrls }));
  }
  return new Map(adapters.map((each) => [each.chain, each]));
}

export async function startWorld(
  options: { secondEvm?: boolean; simulators?: boolean; settings?: Partial<Settings> } = {},
): Promise<World> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-settle-'));
  let deps: TestDeps | null = null;
  let devnet: Devnet | null = null;
  const moveClock = (seconds: number) => deps?.advance(seconds * 1000);
  const [database, started] = await Promise.all([
    testDatabase({ connections: 10 }),
    startDevnet({
      dir,
      log: quiet,
      bitcoin: true,
      tron: options.simulators === true,
      solana: options.simulators === true,
      moveClock,
      evmChains: [evm, ...(options.secondEvm ? [evm2] : [])].map((key, at) => ({
        key,
        chainId: 31_337 + at,
      })),
    }),
  ]);
  devnet = started;
  const infos = {
    bitcoin: devnet.chains.find((each) => each.family === 'bitcoin') as ChainInfo,
    evm: devnet.chains.find((each) => each.chain === evm) as ChainInfo,
    evm2: devnet.chains.find((each) => each.chain === evm2) ?? null,
  };
  const key = randomBytes(32).toString('hex');
  const settings = { encryptionKey: key, home: dir, ...options.settings };
  const before = testDeps({ db: database.db, settings });
  deps = { ...before, adapters: freshAdapters(infos, before.now) };
  const { tokens: [dollar, , signedDollar] = [], hostileTokens: hostile = [] } = infos.evm;
  const taking = hostile.find(({ symbol }) => symbol === 'FEE');
  if (!dollar || !signedDollar || !taking) throw new Error('no tokens to trade');
  const ether = { symbol: 'ETH', address: null, decimals: 18 };
  const seeded = await seedAssets(database.db, deps, [
    { chain: bitcoin, symbol: 'BTC', address: null, decimals: 8 },
    { chain: evm, ...ether },
    ...[dollar, signedDollar, taking].map((each) => ({ ...each, chain: evm })),
    ...(infos.evm2 === null ? [] : [{ chain: evm2, ...ether }]),
  ]);
  const [btc, eth, usd, signed, fee, eth2 = null] = seeded as [
    Asset,
    Asset,
    Asset,
    Asset,
    Asset,
    Asset?,
  ];
  const app = await buildApp(deps);
  const settlement = createSettlement(deps);
  const dev = devnetClient(devnet.dev);
  await dev.mining(bitcoin, false);
  await dev.mining(evm, false);
  return {
    app,
    deps,
    dev,
    urls: { database: database.url, control: devnet.dev },
    settlement,
    assets: { btc, eth, usd, signed, fee, eth2 },
    bitcoinRpc: rpcTo(infos.bitcoin.rpcUrl),
    faucetRpc: rpcTo(`${infos.bitcoin.rpcUrl}/wallet/faucet`),
    evmClient: createPublicClient({ transport: http(infos.evm.rpcUrl), cacheTime: 0 }),
    infos,
    close: async () => {
      await settlement.stop();
      await app.close();
      await devnet.stop();
      await database.drop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export type Answer = {
  readonly status: number;
  /** The code of a refusal: the header x-parley-error. */
  readonly code: string | null;
  readonly headers: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
  readonly body: any;
};

export type Party = {
  readonly accountId: string;
  readonly btcKey: Uint8Array;
  readonly pubkey: string;
  readonly btcAddress: string;
  readonly evmAccount: PrivateKeyAccount;
  readonly key: string;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
};

type PartyOptions = {
  /** Login wallets to have; default both. `taproot`: the login does not fill its key in. */
  readonly bitcoin?: 'p2wpkh' | 'taproot';
};

/** A party with 0 coins, signed in with a wallet of each family. */
export async function newParty(world: World, options: PartyOptions = {}): Promise<Party> {
  const { app, deps } = world;
  const { secretKey: btcKey } = secp256k1.keygen();
  const pubkey = bytesToHex(secp256k1.getPublicKey(btcKey, true));
  const addresses = addressesOfPubkey(pubkey, bitcoinNetworks.regtest);
  const taproot = options.bitcoin === 'taproot';
  const btcAddress = taproot ? addresses.p2tr : addresses.p2wpkh;
  const evmAccount = privateKeyToAccount(generatePrivateKey());
  const { accountId, key } = await insertAccount(deps, [
    { family: 'bitcoin', address: btcAddress, pubkey: taproot ? null : pubkey },
    { family: 'evm', address: evmAccount.address, pubkey: null },
  ]);
  return { accountId, btcKey, pubkey, btcAddress, evmAccount, key, ...requestsTo(app, key) };
}

/** Requests with a key, to one of several applications on the same database. */
export function requestsTo(app: FastifyInstance, key: string): Pick<Party, 'get' | 'post'> {
  const request = async (
    method: 'GET' | 'POST',
    url: string,
    body?: unknown,
    more: Record<string, string> = {},
  ): Promise<Answer> => {
    const reply = await app.inject({
      method,
      url,
      headers: { authorization: `Bearer ${key}`, ...more },
      ...(body === undefined ? {} : { payload: body as object }),
    });
    const { 'x-parley-error': code } = reply.headers;
    return {
      status: reply.statusCode,
      code: typeof code === 'string' ? code : null,
      headers: reply.headers,
      body: reply.body === '' ? null : reply.json(),
    };
  };
  return {
    get: (url) => request('GET', url),
    post: (url, body, headers) => request('POST', url, body, headers),
  };
}

/** A wallet row as the identity part would have written it. */
export async function addWallet(
  { deps }: World,
  accountId: string,
  wallet: { family: string; address: string; authorised?: boolean; web?: boolean },
): Promise<void> {
  await deps.db.rows({
    name: 'test_proven',
    text: `insert into wallets (account_id, family, address, standing, authorised, web, proven_at)
      values ($1, $2, $3, 'proven', $4, $5, now())`,
    values: [
      accountId,
      wallet.family,
      wallet.address,
      wallet.authorised ?? false,
      wallet.web ?? false,
    ],
  });
}

export type Deal = {
  readonly id: string;
  readonly secret: string;
  readonly hashlock: string;
  /** Gives bitcoin, holds the secret. */
  readonly initiator: Party;
  readonly counterparty: Party;
  /** Leg of the bitcoin, and of the other side. */
  readonly long: 'a' | 'b';
  readonly short: 'a' | 'b';
  readonly sats: bigint;
  readonly amount: bigint;
  readonly asset: Asset;
};

/** Two fresh parties that have agreed, over HTTP, on 0.01 BTC for dollars (or `asset`). */
export async function agree(
  world: World,
  options: {
    readonly taker?: 'initiator' | 'counterparty';
    readonly asset?: Asset;
    readonly initiator?: Party;
    readonly counterparty?: Party;
  } = {},
): Promise<Deal> {
  const { assets } = world;
  const initiator = options.initiator ?? (await newParty(world));
  const counterparty = options.counterparty ?? (await newParty(world));
  const asset = options.asset ?? assets.usd;
  const takes = options.taker ?? 'initiator';
  const [taker, maker] =
    takes === 'initiator' ? [initiator, counterparty] : [counterparty, initiator];
  const sats = 1_000_000n;
  const amount = asset.address === null ? 10n ** 17n : 650_000_000n;
  const secret = randomBytes(32).toString('hex');
  const hashlock = hashlockOf(secret);
  const rfq = must(
    await taker.post('/v1/rfqs', {
      direction: takes === 'initiator' ? 'sell_base' : 'buy_base',
      baseAssetId: assets.btc.id,
      baseAmount: sats.toString(),
      quoteAssetId: asset.id,
      ttlSeconds: 600,
    }),
  );
  const price = { quoteAmount: amount.toString() };
  const thread = must(await maker.post(`/v1/rfqs/${rfq.rfq.id}/quotes`, price)).thread;
  const accept = (party: Party) =>
    party.post(`/v1/threads/${thread.id}/accept`, {
      ...price,
      ...(party === initiator ? { hashlock } : {}),
    });
  must(await accept(taker));
  const agreed = must(await accept(maker));
  const long = takes === 'initiator' ? 'b' : 'a';
  const short = long === 'a' ? 'b' : 'a';
  const { id } = agreed.swap;
  return { id, secret, hashlock, initiator, counterparty, long, short, sats, amount, asset };
}

/** The leg on Bitcoin, after a side has named its key, and asked for a form or not. */
export async function askForm(deal: Deal, name: 'initiator' | 'counterparty', how = {}) {
  const { pubkey: address } = deal[name];
  const path = `/v1/swaps/${deal.id}/address`;
  const answer = must(await deal[name].post(path, { chain: bitcoin, address, ...how }));
  return answer.swap.legs[deal.long];
}

/** An agreed swap whose leg on Bitcoin is of Taproot. */
export async function agreeTaproot(world: World): Promise<Deal> {
  const deal = await agree(world);
  for (const name of ['initiator', 'counterparty'] as const) {
    await askForm(deal, name, { form: 'p2tr' });
  }
  return deal;
}

// biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
export function must(answer: Answer): any {
  if (answer.status >= 300) {
    throw new Error(`${answer.status} ${answer.code}: ${JSON.stringify(answer.body)}`);
  }
  return answer.body;
}

/** Both chains and the clock polled once. */
export async function look(world: World, settlement = world.settlement): Promise<void> {
  await settlement.pass(bitcoin);
  await settlement.pass(evm);
  await settlement.passDue();
}

/** Mines both chains until all is final, and polls. */
export async function deepen(world: World, blocks = 3): Promise<void> {
  await world.dev.mine(bitcoin, blocks);
  await world.dev.mine(evm, blocks);
  await look(world);
}

/** The swap as the initiator reads it. */
// biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
export async function swapOf(deal: Deal): Promise<any> {
  return must(await deal.initiator.get(`/v1/swaps/${deal.id}`));
}

/** Topics and statuses that were emitted to one party, in order. */
export async function told(world: World, deal: Deal, accountId?: string): Promise<string[]> {
  const rows = await world.deps.db.rows<{ topic: string; status: string | null }>({
    name: 'test_told',
    text: `select topic, payload->>'status' as status from outbox
      where account_id = $1 and payload->>'swapId' = $2 and topic <> 'swap.agreed' order by id`,
    values: [accountId ?? deal.initiator.accountId, deal.id],
  });
  return rows.map(({ topic, status }) => `${topic} ${status}`);
}

/** A signed payment of the faucet's wallet, not sent. */
export async function signedPayment(
  { faucetRpc }: World,
  address: string,
  sats: bigint,
): Promise<{ hex: string; txid: string }> {
  const coins = `${sats / 100_000_000n}.${(sats % 100_000_000n).toString().padStart(8, '0')}`;
  const raw = await faucetRpc<string>('createrawtransaction', [[], [{ [address]: coins }]]);
  const options = { fee_rate: 5, lockUnspents: true };
  const funded = await faucetRpc<{ hex: string }>('fundrawtransaction', [raw, options]);
  const signed = await faucetRpc<{ hex: string }>('signrawtransactionwithwallet', [funded.hex]);
  const { txid } = await faucetRpc<{ txid: string }>('decoderawtransaction', [signed.hex]);
  return { hex: signed.hex, txid };
}

export async function send(party: Party, chain: string, signed: unknown): Promise<Answer> {
  return party.post('/v1/tx/broadcast', { chain, signed });
}

/** The initiator's funding, broadcast and not mined. */
export async function fundLong(world: World, deal: Deal): Promise<string> {
  const built = must(await deal.initiator.post(`/v1/swaps/${deal.id}/legs/${deal.long}/fund`));
  const { hex } = await signedPayment(world, built.payTo, BigInt(built.amountSats));
  return must(await send(deal.initiator, 'bitcoin', hex)).txid;
}

/** Coins and tokens for a party, mined. */
export async function give(world: World, deal: Deal): Promise<void> {
  const { dev } = world;
  const { address } = deal.counterparty.evmAccount;
  await dev.faucet({ chain: evm, address, amount: 10n ** 18n });
  await dev.faucet({ chain: evm, address: deal.initiator.evmAccount.address, amount: 10n ** 18n });
  if (deal.asset.address === null) return;
  await dev.faucet({ chain: evm, address, asset: deal.asset.address, amount: deal.amount });
}

export type EvmCalls = { chainId: number; txs: { to: Hex; data: Hex; value: Hex }[] };

/** Raw signed transactions of EVM material, in order. */
export async function signEvm(
  { evmClient }: World,
  account: PrivateKeyAccount,
  { chainId, txs }: EvmCalls,
): Promise<Hex[]> {
  let nonce = await evmClient.getTransactionCount({
    address: account.address,
    blockTag: 'pending',
  });
  const signed: Hex[] = [];
  for (const { to, data, value } of txs) {
    signed.push(
      await account.signTransaction({
        chainId,
        nonce,
        to,
        data,
        value: BigInt(value),
        gas: 600_000n,
        maxFeePerGas: 20_000_000_000n,
        maxPriorityFeePerGas: 1_000_000_000n,
        type: 'eip1559',
      }),
    );
    nonce += 1;
  }
  return signed;
}

/** Signs and broadcasts EVM material; the txid of the last transaction. */
export async function sendEvm(world: World, party: Party, material: EvmCalls): Promise<string> {
  let txid = '';
  for (const raw of await signEvm(world, party.evmAccount, material)) {
    txid = must(await send(party, 'evm', raw)).txid;
  }
  return txid;
}

/** The counterparty's funding, broadcast and not mined. */
export async function fundShort(world: World, deal: Deal): Promise<string> {
  const path = `/v1/swaps/${deal.id}/legs/${deal.short}/fund`;
  return sendEvm(world, deal.counterparty, must(await deal.counterparty.post(path)));
}

/** The initiator's claim, broadcast and not mined. */
export async function claimShort(world: World, deal: Deal): Promise<string> {
  const path = `/v1/swaps/${deal.id}/legs/${deal.short}/claim`;
  const { secret } = deal;
  return sendEvm(world, deal.initiator, must(await deal.initiator.post(path, { secret })));
}

export function signedSpend(
  party: Party,
  material: Pick<BtcSighash, 'psbtBase64' | 'sighashHexes' | 'scheme'>,
  preimageHex?: string,
): object {
  const { psbtBase64, sighashHexes, scheme } = material;
  const sign = scheme === 'schnorr' ? signLeaves : signSighashes;
  const signaturesHex = sign(party.btcKey, sighashHexes);
  return { psbtBase64, signaturesHex, ...(preimageHex === undefined ? {} : { preimageHex }) };
}

/** The counterparty's claim with the published secret, broadcast and not mined. */
export async function claimLong(deal: Deal): Promise<string> {
  const { secret } = must(await deal.counterparty.get(`/v1/swaps/${deal.id}`));
  const path = `/v1/swaps/${deal.id}/legs/${deal.long}/claim`;
  const built = must(await deal.counterparty.post(path, { secret }));
  const signed = signedSpend(deal.counterparty, built, secret);
  return must(await send(deal.counterparty, bitcoin, signed)).txid;
}

/** Both legs funded, and final. */
export async function fundBoth(world: World, deal: Deal): Promise<void> {
  await give(world, deal);
  await fundLong(world, deal);
  await deepen(world);
  await fundShort(world, deal);
  await deepen(world);
}

/** The refund of a leg's current or former escrow, broadcast and not mined. */
export async function refund(
  world: World,
  deal: Deal,
  leg: 'a' | 'b',
  escrow?: string,
): Promise<string> {
  const party = leg === deal.long ? deal.initiator : deal.counterparty;
  const query = escrow === undefined ? '' : `?escrow=${escrow}`;
  const built = must(await party.post(`/v1/swaps/${deal.id}/legs/${leg}/refund${query}`));
  if (leg === deal.short) return sendEvm(world, party, built);
  return must(await send(party, bitcoin, signedSpend(party, built))).txid;
}

/** Moves every clock to just beyond an instant in Unix seconds. */
export async function moveTo(world: World, instant: number): Promise<void> {
  const ahead = instant - Math.floor(world.deps.now() / 1000) + 1;
  if (ahead > 0) await world.dev.time(ahead);
}
