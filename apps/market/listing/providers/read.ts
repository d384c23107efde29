// Numbers out of a provider's answers, strictly, each named by its path. A missing number is null:
// not known. A value that is no such number throws: an answer that is wrong in one place is
// believed in none.

import { ProviderFailure } from './facts.ts';

/** Ten times all the money there is: a larger number is a fault or a fake. */
const mostUsd = 1e16;
const mostHolders = 1e11;
/** Shares are sums of rounded parts. */
const rounding = 1e-6;
/** A provider's clock may be ahead of ours. */
const aheadSeconds = 600;
const firstBlockOfAll = Date.UTC(2009, 0, 3);

const plainDecimal = /^\d{1,60}(\.\d{1,80})?$/;
const whole = /^\d{1,12}$/;
const utc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

export type Json = { readonly [name: string]: unknown };
export type Reader = ReturnType<typeof readerOf>;

const isAbsent = (value: unknown) => value === undefined || value === null || value === '';

export function readerOf(name: string) {
  const spoilt = (path: string) =>
    new ProviderFailure('unreadable', `"${path}" of ${name} is not as documented`);
  const objectOf = (value: unknown, path: string): Json => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
    throw spoilt(path);
  };
  const at = (from: unknown, path: string): unknown =>
    path === ''
      ? from
      : path
          .split('.')
          .reduce((inner, key) => (isAbsent(inner) ? null : objectOf(inner, path)[key]), from);
  // Number() takes "0x10", " 1 " and "1e400" too: a text must have the form first.
  const number = (form: RegExp, most: number) => (from: unknown, path: string) => {
    const value = at(from, path);
    if (isAbsent(value)) return null;
    const found = typeof value === 'string' && form.test(value) ? Number(value) : value;
    if (typeof found !== 'number' || !Number.isFinite(found)) throw spoilt(path);
    if (found < 0 || found > most || Object.is(found, -0)) throw spoilt(path);
    return found;
  };
  const part = (of: number) => {
    const read = number(plainDecimal, of + of * rounding);
    return (from: unknown, path: string) => {
      const found = read(from, path);
      return found === null ? null : Math.min(found / of, 1);
    };
  };
  const count = number(whole, mostHolders);
  const list = (from: unknown, path: string): readonly unknown[] => {
    const value = at(from, path);
    if (Array.isArray(value)) return value;
    throw spoilt(path);
  };
  return {
    name,
    spoilt,
    at,
    list,
    /** Must be there. */
    object: (from: unknown, path: string) => objectOf(at(from, path), path),
    /** The list of objects; empty if the field is missing. */
    objects: (from: unknown, path: string): readonly Json[] =>
      isAbsent(at(from, path)) ? [] : list(from, path).map((each) => objectOf(each, path)),
    usd: number(plainDecimal, mostUsd),
    holders: (from: unknown, path: string) => {
      const found = count(from, path);
      if (found !== null && !Number.isInteger(found)) throw spoilt(path);
      return found;
    },
    /** 1 being all of it. */
    share: part(1),
    /** The percentage, as a part of one. */
    percent: part(100),
    /** Milliseconds since 1970, out of a text in UTC. */
    instant: (from: unknown, path: string, nowMs: number) => {
      const value = at(from, path);
      if (isAbsent(value)) return null;
      const ms = typeof value === 'string' && utc.test(value) ? Date.parse(value) : Number.NaN;
      if (Number.isNaN(ms)) throw spoilt(path);
      // One of 0 or of before there was a chain says that it is not known.
      if (ms < firstBlockOfAll) return null;
      if (ms > nowMs + aheadSeconds * 1_000) throw spoilt(path);
      return ms;
    },
    misanswered: () =>
      new ProviderFailure('misanswered', `${name} answers about another token or chain`),
  };
}

/** Since the first of these instants; null where none is known. */
export function secondsSince(instants: readonly (number | null)[], nowMs: number): number | null {
  const known = instants.filter((each) => each !== null);
  if (known.length === 0) return null;
  return Math.max(0, Math.floor((nowMs - Math.min(...known)) / 1_000));
}
