// Withdrawing quotes: a maker closes its thread on an RFQ until it quotes there again. What both
// accepted stays, and so does what the maker has accepted while that stands.

import { ParleyError } from '../../core/errors.ts';
import type { Database, Tx } from '../db/database.ts';
import { lockRfqs } from '../db/rfqs.ts';
import { findThreads, listOpenOf, type Thread, withdrawThreads } from '../db/threads.ts';
import type { Deps } from '../ports/deps.ts';
import { assertFree, assertLive, isLive, standsUntil } from './negotiation.ts';
import type { ClosedReason } from './thread-events.ts';
import { lockThread, partyOf } from './threads.ts';

/** Threads in one transaction: some 10 ms of work, for which their RFQs stay locked. */
const batch = 100;

type Reason = Extract<ClosedReason, 'withdrawn' | 'disconnected'>;
type Needs = Pick<Deps, 'settings' | 'now'>;

/** The maker takes its quote back; again is fine. Throws `not_maker`, `committed`, `rfq_gone`. */
export async function withdraw(tx: Tx, deps: Needs, callerId: string, id: string): Promise<Thread> {
  const thread = await lockThread(tx, callerId, id);
  if (partyOf(thread, callerId) !== 'maker') {
    throw new ParleyError('not_maker', 'only its maker may withdraw a quote', { threadId: id });
  }
  if (thread.withdrawnAt !== null) return thread;
  if (thread.status === 'agreed') {
    throw new ParleyError('thread_closed', 'both sides have accepted: the swap goes on from here', {
      threadId: id,
    });
  }
  const nowMs = deps.now();
  assertLive(thread.rfq, nowMs);
  assertFree(thread.price, 'maker', nowMs, deps.settings.acceptTtlSeconds * 1_000);
  const [withdrawn] = await close(tx, [thread], 'withdrawn', new Date(nowMs));
  return withdrawn!;
}

export type Withdrawn = {
  readonly withdrawn: number;
  /** Open all the same: the maker's own acceptance stands. */
  readonly committed: number;
};

/**
 * Withdraws all open quotes of an account, the oldest first, in transactions of their own. What it
 * quotes meanwhile may be among them. `atOnce`: in one transaction. `reason`: what takers are told.
 * `goesOn`: asked in each transaction; false ends it.
 */
export async function withdrawAll(
  deps: Needs & { readonly db: Database },
  makerId: string,
  reason: Reason = 'withdrawn',
  how: { readonly atOnce?: number; readonly goesOn?: (tx: Tx) => Promise<boolean> } = {},
): Promise<Withdrawn> {
  const { atOnce = batch, goesOn = async () => true } = how;
  let [withdrawn, committed] = [0, 0];
  let after: string | null = null;
  do {
    const from: string | null = after;
    const done: Some = await deps.db.transaction(async (tx) => {
      if (!(await goesOn(tx))) return { withdrawn: 0, committed: 0, next: null };
      return withdrawSome(tx, deps, reason, { makerId, after: from, limit: atOnce });
    });
    withdrawn += done.withdrawn;
    committed += done.committed;
    after = done.next;
  } while (after !== null);
  return { withdrawn, committed };
}

/** `next`: the thread to go on after; null = that was all. */
type Some = Withdrawn & { readonly next: string | null };

/** At most `limit` of those after the thread `after`, in the caller's transaction. */
export async function withdrawSome(
  tx: Tx,
  deps: Needs,
  reason: Reason,
  of: Parameters<typeof listOpenOf>[1],
): Promise<Some> {
  const open = await listOpenOf(tx, of);
  await lockRfqs(tx, [...new Set(open.map((each) => each.rfqId))]);
  const threads = await findThreads(
    tx,
    open.map((each) => each.id),
  );
  const nowMs = deps.now();
  const ttlMs = deps.settings.acceptTtlSeconds * 1_000;
  const ours = threads.filter(({ status, rfq }) => status === 'open' && isLive(rfq, nowMs));
  const free = ours.filter(({ price }) => standsUntil(price, 'maker', nowMs, ttlMs) === null);
  await close(tx, free, reason, new Date(nowMs));
  const next = open.length < of.limit ? null : open.at(-1)!.id;
  return { withdrawn: free.length, committed: ours.length - free.length, next };
}

/** Of RFQs that are locked. */
async function close(
  tx: Tx,
  threads: readonly Thread[],
  reason: Reason,
  at: Date,
): Promise<Thread[]> {
  const ids = threads.map((each) => each.id);
  if (ids.length > 0) await withdrawThreads(tx, ids, reason, at);
  return threads.map((each) => ({ ...each, status: 'closed', withdrawnAt: at, updatedAt: at }));
}
