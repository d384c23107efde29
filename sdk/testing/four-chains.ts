// Tests only: dev chains of all four families, two parties with funds, and swaps between any two
// coins. TRON and Solana are simulators, bitcoind (regtest) and anvil are real.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bitcoinNetworks } from '../../chains/bitcoin/networks.ts';
import { tronHex } from '../../chains/tron/address.ts';
import { tronDevPolicy } from '../../chains/tron/policy.ts';
import type { LegName, Party } from '../../core/trade.ts';
import { type DevnetClient, type DevnetStatus, devnetClient } from '../../devnet/client.ts';
import { startDevnet } from '../../devnet/devnet.ts';
import type { ChainSource, SettleInput } from '../settle/context.ts';
import { bitcoinSource, evmSource, solanaSource, tronSource } from '../sources.ts';
import { memoryStore } from '../stores/memory.ts';
import { bitcoinWallet } from '../wallets/bitcoin.ts';
import { coreCoins } from '../wallets/coins.ts';
import { evmWallet } from '../wallets/evm.ts';
import { solanaWallet } from '../wallets/solana.ts';
import { tronWallet } from '../wallets/tron.ts';
import type { BitcoinWallet, EvmWallet, Wallet } from '../wallets/wallet.ts';
import { type PaperMarket, paperMarket } from './paper-market.ts';

/** A chain's own coin, or the first token that the dev network lists there. */
export type Coin = keyof typeof families;

/** A wallet on every chain, by the chain's key. */
export type Wallets = Map<string, Wallet> & {
  readonly evm: EvmWallet;
  readonly bitcoin: BitcoinWallet;
};

export type Dollar = { readonly address: string; readonly decimals: number };

export type Scene = {
  readonly market: PaperMarket;
  readonly secret: string;
  /** All that settle needs of one side, with a store of its own. */
  input(party: Party): SettleInput;
};

export type Served = DevnetStatus['chains'][number];

export type FourChains = {
  readonly dev: DevnetClient;
  /** Address of the control server behind it. */
  readonly control: string;
  readonly walletsOf: Record<Party, Wallets>;
  now(): number;
  /** Moves all chains and this clock. */
  move(seconds: number): Promise<void>;
  /**
   * The taker gives `b` and is the initiator, the maker gives `a`: 500 dollars for 0.01 BTC unless
   * told. `token`: in the place of the first one on EVM.
   */
  swap(coins?: Record<LegName, Coin>, token?: Dollar): Scene;
  /** Base units at the chain's head, by the node itself. */
  balance(party: Party, coin: Coin): Promise<bigint>;
  stop(): Promise<void>;
};

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const amounts: Readonly<Record<Coin, bigint>> = {
  BTC: 1_000_000n,
  ETH: 10n ** 17n,
  'EVM dollar': 500_000_000n,
  TRX: 50_000_000n,
  'TRON dollar': 500_000_000n,
  SOL: 2_000_000_000n,
  'SPL dollar': 500_000_000n,
};
export const amountOf = (coin: Coin): bigint => amounts[coin];

/** `through`: the node by which both parties see a chain; default the chain's own. */
export async function fourChains(
  through: (chain: Served) => Promise<string> = async ({ rpcUrl }) => rpcUrl,
): Promise<FourChains> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-sdk-'));
  const devnet = await startDevnet({ dir, log: quiet, bitcoin: true, moveClock: () => undefined });
  const stop = async () => {
    await devnet.stop();
    await rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  try {
    return await withParties(devnet.dev, through, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function withParties(
  control: string,
  through: (chain: Served) => Promise<string>,
  stop: () => Promise<void>,
): Promise<FourChains> {
  const dev = devnetClient(control);
  const { chains: served } = await dev.status();
  const chains: Served[] = [];
  for (const each of served) chains.push({ ...each, rpcUrl: await through(each) });
  const clock = { offset: 0 };
  const now = () => Math.floor(Date.now() / 1000) + clock.offset;
  const walletsOf = { maker: await newWallets(dev, chains), taker: await newWallets(dev, chains) };
  const chainOf = (coin: Coin) => chainIn(chains, coin);
  return {
    dev,
    control,
    walletsOf,
    now,
    move: async (seconds) => {
      clock.offset = (await dev.time(seconds)).clockOffsetSeconds;
    },
    swap: (coins = { a: 'EVM dollar', b: 'BTC' }, token) =>
      newScene({ coins, chains, walletsOf, now, token }),
    balance: async (party, coin) => {
      const chain = chainOf(coin);
      const { address } = walletsOf[party].get(chain.chain) as Wallet;
      return balanceOf(chain, tokenOf(chain, coin), address);
    },
    stop,
  };
}

const families = {
  BTC: 'bitcoin',
  ETH: 'evm',
  'EVM dollar': 'evm',
  TRX: 'tron',
  'TRON dollar': 'tron',
  SOL: 'solana',
  'SPL dollar': 'solana',
} as const satisfies Record<string, Served['family']>;

function chainIn(chains: readonly Served[], coin: Coin): Served {
  const found = chains.find(({ family }) => family === families[coin]);
  if (found === undefined) throw new Error(`there is no chain of ${coin}`);
  return found;
}

function tokenOf(chain: Served, coin: Coin): string | null {
  return coin.endsWith('dollar') ? (chain.tokens?.[0]?.address ?? null) : null;
}

function walletOn(chain: Served): Wallet {
  const privateKey = randomBytes(32).toString('hex');
  const { rpcUrl, chainId = 0 } = chain;
  switch (chain.family) {
    case 'bitcoin':
      return bitcoinWallet({
        privateKey,
        network: bitcoinNetworks.regtest,
        source: coreCoins(rpcUrl),
      });
    case 'evm':
      return evmWallet({ rpcUrl, chainId, privateKey: `0x${privateKey}` });
    case 'tron':
      return tronWallet({ chain: chain.chain, sources: [{ url: rpcUrl }], privateKey });
    case 'solana':
      return solanaWallet({
        chain: chain.chain,
        rpcUrls: [rpcUrl],
        secretKey: Uint8Array.from(Buffer.from(privateKey, 'hex')),
      });
  }
}

async function newWallets(dev: DevnetClient, chains: readonly Served[]): Promise<Wallets> {
  const wallets = new Map(chains.map((each) => [each.chain, walletOn(each)]));
  for (const { chain, family, tokens = [] } of chains) {
    const { address } = wallets.get(chain) as Wallet;
    // Fundings that wait for a block take a coin each.
    const coins = Array.from({ length: family === 'bitcoin' ? 8 : 1 });
    const amount = family === 'bitcoin' ? { amount: 5_000_000n } : {};
    for (const _ of coins) await dev.faucet({ chain, address, ...amount });
    if (tokens[0] !== undefined) await dev.faucet({ chain, address, asset: tokens[0].address });
  }
  // As they are now: a test may put others in their place.
  const of = (family: Wallet['family']) =>
    wallets.get(chains.find((each) => each.family === family)?.chain ?? '');
  return Object.defineProperties(wallets, {
    evm: { get: () => of('evm') },
    bitcoin: { get: () => of('bitcoin') },
  }) as Wallets;
}

function sourceOn(chain: Served, now: () => number): ChainSource {
  const { chain: key, rpcUrl, chainId = 0, escrows = '', escrowsCreation: creation = '' } = chain;
  switch (chain.family) {
    case 'bitcoin':
      return bitcoinSource({ chain: key, network: 'regtest', source: { coreUrl: rpcUrl }, now });
    case 'evm':
      return evmSource({ chain: key, chainId, rpcUrls: [rpcUrl] });
    case 'tron':
      return tronSource({
        chain: key,
        deployment: { chainId, contract: escrows, creation },
        sources: [{ url: rpcUrl }],
        policy: tronDevPolicy,
      });
    case 'solana':
      return solanaSource({ chain: key, rpcUrls: [rpcUrl], now });
  }
}

function newScene(from: {
  coins: Record<LegName, Coin>;
  chains: readonly Served[];
  walletsOf: FourChains['walletsOf'];
  now: () => number;
  token: Dollar | undefined;
}): Scene {
  const { coins, chains, walletsOf, now, token } = from;
  const secret = randomBytes(32).toString('hex');
  const id = crypto.randomUUID();
  const [a, b] = [chainIn(chains, coins.a), chainIn(chains, coins.b)];
  const home = (party: Party) => ({
    a: destination(walletsOf[party], a),
    b: destination(walletsOf[party], b),
  });
  const asset = (leg: LegName, on: Served) => ({
    id: coins[leg],
    chain: on.chain,
    token: coins[leg] === 'EVM dollar' && token ? token.address : tokenOf(on, coins[leg]),
    decimals: 6,
    highValueFrom: null,
  });
  const market = paperMarket({
    id,
    secret,
    agreedAt: now(),
    assets: { a: asset('a', a), b: asset('b', b) },
    amounts: { a: amounts[coins.a], b: amounts[coins.b] },
    homes: { maker: home('maker'), taker: home('taker') },
    sources: { a: sourceOn(a, now), b: sourceOn(b, now) },
  });
  const input = (party: Party): SettleInput => ({
    swapId: id,
    trade: market.trade(party),
    client: market.client(party),
    sources: new Map([a, b].map((each) => [each.chain, sourceOn(each, now)])),
    wallets: new Map<string, Wallet>(walletsOf[party]),
    store: memoryStore(),
    now,
    pollMs: 250,
    marketPollMs: 200,
  });
  return { market, secret, input };
}

function destination(wallets: Wallets, { chain }: Served) {
  const wallet = wallets.get(chain) as Wallet;
  const pubkey = wallet.family === 'bitcoin' ? wallet.pubkey : null;
  return { address: wallet.address, pubkey };
}

async function balanceOf(chain: Served, token: string | null, address: string): Promise<bigint> {
  const post = async (path: string, body: object) => {
    const url = new URL(path, chain.rpcUrl);
    const headers = { 'content-type': 'application/json' };
    const signal = AbortSignal.timeout(15_000);
    const answer = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal,
    });
    return (await answer.json()) as Record<string, unknown> & { constant_result?: string[] };
  };
  if (chain.family === 'bitcoin') {
    const coins = await coreCoins(chain.rpcUrl).coins(address, AbortSignal.timeout(30_000));
    return coins.reduce((sum, { amountSats }) => sum + amountSats, 0n);
  }
  if (chain.family === 'tron' && token === null) {
    const { balance = 0 } = await post('/wallet/getaccount', { address, visible: true });
    return BigInt(balance as number);
  }
  if (chain.family === 'tron') {
    const { constant_result: [word] = [] } = await post('/wallet/triggerconstantcontract', {
      owner_address: address,
      contract_address: token,
      function_selector: 'balanceOf(address)',
      parameter: tronHex(address).slice(2).padStart(64, '0'),
      visible: true,
    });
    return BigInt(`0x${word}`);
  }
  if (chain.family === 'solana') {
    const [method, params] =
      token === null
        ? ['getBalance', [address, { commitment: 'processed' }]]
        : [
            'getTokenAccountsByOwner',
            [address, { mint: token }, { commitment: 'processed', encoding: 'jsonParsed' }],
          ];
    const { result } = await post('/', { jsonrpc: '2.0', id: 1, method, params });
    const { value } = result as { value: unknown };
    if (token === null) return BigInt(value as number);
    const accounts = value as {
      account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } };
    }[];
    return accounts.reduce(
      (sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount),
      0n,
    );
  }
  throw new Error(`balances of ${chain.family} are not read here`);
}
