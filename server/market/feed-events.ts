// What makers are told of an RFQ: everybody of a public one, the addressed maker of a private one,
// nobody of a private one that only has a link. Written in the transaction of the effect.

import type { Tx } from '../db/database.ts';
import { insertOutbox } from '../db/outbox.ts';
import type { Rfq } from '../db/rfqs.ts';
import { rfqView } from './views.ts';

/** It is on the book, or has left it. */
export async function tellFeed(
  tx: Tx,
  kind: 'created' | 'cancelled',
  rfq: Rfq,
  at: Date,
): Promise<void> {
  await tell(tx, kind, rfq, JSON.stringify(rfqView(rfq, at.getTime(), true)), at);
}

/** It has left the book in a way that only makers who asked for more are told of. */
export async function tellGone(tx: Tx, rfq: Rfq, reason: 'agreed', at: Date): Promise<void> {
  await tell(tx, 'gone', rfq, reason, at);
}

async function tell(
  tx: Tx,
  kind: 'created' | 'cancelled' | 'gone',
  { id: rfqId, creatorId, visibility, targetAddress }: Rfq,
  body: string,
  at: Date,
): Promise<void> {
  if (visibility === 'private' && targetAddress === null) return;
  const payload = { rfqId, creatorId, targetAddress, body };
  await insertOutbox(tx, [{ topic: `feed.${kind}`, accountId: null, payload, at }]);
}
