// The entries of the book as the feed has them. An entry that left is remembered, so that an older
// page of REST does not bring it back.

import type { Millis } from '@parley/core/nominal.ts';
import type { Rfq } from '../types.ts';
import type { ServerFrame } from './link.ts';

export type BookChange = {
  readonly kind: 'created' | 'cancelled' | 'expired' | 'agreed';
  readonly rfq: Rfq;
};

/** The ids of two assets, in either order. */
export type AssetPair = readonly [string, string];

/** Pages of REST are at most this much older than a frame. */
const rememberedMs = 60_000;
const mostRemembered = 20_000;
/** An RFQ has 2 kB: a market that invents them must not fill the memory. */
export const mostRfqs = 100_000;

export type Entries = ReturnType<typeof createEntries>;

/** Each of its changes gives what changed. Without `pairs` it takes all pairs. */
export function createEntries(now: () => Millis, pairs?: readonly AssetPair[], most = mostRfqs) {
  const rfqs = new Map<string, Rfq>();
  const left = new Map<string, number>();
  /** Known from before a snapshot, and not shown since. */
  const doubtful = new Set<string>();
  const wanted = pairs && new Set(pairs.flatMap(([one, other]) => bothWays(one, other)));
  let leftOut = 0;

  const add = (rfq: Rfq): BookChange[] => {
    if (wanted && !wanted.has(`${rfq.baseAssetId} ${rfq.quoteAssetId}`)) return [];
    const isNew = !rfqs.has(rfq.id);
    if (isNew && rfqs.size >= most) {
      leftOut += 1;
      return [];
    }
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
    /** How many were left out since the last snapshot, because there are as many as may be. */
    leftOut: () => leftOut,
    take: (frame: ServerFrame): BookChange[] => {
      switch (frame.type) {
        case 'snapshot':
          leftOut = 0;
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

const bothWays = (one: string, other: string) => [`${one} ${other}`, `${other} ${one}`];
