// Balances read from the nodes themselves, and network fees computed from the transactions, to the
// last base unit. The market is asked nothing here.

import { bitcoinFees, bitcoinOf } from './ledger/bitcoin.ts';
import { evmBalance, evmFees } from './ledger/evm.ts';
import { solanaBalance, solanaFees } from './ledger/solana.ts';
import { tronBalance, tronFees } from './ledger/tron.ts';
import type { Person } from './people.ts';
import { type CoinName, coinNames, type Place } from './place.ts';

/** Base units of each coin. */
export type Holding = Readonly<Record<CoinName, bigint>>;

export const nothing: Holding = {
  BTC: 0n,
  ETH: 0n,
  'EVM dollar': 0n,
  TRX: 0n,
  'TRON dollar': 0n,
  SOL: 0n,
  'SPL dollar': 0n,
};

export function add(one: Holding, other: Holding): Holding {
  const sum = { ...one };
  for (const name of coinNames) sum[name] += other[name];
  return sum;
}

/** What a person holds now. */
export async function holdingOf(person: Person, place: Place): Promise<Holding> {
  const held = { ...nothing };
  for (const name of coinNames) {
    const coin = place.coins[name];
    if (coin.chain === place.bitcoin.chain) held[name] = await bitcoinOf(person, place);
    else if (coin.chain === place.evm.chain) held[name] = await evmBalance(person, place, coin);
    else if (coin.chain === place.tron.chain) held[name] = await tronBalance(person, place, coin);
    else held[name] = await solanaBalance(person, place, coin);
  }
  return held;
}

/** What a person did on the chains: transactions it sent and escrows it funded, by chain. */
export type Doings = {
  readonly sent: Map<string, Set<string>>;
  readonly escrows: Map<string, Set<string>>;
};

/** Network fees of a person's transactions, each counted once, and rent that is not returned. */
export async function feesOf(person: Person, place: Place, doings: Doings): Promise<Holding> {
  const sent = (chain: string) => doings.sent.get(chain) ?? new Set<string>();
  const { bitcoin, evm, tron, solana } = place;
  const escrows = doings.escrows.get(solana.chain) ?? new Set();
  return {
    ...nothing,
    BTC: await bitcoinFees(place, sent(bitcoin.chain)),
    ETH: await evmFees(person, place, sent(evm.chain)),
    TRX: await tronFees(person, place, sent(tron.chain)),
    SOL: await solanaFees(person, place, sent(solana.chain), escrows),
  };
}

/** Adds to what a person is known to have done on a chain. */
export function note(of: Map<string, Set<string>>, chain: string, id: string): void {
  const known = of.get(chain);
  if (known === undefined) of.set(chain, new Set([id]));
  else known.add(id);
}
