// Withdrawing quotes: a maker closes its thread on an RFQ until it quotes there again. An agreement
// of both stays, and so does the maker's acceptance while that stands.

import { ParleyError } from '@parley/core/errors.ts';
import type { ClosedReason } from '@parley/core/events.ts';
import type { Tx } from '../db/database.ts';
import { lockBareRfqs } from '../db/rfqs.ts';
import {
  findThreads,
  freeMakers,
  listOpenOf,
  type Thread,
  withdrawThreads,
} from '../db/threads.ts';
import type { Deps } from '../ports/deps.ts';
import { assertFree, assertLive, isLive, standsUntil } from './negotiation.ts';
import { lockThread, partyOf } from './threads.ts';

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

/** `next`: the thread to go on after; null = that was all. */
export type Some = Withdrawn & { readonly next: string | null };

/** The oldest open quotes of an account after the thread `after`, at most `limit` of them. */
export async function withdrawSome(
  tx: Tx,
  deps: Needs,
  reason: Reason,
  of: Parameters<typeof listOpenOf>[1],
): Promise<Some> {
  const nowMs = deps.now();
  const { ours, next } = await lockOpen(tx, of, nowMs);
  const ttlMs = deps.settings.acceptTtlSeconds * 1_000;
  const free = ours.filter(({ price }) => standsUntil(price, 'maker', nowMs, ttlMs) === null);
  await close(tx, free, reason, new Date(nowMs));
  return { withdrawn: free.length, committed: ours.length - free.length, next };
}

/** The same, and those too to which the maker's own acceptance binds it. */
export async function withdrawAny(
  tx: Tx,
  of: Parameters<typeof listOpenOf>[1],
  at: Date,
): Promise<Some> {
  const { ours, next } = await lockOpen(tx, of, at.getTime());
  await close(tx, ours, 'withdrawn', at);
  await freeMakers(
    tx,
    ours.map((each) => each.id),
  );
  return { withdrawn: ours.length, committed: 0, next };
}

async function lockOpen(tx: Tx, of: Parameters<typeof listOpenOf>[1], nowMs: number) {
  const open = await listOpenOf(tx, of);
  await lockBareRfqs(tx, [...new Set(open.map((each) => each.rfqId))]);
  const threads = await findThreads(
    tx,
    open.map((each) => each.id),
  );
  const ours = threads.filter(({ status, rfq }) => status === 'open' && isLive(rfq, nowMs));
  return { ours, next: open.length < of.limit ? null : open.at(-1)!.id };
}

/** Closes threads of RFQs that are locked. */
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
