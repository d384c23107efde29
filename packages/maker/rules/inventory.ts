// The amounts that a maker can still promise. Counted by holding, an asset of a chain: the chain's
// balance, less the reserve, less all that open quotes and swaps may still take. A quote counts in
// full while it may be accepted: all of them could be, at once.

import type { BaseUnits, Millis } from '@parley/core/nominal.ts';

/** One asset of one chain. */
export type Holding = string;

export type Asset = { readonly chain: string; readonly token: string | null };

export function holdingOf({ chain, token }: Asset): Holding {
  return `${chain} ${token ?? 'coin'}`;
}

/** The most of a chain's own coin that one transaction may take. */
export type Costs = {
  readonly fund: BaseUnits;
  readonly claim: BaseUnits;
  readonly refund: BaseUnits;
  /** Locked by a funding beside the amount. */
  readonly deposit: BaseUnits;
  /** Bitcoin: claims and refunds pay their fee out of the amount. */
  readonly settlesFromAmount: boolean;
};

export type Side = Asset & { readonly amount: BaseUnits; readonly costs: Costs };

/** Base units by holding. */
export type Needs = ReadonlyMap<Holding, BaseUnits>;

/** The amounts a swap takes before its own leg is funded, and those it may take after that. */
export type Takes = { readonly before: Needs; readonly after: Needs };

function add(into: Map<Holding, BaseUnits>, holding: Holding, units: BaseUnits): void {
  if (units > 0n) into.set(holding, (into.get(holding) ?? 0n) + units);
}

export function takesOf(gives: Side, gets: Side): Takes {
  const before = new Map<Holding, BaseUnits>();
  const after = new Map<Holding, BaseUnits>();
  const coinOf = ({ chain }: Asset) => holdingOf({ chain, token: null });
  const settling = (cost: BaseUnits, { costs }: Side) => (costs.settlesFromAmount ? 0n : cost);
  for (const needs of [before, after]) {
    add(needs, coinOf(gives), settling(gives.costs.refund, gives));
    add(needs, coinOf(gets), settling(gets.costs.claim, gets));
  }
  add(before, coinOf(gives), gives.costs.fund + gives.costs.deposit);
  add(before, holdingOf(gives), gives.amount);
  return { before, after };
}

export type Commitment = Takes & {
  /** The thread's id, or the RFQ's before there is one. */
  readonly id: string;
  readonly kind: 'quote' | 'swap' | 'withdrawal';
  /** The asset that is given, as the settings name it; empty: no cap of swaps counts it. */
  readonly asset: string;
  readonly amount: BaseUnits;
  /** When a chain showed the own funding first; null: it has not. */
  readonly fundedAtMs: Millis | null;
};

export type Balance = {
  /** The part that may be spent now. */
  readonly units: BaseUnits;
  /** With the change of payments that no block has yet; absent: the same. */
  readonly owned?: BaseUnits;
  /** When its reading began. */
  readonly readAtMs: Millis;
};

/** Nodes behind one address need not be at one block. */
export const nodesApartMs = 10_000;
/** A balance older than this is none. */
export const balanceGoodMs = 300_000;

/** A funding has left a balance that was read well after a chain showed it, and only then. */
function stillTaken({ fundedAtMs, before, after }: Commitment, { readAtMs }: Balance): Needs {
  return fundedAtMs !== null && readAtMs >= fundedAtMs + nodesApartMs ? after : before;
}

export function takenOf(
  holding: Holding,
  balance: Balance,
  commitments: readonly Commitment[],
): BaseUnits {
  let taken = 0n;
  for (const each of commitments) taken += stillTaken(each, balance).get(holding) ?? 0n;
  return taken;
}

export type Stock = {
  readonly balances: ReadonlyMap<Holding, Balance>;
  readonly reserves: Needs;
  readonly commitments: readonly Commitment[];
};

/** `has` is null where no balance is known that is new enough. */
export type Shortage = {
  readonly holding: Holding;
  readonly need: BaseUnits;
  readonly has: BaseUnits | null;
  readonly reserve: BaseUnits;
  readonly taken: BaseUnits;
};

/** The first holding that could not cover these needs beside all others; null: none. */
export function shortageOf(stock: Stock, needs: Needs, nowMs: Millis): Shortage | null {
  for (const [holding, need] of needs) {
    const balance = stock.balances.get(holding);
    const reserve = stock.reserves.get(holding) ?? 0n;
    if (balance === undefined || nowMs - balance.readAtMs > balanceGoodMs) {
      return { holding, need, has: null, reserve, taken: 0n };
    }
    const taken = takenOf(holding, balance, stock.commitments);
    if (balance.units - reserve - taken < need) {
      return { holding, need, has: balance.units, reserve, taken };
    }
  }
  return null;
}

/** So many swaps that fund and settle on a chain can be paid for with this much of its coin. */
export function swapsPayable(units: BaseUnits, costs: Costs): number {
  const each = costs.settlesFromAmount
    ? costs.fund
    : costs.fund + costs.deposit + costs.refund + costs.claim;
  const most = 1_000_000n;
  if (each <= 0n) return Number(most);
  const swaps = units / each;
  return Number(swaps > most ? most : swaps);
}
