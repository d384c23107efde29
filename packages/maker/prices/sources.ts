// Price sources while they run: polled by command or HTTP, or heard on a WebSocket. A source that
// fails says so once, and its last price is good until it is stale.

import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Millis } from '@parley/core/nominal.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import type { Bounds, Median, PriceConfig } from '../config/config.ts';
import type { Log } from '../log.ts';
import { distanceBps, isBelow, type Price, parsePrice, ratio } from '../rules/price.ts';
import { openSocket } from '../socket.ts';
import { judge } from './median.ts';

const run = promisify(execFile);
const mostBytes = 1_048_576;
const waitFirstMs = 500;
const waitMostMs = 30_000;

export type Prices = {
  /** The price of a pair: by one source, or the ratio of two; null where one has none that is
   * good. */
  of(names: readonly [string] | readonly [string, string]): Price | null;
  /** The good price of each source now. */
  all(): ReadonlyMap<string, Price | null>;
  close(): void;
};

export type Told = {
  readonly now: () => Millis;
  /** A fault that is news, or its end (null). */
  readonly said: (name: string, fault: string | null) => void;
  /** A price was read. */
  readonly changed: () => void;
};

/** Tells a source's faults in the log. */
export function saidBy(log: Pick<Log, 'info' | 'warn'>): Told['said'] {
  return (source, fault) => {
    if (fault === null) log.info('price_again', { source });
    else log.warn('price_fault', { source, why: fault });
  };
}

/** `start`: instead of asking each source, such as readings of a recording. */
export function openPrices(
  configs: readonly PriceConfig[],
  told: Told,
  start: (config: PriceConfig, hearing: Hearing) => void = hearSource,
): Prices {
  const stop = new AbortController();
  const states = new Map<string, SourceState>();
  const faults = new Map<string, string | null>();
  /** Sources that have given a price, or a fault. */
  const heard = new Set<string>();
  const say = (name: string, fault: string | null) => {
    if ((faults.get(name) ?? null) === fault) return;
    faults.set(name, fault);
    told.said(name, fault);
  };
  for (const config of configs) {
    const { name } = config;
    states.set(name, nothingRead);
    if (config.from.type === 'fixed') heard.add(name);
    const take = (said: unknown) => {
      heard.add(name);
      const result = read(states.get(name) ?? nothingRead, parsePrice(said), told.now(), config);
      states.set(name, result.state);
      say(name, result.fault);
      told.changed();
    };
    const failed = (error: unknown) => {
      heard.add(name);
      say(name, messageOf(error));
    };
    start(config, { take, failed, signal: stop.signal });
  }
  const byName = new Map(configs.map((each) => [each.name, each]));
  const current = (config: PriceConfig): Price | null => {
    const { name, from, staleMs } = config;
    if (from.type === 'fixed') return from.value;
    if (from.type === 'median') return middle(config, from);
    return priceOf(states.get(name) ?? nothingRead, told.now(), staleMs);
  };
  const one = (name: string | undefined) => {
    const config = byName.get(name ?? '');
    return config === undefined ? null : current(config);
  };
  const outliers = createOutliers(told.now, say);
  const middle = (config: PriceConfig, from: Median): Price | null => {
    const { name } = config;
    const readings = new Map<string, Price>();
    for (const each of from.of) {
      const price = one(each);
      if (price !== null) readings.set(each, price);
    }
    const { price, leftOut, counted } = judge(readings, from);
    const isFar = price !== null && isBeyond(price, config);
    // Before each source has said anything it is only the start, and no source is blamed.
    const isBegun = from.of.every((each) => heard.has(each));
    if (isBegun) {
      for (const each of from.of) outliers.look(`${name} of ${each}`, leftOut.get(each), from);
    }
    if (isFar) say(name, beyondBounds);
    else if (price !== null) say(name, null);
    else if (isBegun)
      say(name, `${counted} of ${from.of.length} sources agree, ${from.quorum} must`);
    return isFar ? null : price;
  };
  return {
    of: ([first, second]) => {
      const a = one(first);
      if (second === undefined || a === null) return a;
      const b = one(second);
      return b && ratio(a, b);
    },
    all: () => new Map(configs.map((each) => [each.name, current(each)])),
    close: () => stop.abort(),
  };
}

/** A source at the edge of being left out comes and goes: it is told of once, and of its end later. */
function createOutliers(now: () => Millis, say: (name: string, fault: string | null) => void) {
  const lastFar = new Map<string, Millis>();
  return {
    look: (name: string, bps: bigint | undefined, { outlierBps }: Median) => {
      const since = lastFar.get(name);
      if (bps === undefined) {
        if (since === undefined || now() - since < stepStandsMs) return;
        lastFar.delete(name);
        say(name, null);
        return;
      }
      lastFar.set(name, now());
      if (since !== undefined) return;
      say(name, `left out: ${bps} basis points from the median, ${outlierBps} at most`);
    },
  };
}

export type Hearing = {
  /** Throws for what is no price. */
  readonly take: (said: unknown) => void;
  readonly failed: (error: unknown) => void;
  readonly signal: AbortSignal;
};

/** Until the signal. */
export function hearSource({ from, staleMs, folder }: PriceConfig, hearing: Hearing): void {
  if (from.type === 'websocket') listen(from, staleMs, hearing);
  else if (from.type === 'command' || from.type === 'http') {
    poll(1_000 * from.everySeconds, hearing, () => asked(from, folder, hearing.signal));
  }
}

type Polls = Extract<PriceConfig['from'], { readonly type: 'command' | 'http' }>;

async function asked(from: Polls, folder: string, stop: AbortSignal): Promise<unknown> {
  const timeoutMs = 1_000 * from.timeoutSeconds;
  if (from.type === 'command') {
    const [program = '', ...args] = from.command;
    const how = { cwd: folder, timeout: timeoutMs, maxBuffer: mostBytes, signal: stop };
    // The text it prints as an error may hold a key of its source.
    const { stdout } = await run(program, args, { ...how, killSignal: 'SIGKILL' }).catch(
      ({ code, signal }: { code?: string | number | null; signal?: string | null }) => {
        throw new Error(`${program} ended with ${signal ?? code ?? 'no answer in time'}`);
      },
    );
    return found(stdout, from.path);
  }
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), stop]);
  const answer = await fetch(from.url, { signal, redirect: 'error' });
  if (!answer.ok) throw new Error(`the source answered ${answer.status}`);
  return found(await bounded(answer), from.path);
}

function found(text: string, path: string | undefined): unknown {
  if (path === undefined) return text.trim();
  const value = jsonAt(JSON.parse(text), path);
  if (value === undefined) throw new Error(`the answer has nothing at ${path}`);
  return value;
}

async function bounded(answer: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const part of answer.body ?? []) {
    text += decoder.decode(part, { stream: true });
    if (text.length > mostBytes) throw new Error(`the answer is longer than ${mostBytes} bytes`);
  }
  return text + decoder.decode();
}

function poll(everyMs: Millis, { take, failed, signal }: Hearing, ask: () => Promise<unknown>) {
  const readings = async () => {
    for (;;) {
      try {
        take(await ask());
      } catch (error) {
        signal.throwIfAborted();
        failed(error);
      }
      await wait(everyMs, undefined, { signal });
    }
  };
  // Only the signal ends it.
  readings().catch(() => undefined);
}

type Socket = Extract<PriceConfig['from'], { readonly type: 'websocket' }>;

/** Connects again after a random part of a growing wait, also where nothing is heard for long. */
function listen({ url, subscribe, path }: Socket, staleMs: Millis, hearing: Hearing): void {
  const { take, failed, signal } = hearing;
  let failures = 0;
  const connect = () => {
    if (signal.aborted) return;
    const socket = openSocket(url, mostBytes);
    let quiet: NodeJS.Timeout;
    let isOver = false;
    const over = (why: string) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(quiet);
      signal.removeEventListener('abort', end);
      socket.close();
      if (signal.aborted) return;
      failed(new Error(why));
      const span = Math.min(waitMostMs, waitFirstMs * 2 ** Math.min(failures, 10));
      failures += 1;
      setTimeout(connect, span * (0.5 + Math.random() / 2)).unref();
    };
    const end = () => over('it was closed');
    const heard = () => {
      clearTimeout(quiet);
      quiet = setTimeout(() => over(`the source was silent for ${staleMs} ms`), staleMs);
    };
    heard();
    signal.addEventListener('abort', end);
    socket.addEventListener('open', () => {
      for (const each of subscribe) socket.send(each);
    });
    socket.addEventListener('message', ({ data }) => {
      if (typeof data !== 'string') return;
      try {
        const value = jsonAt(JSON.parse(data), path);
        // Answers to what was sent, and heartbeats, have no price.
        if (value === undefined) return;
        take(value);
        failures = 0;
        heard();
      } catch (error) {
        failed(error);
      }
    });
    socket.addEventListener('error', () => {}); // `close` follows.
    socket.addEventListener('close', ({ code }) => over(`the source closed it (code ${code})`));
  };
  connect();
}

// Which reading of a source is believed. Pure: the clock is an argument.

export type Reading = { readonly price: Price; readonly atMs: Millis };

type SourceState = {
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

const beyondBounds = 'the price is beyond the bounds of its source';

function isBeyond(price: Price, { least, most }: Pick<Bounds, 'least' | 'most'>): boolean {
  return (least !== null && isBelow(price, least)) || (most !== null && isBelow(most, price));
}

export function read(state: SourceState, price: Price, atMs: Millis, bounds: Bounds): Read {
  const { jumpBps } = bounds;
  const now = { price, atMs };
  // The last good one is none of now any more, as after a step too far.
  if (isBeyond(price, bounds)) {
    return { state: { good: state.good, held: now }, fault: beyondBounds };
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

/**
 * null: no reading, or none new enough, or the last one is not believed. One of the future was read
 * by a clock that has been set back: it could stay good for as long as that.
 */
export function priceOf({ good, held }: SourceState, nowMs: Millis, staleMs: Millis): Price | null {
  if (good === null || held !== null) return null;
  if (Math.abs(nowMs - good.atMs) > staleMs) return null;
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
