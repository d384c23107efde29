// Swaps as rows of one's own: the amounts given and got, found by state and by text.

import { formatUnits } from '@parley/core/amounts.ts';
import type { SwapStatus } from '@parley/core/status.ts';
import type { LegName } from '@parley/core/trade.ts';
import { isoTime } from '@parley/sdk/people.ts';
import type { Asset, Swap, SwapLeg } from '@parley/sdk/types.ts';
import { csvOf as csvIn } from '@parley/trader/csv.ts';
import { hasWords } from '../../parts/words.ts';
import { secondsOf } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';

export type Side = {
  readonly leg: LegName;
  readonly chain: string;
  /** The id, if the asset is not among those known. */
  readonly symbol: string;
  readonly address: string | null;
  readonly units: bigint;
  /** null: the asset is not known. */
  readonly decimals: number | null;
  readonly of: SwapLeg;
  readonly asset: Asset | undefined;
};

export type Row = {
  readonly id: string;
  readonly swap: Swap;
  readonly gives: Side;
  readonly gets: Side;
};

export function rowsOf(
  swaps: readonly Swap[],
  accountId: string,
  known: readonly Asset[],
): readonly Row[] {
  const assets = new Map(known.map((asset) => [asset.id, asset]));
  return swaps.map((swap) => rowOf(swap, accountId, assets));
}

function rowOf(swap: Swap, accountId: string, assets: ReadonlyMap<string, Asset>): Row {
  const party = swap.makerId === accountId ? 'maker' : 'taker';
  const own: LegName = swap.legs.a.funder === party ? 'a' : 'b';
  const side = (leg: LegName): Side => {
    const of = swap.legs[leg];
    const asset = assets.get(of.assetId);
    const { symbol = of.assetId, address = null, decimals = null } = asset ?? {};
    return { leg, chain: of.chain, symbol, address, units: BigInt(of.amount), decimals, of, asset };
  };
  return { id: swap.id, swap, gives: side(own), gets: side(own === 'a' ? 'b' : 'a') };
}

/** The words that a search looks through: ids, assets, addresses, transactions, the status. */
export function wordsOf({ swap, gives, gets }: Row): string {
  const ofSide = ({ symbol, chain, address, of }: Side) => [
    symbol,
    chain,
    address,
    of.escrow,
    of.payoutAddress,
    of.refundAddress,
    of.fundTx,
    of.claimTx,
    of.refundTx,
  ];
  const status = text(`activity.${swap.status}`);
  const all = [swap.id, swap.threadId, swap.rfqId, swap.hashlock, status];
  return [...all, ...ofSide(gives), ...ofSide(gets)].join(' ');
}

export const groupOf = {
  agreed: 'open',
  initiator_funded: 'open',
  counterparty_funded: 'open',
  initiator_claimed: 'open',
  counterparty_claimed: 'settled',
  refunded: 'refunded',
  half_settled: 'refunded',
  expired: 'expired',
} as const satisfies Record<SwapStatus, string>;

export const states = ['all', 'open', 'settled', 'refunded', 'expired'] as const;
export type State = (typeof states)[number];

/** `search`: words that must all stand somewhere in a row. */
export function foundIn(rows: readonly Row[], search: string, state: State): readonly Row[] {
  const isIn = ({ status }: Swap) => state === 'all' || groupOf[status] === state;
  return rows.filter((row) => isIn(row.swap) && hasWords(wordsOf(row), search));
}

/** Whole coins, exact, with a point in every locale; base units where decimals are not known. */
function exactAmount({ units, decimals }: Pick<Side, 'units' | 'decimals'>): string {
  return decimals === null ? units.toString() : formatUnits(units, decimals);
}

const sideColumns = (name: string, side: (row: Row) => Side) =>
  [
    [`${name}_amount`, (row: Row) => exactAmount(side(row))],
    [`${name}_symbol`, (row: Row) => side(row).symbol],
    [`${name}_chain`, (row: Row) => side(row).chain],
    [`${name}_contract`, (row: Row) => side(row).address ?? ''],
    [`${name}_base_units`, (row: Row) => side(row).units.toString()],
    [`${name}_escrow`, (row: Row) => side(row).of.escrow ?? ''],
    [`${name}_fund_tx`, (row: Row) => side(row).of.fundTx ?? ''],
    [`${name}_claim_tx`, (row: Row) => side(row).of.claimTx ?? ''],
    [`${name}_refund_tx`, (row: Row) => side(row).of.refundTx ?? ''],
  ] as const;

const isoOf = (instant: string) => isoTime(secondsOf(instant));

const columns: readonly (readonly [string, (row: Row) => string])[] = [
  ['swap', ({ swap }) => swap.id],
  ['agreed_at', ({ swap }) => isoOf(swap.createdAt)],
  ['changed_at', ({ swap }) => isoOf(swap.updatedAt)],
  ['status', ({ swap }) => swap.status],
  ['role', ({ swap }) => swap.role],
  ...sideColumns('gave', ({ gives }) => gives),
  ...sideColumns('got', ({ gets }) => gets),
  ['hashlock', ({ swap }) => swap.hashlock],
];

export function csvOf(rows: readonly Row[]): string {
  const head = columns.map(([name]) => name);
  return `${csvIn([head, ...rows.map((row) => columns.map(([, value]) => value(row)))])}\r\n`;
}
