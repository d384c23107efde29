// Gas keys in whole coins, and for how many transactions the balance lasts. Pure.

import type { GasPaid, NativeCoin } from '../db/operator.ts';
import type { Figures } from './figures.ts';

/** The newest transactions of a key, by whose cost the next ones are reckoned. */
export const reckonedBy = 100;

export type GasKey = {
  readonly chain: string;
  readonly coin: Pick<NativeCoin, 'symbol' | 'decimals'>;
  /** Base units. */
  readonly balance: bigint;
  readonly reserved: bigint;
  readonly low: bigint;
  readonly spentToday: bigint;
  readonly dailyCap: bigint;
  /** How many transactions the free part pays for; null: the key has sent none yet. */
  readonly enoughFor: bigint | null;
  readonly isLow: boolean;
  /** Open jobs, all purposes. */
  readonly jobs: number;
};

const zero = { value: 0 };

export function gasKeys(
  figures: Figures,
  coins: ReadonlyMap<string, Pick<NativeCoin, 'symbol' | 'decimals'>>,
  paid: readonly GasPaid[],
): readonly GasKey[] {
  const byChain = figures.all('keeper_balance').toSorted((one, other) => {
    return (one.labels.chain ?? '').localeCompare(other.labels.chain ?? '');
  });
  return byChain.map(({ labels, value }) => {
    const { chain = '' } = labels;
    const units = (name: string) => {
      return BigInt(Math.floor((figures.one(name, { chain }) ?? zero).value));
    };
    const balance = BigInt(Math.floor(value));
    const reserved = units('keeper_reserved');
    const low = units('keeper_low_balance');
    const free = balance - reserved;
    const of = paid.find((each) => each.chain === chain);
    const jobs = figures.all('keeper_jobs').filter((each) => each.labels.chain === chain);
    return {
      chain,
      coin: coins.get(chain) ?? { symbol: chain, decimals: 0 },
      balance,
      reserved,
      low,
      spentToday: units('keeper_spent_today'),
      dailyCap: units('keeper_daily_cap'),
      enoughFor: enoughFor(free, of),
      isLow: free < low,
      jobs: jobs.reduce((sum, each) => sum + each.value, 0),
    };
  });
}

/** Rounded down, and each transaction's cost up. */
export function enoughFor(free: bigint, paid: GasPaid | undefined): bigint | null {
  if (paid === undefined || paid.transactions === 0 || paid.charged <= 0n) return null;
  const count = BigInt(paid.transactions);
  const each = (paid.charged + count - 1n) / count;
  return free <= 0n ? 0n : free / each;
}
