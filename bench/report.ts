// A figure is a ratio measured in one run on one machine against a limit or a peer.

import { readFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';

export type Row = {
  readonly bench: string;
  readonly row: string;
  /** The measured value. */
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
  /** The limit. */
  readonly against: string;
};

/** The name is `bench: row`. */
type Figure = Pick<Row, 'value' | 'unit' | 'limit' | 'bar'>;

function rowOf(name: string, figure: Figure, against: string, is: Row['is']): Row {
  const [bench = ''] = name.split(': ', 1);
  const { value, limit } = figure;
  // A rate of nothing, or the median of no times, is a fault of the bench.
  const least = is === 'atLeast' ? Number.MIN_VALUE : 0;
  if (!(value >= least && value < Infinity && limit > 0 && limit < Infinity)) {
    throw new Error(`${name}: ${value} against ${limit} is no figure`);
  }
  const ratio = value / limit;
  const ok = is === 'atLeast' ? ratio >= figure.bar : ratio <= figure.bar;
  return { bench, row: name.slice(bench.length + 2), ...figure, ratio, is, ok, against };
}

export const atLeast = (name: string, figure: Figure, against: string) =>
  rowOf(name, figure, against, 'atLeast');
export const atMost = (name: string, figure: Figure, against: string) =>
  rowOf(name, figure, against, 'atMost');

export type Effort = { readonly rounds: number; readonly seconds: number };

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function p99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.99) - 1] ?? Infinity;
}

/** One after the other. */
export async function inRounds<T>(rounds: number, measure: () => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  for (let round = 0; round < rounds; round += 1) all.push(await measure());
  return all;
}

type Measured = () => Promise<number>;

/** Medians of both, measured in turns after one turn each to warm up. */
export async function alternating(
  rounds: number,
  ours: Measured,
  peer: Measured,
): Promise<[number, number]> {
  const both = async () => ({ limit: await peer(), value: await ours() });
  await both();
  const all = await inRounds(rounds, both);
  return [median(all.map(({ value }) => value)), median(all.map(({ limit }) => limit))];
}

/** How often a second it is done, so many at once. */
export async function perSecond(
  atOnce: number,
  seconds: number,
  once: () => Promise<unknown>,
): Promise<number> {
  const began = performance.now();
  let done = 0;
  const lane = async () => {
    while (performance.now() < began + seconds * 1_000) {
      await once();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return (done * 1_000) / (performance.now() - began);
}

/** One line a row for programs, which see how often it was measured. */
export function jsonLine(row: Row, effort: Effort): string {
  return JSON.stringify({ ...row, ...effort });
}

export function textLine(row: Row, isJudged: boolean): string {
  const sign = row.is === 'atLeast' ? '>=' : '<=';
  const figure = `${rounded(row.value)} ${row.unit} against ${rounded(row.limit)}`;
  const verdict = `ratio ${row.ratio.toFixed(2)} (${sign} ${row.bar})`;
  const mark = row.ok ? 'ok  ' : 'MISS';
  return `${isJudged ? mark : 'ran '}  ${row.row}: ${figure}, ${verdict}; ${row.against}`;
}

/** The versions that the figures depend on most. */
export function versions(): string {
  const version = (name: string) => {
    const file = new URL(`../node_modules/${name}/package.json`, import.meta.url);
    return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  };
  const packages = ['fastify', 'pg', 'ws'].map((each) => `${each} ${version(each)}`);
  return [`Node ${process.version}`, ...packages].join(', ');
}

export function machine(): string {
  const [cpu] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const system = `${platform()} ${release()} ${arch()}`;
  return `${cpus().length} x ${cpu?.model.trim() ?? 'unknown'}, ${memory}, ${system}`;
}

export function rounded(value: number): number {
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}
