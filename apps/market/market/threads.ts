// Threads: one maker's negotiation with an RFQ's creator. Reading, and moving the price.

import { ParleyError } from '@parley/core/errors.ts';
import type { Party } from '@parley/core/trade.ts';
import type { Tx } from '../db/database.ts';
import { insertOutbox, type OutboxEntry } from '../db/outbox.ts';
import { lockBareRfqs } from '../db/rfqs.ts';
import { sharedRows } from '../db/shared-question.ts';
import { findThread, findThreads, type Thread, updatePrice } from '../db/threads.ts';
import type { Deps } from '../ports/deps.ts';
import { assertOpen, checkAmounts } from './assets.ts';
import { mostMessages } from './bounds.ts';
import { assertLive, assertUnexpired, movePrice, type Offered } from './negotiation.ts';
import { tellProposed } from './thread-events.ts';

export function unknownThread(id: string): ParleyError {
  return new ParleyError('unknown_thread', `there is no thread ${id.slice(0, 64)}`);
}

/** Which side the caller is; to a stranger the thread does not exist. */
export function partyOf(thread: Thread, callerId: string): Party {
  if (callerId === thread.makerId) return 'maker';
  if (callerId === thread.takerId) return 'taker';
  throw unknownThread(thread.id);
}

export async function readThread(tx: Tx, callerId: string, id: string): Promise<Thread> {
  return seenBy(callerId, await findThread(tx, id), id);
}

/** The same for reads: those that wait share one question. */
export function sharedThreads(tx: Tx): (callerId: string, id: string) => Promise<Thread> {
  const find = sharedRows((ids) => findThreads(tx, ids));
  return async (callerId, id) => seenBy(callerId, await find(id), id);
}

function seenBy(callerId: string, thread: Thread | null, id: string): Thread {
  if (thread === null) throw unknownThread(id);
  partyOf(thread, callerId);
  return thread;
}

/** The thread of one of its parties, with its RFQ locked: neither of them changes now. */
export async function lockThread(tx: Tx, callerId: string, id: string): Promise<Thread> {
  const seen = await readThread(tx, callerId, id);
  await lockBareRfqs(tx, [seen.rfq.id]);
  return readThread(tx, callerId, id);
}

/** Throws `thread_closed` or `rfq_gone` unless the negotiation is open, `asset_closed` too. */
export function assertNegotiable(thread: Thread, nowMs: number): void {
  if (thread.status === 'agreed') {
    throw new ParleyError('thread_closed', 'the thread is agreed; its swap goes on from here', {
      threadId: thread.id,
    });
  }
  assertLive(thread.rfq, nowMs);
  const { withdrawnAt } = thread;
  if (withdrawnAt !== null) {
    throw new ParleyError(
      'thread_closed',
      `the maker withdrew its quote at ${withdrawnAt.toISOString()}; ` +
        'a new quote of it opens the thread again',
      { threadId: thread.id },
    );
  }
  if (thread.status === 'closed') {
    throw new ParleyError('thread_closed', 'the thread is closed', { threadId: thread.id });
  }
  assertOpen(thread.rfq.base, thread.rfq.quote);
}

/** Asks the quote asset's chain whether this price could settle. */
export async function preparePropose(
  deps: Pick<Deps, 'adapters' | 'db'>,
  callerId: string,
  id: string,
  quoteAmount: bigint,
  signal: AbortSignal,
): Promise<void> {
  const { rfq, status } = await readThread(deps.db, callerId, id);
  if (status === 'open') assertOpen(rfq.base, rfq.quote);
  await checkAmounts(deps, [{ asset: rfq.quote, amount: quoteAmount }], signal);
}

/** Makes what is offered the current price; both acceptances end. Throws `quote_expired`. */
export async function propose(
  tx: Tx,
  deps: Pick<Deps, 'settings' | 'now'>,
  callerId: string,
  id: string,
  offered: Offered,
): Promise<Thread> {
  const thread = await lockThread(tx, callerId, id);
  const nowMs = deps.now();
  assertNegotiable(thread, nowMs);
  assertUnexpired(offered, nowMs);
  const moved = withPrice(
    thread,
    partyOf(thread, callerId),
    offered,
    nowMs,
    deps.settings.acceptTtlSeconds * 1_000,
  );
  await updatePrice(tx, moved);
  // To the creator, a maker's new price is a quote, however it was sent.
  if (callerId === thread.makerId) await insertOutbox(tx, [quoteCreated(moved)]);
  else await tellProposed(tx, moved);
  return moved;
}

/** The event for the RFQ's creator. */
export function quoteCreated(thread: Thread): OutboxEntry {
  const { id, rfq, price, takerId, updatedAt } = thread;
  return {
    topic: 'quote.created',
    accountId: takerId,
    payload: {
      threadId: id,
      rfqId: rfq.id,
      quoteAmount: price.quoteAmount.toString(),
      ...(price.expiresAt !== null && { quoteExpiresAt: new Date(price.expiresAt).toISOString() }),
    },
    at: updatedAt,
  };
}

/** The thread after `party` moved its price. Throws `committed`. */
export function withPrice(
  thread: Thread,
  party: Party,
  offered: Offered,
  nowMs: number,
  ttlMs: number,
): Thread {
  const price = movePrice(thread.price, party, offered, nowMs, ttlMs);
  const at = new Date(nowMs);
  const message = { by: party, quoteAmount: offered.quoteAmount.toString(), at: at.toISOString() };
  const messages = [...thread.messages, message].slice(-mostMessages);
  return { ...thread, price, messages, updatedAt: at };
}
