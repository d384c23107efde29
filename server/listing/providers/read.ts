// Numbers out of providers' answers, strictly. What is not there is null: not known. What is there
// and is no such number throws, because an answer that is wrong in one place is believed in none.

import { ProviderFailure } from './facts.ts';

/** Ten times all the money there is: what is above is a fault or a fake. */
const mostUsd = 1e16;
const mostHolders = 1e11;
/** Of a token: some have supplies of thirty digits. */
const mostAmount = 1e60;
const rounding = 1e-6;
/** A provider's clock may be ahead of ours. */
const aheadSeconds = 600;
const firstBlockOfAll = Date.UTC(2009, 0, 3);

const plainDecimal = /^\d{1,60}(\.\d{1,80})?$/;
const whole = /^\d{1,12}$/;
const utc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

export type Json = { readonly [name: string]: unknown };

export function objectOf(value: unknown, what: string): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw unreadable(what);
}

export function listOf(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw unreadable(what);
}

export function maybeObject(value: unknown, what: string): Json | null {
  return isAbsent(value) ? null : objectOf(value, what);
}

export function usdOf(value: unknown, what: string): number | null {
  return bounded(value, what, plainDecimal, mostUsd);
}

/** An amount of tokens, or what one pool of many says: bounded by what it is put together with. */
export function amountOf(value: unknown, what: string): number | null {
  return bounded(value, what, plainDecimal, mostAmount);
}

export function holdersOf(value: unknown, what: string): number | null {
  const count = bounded(value, what, whole, mostHolders);
  if (count !== null && !Number.isInteger(count)) throw unreadable(what);
  return count;
}

export function shareOf(value: unknown, what: string): number | null {
  const share = bounded(value, what, plainDecimal, 1 + rounding);
  return share === null ? null : Math.min(share, 1);
}

export function percentOf(value: unknown, what: string): number | null {
  const percent = bounded(value, what, plainDecimal, 100 + 100 * rounding);
  return percent === null ? null : Math.min(percent / 100, 1);
}

/** Milliseconds since 1970, out of milliseconds or of a text in UTC. */
export function instantOf(value: unknown, nowMs: number, what: string): number | null {
  if (isAbsent(value)) return null;
  const ms = typeof value === 'string' && utc.test(value) ? Date.parse(value) : value;
  if (typeof ms !== 'number' || !Number.isFinite(ms)) throw unreadable(what);
  // One of 0 or of before there was a chain says that it is not known.
  if (ms < firstBlockOfAll) return null;
  if (ms > nowMs + aheadSeconds * 1_000) throw unreadable(what);
  return ms;
}

export function leastOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((each) => each !== null);
  return known.length === 0 ? null : Math.min(...known);
}

export function secondsSince(ms: number | null, nowMs: number): number | null {
  return ms === null ? null : Math.max(0, Math.floor((nowMs - ms) / 1_000));
}

export function unreadable(what: string): ProviderFailure {
  return new ProviderFailure('unreadable', `${what} is not as documented`);
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

// Number() takes "0x10", " 1 " and "1e400" too: a text must have the form first.
function bounded(value: unknown, what: string, form: RegExp, most: number): number | null {
  if (isAbsent(value)) return null;
  const number = typeof value === 'string' && form.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) throw unreadable(what);
  if (number < 0 || number > most || Object.is(number, -0)) throw unreadable(what);
  return number;
}
