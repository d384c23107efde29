// Swaps as CSV (RFC 4180): exact amounts with a point, ISO times. No cell is a formula: the maker
// of a token chose its symbol.

import { isoTime } from '@parley/sdk/people.ts';
import { secondsOf } from '../../texts/people.ts';
import { exactAmount, type Row, type Side } from './rows.ts';

/** Spreadsheets take a cell that begins so for a formula, also behind what they trim. */
const formula = /^\s*[=+\-@\t\r|%\uff1d\uff0b\uff0d\uff20]/;

/** An apostrophe before what could be a formula: it is then shown as it is. */
export function cell(value: string): string {
  const safe = formula.test(value) ? `'${value}` : value;
  return /[",\r\n;]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
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
  const lines = rows.map((row) => columns.map(([, value]) => cell(value(row))).join(','));
  return [columns.map(([name]) => name).join(','), ...lines, ''].join('\r\n');
}
