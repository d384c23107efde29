// The book as the feed has it. An entry that left is remembered, so that an older page of REST does
// not bring it back.

import type { Millis } from '@parley/core/nominal.ts';
import type { Rfq } from '../types.ts';
import type { ServerFrame } from './link.ts';

export type BookChange = {
  readonly kind: 'created' | 'cancelled' | 'expired' | 'agreed';
  readonly rfq: Rfq;
};

/** Pages of REST are at most this much older than a frame. */
const rememberedMs = 60_000;
const mostRemembered = 20_000;

export type Book = ReturnType<typeof createBook>;

/** Each of its changes gives what changed. */
export function createBook(now: () => Millis) {
  const rfqs = new Map<string, Rfq>();
  const left = new Map<string, number>();
  /** Known from before a snapshot, and not shown since. */
  const doubtful = new Set<string>();

  const add = (rfq: Rfq): BookChange[] => {
    const isNew = !rfqs.has(rfq.id);
    doubtful.delete(rfq.id);
    rfqs.set(rfq.id, rfq);
    return isNew ? [{ kind: 'created', rfq }] : [];
  };

  const remove = (id: string, kind: 'cancelled' | 'expired' | 'agreed'): BookChange[] => {
    left.delete(id);
    left.set(id, now());
    for (const [old, at] of left) {
      if (left.size <= mostRemembered && now() - at < rememberedMs) break;
      left.delete(old);
    }
    doubtful.delete(id);
    const rfq = rfqs.get(id);
    if (rfq === undefined) return [];
    rfqs.delete(id);
    return [{ kind, rfq }];
  };

  return {
    rfqs: rfqs as ReadonlyMap<string, Rfq>,
    take: (frame: ServerFrame): BookChange[] => {
      switch (frame.type) {
        case 'snapshot':
          for (const id of rfqs.keys()) doubtful.add(id);
          return [...frame.rfqs, ...(frame.addressed ?? [])].flatMap(add);
        case 'rfq':
          if (frame.kind === 'cancelled') return remove(frame.rfq.id, 'cancelled');
          // On the book again: a token that reopened.
          left.delete(frame.rfq.id);
          return add(frame.rfq);
        case 'gone':
          return remove(frame.rfqId, frame.reason);
        default:
          return [];
      }
    },
    /** The entries of a page of REST, without those that have left since. */
    fill: (page: readonly Rfq[]) => page.filter(({ id }) => !left.has(id)).flatMap(add),
    /** All private ones there are now. */
    renew: (there: readonly Rfq[]) => {
      const ids = new Set(there.map(({ id }) => id));
      const hidden = [...rfqs.values()].filter(
        ({ id, visibility }) => visibility === 'private' && !ids.has(id),
      );
      const fresh = there.filter(({ id }) => !left.has(id));
      return [...hidden.flatMap(({ id }) => remove(id, 'cancelled')), ...fresh.flatMap(add)];
    },
    /** All of the book was shown since the last snapshot: the rest has left. */
    settle: () => [...doubtful].flatMap((id) => remove(id, 'cancelled')),
  };
}
