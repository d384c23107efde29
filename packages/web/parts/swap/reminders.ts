// The reminders to a person who looks elsewhere: a swap's request, and a deadline before it costs
// something. Pure.

import type { UnixSeconds } from '@parley/core/nominal.ts';
import type { SwapView } from '../../engine/types.ts';
import { askOf, clockOf, gasUrgency, type Seen, type Situation, situationOf } from './situation.ts';

export type Reminder = {
  /** One for each event. */
  readonly key: string;
  readonly what: 'pay' | 'sign' | 'gas' | 'connect' | 'decide' | 'stopped' | 'soon' | 'ended';
  /** Until when; null: no time ends it. */
  readonly at: UnixSeconds | null;
};

/** As messages of the market: half an hour before, at the earliest at half of the time. */
const reminderSeconds = 1_800;

/** Where something of the person is due until the clock of the screen. */
const isDue: readonly Situation[] = [
  ...(['pay', 'pay_again', 'fund', 'wallet_confirm', 'wallet_silent', 'wallet_failed'] as const),
  ...(['wallet_unseen', 'collect', 'decide_extra'] as const),
];
/** Where a wallet that is not connected keeps the swap. */
const wantsWallet: readonly Situation[] = ['fund', 'cancelling', 'collect', 'refund'];

/** `wasOpen`: whether it was seen open, so that its end is news. At most one a swap. */
export function reminderOf(seen: Seen, wasOpen: boolean): Reminder | null {
  const { swap, now } = seen;
  const of = (what: Reminder['what'], at: UnixSeconds | null, more = ''): Reminder => ({
    key: `${swap.id} ${what}${more}`,
    what,
    at,
  });
  if (swap.phase === 'ended') return wasOpen ? of('ended', null) : null;
  const situation = situationOf(seen);
  const clock = clockOf(seen, situation);
  const at = clock?.is === 'until' && clock.at > now ? clock.at : null;
  const wanted = wantedOf(swap, situation);
  if (at !== null && (wanted !== null || isDue.includes(situation))) {
    const from = Math.max(at - reminderSeconds, (swap.agreedAt + at) / 2);
    // In the place of what is wanted: one thing is told once.
    if (now >= from) return of('soon', at, ` ${at}`);
  }
  return wanted === null ? null : of(wanted.what, at, wanted.more);
}

type Wanted = { readonly what: Reminder['what']; readonly more: string };

function wantedOf(swap: SwapView, situation: Situation): Wanted | null {
  const what = (is: Reminder['what'], more = ''): Wanted => ({ what: is, more });
  const tooMuch = swap.problems.some(({ code }) => code === 'paid_too_much');
  if (situation === 'decide_extra' || tooMuch) return what('decide');
  if (swap.phase === 'stopped') return what('stopped');
  const sign = askOf(swap, 'sign');
  if (sign !== null) return what('sign', ` ${sign.verb}`);
  // Missing coins take longer to bring than half an hour: a claim that the market was to send may
  // wait for them alone.
  if (swap.problems.some(({ kind }) => kind === 'gas')) return what('gas', ` ${gasUrgency(swap)}`);
  if (askOf(swap, 'connect_wallet') !== null && wantsWallet.includes(situation)) {
    return what('connect', ` ${situation}`);
  }
  if (situation === 'pay' && askOf(swap, 'pay_by_hand') !== null) return what('pay');
  return situation === 'pay_again' ? what('pay', ' again') : null;
}
