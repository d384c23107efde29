// Quoting: a maker's first price opens a thread, the next ones move it. Many quotes share one
// transaction, each answered after its commit, so that a commit to disk is paid once for many.

import { ParleyError } from '@parley/core/errors.ts';
import { blocked } from '../db/accounts.ts';
import type { Tx } from '../db/database.ts';
import {
  findQuoting,
  insertThreads,
  moveThreads,
  type Quoter,
  type Quoting,
} from '../db/quotes.ts';
import { lockBareRfqs, type Rfq } from '../db/rfqs.ts';
import type { Thread } from '../db/threads.ts';
import { notifyWork } from '../db/work.ts';
import type { Deps } from '../ports/deps.ts';
import { uuidv7 } from '../ports/ids.ts';
import { holds } from './addresses.ts';
import { assertOpen } from './assets.ts';
import { mostMessages, mostThreads } from './bounds.ts';
import { assertLive, assertNotAccepted, assertUnexpired, type Offered } from './negotiation.ts';
import { assertHolds, unknownRfq } from './rfqs.ts';
import { assertSettled } from './standing.ts';
import { quoteCreated, withPrice } from './threads.ts';

export type Quote = Offered & {
  readonly makerId: string;
  readonly rfqId: string;
  /** Refused while the taker's acceptance of the current price stands. */
  readonly unlessAccepted: boolean;
};

export type Quoted = { readonly thread: Thread; readonly created: boolean };

/** One quote in the caller's transaction. */
export async function quote(
  tx: Tx,
  deps: Pick<Deps, 'settings' | 'adapters' | 'now' | 'randomBytes'>,
  wanted: Quote,
): Promise<Quoted> {
  const [outcome] = await quoteAll(tx, deps, [wanted]);
  if (outcome instanceof ParleyError) throw outcome;
  return outcome!;
}

/** Quotes in the caller's transaction, an outcome each. No two by one maker on one RFQ. */
export async function quoteAll(
  tx: Tx,
  deps: Pick<Deps, 'settings' | 'adapters' | 'now' | 'randomBytes'>,
  wanted: readonly Quote[],
): Promise<(Quoted | ParleyError)[]> {
  const asked = wanted.map((each) => ({ ...each, threads: null }));
  const quoting = await findQuoting(tx, asked, mostThreads, lockBareRfqs);
  const outcomes = decideQuotes(deps, wanted, quoting);
  const done = outcomes.filter((each): each is Quoted => !(each instanceof ParleyError));
  if (done.length > 0) {
    await storeQuotes(tx, done);
    await notifyWork(tx, 'webhooks');
  }
  return outcomes;
}

/**
 * Quotes on RFQs that are locked, their makers read behind the lock: an outcome each, in
 * order. No two may be by one maker on one RFQ.
 */
export function decideQuotes(
  deps: Pick<Deps, 'settings' | 'adapters' | 'now' | 'randomBytes'>,
  quotes: readonly Quote[],
  { locked, quoters }: Quoting,
): (Quoted | ParleyError)[] {
  const rfqs = new Map(locked.map((each) => [each.id, each]));
  const nowMs = deps.now();
  /** Threads that this batch adds to an RFQ. */
  const added = new Map<string, number>();
  return quotes.map((each, position): Quoted | ParleyError => {
    const rfq = rfqs.get(each.rfqId);
    if (rfq === undefined) return unknownRfq(each.rfqId);
    const quoter = quoters[position]!;
    const before = quoter.threads + (added.get(rfq.id) ?? 0);
    const outcome = refusing(() => quoted(deps, rfq, each, { ...quoter, threads: before }, nowMs));
    if (!(outcome instanceof ParleyError) && outcome.created) {
      added.set(rfq.id, (added.get(rfq.id) ?? 0) + 1);
    }
    return outcome;
  });
}

/** Writes what was decided, with an event each. Notifies nobody. */
export async function storeQuotes(tx: Tx, done: readonly Quoted[]): Promise<void> {
  const made = done.filter((each) => each.created).map((each) => each.thread);
  const moved = done.filter((each) => !each.created).map((each) => each.thread);
  await moveThreads(tx, moved, mostMessages);
  const events = done.map(({ thread }) => quoteCreated(thread));
  await insertThreads(tx, made, events);
}

/** The result of `decide`, or the refusal that it throws. */
function refusing<T>(decide: () => T): T | ParleyError {
  try {
    return decide();
  } catch (error) {
    if (error instanceof ParleyError) return error;
    throw error;
  }
}

function quoted(
  deps: Pick<Deps, 'settings' | 'adapters' | 'randomBytes'>,
  rfq: Rfq,
  wanted: Quote,
  quoter: Quoter,
  nowMs: number,
): Quoted {
  if (quoter.isBlocked) throw blocked();
  assertLive(rfq, nowMs);
  assertOpen(rfq.base, rfq.quote);
  assertMayQuote(deps, rfq, wanted.makerId, quoter);
  assertUnexpired(wanted, nowMs);
  const { known } = quoter;
  const live: Rfq = { ...rfq, status: 'negotiating' };
  if (known === null) {
    if (quoter.threads >= mostThreads) {
      throw new ParleyError(
        'too_many_open',
        `${quoter.threads} makers have quoted this RFQ, the most there may be`,
        { threads: quoter.threads, most: mostThreads },
      );
    }
    return { thread: newThread(deps, live, wanted, quoter, nowMs), created: true };
  }
  const ttlMs = deps.settings.acceptTtlSeconds * 1_000;
  const isOpen = known.withdrawnAt === null;
  if (wanted.unlessAccepted && isOpen) assertNotAccepted(known.price, nowMs, ttlMs);
  const thread: Thread = {
    ...known,
    rfq: live,
    makerId: wanted.makerId,
    takerId: rfq.creatorId,
    makerStanding: quoter.kept,
    status: 'open',
    withdrawnAt: null,
    swapId: null,
    agreed: null,
    updatedAt: new Date(nowMs),
  };
  return { thread: withPrice(thread, 'maker', wanted, nowMs, ttlMs), created: false };
}

function assertMayQuote(
  deps: Pick<Deps, 'adapters'>,
  rfq: Rfq,
  makerId: string,
  quoter: Quoter,
): void {
  if (rfq.creatorId === makerId) {
    throw new ParleyError('own_rfq', 'an account cannot quote its own RFQ', { rfqId: rfq.id });
  }
  if (rfq.targetAddress !== null && !holds(quoter.addresses, rfq.targetAddress)) {
    throw new ParleyError(
      'not_addressed',
      'this RFQ is addressed to a wallet that this account does not hold',
      { rfqId: rfq.id },
    );
  }
  assertSettled(rfq, quoter.kept?.settled ?? 0, 'yours');
  assertHolds(deps, quoter, rfq.direction === 'sell_base' ? rfq.quote : rfq.base);
}

function newThread(
  deps: Pick<Deps, 'randomBytes'>,
  rfq: Rfq,
  { makerId, quoteAmount, expiresAt }: Quote,
  { kept }: Quoter,
  nowMs: number,
): Thread {
  const at = new Date(nowMs);
  return {
    id: uuidv7(nowMs, deps.randomBytes),
    rfq,
    makerId,
    takerId: rfq.creatorId,
    makerStanding: kept,
    status: 'open',
    withdrawnAt: null,
    price: {
      quoteAmount,
      expiresAt,
      proposedBy: 'maker',
      makerAcceptedAt: null,
      takerAcceptedAt: null,
      hashlock: null,
      rules: null,
    },
    messages: [{ by: 'maker', quoteAmount: quoteAmount.toString(), at: at.toISOString() }],
    swapId: null,
    agreed: null,
    createdAt: at,
    updatedAt: at,
  };
}
