// How many deliveries are under way at a time: in all, of one account and of one webhook. The slow
// have places of their own. No account has more than an eighth of the quick ones, nor takes another
// slow one while it has an eighth of those that are free: the fuller they are, the fewer an account
// has, and the last ones are for those who have none. A delivery that hangs in a quick place leaves
// it, and none of its account's webhooks has one for a while.

import type { Due, InHand, Lane } from '../db/deliveries.ts';

/** A webhook is slow while it is new, and when its last attempt took longer. */
export const slowMs = 2_000;
export const places = { quick: 200, slow: 100 } as const;
const quickOfAccount = 25;
export const placesEach = { quick: 8, slow: 2 } as const;
/** The most of those that have a quick place, and those that had one and hang. */
const mostFromQuick = 400;
export const heldBackMs = 300_000;
/** Accounts; the one that was held back first is forgotten. */
const mostHeldBack = 10_000;

export type Places = {
  free(): Record<Lane, number>;
  offer(): { readonly room: Record<Lane, number>; readonly ofAccount: Record<Lane, number> };
  readonly inHand: { readonly webhooks: InHand; readonly accounts: InHand };
  heldBack(): string[];
  /** Takes one until the answer is called. */
  take(due: Pick<Due, 'webhookId' | 'accountId' | 'lane'>): () => void;
};

/** `freed`: a quick place was, though its delivery still runs. */
export function createPlaces(now: () => number, freed: () => void = () => {}): Places {
  const taken = { quick: 0, slow: 0, hanging: 0 };
  const webhooks = new Map<string, number>();
  const accounts = new Map<string, number>();
  const heldBackUntil = new Map<string, number>();

  const holdBack = (accountId: string) => {
    heldBackUntil.delete(accountId);
    heldBackUntil.set(accountId, now() + heldBackMs);
    const [first = ''] = heldBackUntil.keys();
    if (heldBackUntil.size > mostHeldBack) heldBackUntil.delete(first);
  };
  const free = () => ({
    quick: Math.min(places.quick - taken.quick, mostFromQuick - taken.quick - taken.hanging),
    slow: places.slow - taken.slow,
  });
  return {
    free,
    offer: () => {
      const { quick, slow } = free();
      // Half at a time: many accounts at once would fill them all by the share of an empty room.
      const room = { quick, slow: Math.ceil(slow / 2) };
      const ofAccount = { quick: quickOfAccount, slow: Math.max(1, Math.floor(slow / 8)) };
      return { room, ofAccount };
    },
    inHand: { webhooks, accounts },
    heldBack: () => {
      for (const [accountId, until] of heldBackUntil) {
        if (until <= now()) heldBackUntil.delete(accountId);
      }
      return [...heldBackUntil.keys()];
    },
    take: ({ webhookId, accountId, lane }) => {
      let held: keyof typeof taken = lane;
      taken[held] += 1;
      more(webhooks, webhookId, 1);
      more(accounts, accountId, 1);
      const overdue = () => {
        taken.quick -= 1;
        taken.hanging += 1;
        held = 'hanging';
        holdBack(accountId);
        freed();
      };
      const timer = lane === 'quick' ? setTimeout(overdue, slowMs).unref() : undefined;
      return () => {
        clearTimeout(timer);
        taken[held] -= 1;
        more(webhooks, webhookId, -1);
        more(accounts, accountId, -1);
      };
    },
  };
}

function more(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
