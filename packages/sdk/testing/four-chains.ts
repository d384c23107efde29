// Tests only: dev chains of all four families, two parties with funds, and swaps between any two
// coins. TRON and Solana are simulators, bitcoind (regtest) and anvil are real. The files of a
// process share the chains, each with parties of its own.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LegName, Party } from '@parley/core/trade.ts';
import { ledgers } from '@parley/dev/demo/ledger.ts';
import { chainsOf, type Keys, newKeys, type Wallets, walletsOf } from '@parley/dev/demo/people.ts';
import { type CoinName, type Place, placeOf } from '@parley/dev/demo/place.ts';
import { type DevnetClient, type DevnetStatus, devnetClient } from '@parley/dev/devnet/client.ts';
import { startDevnet } from '@parley/dev/devnet/devnet.ts';
import { type Chains, destinationIn } from '../chains.ts';
import type { SettleInput } from '../settle/context.ts';
import { memoryStore } from '../stores/memory.ts';
import { sourceIn } from '../trade.ts';
import type { EvmWallet } from '../wallets/wallet.ts';
import { type PaperMarket, paperMarket } from './paper-market.ts';

export type Coin = CoinName;
export type Dollar = { readonly address: string; readonly decimals: number };

export type Scene = {
  readonly market: PaperMarket;
  readonly secret: string;
  /** All that settle needs of one side, with a store of its own. */
  input(party: Party): SettleInput;
};

export type Served = DevnetStatus['chains'][number];

/**
 * In the place of what is usual: the token of EVM, the maker's wallet there, the taker's secret
 * and its Bitcoin wallet.
 */
type Instead = {
  readonly token?: Dollar;
  readonly maker?: EvmWallet;
  readonly secret?: string;
  readonly bitcoin?: Wallets['bitcoin'];
};

export type FourChains = {
  readonly dev: DevnetClient;
  /** Address of the control server behind it. */
  readonly control: string;
  readonly place: Place;
  readonly walletsOf: Record<Party, Wallets>;
  /** The keys of those wallets. */
  readonly keysOf: Record<Party, Keys>;
  now(): number;
  /** Moves all chains and this clock. */
  move(seconds: number): Promise<void>;
  /**
   * The taker gives `b` and is the initiator, the maker gives `a`: 500 dollars for 0.01 BTC unless
   * told.
   */
  swap(coins?: Record<LegName, Coin>, instead?: Instead): Scene;
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

type Network = { readonly control: string; stop(): Promise<void> };
const shared: { users: number; network: Promise<Network> | null } = { users: 0, network: null };

/** Keeps the chains of this process until it is released; the last one to do so ends them. */
export function reserved(): () => Promise<void> {
  shared.users += 1;
  return async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    const { network } = shared;
    shared.network = null;
    await (await network)?.stop();
  };
}

async function startNetwork(): Promise<Network> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-sdk-'));
  const clear = () => rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  try {
    const moveClock = () => undefined;
    const devnet = await startDevnet({ dir, log: quiet, bitcoin: true, moveClock });
    const stop = async () => {
      await devnet.stop();
      await clear();
    };
    return { control: devnet.dev, stop };
  } catch (error) {
    await clear();
    throw error;
  }
}

/** `through`: the node by which both parties see a chain; default the chain's own. */
export async function fourChains(
  through: (chain: Served) => Promise<string> = async ({ rpcUrl }) => rpcUrl,
): Promise<FourChains> {
  const stop = reserved();
  try {
    shared.network ??= startNetwork();
    const { control } = await shared.network;
    return { ...(await withParties(control, through)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function withParties(
  control: string,
  through: (chain: Served) => Promise<string>,
): Promise<Omit<FourChains, 'stop'>> {
  const dev = devnetClient(control);
  const status = await dev.status();
  const chains: Served[] = [];
  for (const each of status.chains) chains.push({ ...each, rpcUrl: await through(each) });
  const place = placeOf({ chains });
  let offset = status.clockOffsetSeconds;
  const now = () => Math.floor(Date.now() / 1000) + offset;
  const keysOf = { maker: newKeys(), taker: newKeys() };
  const parties = { maker: walletsOf(place, keysOf.maker), taker: walletsOf(place, keysOf.taker) };
  for (const wallets of Object.values(parties)) await fill(dev, place, wallets);
  // A new adapter reads the blocks of the last hours, so those of a file stay for all its scenes.
  const own = () => chainsOf(place, now, parties.taker);
  const sources = { market: own(), maker: own(), taker: own() };
  return {
    dev,
    control,
    place,
    walletsOf: parties,
    keysOf,
    now,
    move: async (seconds) => {
      offset = (await dev.time(seconds)).clockOffsetSeconds;
    },
    swap: (coins = { a: 'EVM dollar', b: 'BTC' }, instead = {}) =>
      newScene({ coins, place, parties, sources, now, instead }),
    balance: async (party, coin) => {
      const { family, token } = place.coins[coin];
      const { address } = parties[party][family];
      return ledgers[family].balance(place[family].rpcUrl, address, token);
    },
  };
}

/** Pays in each coin; Bitcoin in several, as fundings that wait for a block take one each. */
async function fill(dev: DevnetClient, place: Place, wallets: Wallets): Promise<void> {
  for (const { name, family, chain, token } of Object.values(place.coins)) {
    const { address } = wallets[family];
    const gift = { chain, address, ...(token === null ? {} : { asset: token }) };
    const coins = Array.from({ length: name === 'BTC' ? 8 : 1 });
    for (const _ of coins) await dev.faucet({ ...gift, ...(name === 'BTC' && { amount }) });
  }
}
const amount = 5_000_000n;

function newScene(from: {
  coins: Record<LegName, Coin>;
  place: Place;
  parties: FourChains['walletsOf'];
  sources: Record<Party | 'market', Chains>;
  now: () => number;
  instead: Instead;
}): Scene {
  const { coins, place, parties, sources, now, instead } = from;
  const { secret = randomBytes(32).toString('hex'), maker = parties.maker.evm } = instead;
  const { bitcoin = parties.taker.bitcoin } = instead;
  const id = crypto.randomUUID();
  const walletsOf = {
    taker: { ...parties.taker, bitcoin },
    maker: { ...parties.maker, evm: maker },
  };
  const home = (party: Party) => ({ a: destination(party, 'a'), b: destination(party, 'b') });
  const destination = (party: Party, leg: LegName) => {
    const { family, chain } = place.coins[coins[leg]];
    return destinationIn({ [chain]: { wallet: walletsOf[party][family] } }, chain);
  };
  const asset = (leg: LegName) => {
    const { name, chain, token: usual } = place.coins[coins[leg]];
    const token = name === 'EVM dollar' && instead.token ? instead.token.address : usual;
    return { id: name, chain, token, decimals: 6, highValueFrom: null };
  };
  const assets = { a: asset('a'), b: asset('b') };
  const sourceOn = (who: Party | 'market', leg: LegName) =>
    sourceIn(sources[who], assets[leg].chain);
  const market = paperMarket({
    id,
    secret,
    agreedAt: now(),
    assets,
    amounts: { a: amounts[coins.a], b: amounts[coins.b] },
    homes: { maker: home('maker'), taker: home('taker') },
    sources: { a: sourceOn('market', 'a'), b: sourceOn('market', 'b') },
  });
  const input = (party: Party): SettleInput => ({
    swapId: id,
    trade: market.trade(party),
    client: market.client(party),
    chains: Object.fromEntries(
      (['a', 'b'] as const).map((leg) => {
        const wallet = walletsOf[party][place.coins[coins[leg]].family];
        return [assets[leg].chain, { source: sourceOn(party, leg), wallet }];
      }),
    ),
    store: memoryStore(),
    now,
    pollMs: 250,
    marketPollMs: 200,
  });
  return { market, secret, input };
}
