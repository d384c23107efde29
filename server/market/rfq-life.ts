// Whether an RFQ still takes business.

import { ParleyError } from '../../core/errors.ts';
import type { Rfq, StoredStatus } from '../db/rfqs.ts';

/** `expired` is a fact of the clock. */
export function statusAt(rfq: Rfq, nowMs: number): StoredStatus {
  const ends = rfq.status === 'open' || rfq.status === 'negotiating';
  return ends && rfq.expiresAt.getTime() <= nowMs ? 'expired' : rfq.status;
}

export function isLive(rfq: Rfq, nowMs: number): boolean {
  const status = statusAt(rfq, nowMs);
  return status === 'open' || status === 'negotiating';
}

/** Throws `rfq_gone` unless it is open or negotiating. */
export function assertLive(rfq: Rfq, nowMs: number): void {
  if (isLive(rfq, nowMs)) return;
  const status = statusAt(rfq, nowMs);
  throw new ParleyError('rfq_gone', `the RFQ is ${status} and takes no more business`, {
    rfqId: rfq.id,
    status,
  });
}
