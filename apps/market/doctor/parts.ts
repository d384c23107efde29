// The parts of the doctor's work, each with a time limit of its own: one that hangs is named with
// its time and left, and what comes after it is done.

import { isAborted } from '@parley/core/steps.ts';
import { type Add, unseen } from './findings.ts';

export type Work = (add: Add, signal: AbortSignal) => Promise<void> | void;

export type Parts = {
  /** Whether it was done to its end. Null: only the end of all of it ends it. */
  run(where: string, work: Work, ms?: number | null): Promise<boolean>;
  /** The parts that the end of all of it cut off. */
  left(): readonly string[];
};

const todoLate = 'see what holds it up: a node, a lock, the database';
/** By code (PostgreSQL, appendix A); the last one is a silent connection's too. */
const late: Readonly<Record<string, string>> = {
  '57014': 'a statement ran too long',
  '55P03': 'somebody held a lock of it for too long',
  '08006': 'the database was silent',
};

export function createParts(add: Add, ending: AbortSignal, partMs: number): Parts {
  const left: string[] = [];
  return {
    left: () => left,
    run: async (where, work, ms = partMs) => {
      let isOpen = true;
      // A finding that comes after its part was given up is not reported.
      const own: Add = (finding) => {
        if (isOpen) add(finding);
      };
      const isDone = await inTime(ms, ending, (signal) =>
        attempt(where, own, () => work(own, signal), signal),
      ).catch(() => {
        if (isAborted(ending)) return false;
        const says = `it was over its limit of ${ms} ms, and was left: the doctor knows no more`;
        add(unseen('part_time', where, says, todoLate, { limitMs: ms }));
        return false;
      });
      isOpen = false;
      if (isAborted(ending) && !isDone) left.push(where);
      return isDone;
    },
  };
}

export function isLate(error: unknown): boolean {
  return lateness(error) !== undefined;
}

function lateness(error: unknown): string | undefined {
  return late[(error as { code?: string } | null)?.code ?? ''];
}

/** A failure becomes one finding; false then. */
export async function attempt(
  where: string,
  add: Add,
  work: () => Promise<void> | void,
  signal: AbortSignal,
): Promise<boolean> {
  const began = performance.now();
  try {
    await work();
    return true;
  } catch (error) {
    // The end of its time is reported once, for all of it.
    if (signal.aborted) return false;
    const why = lateness(error);
    if (why === undefined) {
      const says = `reading it ended half-way: ${error instanceof Error ? error.message : error}`;
      const todo = 'see whether the database is there and this row is as the market writes it';
      add(unseen('ended', where, says, todo));
    } else {
      const ms = Math.round(performance.now() - began);
      add(unseen('part_time', where, `${why}: it was left after ${ms} ms`, todoLate, { ms }));
    }
    return false;
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
  ending.throwIfAborted();
  const limit = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (reason: unknown) => {
    limit.abort(reason);
    reject(reason);
  };
  const timer =
    ms === null ? undefined : setTimeout(() => end(new DOMException('late', 'TimeoutError')), ms);
  const whole = () => end(ending.reason);
  ending.addEventListener('abort', whole, { once: true });
  try {
    return await Promise.race([work(limit.signal), promise]);
  } finally {
    clearTimeout(timer);
    ending.removeEventListener('abort', whole);
  }
}
