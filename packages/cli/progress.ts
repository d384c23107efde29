// Where a swap is, with a countdown to what comes next: one line, or more where it is narrow. Pure.

import type { ToldDoubt } from '@parley/sdk/settle/told.ts';
import type { SettleState, Shown } from '@parley/sdk/settle.ts';
import { givenLeg } from '@parley/sdk/trade.ts';
import { countdownOf, fitted, wrapped } from '@parley/trader/show.ts';

/** The state of a swap that is driven. */
export type Now = {
  readonly swapId: string;
  /** `0.01 bitcoin for 640 ethereum:USDC`. */
  readonly what: string;
  readonly state: SettleState;
  /** The step it waits for, or did last. */
  readonly text: string;
  readonly shown: Pick<Shown, 'swap' | 'trade'> | null;
  /** The doubts about the nodes. Stays as long as it is so. */
  readonly doubts: readonly ToldDoubt[];
};

export type Due = { readonly what: string; readonly at: number };

/** The next step due, by own deadlines; null: there is none, or nothing is known yet. */
export function dueOf(state: SettleState, shown: Pick<Shown, 'swap' | 'trade'> | null): Due | null {
  if (shown === null) return null;
  const { deadlines, role } = shown.swap;
  const own = givenLeg(shown.trade.party);
  const other = own === 'a' ? 'b' : 'a';
  const isFirst = role === 'initiator';
  switch (state) {
    case 'preparing':
    case 'waiting_to_fund':
    case 'funding': {
      const at = isFirst ? deadlines.initiatorFundBy : deadlines.counterpartyFundBy;
      return { what: 'fund by', at };
    }
    case 'funded':
    case 'revealing':
      return isFirst
        ? { what: 'claim by', at: deadlines.revealBy }
        : { what: 'refund from', at: deadlines.refundAt[own] };
    case 'claiming':
      return { what: 'claim by', at: deadlines.refundAt[other] };
    case 'refunding':
    case 'cancelling':
      return { what: 'refund from', at: deadlines.refundAt[own] };
    case 'received':
    case 'settled':
      return null;
  }
}

const shortId = 8;
/** The limit of all swaps together: a terminal that is lower than what is drawn cannot be drawn
 * over. */
const mostRows = 20;

/** Each at most `columns` wide. A long doubt or awaited step goes on in the lines below. */
export function linesOf(all: readonly Now[], now: number, columns: number): string[] {
  const most = Math.max(1, Math.floor(mostRows / all.length));
  return all.flatMap((each) => linesOfOne(each, now, columns, most));
}

function linesOfOne(known: Now, now: number, columns: number, most: number): string[] {
  const { swapId, what, state, text, shown, doubts } = known;
  const due = dueOf(state, shown);
  const left = due === null ? '' : due.at > now ? `${due.what} ${countdownOf(due.at - now)}` : '';
  // The last letters differ: ids begin with their time.
  const parts = [`…${swapId.slice(-shortId)}`, what, state.replaceAll('_', ' '), left];
  const said = doubts.map(({ sentence }) => sentence).join('; ') || text;
  const whole = [...parts, said].filter(Boolean).join('  ');
  if (most === 1 || [...whole].length < columns) return [fitted(whole, columns)];
  const first = fitted(parts.filter(Boolean).join('  '), columns);
  return [first, ...wrapped(said, columns, most - 1)];
}
