// What the demo plays: by default five swaps, three that settle and two that do not; with `--all`
// every ordered pair of the four families, coins and tokens mixed, and a refund on each chain
// whose clock can be moved: that of a real node is its own.

import type { Person } from './people.ts';
import type { CoinName, Place } from './place.ts';

export type Money = { readonly coin: CoinName; readonly amount: bigint };

/** How a swap of the demo goes. */
export type Ending = 'settled' | 'no show' | 'both refund';

export type Plan = {
  readonly pair: string;
  readonly ends: Ending;
  readonly taker: Person;
  readonly maker: Person;
  readonly takerGives: Money;
  readonly makerGives: Money;
};

type Sketch = readonly [CoinName, CoinName, Ending?];

/** The taker's coin, the maker's, and how it ends. */
const five: readonly Sketch[] = [
  ['BTC', 'TRON dollar'],
  ['SPL dollar', 'EVM dollar'],
  ['TRX', 'SOL'],
  ['BTC', 'EVM dollar', 'no show'],
  ['SOL', 'TRON dollar', 'both refund'],
];

const twelvePairs: readonly Sketch[] = [
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
];

/** Between them money comes back on each of the four chains, coins and tokens. */
const refunds: readonly Sketch[] = [
  ['EVM dollar', 'BTC', 'no show'],
  ['SOL', 'TRON dollar', 'no show'],
  ['TRX', 'SPL dollar', 'both refund'],
  ['BTC', 'ETH', 'both refund'],
];

/** Of each coin, in its base units; swaps differ from each other by their place in the list. */
const amounts: Readonly<Record<CoinName, bigint>> = {
  BTC: 1_000_000n,
  ETH: 250_000_000_000_000_000n,
  'EVM dollar': 640_000_000n,
  TRX: 2_000_000_000n,
  'TRON dollar': 640_000_000n,
  SOL: 4_000_000_000n,
  'SPL dollar': 640_000_000n,
};

export function plansOf(all: boolean, place: Place, alice: Person, bob: Person): Plan[] {
  const canWait = ([gives, gets, ends = 'settled']: Sketch) =>
    ends === 'settled' || [gives, gets].every((coin) => place.coins[coin].clockMoves);
  const sketches = (all ? [...twelvePairs, ...refunds] : five).filter(canWait);
  return sketches.map(([gives, gets, ends = 'settled'], at) => {
    const [taker, maker] = at % 2 === 0 ? [alice, bob] : [bob, alice];
    const money = (coin: CoinName): Money => ({
      coin,
      amount: amounts[coin] + BigInt(at) * 1_000n,
    });
    const label = (coin: CoinName) =>
      place.coins[coin].token === null ? coin : `${place.coins[coin].symbol} (${familyOf(coin)})`;
    return {
      pair: `${label(gives)}/${label(gets)}`,
      ends,
      taker,
      maker,
      takerGives: money(gives),
      makerGives: money(gets),
    };
  });
}

function familyOf(token: CoinName): string {
  return token.replace(' dollar', '').toLowerCase();
}
