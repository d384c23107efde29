// Several nodes of one chain, asked one after the other until one answers: the one that answered
// last is asked first, in a bounded number of rounds with a pause between. Silence ends in
// `chain_timeout`, the rest in `chain_unavailable`, with the names of the hosts and no address.

import { setTimeout as sleep } from 'node:timers/promises';
import { ParleyError } from '../core/errors.ts';

export type Nodes = {
  /** The chain's name, for sentences. */
  readonly chain: string;
  readonly urls: readonly string[];
  /** Over all nodes, before giving up. */
  readonly rounds: number;
};

export type Question<Answer> = {
  /** What is asked for, for sentences. */
  readonly name: string;
  /** The same under its field's name, for the error's facts. */
  readonly facts: Readonly<Record<string, string>>;
  /** Asks the node at this place in `urls`. */
  readonly ask: (at: number) => Promise<Answer>;
  /** Whether no other node would say anything else. */
  readonly isFinal: (failure: unknown) => boolean;
  /** Whether it is told as it is when it is the last one; without, none is. */
  readonly isToldAsIs?: (failure: unknown) => boolean;
};

export type InTurn = <Answer>(asked: Question<Answer>, signal: AbortSignal) => Promise<Answer>;

const pauseMs = 200;

export function inTurn({ chain, urls, rounds }: Nodes): InTurn {
  if (urls.length === 0) throw new Error(`chain ${chain} has no node address`);
  let preferred = 0;
  return async ({ name, facts, ask, isFinal, isToldAsIs }, signal) => {
    let failure: unknown = null;
    for (let attempt = 0; attempt < rounds * urls.length; attempt += 1) {
      if (attempt > 0 && attempt % urls.length === 0) await pause(signal);
      if (signal.aborted) break;
      const at = (preferred + attempt) % urls.length;
      try {
        const answer = await ask(at);
        preferred = at;
        return answer;
      } catch (error) {
        if (isFinal(error)) throw error;
        failure = error;
      }
    }
    if (!signal.aborted && isToldAsIs?.(failure)) throw failure;
    const late = signal.aborted || isTimeout(failure);
    const sentence = late
      ? `the ${chain} node did not answer ${name} in time; nothing changed`
      : `the ${chain} node does not serve ${name} now: ${wordsOf(failure)}`;
    const code = late ? 'chain_timeout' : 'chain_unavailable';
    const nodes = urls.map(hostOf).join(', ');
    throw new ParleyError(code, sentence, { chain, ...facts, nodes }, { cause: failure });
  };
}

/** The host only: the rest of a node's URL is often its key. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an unreadable address';
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError');
}

/** The words of a failure, without the addresses that may be in them. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  const { code } = (error.cause ?? error) as { code?: unknown };
  return typeof code === 'string' ? code : error.message.slice(0, 200);
}

/** Ends early, and well, when nobody waits any more. */
function pause(signal: AbortSignal): Promise<void> {
  return sleep(pauseMs, undefined, { signal }).catch(() => {});
}
