// The parts of the doctor's look, each with a limit of its own: one that hangs is named with its
// time and left, and what comes after it is looked at. What it still finds afterwards is not told.

import { isAborted } from '../../core/steps.ts';
import { type Attempted, attempt, type Findings, partTime } from './findings.ts';

export type PartsDeps = {
  readonly findings: Findings;
  /** The end of the whole look. */
  readonly signal: AbortSignal;
  /** Of a part that is not given another. */
  readonly partMs: number;
  /** How many statements the database has ended; else a part that is over counts as silence. */
  readonly heard?: () => number;
};

/** `over`: its limit ended it. `left`: the whole look was over before it was done. */
export type Outcome = Attempted | 'over' | 'left';
export type Work = (findings: Findings, signal: AbortSignal) => Promise<void> | void;

export type Parts = {
  /** Null: only the end of the whole look ends it. */
  run(where: string, work: Work, ms?: number | null): Promise<Outcome>;
  /** The same of what asks the database; once it is silent, it is not asked again. */
  ask(where: string, work: Work): Promise<Outcome>;
  /** Parts that the end of the whole look took: how many, and the first of them in words. */
  left(): { readonly count: number; readonly names: string };
};

/** Parts in a row that the database's silence ended, before it is left alone. */
const silentParts = 2;
/** Parts that are named of those that were left; of the others their number. */
const mostNamed = 20;

export function createParts({ findings, signal, partMs, heard = () => 0 }: PartsDeps): Parts {
  const left: string[] = [];
  let silent = 0;
  const run = async (where: string, work: Work, ms: number | null = partMs) => {
    const outcome = await runPart({ findings, signal }, { where, work, ms });
    if (outcome === 'left') left.push(where);
    return outcome;
  };
  return {
    run,
    ask: async (where, work) => {
      if (silent >= silentParts) {
        const says = `it was not asked: the database was silent for ${silentParts} parts before`;
        findings.add(partTime(where, says, {}));
        return 'ended';
      }
      const before = heard();
      const outcome = await run(where, work);
      // A slow one ends some statements of a part that is over, by their own limit at least.
      const isSilent = outcome === 'silent' || (outcome === 'over' && heard() === before);
      silent = isSilent ? silent + 1 : 0;
      return outcome;
    },
    left: () => {
      const more = left.length - mostNamed;
      const rest = more > 0 ? [`and ${more} more`] : [];
      return { count: left.length, names: [...left.slice(0, mostNamed), ...rest].join('; ') };
    },
  };
}

type Part = { readonly where: string; readonly work: Work; readonly ms: number | null };

async function runPart(
  { findings, signal: ending }: Pick<PartsDeps, 'findings' | 'signal'>,
  { where, work, ms }: Part,
): Promise<Outcome> {
  if (ending.aborted) return 'left';
  let isOpen = true;
  const own: Findings = {
    ...findings,
    add: (finding) => {
      if (isOpen) findings.add(finding);
    },
  };
  try {
    const outcome = await inTime(ms, ending, (signal) =>
      attempt(where, own, () => work(own, signal), signal),
    );
    // Done just before the end, it is.
    return isAborted(ending) && outcome !== 'done' ? 'left' : outcome;
  } catch {
    if (isAborted(ending)) return 'left';
    const says = `it was over its limit of ${ms} ms, and was left: nothing more is known of it`;
    findings.add(partTime(where, says, { limitMs: ms }));
    return 'over';
  } finally {
    isOpen = false;
  }
}

/**
 * Throws when the time is over, whatever the work does with its signal. Unlike AbortSignal.timeout
 * and any, nothing of it outlives the work: 1 KB for each read.
 */
export async function inTime<T>(
  ms: number | null,
  ending: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (reason: unknown) => {
    limit.abort(reason);
    reject(reason);
  };
  const late = () => end(new DOMException('out of time', 'TimeoutError'));
  const timer = ms === null ? undefined : setTimeout(late, ms);
  const whole = () => end(ending.reason);
  ending.addEventListener('abort', whole, { once: true });
  try {
    ending.throwIfAborted();
    return await Promise.race([work(limit.signal), promise]);
  } finally {
    clearTimeout(timer);
    ending.removeEventListener('abort', whole);
  }
}
