// Where the demo plays, with what money, and what it plays there: one chain of each family of a dev
// network, each chain's own coin and a dollar token where it has tokens.

import type { Family } from '@parley/core/families.ts';
import type { DevnetStatus } from '../devnet/client.ts';

/** Base units: the amounts that everyone begins with, and the amount of a swap. */
const money = {
  BTC: { family: 'bitcoin', decimals: 8, gift: 20_000_000n, traded: 1_000_000n },
  ETH: { family: 'evm', decimals: 18, gift: 20n * 10n ** 18n, traded: 10n ** 18n / 4n },
  'EVM dollar': { family: 'evm', decimals: null, gift: 10n ** 10n, traded: 640_000_000n },
  TRX: { family: 'tron', decimals: 6, gift: 10n ** 11n, traded: 2_000_000_000n },
  'TRON dollar': { family: 'tron', decimals: null, gift: 10n ** 10n, traded: 640_000_000n },
  SOL: { family: 'solana', decimals: 9, gift: 10n ** 11n, traded: 4_000_000_000n },
  'SPL dollar': { family: 'solana', decimals: null, gift: 10n ** 10n, traded: 640_000_000n },
} as const;

export type CoinName = keyof typeof money;
export const coinNames = Object.keys(money) as CoinName[];

export type Coin = {
  readonly name: CoinName;
  readonly family: Family;
  readonly chain: string;
  /** Whether its chain's clock can be moved past a timelock. */
  readonly clockMoves: boolean;
  readonly symbol: string;
  /** Contract or mint; null = the chain's own coin. */
  readonly token: string | null;
  readonly decimals: number;
  readonly gift: bigint;
};

type Chain = { readonly chain: string; readonly rpcUrl: string };
export type Place = {
  readonly bitcoin: Chain;
  readonly evm: Chain & { readonly chainId: number };
  /** The contract of all escrows, base58, and the transaction that created it. */
  readonly tron: Chain & {
    readonly chainId: number;
    readonly escrows: string;
    readonly creation: string;
  };
  readonly solana: Chain & { readonly program: string };
  readonly coins: Readonly<Record<CoinName, Coin>>;
};

type Served = DevnetStatus['chains'][number];

/** Each chain with what runs it: a reader must not take a simulator for a node. */
export function namesOf({ chains }: Pick<DevnetStatus, 'chains'>): string {
  const what = (name: string) => (name.includes('simulator') ? 'a SIMULATOR, no node' : name);
  return chains.map(({ chain, node }) => `${chain} (${what(node.name)})`).join(', ');
}

/** The chains and coins of the demo; throws where one is missing. */
export function placeOf({ chains }: Pick<DevnetStatus, 'chains'>): Place {
  const served = (family: Family): Served => {
    const found = chains.find((each) => each.family === family);
    if (found !== undefined) return found;
    const how = ': the market says at its start how to get a bitcoind';
    throw new Error(`the dev network has no ${family} chain${family === 'bitcoin' ? how : ''}`);
  };
  const bitcoin = served('bitcoin');
  const evm = served('evm');
  const tron = served('tron');
  const solana = served('solana');
  return {
    bitcoin: at(bitcoin),
    evm: { ...at(evm), chainId: given(evm, 'chainId') },
    tron: {
      ...at(tron),
      chainId: given(tron, 'chainId'),
      escrows: given(tron, 'escrows'),
      creation: given(tron, 'escrowsCreation'),
    },
    solana: { ...at(solana), program: given(solana, 'program') },
    coins: Object.fromEntries(
      coinNames.map((name) => [name, coinOf(name, served(money[name].family))]),
    ) as Place['coins'],
  };
}

const at = ({ chain, rpcUrl }: Served) => ({ chain, rpcUrl });

function given<Name extends keyof Served>(of: Served, name: Name): NonNullable<Served[Name]> {
  const value = of[name];
  if (value != null) return value;
  throw new Error(`the dev network does not say the ${name} of ${of.chain}`);
}

/** A dollar is the token that takes permits, else the first that the chain lists for trading. */
function coinOf(name: CoinName, of: Served): Coin {
  const { family, decimals, gift } = money[name];
  const { chain, hasOwnClock = false, native, tokens = [] } = of;
  const known = { name, family, chain, clockMoves: !hasOwnClock, gift };
  if (decimals !== null) return { ...known, symbol: native, token: null, decimals };
  const dollar = tokens.find(({ symbol }) => symbol === 'USDV') ?? tokens[0];
  if (dollar === undefined) throw new Error(`the dev network has no token on ${chain}`);
  return { ...known, symbol: dollar.symbol, token: dollar.address, decimals: dollar.decimals };
}

export type Money = { readonly coin: CoinName; readonly amount: bigint };

/**
 * How a swap of the demo goes. `away`: the payee on Bitcoin leaves for good right after its funding,
 * and is paid. `given up`: both have funded, and release each other's coins before the timelocks.
 */
export type Ending = 'settled' | 'away' | 'no show' | 'both refund' | 'given up';

export const settles = ({ ends }: Pick<Plan<unknown>, 'ends'>) =>
  ends === 'settled' || ends === 'away';

export type Plan<Person> = {
  readonly pair: string;
  readonly ends: Ending;
  /** Some coins of it go back by their timelock. */
  readonly isLate: boolean;
  readonly taker: Person;
  readonly maker: Person;
  readonly takerGives: Money;
  readonly makerGives: Money;
};

type Sketch = readonly [taker: CoinName, maker: CoinName, Ending?];

const few: readonly Sketch[] = [
  ['BTC', 'TRON dollar'],
  ['SPL dollar', 'EVM dollar'],
  ['TRX', 'SOL'],
  ['BTC', 'EVM dollar', 'no show'],
  ['SOL', 'TRON dollar', 'both refund'],
  ['BTC', 'ETH', 'away'],
  ['SOL', 'EVM dollar', 'given up'],
];
/**
 * Every ordered pair of families; then money comes back on each of the four chains, and before its
 * timelock on each.
 */
const every: readonly Sketch[] = [
  ['BTC', 'EVM dollar'],
  ['ETH', 'BTC'],
  ['BTC', 'TRON dollar'],
  ['TRX', 'BTC'],
  ['BTC', 'SPL dollar'],
  ['SOL', 'BTC'],
  ['EVM dollar', 'TRX'],
  ['TRON dollar', 'ETH'],
  ['ETH', 'SPL dollar'],
  ['SOL', 'EVM dollar'],
  ['TRON dollar', 'SOL'],
  ['SPL dollar', 'TRX'],
  ['EVM dollar', 'BTC', 'no show'],
  ['SOL', 'TRON dollar', 'no show'],
  ['TRX', 'SPL dollar', 'both refund'],
  ['BTC', 'ETH', 'both refund'],
  ['BTC', 'EVM dollar', 'away'],
  ['ETH', 'TRON dollar', 'given up'],
  ['SPL dollar', 'TRX', 'given up'],
  ['SOL', 'EVM dollar', 'given up'],
  ['BTC', 'ETH', 'given up'],
];

const isLate = (ends: Ending) => ends === 'no show' || ends === 'both refund';

/** A late refund needs clocks that can be moved: that of a real node is its own. */
export function plansOf<P>(all: boolean, { coins }: Place, alice: P, bob: P): Plan<P>[] {
  const label = (name: CoinName) => {
    const { token, symbol, family } = coins[name];
    return token === null ? name : `${symbol} (${family})`;
  };
  const plans = (all ? every : few).map(([gives, gets, ends = 'settled'], place) => {
    const [taker, maker] = place % 2 === 0 ? [alice, bob] : [bob, alice];
    // Swaps differ from each other by their place in the list.
    const some = (coin: CoinName) => ({
      coin,
      amount: money[coin].traded + BigInt(place) * 1_000n,
    });
    const pair = `${label(gives)}/${label(gets)}`;
    const how = { pair, ends, isLate: isLate(ends), taker, maker };
    return { ...how, takerGives: some(gives), makerGives: some(gets) };
  });
  const moves = ({ coin }: Money) => coins[coin].clockMoves;
  return plans.filter((each) => !each.isLate || (moves(each.takerGives) && moves(each.makerGives)));
}
