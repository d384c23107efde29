// What makers are told of an RFQ: everybody of a public one, the addressed maker of a private one,
// nobody of a private one that only has a link. Written in the transaction of the effect.

import type { Tx } from '../db/database.ts';
import { insertOutbox, type OutboxEntry } from '../db/outbox.ts';
import type { Rfq } from '../db/rfqs.ts';
import { rfqView } from './views.ts';

/** It is on the book, or has left it. */
export function tellFeed(tx: Tx, kind: 'created' | 'cancelled', rfq: Rfq, at: Date): Promise<void> {
  return tell(tx, kind, [rfq], (each) => JSON.stringify(rfqView(each, at.getTime(), true)), at);
}

/** Many have left the book with their asset, or are on it again. */
export function tellMany(
  tx: Tx,
  kind: 'created' | 'cancelled',
  rfqs: readonly Rfq[],
  at: Date,
): Promise<void> {
  const bodyOf = (each: Rfq) => JSON.stringify(rfqView(each, at.getTime(), true));
  return tell(tx, kind, rfqs, bodyOf, at, kind === 'created' ? { again: true } : {});
}

/** It has left the book in a way that only makers who asked for more are told of. */
export function tellGone(tx: Tx, rfq: Rfq, reason: 'agreed', at: Date): Promise<void> {
  return tell(tx, 'gone', [rfq], () => reason, at);
}

async function tell(
  tx: Tx,
  kind: 'created' | 'cancelled' | 'gone',
  rfqs: readonly Rfq[],
  bodyOf: (rfq: Rfq) => string,
  at: Date,
  more: { readonly again?: true } = {},
): Promise<void> {
  const entries = rfqs.flatMap((rfq): OutboxEntry[] => {
    const { id: rfqId, creatorId, visibility, targetAddress } = rfq;
    if (visibility === 'private' && targetAddress === null) return [];
    const payload = { rfqId, creatorId, targetAddress, body: bodyOf(rfq), ...more };
    return [{ topic: `feed.${kind}`, accountId: null, payload, at }];
  });
  await insertOutbox(tx, entries);
}
