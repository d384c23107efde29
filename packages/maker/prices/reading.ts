// Which reading of a source is believed. Pure: the clock is an argument.

import type { Millis } from '@parley/core/nominal.ts';
import type { Bounds } from '../config/config.ts';
import { distanceBps, type Price } from '../rules/price.ts';

export type Reading = { readonly price: Price; readonly atMs: Millis };

export type SourceState = {
  /** The last that was believed. */
  readonly good: Reading | null;
  /** Beyond the bounds or a step too far from it, and since when readings have stayed there. */
  readonly held: Reading | null;
};

export const nothingRead: SourceState = { good: null, held: null };

/** A step too far is believed once it has stood for so long. */
export const stepStandsMs = 60_000;
/** A price this old says nothing of how far the next one may be. */
const forgottenMs = 3_600_000;

export type Read = { readonly state: SourceState; readonly fault: string | null };

const isBelow = (a: Price, b: Price) => a.over * b.under < b.over * a.under;

export function read(state: SourceState, price: Price, atMs: Millis, bounds: Bounds): Read {
  const { least, most, jumpBps } = bounds;
  const now = { price, atMs };
  if ((least !== null && isBelow(price, least)) || (most !== null && isBelow(most, price))) {
    // The last good one is none of now any more, as after a step too far.
    const fault = 'the price is beyond the bounds of its source';
    return { state: { good: state.good, held: now }, fault };
  }
  const { good, held } = state;
  const isNew = good === null || atMs - good.atMs > forgottenMs;
  const step = isNew || jumpBps === null ? 0n : distanceBps(price, good.price);
  if (jumpBps === null || step <= jumpBps) return { state: { good: now, held: null }, fault: null };
  const stays = held !== null && distanceBps(price, held.price) <= jumpBps;
  const since = stays ? held : now;
  if (atMs - since.atMs >= stepStandsMs) return { state: { good: now, held: null }, fault: null };
  const seconds = stepStandsMs / 1_000;
  // The fault of its first reading: a fault that stays is told once.
  const far = good === null ? step : distanceBps(since.price, good.price);
  const fault = `the price moved by ${far} basis points at once: believed if it stands ${seconds} s`;
  return { state: { good, held: since }, fault };
}

/** null: no reading, or none new enough, or the last one is not believed. */
export function priceOf({ good, held }: SourceState, nowMs: Millis, staleMs: Millis): Price | null {
  if (good === null || held !== null || nowMs - good.atMs > staleMs) return null;
  return good.price;
}

/** Steps of a path such as `data.0.price`, `$.result[1].c`. */
export function jsonAt(value: unknown, path: string): unknown {
  const steps = path
    .replace(/^\$/, '')
    .split(/[.[\]]+/)
    .filter((step) => step !== '');
  let at = value;
  for (const step of steps) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Record<string, unknown>)[step];
  }
  return at;
}
