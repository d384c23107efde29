// Where a swap is, as one line with a countdown to what comes next. Pure.

import type { SettleState, Shown } from '../sdk/settle.ts';
import { givenLeg } from '../sdk/trade.ts';
import { countdownOf, fitted } from './show.ts';

/** What is known of a swap that is driven. */
export type Now = {
  readonly swapId: string;
  /** `0.01 bitcoin for 640 ethereum:USDC`. */
  readonly what: string;
  readonly state: SettleState;
  /** What it waits for, or did last. */
  readonly text: string;
  readonly shown: Pick<Shown, 'swap' | 'trade' | 'legs'> | null;
};

export type Due = { readonly what: string; readonly at: number };

/** What is due next, by own deadlines; null: there is none, or nothing is known yet. */
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

/** What is wrong with the answers of nodes, by the last look. Stays as long as it is so. */
export function doubtsIn(shown: Now['shown']): string {
  const doubts = [...(shown?.legs.values() ?? [])].flatMap(
    ({ evidence }) => evidence?.doubts ?? [],
  );
  return doubts.map(({ sentence }) => sentence).join('; ');
}

const shortId = 8;

/** At most `columns` wide. */
export function lineOf({ swapId, what, state, text, shown }: Now, now: number, columns: number) {
  const due = dueOf(state, shown);
  const left = due === null ? '' : due.at > now ? `${due.what} ${countdownOf(due.at - now)}` : '';
  // The last letters differ: ids begin with their time.
  const parts = [`…${swapId.slice(-shortId)}`, what, state.replaceAll('_', ' '), left];
  const said = doubtsIn(shown) || text;
  return fitted([...parts, said].filter(Boolean).join('  '), columns);
}
