// Several nodes of one chain, asked in turn until one answers, the last that did first. Silence
// ends in `chain_timeout`, the rest in `chain_unavailable`, naming hosts only. A node's own no is
// told where no other answers: its key or quota says nothing of the question.

import { ParleyError } from '../../core/errors.ts';
import { sleep } from './turn.ts';

export type Nodes = {
  readonly chain: string;
  readonly urls: readonly string[];
  readonly rounds: number;
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

/** What to try after a failure: nothing, each other node of this round, or further rounds. */
export type Worth = 'nothing' | 'another node' | 'another round';

export type InTurn = <Answer>(asked: Question<Answer>, signal: AbortSignal) => Promise<Answer>;

const pauseMs = 200;
/** Once one has said no the others have so long: one that hangs must not hold up its words. */
const othersMs = 2_000;

export function inTurn({ chain, urls, rounds }: Nodes): InTurn {
  if (urls.length === 0) throw new Error(`chain ${chain} has no node address`);
  let preferred = 0;
  return async ({ name, facts, ask, worth, isToldAsIs }, signal) => {
    const first = preferred;
    let failure: unknown = null;
    let no: { readonly said: unknown } | null = null;
    for (let attempt = 0; attempt < rounds * urls.length; attempt += 1) {
      const isNewRound = attempt > 0 && attempt % urls.length === 0;
      if (isNewRound && no !== null) break;
      if (isNewRound) await pause(signal);
      if (signal.aborted) break;
      const at = (first + attempt) % urls.length;
      try {
        const answer = await ask(at, no === null ? signal : shortly(signal));
        preferred = at;
        return answer;
      } catch (error) {
        const worthOf = worth(error);
        if (worthOf === 'nothing') throw error;
        if (worthOf === 'another node') no ??= { said: error };
        failure = error;
      }
    }
    if (no !== null) throw no.said;
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

/** Ends early, and well, when nobody waits any more. */
export function pause(signal: AbortSignal): Promise<void> {
  return sleep(pauseMs, signal).catch(() => {});
}
