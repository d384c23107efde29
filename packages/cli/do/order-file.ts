// A file of trades, CSV or JSON lines: each row is checked before the first one is asked. A row has
// a name of its own, by which it is traded once whatever becomes of the file.

import { readFile, stat } from 'node:fs/promises';
import { messageOf } from '@parley/sdk/errors.ts';
import { misused } from '@parley/trader/failures.ts';
import { type Order, type OrderWords, orderOf } from '@parley/trader/orders/order.ts';
import type { Session } from '@parley/trader/session.ts';

const mostRows = 1_000;
const mostBytes = 1_048_576;
const mostLength = 200;
/** Bad rows that are named; the others are counted. */
const mostNamed = 50;

const required = ['id', 'side', 'amount', 'base', 'quote'] as const;
const columns = [...required, 'at_least', 'at_most', 'wait', 'settled'] as const;
type Column = (typeof columns)[number];
type Cells = { readonly [name in Column]?: string };
type Row = { readonly line: number; readonly cells: Cells | null; readonly fault: string | null };

/** Throws Failure `usage` with every bad row by its line. */
export async function rowsOfFile(session: Session, file: string): Promise<Order[]> {
  const text = await textOf(file);
  const rows = file.endsWith('.csv') ? await csvRows(text, file) : jsonRows(text);
  if (rows.length === 0) throw misused(`${file} has no trades`);
  if (rows.length > mostRows) {
    throw misused(`${file} has ${rows.length} trades, and may have ${mostRows}`);
  }
  const faults: string[] = [];
  const orders: Order[] = [];
  const lineOf = new Map<string, number>();
  for (const { line, cells, fault } of rows) {
    try {
      if (cells === null) throw misused(fault ?? 'is no trade');
      const order = orderOf(session, wordsIn(cells));
      const before = lineOf.get(order.id);
      if (before !== undefined) throw misused(`id "${cells.id}" is that of line ${before}`);
      lineOf.set(order.id, line);
      orders.push(order);
    } catch (error) {
      faults.push(`line ${line}: ${messageOf(error)}`);
    }
  }
  if (faults.length === 0) return orders;
  const more = faults.length > mostNamed ? [`and ${faults.length - mostNamed} more`] : [];
  const all = [...faults.slice(0, mostNamed), ...more].join('\n  ');
  throw misused(
    `${file} has ${faults.length} bad rows of ${rows.length}:\n  ${all}\nnothing was asked`,
  );
}

async function textOf(file: string): Promise<string> {
  if (!/\.(?:csv|jsonl|ndjson)$/.test(file)) {
    throw misused(`"${file}" must end in .csv, or in .jsonl for a JSON object a line`);
  }
  const { size } = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? misused(`there is no file ${file}`) : error;
  });
  if (size > mostBytes) throw misused(`${file} has ${size} bytes, and may have ${mostBytes}`);
  return readFile(file, 'utf8');
}

async function csvRows(text: string, file: string): Promise<Row[]> {
  const { CsvError, parse } = await import('csv-parse/sync');
  try {
    const found = parse<{ record: string[]; info: { lines: number } }>(text, {
      bom: true,
      info: true,
      trim: true,
      skip_empty_lines: true,
      relax_column_count: true,
    } as never);
    const [head, ...rows] = found;
    const names = head?.record ?? [];
    mustBeColumns(names, file);
    return rows.map(({ record, info: { lines: line } }) => {
      if (record.length !== names.length) {
        const fault = `has ${record.length} cells, and the head has ${names.length}`;
        return { line, cells: null, fault };
      }
      const cells = Object.fromEntries(
        names.flatMap((name, at) => (record[at] === '' ? [] : [[name, record[at]]])),
      );
      return { line, cells, fault: null };
    });
  } catch (error) {
    if (error instanceof CsvError) throw misused(`${file} is no CSV: ${error.message}`);
    throw error;
  }
}

function mustBeColumns(names: readonly string[], file: string): void {
  const strange = names.find((name) => !columns.some((each) => each === name));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  const missing = required.find((name) => !names.includes(name));
  if ((strange ?? twice ?? missing) === undefined) return;
  const why =
    strange !== undefined
      ? `the unknown column "${strange.slice(0, mostLength)}"`
      : twice !== undefined
        ? `the column "${twice}" twice`
        : `no column "${missing}"`;
  throw misused(`${file} has ${why}; the columns are ${columns.join(', ')}`);
}

function jsonRows(text: string): Row[] {
  return text.split('\n').flatMap((content, at): Row[] => {
    const line = at + 1;
    if (content.trim() === '') return [];
    try {
      const cells: unknown = JSON.parse(content);
      const fault = faultOf(cells);
      return [{ line, cells: fault === null ? (cells as Cells) : null, fault }];
    } catch {
      return [{ line, cells: null, fault: 'is no JSON' }];
    }
  });
}

/** Amounts are texts: a number would be rounded before it is read. */
function faultOf(cells: unknown): string | null {
  if (typeof cells !== 'object' || cells === null || Array.isArray(cells)) return 'is no object';
  for (const [name, value] of Object.entries(cells)) {
    if (!columns.some((each) => each === name)) {
      return `unknown key "${name.slice(0, mostLength)}"; the keys are ${columns.join(', ')}`;
    }
    if (typeof value !== 'string') return `"${name}" must be a text, such as "0.01"`;
  }
  return null;
}

function wordsIn(cells: Cells): OrderWords {
  const missing = required.find((name) => cells[name] === undefined);
  if (missing !== undefined) throw misused(`"${missing}" is missing`);
  const long = columns.find((name) => (cells[name]?.length ?? 0) > mostLength);
  if (long !== undefined) throw misused(`"${long}" has more than ${mostLength} characters`);
  const { id, side, amount = '', base = '', quote = '' } = cells;
  if (side !== 'sell' && side !== 'buy') throw misused(`side is "${side}", and may be sell or buy`);
  const bounds = { atLeast: cells.at_least, atMost: cells.at_most };
  const waitSeconds = wholeIn('wait', cells.wait);
  const settled = wholeIn('settled', cells.settled);
  return { id, side, amount, base, quote, ...bounds, waitSeconds, settled };
}

function wholeIn(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw misused(`"${name}" must be a whole number, and is "${text}"`);
}
