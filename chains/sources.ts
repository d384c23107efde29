// The nodes of one chain, each asked by itself: so that what they say can be compared, and so that
// one of them may fail.

import { type Fact, ParleyError } from '../core/errors.ts';

/** A client that asks one node after the other, or one alone by its place. */
type Client<A extends unknown[]> = {
  readonly sources: number;
  call(...args: A): Promise<unknown>;
  ask(at: number, ...args: A): Promise<unknown>;
};

type Said = {
  readonly chain: string;
  readonly said: Set<string>;
  readonly log: (event: string, facts: Readonly<Record<string, unknown>>) => void;
};

type Answer<C, T> = { readonly one: C; readonly answer: T };

/** Logs an event the first time that it happens. */
export function once(
  watch: Omit<Said, 'chain'>,
  event: string,
  facts: Readonly<Record<string, unknown>>,
): void {
  if (watch.said.has(event)) return;
  watch.said.add(event);
  watch.log(event, facts);
}

/** Asks these at once; who does not answer is left out, and said. */
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
  // None answered: say why, as a plain call does.
  return answers.length > 0 ? answers : [{ one: client, answer: await ask(client) }];
}

/** Without the address, which Node puts into the sentence of a connection that failed. */
function whyOf(error: unknown): string {
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  return typeof code === 'string' && syscall !== undefined ? code : String(error);
}

/** The same client with one of its nodes alone, which is asked once. */
export function oneSource<A extends unknown[], C extends Client<A>>(
  client: C & Client<A>,
  at: number,
): C {
  return { ...client, call: (...args: A) => client.ask(at, ...args) };
}

/** Asks every source by itself. Throws as a plain call does when none answers. */
export function eachSource<A extends unknown[], C extends Client<A>, T>(
  watch: Said,
  client: C & Client<A>,
  ask: (one: C) => Promise<T>,
): Promise<Answer<C, T>[]> {
  const sources = Array.from({ length: client.sources }, (_, at) => oneSource<A, C>(client, at));
  return askEach(watch, client, sources, ask);
}

/** Why nobody may fund or reveal by this chain now. */
export function disagree(
  chain: string,
  sentence: string,
  facts: Record<string, Fact>,
): ParleyError {
  const whole = `nothing is funded or revealed by what ${chain} shows: ${sentence}`;
  return new ParleyError('sources_disagree', whole, { chain, ...facts });
}
