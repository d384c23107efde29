// Every hashlock that a chain shows, page by page: read when a market has lost some hours.

import type { Hashlock } from '../../core/hashlock.ts';
import type { UnixSeconds } from '../../core/nominal.ts';
import type { Lane } from '../../core/terms.ts';

/** That an escrow was funded in a lane, with this counter. */
export type UsedLane = Lane & { readonly contract: string; readonly funder: string };

export type HashlockPage = {
  readonly hashlocks: readonly Hashlock[];
  /** Absent: the chain has no lanes. */
  readonly lanes?: readonly UsedLane[];
  /** Where the next page begins. Only the adapter that made it knows what it says. */
  readonly cursor: string;
  /** Up to the head of now. A later page looks at the newest blocks again: they may be others. */
  readonly isWhole: boolean;
  /** In a whole page: by its node's newest blocks, all that came before was read. */
  readonly shownUntil: UnixSeconds;
  /** About how many blocks (Solana: transactions, as far as they are listed) are left. */
  readonly left: number;
};

export type HashlockReader = {
  /** From before `since`, as far as the chain's clock may be off. */
  begin(since: UnixSeconds, signal: AbortSignal): Promise<string>;
  /** Bounded in requests. Throws `chain_unavailable` rather than leave anything out. */
  next(cursor: string, signal: AbortSignal): Promise<HashlockPage>;
};

/** For a cursor that is a height: all blocks up to it were read. */
export function heightOf(cursor: string): number {
  if (!/^\d{1,15}$/.test(cursor)) throw new Error(`"${cursor}" is no cursor of a reading`);
  return Number(cursor);
}

/** For a page that was read up to `end`; the last `margin` blocks below the head come again. */
export function pageUpTo(end: number, head: number, margin: number) {
  const cursor = String(Math.max(0, Math.min(end, head - margin)));
  return { cursor, isWhole: end >= head, left: Math.max(0, head - end) };
}

export type History = {
  /** Strangers' too. Absent: not read, and an operator has to say that it need not be. */
  readonly hashlocks?: HashlockReader;
};
