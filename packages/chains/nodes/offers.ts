// Signed bytes offered to every source at once. Sent when the first source has them; refused only
// by all that could have them; and where one was silent, it may have them.

import { withResolvers } from '@parley/core/engines.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { isUnreached, NotNow, passes, TurnedAway } from './exchange.ts';
import { isTimeout, pause, wordsOf } from './in-turn.ts';

export type Sources = {
  readonly chain: string;
  readonly sources: number;
  /** How often one is tried that neither takes it nor refuses it. Default 2. */
  readonly rounds?: number | undefined;
};

export type Offer = {
  readonly name: string;
  readonly txid: string;
  /** Once, to this source. Only `refused_by_node` says what became of it. */
  readonly give: (at: number, signal: AbortSignal) => Promise<void>;
};

export type Offers = {
  /**
   * A source that has it; the others are offered it all the same. Throws `refused_by_node`,
   * `chain_timeout` where one may have it, or `chain_unavailable`: it reached none, which senders
   * of secrets rely on.
   */
  toAll(offer: Offer, signal: AbortSignal): Promise<number>;
  /** Ends what goes on behind an answer. */
  close(): void;
};

/** Once one has it the others have so long: a later reader finds it at any of them. */
const soonMs = 300;
/** Once one has refused it the silent have so long: then they count as ones that may have it. */
const othersMs = 4_000;

/** One that is busy or behind is offered it so often, twice as long after each: 3 s in all. */
const busyRounds = 5;

/** `mayHaveIt`: it was given it once without a word of what became of it. */
type Outcome =
  | { readonly is: 'taken' | 'silent' }
  | { readonly is: 'refused'; readonly refusal: ParleyError; readonly mayHaveIt: boolean }
  | { readonly is: 'failed'; readonly failure: unknown; readonly mayHaveIt: boolean };

/** How long the others are waited for after one that ended so; null: for all they may take. */
const waitMs = { taken: soonMs, refused: othersMs, failed: null, silent: null } as const;

export function offersTo({ chain, sources, rounds = 2 }: Sources): Offers {
  const ongoing = new Set<AbortController>();
  const toAll: Offers['toAll'] = async (offer, signal) => {
    const over = new AbortController();
    ongoing.add(over);
    const cancel = () => over.abort(signal.reason);
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const outcomes = Array.from({ length: sources }, (): Outcome => ({ is: 'silent' }));
    const waited = withResolvers<void>();
    const timers: NodeJS.Timeout[] = [];
    let isAnswered = false;
    // By then it is told who has it: the transaction is given to no node anew.
    const isRefused = () => outcomes.some(({ is }) => is === 'refused');
    const giving = outcomes.map(async (_, at) => {
      const goesOn = (round: number, failure: unknown) =>
        round < (isRefused() ? 1 : passes(failure) ? busyRounds : rounds);
      const outcome = await giveTo(at, offer, goesOn, over.signal);
      outcomes[at] = outcome;
      const leftMs = waitMs[outcome.is];
      if (leftMs !== null && !isAnswered) timers.push(setTimeout(waited.resolve, leftMs));
    });
    const all = Promise.all(giving).finally(() => ongoing.delete(over));
    await Promise.race([all, waited.promise]);
    isAnswered = true;
    timers.forEach(clearTimeout);
    signal.removeEventListener('abort', cancel);
    const at = outcomes.findIndex(({ is }) => is === 'taken');
    if (at === -1) throw whyOf(chain, offer, outcomes);
    return at;
  };
  return {
    toAll,
    close: () => {
      for (const each of ongoing) each.abort();
    },
  };
}

async function giveTo(
  at: number,
  { give }: Offer,
  goesOn: (round: number, failure: unknown) => boolean,
  signal: AbortSignal,
): Promise<Outcome> {
  let failure: unknown = signal.reason;
  let mayHaveIt = false;
  for (let round = 0; goesOn(round, failure) && !signal.aborted; round += 1) {
    if (round > 0) await pause(signal, passes(failure) ? round : 1);
    try {
      await give(at, signal);
      return { is: 'taken' };
    } catch (error) {
      if (isRefusal(error)) return { is: 'refused', refusal: error, mayHaveIt };
      failure = error;
      mayHaveIt ||= !neverGotIt(error);
    }
  }
  const refusal = failure instanceof NotNow ? failure.refusal : null;
  return refusal === null
    ? { is: 'failed', failure, mayHaveIt }
    : { is: 'refused', refusal, mayHaveIt };
}

/** A node's own no. `facts`: its code, under the name that it has there. */
export function refusedByNode(
  { chain, txid, words }: { readonly chain: string; readonly txid: string; readonly words: string },
  facts: Readonly<Record<string, string | number>>,
  cause: Error,
): ParleyError {
  const sentence = `the ${chain} node refused the transaction: ${words}`;
  return new ParleyError('refused_by_node', sentence, { chain, txid, ...facts }, { cause });
}

export function isRefusal(error: unknown): error is ParleyError {
  return error instanceof ParleyError && error.code === 'refused_by_node';
}

/** The error of a source that has heard it, whatever it ended with afterwards. */
class Heard extends Error {
  constructor(cause: unknown) {
    super(wordsOf(cause), { cause });
    this.name = 'Heard';
  }
}

/** The later questions to a source that has said no: that it is gone by now takes nothing back. */
export async function onceHeard<T>(asking: Promise<T>): Promise<T> {
  try {
    return await asking;
  } catch (error) {
    throw new Heard(error);
  }
}

function neverGotIt(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof Heard) return false;
  if (error instanceof NotNow) return error.refusal !== null;
  return error instanceof TurnedAway || isUnreached(error) || neverGotIt(error.cause);
}

function whyOf(chain: string, { name, txid }: Offer, outcomes: readonly Outcome[]): ParleyError {
  const refusals = outcomes.flatMap((each) => (each.is === 'refused' ? [each.refusal] : []));
  const failures = outcomes.flatMap((each) => (each.is === 'failed' ? [each] : []));
  const isOneSilent = outcomes.some(({ is }) => is === 'silent');
  const mayHaveIt = isOneSilent || outcomes.some((each) => 'mayHaveIt' in each && each.mayHaveIt);
  const [refusal] = refusals;
  if (refusal !== undefined && !mayHaveIt) return withWordsOf(refusals, refusal);
  const causes = failures.map(({ failure }) => failure);
  const [cause] = causes;
  const isLate = isOneSilent || causes.some(timedOut);
  if (isLate || mayHaveIt) {
    const sentence = isLate
      ? `not every ${chain} node answered ${name} in time, so one may have it`
      : `the ${chain} node does not serve ${name} now (${wordsOf(cause)}), and one may have it`;
    const words = [sentence, ...sentencesOf(refusals)].join('; ');
    return new ParleyError('chain_timeout', words, { chain, txid }, { cause });
  }
  const sentence = `the ${chain} node does not serve ${name} now: ${wordsOf(cause)}`;
  return new ParleyError('chain_unavailable', sentence, { chain, txid }, { cause });
}

function withWordsOf(refusals: readonly ParleyError[], first: ParleyError): ParleyError {
  const sentences = sentencesOf(refusals);
  if (sentences.length === 1) return first;
  const { code, facts, cause } = first;
  return new ParleyError(code, sentences.join('; '), facts, { cause });
}

/** All their words, each once: which of them tells most, only a reader knows. */
function sentencesOf(refusals: readonly ParleyError[]): string[] {
  return [...new Set(refusals.map(({ message }) => message))];
}

function timedOut(error: unknown): boolean {
  return isTimeout(error) || (error instanceof ParleyError && error.code === 'chain_timeout');
}
