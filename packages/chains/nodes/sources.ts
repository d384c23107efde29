// The nodes of one chain, each asked by itself, to compare them and so that one may fail.

import { withResolvers } from '@parley/core/engines.ts';
import { type Fact, ParleyError } from '@parley/core/errors.ts';
import { sleep } from './turn.ts';

/** A client that asks one node after the other, or one alone by its place. */
export type Client = {
  readonly sources: number;
  call(...args: never[]): Promise<unknown>;
  ask(at: number, ...args: never[]): Promise<unknown>;
  /** The places as it asks them now; without, as they are configured. */
  order?(signal: AbortSignal): Promise<Order>;
};

/** `last`: to be asked when none of `first` has answered in any round. */
export type Order = { readonly first: readonly number[]; readonly last: readonly number[] };

function configured(sources: number): Order {
  return { first: Array.from({ length: sources }, (_, at) => at), last: [] };
}

async function placesOf(
  { sources, order }: Pick<Client, 'sources' | 'order'>,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const { first, last } = (await order?.(signal)) ?? configured(sources);
  return [...first, ...last];
}

export type Said = {
  readonly chain: string;
  readonly said: Set<string>;
  readonly log: (event: string, facts: Readonly<Record<string, unknown>>) => void;
};

type Answer<C, T> = { readonly one: C; readonly answer: T };

export function once(
  watch: Omit<Said, 'chain'>,
  event: string,
  facts: Readonly<Record<string, unknown>>,
): void {
  if (watch.said.has(event)) return;
  watch.said.add(event);
  watch.log(event, facts);
}

/** Asks these at once; a silent one is left out, and reported. */
export async function askEach<C, T>(
  watch: Said,
  client: C,
  sources: readonly C[],
  ask: (one: C) => Promise<T>,
): Promise<Answer<C, T>[]> {
  const { chain } = watch;
  const asking = sources.map(async (one, at): Promise<Answer<C, T>[]> => {
    try {
      return [{ one, answer: await ask(one) }];
    } catch (error) {
      once(watch, `source_${at}_silent`, { chain, source: at, why: whyOf(error) });
      return [];
    }
  });
  const answers = (await Promise.all(asking)).flat();
  // Without an answer, say why, as a plain call does.
  return answers.length > 0 ? answers : [{ one: client, answer: await ask(client) }];
}

/** Without the address, which Node puts into the sentence of a connection that failed. */
function whyOf(error: unknown): string {
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  return typeof code === 'string' && syscall !== undefined ? code : String(error);
}

/** The same client with one of its nodes alone, which is asked once. */
export function oneSource<C extends Client>(client: C, at: number): C {
  return { ...client, call: (...args: never[]) => client.ask(at, ...args) };
}

/** Those that are well, where they are two or more; else all, as none is left out on its word. */
export async function wellSources<C extends Client>(
  client: C,
  signal: AbortSignal,
): Promise<readonly C[]> {
  const all = configured(client.sources).first;
  const { first } = (await client.order?.(signal)) ?? configured(client.sources);
  return (first.length > 1 ? first.toSorted((a, b) => a - b) : all).map((at) =>
    oneSource(client, at),
  );
}

/** Asks every source by itself. Throws as a plain call does when none answers. */
export function eachSource<C extends Client, T>(
  watch: Said,
  client: C,
  ask: (one: C) => Promise<T>,
): Promise<Answer<C, T>[]> {
  const sources = Array.from({ length: client.sources }, (_, at) => oneSource(client, at));
  return askEach(watch, client, sources, ask);
}

/** All at once. After the first answer the others have `othersMs`; a failure or null is none. */
export async function saidInTime<T>(
  sources: number,
  ask: (at: number, signal: AbortSignal) => Promise<T | null>,
  othersMs: number,
  signal: AbortSignal,
): Promise<readonly T[]> {
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const said: T[] = [];
  const first = withResolvers<void>();
  const hear = (answer: T | null) => {
    if (answer === null) return;
    said.push(answer);
    first.resolve();
  };
  const asking = Array.from({ length: sources }, (_, at) => ask(at, until).then(hear, () => {}));
  const all = Promise.all(asking);
  try {
    await Promise.race([all, first.promise]);
    if (said.length < sources) {
      await Promise.race([all, sleep(othersMs, until).catch(() => {})]);
    }
    return [...said];
  } finally {
    over.abort();
  }
}

/** From the first source that has it. `failed`: one of several did, and may alone have it. */
export async function foundBySome<C extends Client, T>(
  client: C,
  find: (one: C) => Promise<T | null>,
  signal: AbortSignal,
  failed: () => void = () => {},
): Promise<T | null> {
  for (const at of await placesOf(client, signal)) {
    const found = await find(oneSource(client, at)).catch((error: unknown) => {
      if (signal.aborted || client.sources === 1) throw error;
      failed();
      return null;
    });
    if (found !== null) return found;
  }
  return null;
}

/** Why nobody may fund or reveal by this chain now. */
export function disagree(
  chain: string,
  sentence: string,
  facts: Record<string, Fact>,
): ParleyError {
  const whole = `no side may fund or reveal by the state of ${chain}: ${sentence}`;
  return new ParleyError('sources_disagree', whole, { chain, ...facts });
}

/** The result of the work, or a rejection once the signal is aborted. It leaves no listener. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason);
    const over = () => signal.removeEventListener('abort', end);
    const failed = (error: unknown) => {
      over();
      reject(error);
    };
    work.then((result) => {
      over();
      resolve(result);
    }, failed);
    // Work that is done already counts.
    if (signal.aborted) queueMicrotask(end);
    else signal.addEventListener('abort', end, { once: true });
  });
}
