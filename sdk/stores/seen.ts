// What a side has seen of its escrows: a chain may forget one (a lane used again, an account
// closed).

import { type EscrowFacts, isUnknown, nothingSeen, type Sighting } from '../../core/facts.ts';
import type { Leg } from '../../core/swap.ts';
import type { SwapRecord } from './store.ts';

/** By the escrow's address: a leg that moved has another one. */
export type SeenFacts = Readonly<Record<string, EscrowFacts>>;

/** null: no news. What nobody can tell any more leaves the last that was known. */
export function newsOf(record: SwapRecord, legs: readonly Leg[]): SeenFacts | null {
  const { a, b } = record.swap.legs;
  const own = [a, b].flatMap(({ escrow }) => (escrow === null ? [] : [escrow.address]));
  const { seen: before = {} } = record;
  const seen = Object.fromEntries(
    own.flatMap((address) => {
      const shown = legs.find(({ escrow }) => escrow === address)?.facts;
      const kept = before[address];
      if (shown === undefined || isUnknown(shown)) return kept ? [[address, kept]] : [];
      if (kept === undefined && looksOf(shown) === looksOf(nothingSeen)) return [];
      return [[address, shown]];
    }),
  );
  return own.some((each) => looksOf(seen[each]) !== looksOf(before[each])) ? seen : null;
}

/** More confirmations of what is deep are no news. */
function looksOf(facts: EscrowFacts = nothingSeen): string {
  const { funded, claimed, refunded, secret, balance, empty } = facts;
  const looks = (each: Sighting | null) =>
    each === null ? '' : `${each.txid} ${each.deep ? 'deep' : each.confirmations > 0}`;
  return [looks(funded), looks(claimed), looks(refunded), secret, balance, empty].join();
}
