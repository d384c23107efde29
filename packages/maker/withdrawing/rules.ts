// Whether a withdrawal leaves what the maker has promised: as a funding, it takes nothing of the
// reserve and of what open quotes and swaps may take, and it leaves gas. Pure.

import { formatUnits } from '@parley/core/amounts.ts';
import type { BaseUnits, Millis } from '@parley/core/nominal.ts';
import {
  type Costs,
  type Holding,
  holdingOf,
  type Needs,
  type Stock,
  shortageOf,
  swapsPayable,
  takenOf,
} from '../rules/inventory.ts';
import type { Withdrawal } from './withdrawal.ts';

export type Wanted = Pick<Withdrawal, 'asset' | 'chain' | 'token' | 'decimals' | 'amount'>;

export type Known = Stock & {
  readonly nowMs: Millis;
  /** Costs of the asset: a payment takes no more than a funding. null: its chain does not tell. */
  readonly costs: Costs | null;
  /** The dearest of the chain's assets, by which its gas is counted. */
  readonly dearest: Costs | null;
  /** For so many swaps the chain's coin must still pay. */
  readonly leastSwaps: number;
  readonly coinDecimals: number;
};

/** The most that its fee may come to, units of the chain's own coin. */
export function mostFeeOf({ fund, deposit }: Costs): BaseUnits {
  return fund + deposit;
}

export function needsOf({ chain, token, amount }: Wanted, costs: Costs): Needs {
  const coin = holdingOf({ chain, token: null });
  const needs = new Map<Holding, BaseUnits>([[coin, mostFeeOf(costs)]]);
  const own = holdingOf({ chain, token });
  return needs.set(own, (needs.get(own) ?? 0n) + amount);
}

/** The units beyond reserve and promises; null: no balance was read that is new enough. */
function freeOf(known: Known, holding: Holding): BaseUnits | null {
  const balance = known.balances.get(holding);
  if (balance === undefined) return null;
  const reserve = known.reserves.get(holding) ?? 0n;
  return balance.units - reserve - takenOf(holding, balance, known.commitments);
}

/** Units of the chain's coin that pay for `leastSwaps`. */
function gasToLeave({ dearest, leastSwaps }: Known): BaseUnits {
  if (dearest === null || leastSwaps === 0) return 0n;
  const { fund, deposit, refund, claim, settlesFromAmount } = dearest;
  const each = settlesFromAmount ? fund : fund + deposit + refund + claim;
  return each * BigInt(leastSwaps);
}

/** The largest amount that would not be refused; 0 where there is none. */
export function mostOf(wanted: Omit<Wanted, 'amount'>, known: Known): BaseUnits {
  const { costs } = known;
  const free = freeOf(known, holdingOf(wanted));
  if (free === null || costs === null) return 0n;
  const most = wanted.token === null ? free - mostFeeOf(costs) - gasToLeave(known) : free;
  return most > 0n ? most : 0n;
}

/** null: it leaves all that it must. */
export function refusalOf(wanted: Wanted, known: Known): string | null {
  const { chain, token, asset, decimals, amount } = wanted;
  const { costs, dearest, leastSwaps, coinDecimals } = known;
  if (costs === null) return `the fees of ${chain} cannot be read: nothing is signed`;
  const short = shortageOf(known, needsOf(wanted, costs), known.nowMs);
  if (short !== null) {
    const isAsset = short.holding === holdingOf(wanted);
    const shown = (units: BaseUnits) =>
      isAsset ? `${formatUnits(units, decimals)} ${asset}` : coins(units, coinDecimals, chain);
    if (short.has === null) return `no balance of ${short.holding} could be read`;
    return (
      `${shown(short.need)} are needed, fees included: ${shown(short.has)} are there, ` +
      `${shown(short.reserve)} are the reserve and ${shown(short.taken)} are promised`
    );
  }
  if (token !== null || dearest === null) return null;
  const left = (freeOf(known, holdingOf(wanted)) ?? 0n) - amount - mostFeeOf(costs);
  const swaps = swapsPayable(left, dearest);
  if (swaps >= leastSwaps) return null;
  return (
    `${coins(left, coinDecimals, chain)} would be left for gas, which pays for ${swaps} swaps: ` +
    `warn_below_swaps of ${chain} wants ${leastSwaps}`
  );
}

const coins = (units: BaseUnits, decimals: number, chain: string) =>
  `${formatUnits(units, decimals)} of the coin of ${chain}`;
