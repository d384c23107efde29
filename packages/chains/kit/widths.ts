// How much is asked of a node at once. Less of what it refuses, or leaves without an answer while
// it answers a question about one; slowly more again.

export type Width = {
  now: number;
  /** Answers at this width; below 0 after a silence. */
  taken: number;
  readonly most: number;
  /** The last that was answered. */
  worked?: number;
  /** One without an answer, until a question about one shows whether the node is well; 0: none. */
  silent?: number;
};

/** A no is cheap, and half as much may do. A silence costs its whole time limit. */
export type Failure = 'refusal' | 'silence' | 'other';

/** Answers before a larger width is tried: a refusal depends on what is in the blocks, too. */
const growAfter = 16;
/** The same after a silence, which takes as long as some sixty answers. */
const growAfterSilence = 64;
const silentPart = 8;

export type Part<T> = { readonly count: number; readonly answer: T };

/** Asks about the first of so many, as many as suits the node. Throws where one alone fails. */
export async function inPart<T>(
  width: Width,
  left: number,
  ask: (count: number) => Promise<T>,
  kindOf: (error: unknown) => Failure,
  signal: AbortSignal,
): Promise<Part<T>> {
  for (;;) {
    const count = width.silent ? 1 : Math.min(left, width.now);
    try {
      const answer = await ask(count);
      widen(width, count);
      return { count, answer };
    } catch (error) {
      const kind = kindOf(error);
      // A caller who gave up has heard nothing of the width; one whose time ran out has.
      const isGivenUp = signal.aborted && signal.reason?.name !== 'TimeoutError';
      if (kind === 'other' || isGivenUp) throw error;
      narrow(width, count, kind);
      if (count === 1 || signal.aborted) throw error;
    }
  }
}

function narrow(width: Width, count: number, kind: Failure): void {
  width.silent = 0;
  if (count === 1) return;
  width.taken = 0;
  if (kind === 'silence') width.silent = count;
  else width.now = Math.floor(count / 2);
}

function widen(width: Width, count: number): void {
  const { silent = 0, worked = silent, most } = width;
  if (silent > 0) {
    width.now = worked < silent ? worked : Math.max(1, Math.floor(silent / silentPart));
    width.taken = growAfter - growAfterSilence;
    width.silent = 0;
    return;
  }
  if (count < width.now) return;
  width.worked = count;
  width.taken += 1;
  if (width.taken < growAfter) return;
  width.taken = 0;
  width.now = Math.min(most, width.now * 2);
}
