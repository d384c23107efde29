// Accepting, and what happens when both sides have: in one transaction the swap exists, the RFQ is
// agreed, its other threads are closed and the events are written. The RFQ's row lock makes two
// makers' acceptances take turns, so that an RFQ has one swap.

import { ParleyError } from '@parley/core/errors.ts';
import type { Hashlock } from '@parley/core/hashlock.ts';
import { blocked, blockedAmong } from '../db/accounts.ts';
import type { Tx } from '../db/database.ts';
import { insertOutbox } from '../db/outbox.ts';
import { setRfqStatus } from '../db/rfqs.ts';
import { offerHashlock, settleThreads, type Thread, updatePrice } from '../db/threads.ts';
import type { Deps } from '../ports/deps.ts';
import { assertMayAgree } from '../restore/gate.ts';
import { createSwap } from '../settle/create.ts';
import { previewLegs } from '../settle/preview.ts';
import { holdOpen } from './assets.ts';
import { tellGone } from './feed-log.ts';
import {
  acceptedUnder,
  acceptPrice,
  assertCurrent,
  assertHashlockFits,
  assertSameHashlock,
  assertSameRules,
  standsUntil,
} from './negotiation.ts';
import { assertStillSettled } from './standing.ts';
import { tellAccepted } from './thread-events.ts';
import { assertNegotiable, lockThread, partyOf } from './threads.ts';
import { assertRoom } from './unfunded.ts';

export type Words = {
  readonly quoteAmount: bigint;
  readonly hashlock: Hashlock | null;
  /** Those that the caller accepts under; undefined: whichever there are. */
  readonly rules?: unknown;
};

/** Accepts the current price for the caller's side. `swapId` is set when both have. */
export async function accept(
  tx: Tx,
  deps: Deps,
  callerId: string,
  id: string,
  words: Words,
): Promise<Thread> {
  const thread = await lockThread(tx, callerId, id);
  const party = partyOf(thread, callerId);
  const terms = { ...thread.rfq, quoteAmount: thread.price.quoteAmount };
  const { initiator, rules } = previewLegs(deps, terms, thread.agreed);
  const by = { party, isInitiator: party === initiator };
  if (thread.status === 'agreed') {
    assertCurrent(thread.price, words.quoteAmount);
    assertHashlockFits(by.isInitiator, words.hashlock);
    assertSameHashlock(thread.price.hashlock, words.hashlock);
    return thread;
  }
  const nowMs = deps.now();
  await assertNoneBlocked(tx, thread, callerId);
  assertNegotiable(thread, nowMs);
  const ttlMs = deps.settings.acceptTtlSeconds * 1_000;
  await assertMayAgree(tx, deps.presence);
  const accepted = acceptPrice(acceptedUnder(thread.price, rules), by, words, nowMs, ttlMs);
  if (words.rules !== undefined) assertSameRules(rules, words.rules);
  if (!accepted.changed) return thread;
  const maker = { id: thread.makerId, isCaller: party === 'maker' };
  await assertStillSettled(tx, thread.rfq, maker, nowMs);
  const sides = accepted.agreed ? [thread.makerId, thread.takerId] : [callerId];
  await assertRoom(tx, deps, callerId, sides, nowMs);
  const at = new Date(nowMs);
  if (words.hashlock !== null) {
    await offer(tx, { hashlock: words.hashlock, accountId: callerId, threadId: id, at });
  }
  const updated = { ...thread, price: { ...accepted.price, rules }, updatedAt: at };
  await updatePrice(tx, updated);
  const done = accepted.agreed ? await agree(tx, deps, updated, at) : updated;
  const until = done.swapId === null ? standsUntil(done.price, party, nowMs, ttlMs) : null;
  await tellAccepted(tx, done, party, until === null ? null : new Date(until));
  return done;
}

/**
 * Its quotes and RFQs are withdrawn a moment after the block; neither side can agree to one
 * meanwhile.
 */
async function assertNoneBlocked(tx: Tx, thread: Thread, callerId: string): Promise<void> {
  const found = await blockedAmong(tx, [thread.makerId, thread.takerId]);
  if (found.includes(callerId)) throw blocked();
  if (found.length === 0) return;
  throw new ParleyError('thread_closed', 'the thread is closed', { threadId: thread.id });
}

async function offer(tx: Tx, wanted: Parameters<typeof offerHashlock>[1]): Promise<void> {
  if (await offerHashlock(tx, wanted)) return;
  throw new ParleyError(
    'hashlock_used',
    'this hashlock was offered before, and one serves a single thread for ever; ' +
      'make a new secret',
  );
}

async function agree(tx: Tx, deps: Deps, thread: Thread, at: Date): Promise<Thread> {
  const { rfq, price, makerId, takerId } = thread;
  await holdOpen(tx, rfq.base.id, rfq.quote.id);
  const { swapId } = await createSwap(tx, deps, {
    threadId: thread.id,
    rfqId: rfq.id,
    hashlock: price.hashlock!,
    makerId,
    takerId,
    direction: rfq.direction,
    base: rfq.base,
    quote: rfq.quote,
    baseAmount: rfq.baseAmount,
    quoteAmount: price.quoteAmount,
  });
  await setRfqStatus(tx, rfq.id, 'agreed', at);
  await settleThreads(tx, rfq.id, thread.id, at);
  await tellGone(tx, rfq, 'agreed', at);
  const payload = { swapId, threadId: thread.id };
  await insertOutbox(
    tx,
    [makerId, takerId].map((accountId) => ({ topic: 'swap.agreed', accountId, payload, at })),
  );
  return { ...thread, status: 'agreed', swapId, rfq: { ...rfq, status: 'agreed' } };
}
