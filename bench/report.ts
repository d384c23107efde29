// A figure is a ratio measured in one run on one machine against a limit or a peer.

import { arch, cpus, platform, release, totalmem } from 'node:os';

export type Row = {
  readonly bench: string;
  readonly row: string;
  /** What was measured. */
  readonly value: number;
  readonly unit: string;
  /** The peer's figure, or the limit. */
  readonly limit: number;
  /** value / limit. */
  readonly ratio: number;
  /** The ratio must reach it (`atLeast`) or not exceed it (`atMost`). */
  readonly bar: number;
  readonly is: 'atLeast' | 'atMost';
  readonly ok: boolean;
  /** What the limit is. */
  readonly against: string;
};

export function rowOf(row: Omit<Row, 'ratio' | 'ok'>): Row {
  const ratio = row.value / row.limit;
  return { ...row, ratio, ok: row.is === 'atLeast' ? ratio >= row.bar : ratio <= row.bar };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** One line a row for programs. */
export function jsonLine(row: Row): string {
  const { bench, value, unit, limit, ratio, bar, ok, against, is } = row;
  return JSON.stringify({
    bench,
    row: row.row,
    value: rounded(value),
    unit,
    limit: rounded(limit),
    ratio: rounded(ratio),
    bar,
    ok,
    is,
    against,
  });
}

export function textLine(row: Row): string {
  const sign = row.is === 'atLeast' ? '>=' : '<=';
  const figure = `${rounded(row.value)} ${row.unit} against ${rounded(row.limit)}`;
  const verdict = `ratio ${row.ratio.toFixed(2)} (${sign} ${row.bar})`;
  return `${row.ok ? 'ok  ' : 'MISS'}  ${row.row}: ${figure}, ${verdict}; ${row.against}`;
}

export function machine(): string {
  const [cpu] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const system = `${platform()} ${release()} ${arch()}`;
  return `${cpus().length} x ${cpu?.model.trim() ?? 'unknown'}, ${memory}, ${system}`;
}

function rounded(value: number): number {
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}
