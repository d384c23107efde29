// How many deliveries are under way at a time: in all, of one account and of one webhook. The slow
// have places of their own. No account has more than an eighth of the quick ones, nor takes another
// slow one while it has an eighth of those that are free: the fuller they are, the fewer an account
// has, and the last ones are for those who have none.

import type { Due, InHand, Lane } from '../db/deliveries.ts';

/** A webhook is slow while it is new, and when its last attempt took longer. */
export const slowMs = 2_000;
export const places = { quick: 200, slow: 100 } as const;
const quickOfAccount = 25;
export const placesEach = { quick: 8, slow: 2 } as const;

export type Places = {
  offer(): { readonly room: Record<Lane, number>; readonly ofAccount: Record<Lane, number> };
  readonly inHand: { readonly webhooks: InHand; readonly accounts: InHand };
  /** Takes one until the answer is called. */
  take(due: Pick<Due, 'webhookId' | 'accountId' | 'lane'>): () => void;
};

export function createPlaces(): Places {
  const free = { ...places } as Record<Lane, number>;
  const webhooks = new Map<string, number>();
  const accounts = new Map<string, number>();
  return {
    offer: () => {
      const { quick, slow } = free;
      // Half at a time: many accounts at once would fill them all by the share of an empty room.
      const room = { quick, slow: Math.ceil(slow / 2) };
      const ofAccount = { quick: quickOfAccount, slow: Math.max(1, Math.floor(slow / 8)) };
      return { room, ofAccount };
    },
    inHand: { webhooks, accounts },
    take: ({ webhookId, accountId, lane }) => {
      const hold = (by: 1 | -1) => {
        free[lane] -= by;
        more(webhooks, webhookId, by);
        more(accounts, accountId, by);
      };
      hold(1);
      return () => hold(-1);
    },
  };
}

function more(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
