// Several nodes of one chain, asked in turn until one answers: those that failed of late after the
// others, and those that are behind when nobody else answers. Silence ends in `chain_timeout`, the
// rest in `chain_unavailable`, naming hosts only. A node's own no is told where no other answers:
// its key or quota says nothing of the question.

import { ParleyError } from '@parley/core/errors.ts';
import { type HeadRules, nodeOrder } from './heads.ts';
import type { Order } from './sources.ts';
import { sleep } from './turn.ts';

export type Nodes = {
  readonly chain: string;
  readonly urls: readonly string[];
  readonly rounds: number;
  /** Without, what answered last is asked first, and stays there. */
  readonly heads?: HeadRules | undefined;
  /** Clocks of a test: milliseconds that pass, and Unix seconds. */
  readonly elapsedMs?: (() => number) | undefined;
  readonly now?: (() => number) | undefined;
};

export type Question<Answer> = {
  readonly name: string;
  /** The same under its field's name, for the error's facts. */
  readonly facts: Readonly<Record<string, string>>;
  /** Asks the node at this place in `urls`. */
  readonly ask: (at: number, signal: AbortSignal) => Promise<Answer>;
  readonly worth: (failure: unknown) => Worth;
  /** Whether it is told as it is when it is the last one; without, none is. */
  readonly isToldAsIs?: (failure: unknown) => boolean;
};

/** The next try after a failure: no try, each other node of this round, or further rounds. */
export type Worth = 'nothing' | 'another node' | 'another round';

export type InTurn = {
  ask<Answer>(asked: Question<Answer>, signal: AbortSignal): Promise<Answer>;
  /** In which they would be asked now. */
  order(signal: AbortSignal): Promise<Order>;
  /** The one that is asked first answers, and lacks what it should have: then it is asked last. */
  passOver(signal: AbortSignal): Promise<void>;
};

/** A pause before the same bytes are offered again to a node that is busy or behind. */
const pauseMs = 200;
/** Once one has said no the others have so long: one that hangs must not hold up its words. */
const othersMs = 2_000;

export function inTurn({ chain, urls, rounds, heads, elapsedMs, now }: Nodes): InTurn {
  if (urls.length === 0) throw new Error(`chain ${chain} has no node address`);
  const nodes = nodeOrder(urls.length, heads, elapsedMs, now);
  const ask: InTurn['ask'] = async (question, signal) => {
    const { name, facts, worth, isToldAsIs } = question;
    let failure: unknown = null;
    let no: { readonly said: unknown } | null = null;
    for (const [round, { places, isOver }] of roundsOf(await nodes.now(signal), rounds).entries()) {
      if (no !== null && isOver) break;
      if (round > 0) await pause(signal);
      for (const at of places) {
        if (signal.aborted) break;
        try {
          const answer = await question.ask(at, no === null ? signal : shortly(signal));
          nodes.answered(at);
          return answer;
        } catch (error) {
          const worthOf = worth(error);
          if (worthOf === 'nothing') throw error;
          nodes.failed(at, signal);
          if (worthOf === 'another node') no ??= { said: error };
          failure = error;
        }
      }
    }
    if (no !== null) throw no.said;
    if (!signal.aborted && isToldAsIs?.(failure)) throw failure;
    const late = signal.aborted || isTimeout(failure);
    const sentence = late
      ? `the ${chain} node did not answer ${name} in time; the request changed nothing`
      : `the ${chain} node does not serve ${name} now: ${wordsOf(failure)}`;
    const code = late ? 'chain_timeout' : 'chain_unavailable';
    const hosts = urls.map(hostOf).join(', ');
    throw new ParleyError(code, sentence, { chain, ...facts, nodes: hosts }, { cause: failure });
  };
  const passOver = async (signal: AbortSignal) => {
    const { first } = await nodes.now(signal);
    nodes.failed(first[0] ?? 0, signal);
  };
  return { ask, order: nodes.now, passOver };
}

/** `isOver`: not begun once a node has said no, as each of these has been asked. */
function roundsOf({ first, last }: Order, rounds: number) {
  const roundsOver = (places: readonly number[], isEnd: boolean) =>
    Array.from({ length: rounds }, (_, round) => ({ places, isOver: isEnd && round > 0 }));
  if (last.length === 0) return roundsOver(first, true);
  return [...roundsOver(first, false), ...roundsOver(last, true)];
}

function shortly(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(othersMs)]);
}

/** The host only: the rest of a node's URL is often its key. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an unreadable address';
}

export function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError');
}

/** The words of a failure, without the addresses that may be in them. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  const { code } = (error.cause ?? error) as { code?: unknown };
  return typeof code === 'string' ? code : error.message.slice(0, 200);
}

/** Twice as long each further time. Ends early, and well, when nobody waits any more. */
export function pause(signal: AbortSignal, times = 1): Promise<void> {
  return sleep(pauseMs * 2 ** (times - 1), signal).catch(() => {});
}
