// Tests only: real chains (bitcoind on regtest, anvil), two funded parties, and swaps between them.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bitcoinNetworks } from '../../chains/bitcoin/networks.ts';
import type { Party } from '../../core/trade.ts';
import { type DevnetClient, devnetClient } from '../../devnet/client.ts';
import { startDevnet } from '../../devnet/devnet.ts';
import type { ChainSource, SettleInput } from '../settle/context.ts';
import { bitcoinSource, evmSource } from '../sources.ts';
import { memoryStore } from '../stores/memory.ts';
import { bitcoinWallet } from '../wallets/bitcoin.ts';
import { coreCoins } from '../wallets/coins.ts';
import { evmWallet } from '../wallets/evm.ts';
import type { BitcoinWallet, EvmWallet, Wallet } from '../wallets/wallet.ts';
import { type PaperMarket, paperMarket } from './paper-market.ts';

type Purse = { readonly bitcoin: BitcoinWallet; readonly evm: EvmWallet };

export type Dollar = { readonly address: string; readonly decimals: number };

export type TwoChains = {
  readonly dev: DevnetClient;
  now(): number;
  /** Moves both chains and this clock. */
  move(seconds: number): Promise<void>;
  readonly purses: Record<Party, Purse>;
  /** A new swap: the taker gives 0.01 BTC for 500 dollars of the maker, of this token if given. */
  swap(token?: Dollar): Scene;
  stop(): Promise<void>;
};

export type Scene = {
  readonly market: PaperMarket;
  readonly secret: string;
  /** All that settle needs of one side, with a store of its own. */
  input(party: Party): SettleInput;
};

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const evmKey = 'evm-dev';
const coinSats = 5_000_000n;

export async function twoChains(): Promise<TwoChains> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-sdk-'));
  const chains = { bitcoin: true, tron: false, solana: false };
  const devnet = await startDevnet({ dir, log: quiet, ...chains, moveClock: () => undefined });
  const stop = async () => {
    await devnet.stop();
    await rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  try {
    return await withParties(devnet, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function withParties(
  devnet: Awaited<ReturnType<typeof startDevnet>>,
  stop: () => Promise<void>,
): Promise<TwoChains> {
  const dev = devnetClient(devnet.dev);
  const clock = { offset: 0 };
  const now = () => Math.floor(Date.now() / 1000) + clock.offset;
  const bitcoin = devnet.chains.find(({ family }) => family === 'bitcoin');
  const evm = devnet.chains.find(({ chain }) => chain === evmKey);
  const dollar = evm?.tokens?.[0];
  if (!bitcoin || !evm?.chainId || !dollar) throw new Error('a dev chain is missing');
  const chainId = evm.chainId;
  const purse = async (): Promise<Purse> => {
    const made = {
      bitcoin: bitcoinWallet({
        privateKey: randomBytes(32).toString('hex'),
        network: bitcoinNetworks.regtest,
        source: coreCoins(bitcoin.rpcUrl),
      }),
      evm: evmWallet({
        rpcUrl: evm.rpcUrl,
        chainId,
        privateKey: `0x${randomBytes(32).toString('hex')}`,
      }),
    };
    const coin = { chain: bitcoin.chain, address: made.bitcoin.address, amount: coinSats };
    for (let count = 0; count < 8; count += 1) await dev.faucet(coin);
    const address = made.evm.address;
    await dev.faucet({ chain: evmKey, address });
    await dev.faucet({ chain: evmKey, address, asset: dollar.symbol });
    return made;
  };
  const purses = { maker: await purse(), taker: await purse() };
  const sources = () => ({
    a: evmSource({ chain: evmKey, chainId, rpcUrls: [evm.rpcUrl] }),
    b: bitcoinSource({
      chain: bitcoin.chain,
      network: 'regtest',
      source: { coreUrl: bitcoin.rpcUrl },
      now,
    }),
  });
  const move = async (seconds: number) => {
    clock.offset = (await dev.time(seconds)).clockOffsetSeconds;
  };
  const usual = { address: dollar.address, decimals: dollar.decimals };
  const swap = (token: Dollar = usual) =>
    newScene({ now, purses, sources, bitcoin: bitcoin.chain, token });
  return { dev, now, move, purses, swap, stop };
}

function newScene(from: {
  now: () => number;
  purses: Record<Party, Purse>;
  sources: () => { a: ChainSource; b: ChainSource };
  bitcoin: string;
  token: Dollar;
}): Scene {
  const { now, purses, bitcoin, token } = from;
  const secret = randomBytes(32).toString('hex');
  const home = (party: Party) => ({
    a: { address: purses[party].evm.address, pubkey: null },
    b: { address: purses[party].bitcoin.address, pubkey: purses[party].bitcoin.pubkey },
  });
  const id = crypto.randomUUID();
  const market = paperMarket({
    id,
    secret,
    agreedAt: now(),
    assets: {
      a: { id: 'dollar', chain: evmKey, token: token.address, decimals: 6, highValueFrom: null },
      b: { id: 'coin', chain: bitcoin, token: null, decimals: 8, highValueFrom: null },
    },
    amounts: { a: 500_000_000n, b: 1_000_000n },
    homes: { maker: home('maker'), taker: home('taker') },
    sources: from.sources(),
  });
  const input = (party: Party): SettleInput => {
    const own = from.sources();
    return {
      swapId: id,
      trade: market.trade(party),
      client: market.client(party),
      sources: new Map([
        [evmKey, own.a],
        [bitcoin, own.b],
      ]),
      wallets: new Map<string, Wallet>([
        [evmKey, purses[party].evm],
        [bitcoin, purses[party].bitcoin],
      ]),
      store: memoryStore(),
      now,
      pollMs: 250,
      marketPollMs: 200,
    };
  };
  return { market, secret, input };
}
