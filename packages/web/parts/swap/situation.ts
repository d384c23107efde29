// Which screen a swap has: by what its own chains show, what is asked of the person, and the clock.
// Pure. Each situation has its words below `settlement.` in texts/en/rest.json.

import { type EscrowFacts, isMuch, legStatus, nothingSeen } from '@parley/core/facts.ts';
import { type ChainKey, has } from '@parley/core/families.ts';
import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import { extraOf } from '@parley/sdk/settle/extra.ts';
import type { EscrowPayment } from '@parley/sdk/settle.ts';
import { isHeldUp } from '../../engine/by-wallet.ts';
import type { Ask, LegView, SwapView, WalletPayment } from '../../engine/types.ts';

export const situations = [
  'starting',
  'preparing',
  'other_funds_first',
  'pay_not_yet',
  'pay_held',
  'pay',
  'pay_again',
  'pay_too_late',
  'wallet_confirm',
  'wallet_silent',
  'wallet_failed',
  'wallet_sent',
  'wallet_unseen',
  'paid',
  'paid_late',
  'paid_little',
  'fund',
  'fund_sent',
  'cancelling',
  'giving_up',
  'other_funds',
  'other_collects',
  'other_is_late',
  'waits_for_refund',
  'decide_extra',
  'collect',
  'collecting',
  'received',
  'refund',
  'refunding',
  'watching',
  'done_received',
  'done_refunded',
  'done_nothing',
  'done_not_locked',
  'done_unpaid',
  'done_lost',
] as const;

export type Situation = (typeof situations)[number];

export type Seen = {
  readonly swap: SwapView;
  readonly now: UnixSeconds;
  /** Payments to the own leg, where Bitcoin is paid by hand. */
  readonly payments: readonly EscrowPayment[];
  /**
   * The payment that a wallet of this browser was asked for; null: it was not asked. Absent: not
   * read yet.
   */
  readonly wallet?: WalletPayment | null | undefined;
};

type Sides = { readonly own: LegView; readonly other: LegView };

export function sidesOf({ legs, gives }: SwapView): Sides {
  return { own: legs[gives], other: legs[gives === 'a' ? 'b' : 'a'] };
}

export function factsOf({ facts }: LegView): EscrowFacts {
  return facts ?? nothingSeen;
}

export function fundByOf({ role, deadlines }: SwapView): UnixSeconds {
  return role === 'initiator' ? deadlines.initiatorFundBy : deadlines.counterpartyFundBy;
}

export function askOf<K extends Ask['kind']>(
  { asks }: SwapView,
  kind: K,
): Extract<Ask, { kind: K }> | null {
  const found = asks.find((each): each is Extract<Ask, { kind: K }> => each.kind === kind);
  return found ?? null;
}

export function situationOf(seen: Seen): Situation {
  const { swap } = seen;
  if (swap.phase === 'ended') return endOf(swap);
  const { own, other } = sidesOf(swap);
  const isRead = own.facts !== null && other.facts !== null;
  switch (swap.state) {
    case 'preparing':
      return swap.phase === 'starting' || own.escrow !== null ? 'starting' : 'preparing';
    case 'waiting_to_fund':
      return swap.isRestored ? 'watching' : 'other_funds_first';
    case 'funding':
      return isRead ? fundingOf(seen) : 'starting';
    case 'cancelling':
      return 'cancelling';
    case 'giving_up':
      return 'giving_up';
    case 'funded':
      return fundedOf(seen);
    case 'revealing':
      return isUndecided(seen) ? 'decide_extra' : 'collect';
    case 'claiming':
      return factsOf(other).claimed === null ? 'collect' : 'collecting';
    case 'received':
      return 'received';
    case 'refunding':
      return factsOf(own).refunded === null ? 'refund' : 'refunding';
    case 'settled':
      return endOf(swap);
  }
}

/** A wallet is asked for the claim once the person has decided. */
function isUndecided({ swap, payments }: Seen): boolean {
  const { own, other } = sidesOf(swap);
  const isAsked = swap.asks.some((each) => 'verb' in each && each.verb === 'claim');
  const isDecided = isAsked && !swap.problems.some(({ code }) => code === 'paid_too_much');
  const isPaidMuch = isMuch(extraOf(payments, own.amount), own.amount);
  return isPaidMuch && !isDecided && factsOf(other).claimed === null;
}

function fundingOf(seen: Seen): Situation {
  const { swap, now } = seen;
  const { own } = sidesOf(swap);
  const { funded } = factsOf(own);
  const isLate = now > fundByOf(swap);
  if (!swap.isByHand && askOf(swap, 'pay_by_hand') === null) {
    if (swap.isRestored && funded === null) return 'watching';
    // A key alone signs its escrows: it has no coins to pay them with.
    if (has(own, 'coins') && funded === null) return 'pay_not_yet';
    return funded === null ? (isSent(swap) ? 'fund_sent' : 'fund') : 'fund_sent';
  }
  if (funded !== null) return isLate && !funded.deep ? 'paid_late' : 'paid';
  const asked = isLate || seen.wallet == null ? null : walletSituation(seen.wallet, now);
  // A wallet that was asked may have paid: its answer is displayed all the same.
  if (hasLittle(seen, own)) return isLate ? 'paid_little' : (asked ?? 'pay_again');
  return isLate ? 'pay_too_late' : (asked ?? (isHeldUp(swap) ? 'pay_held' : 'pay'));
}

/** A person unlocks its wallet and reads: as long as other wallets are given. */
const answerSeconds = 120;
/** A payment goes around the world in seconds. */
const seenSeconds = 60;

/** By what it has answered, and how long ago. The page that asked may be gone. */
function walletSituation({ is, at }: WalletPayment, now: UnixSeconds): Situation {
  switch (is) {
    case 'asked':
      return now - at < answerSeconds ? 'wallet_confirm' : 'wallet_silent';
    case 'sent':
      return now - at < seenSeconds ? 'wallet_sent' : 'wallet_unseen';
    case 'failed':
      return 'wallet_failed';
  }
}

/** The wallet has signed, and no node shows it yet. */
function isSent({ history, asks }: SwapView): boolean {
  const isAsked = asks.some(({ kind }) => kind !== 'wait');
  const isTold = ({ step }: SwapView['history'][number]) => step === 'funded' || step === 'signed';
  return !isAsked && history.some(isTold);
}

/** Something lies in the escrow, or is on its way, that funds nothing. */
function hasLittle({ payments }: Seen, own: LegView): boolean {
  const { funded, empty } = factsOf(own);
  const isPaid = payments.some(({ is, spent }) => is === 'too_little' && spent === null);
  return funded === null && (isPaid || !empty);
}

function fundedOf({ swap, now }: Seen): Situation {
  const { own, other } = sidesOf(swap);
  const { counterpartyFundBy, revealBy } = swap.deadlines;
  if (factsOf(own).refunded !== null || factsOf(other).refunded !== null) return 'waits_for_refund';
  const isOtherIn = factsOf(other).funded?.deep ?? false;
  if (swap.role === 'counterparty') return now > revealBy ? 'other_is_late' : 'other_collects';
  if (isOtherIn) return now > revealBy ? 'waits_for_refund' : 'other_funds';
  // A payment that was sent in time may still become final.
  const isComing = factsOf(other).funded !== null && now <= revealBy;
  return now <= counterpartyFundBy || isComing ? 'other_funds' : 'waits_for_refund';
}

/** The end of a swap that has ended. */
export function endOf(swap: SwapView) {
  const { own, other } = sidesOf(swap);
  const ownIs = legStatus(factsOf(own));
  const otherIs = legStatus(factsOf(other));
  if (swap.end?.end === 'received' || otherIs === 'claimed') return 'done_received';
  if (ownIs === 'claimed') return 'done_lost';
  if (swap.end?.end === 'refunded' || ownIs === 'refunded') return 'done_refunded';
  // A restored swap does not know its payer.
  const isByOthers = swap.isByHand || (swap.isRestored && has(own, 'coins'));
  if (isByOthers) return 'done_unpaid';
  // The second side has locked nothing because the first one has not, or has missed its time.
  const isMine = swap.role === 'initiator' || factsOf(other).funded !== null;
  return isMine ? 'done_not_locked' : 'done_nothing';
}

/** Whether the page has to stay open now, because its next step cannot be sent later. */
export function mustStay({ swap }: Seen, situation: Situation): boolean {
  const { other } = sidesOf(swap);
  if (swap.asks.some(({ kind }) => kind === 'confirm_in_wallet')) return true;
  if (situation === 'collect') return true;
  return situation === 'collecting' && (factsOf(other).claimed?.confirmations ?? 0) === 0;
}

/** Where the code and the address stand on the screen. */
export function isToPay(situation: Situation): boolean {
  return situation === 'pay' || situation === 'pay_again' || situation.startsWith('wallet_');
}

/** The next moment that matters, and whether it is an end (`until`) or a beginning (`from`). */
export function clockOf(
  { swap }: Seen,
  situation: Situation,
): { readonly at: UnixSeconds; readonly is: 'until' | 'from' } | null {
  const { own, other } = sidesOf(swap);
  const { initiatorFundBy, counterpartyFundBy, revealBy } = swap.deadlines;
  const until = (at: UnixSeconds) => ({ at, is: 'until' as const });
  const from = (at: UnixSeconds) => ({ at, is: 'from' as const });
  switch (situation) {
    case 'preparing':
    case 'other_funds_first':
      return until(initiatorFundBy);
    case 'pay_not_yet':
    case 'pay_held':
    case 'pay':
    case 'pay_again':
    case 'wallet_confirm':
    case 'wallet_silent':
    case 'wallet_failed':
    case 'wallet_sent':
    case 'wallet_unseen':
    case 'fund':
    case 'fund_sent':
      return until(fundByOf(swap));
    case 'paid':
    case 'other_funds':
      return until(counterpartyFundBy);
    case 'other_collects':
      return until(revealBy);
    case 'collect':
    case 'collecting':
      return until(swap.role === 'initiator' && !isPublic(swap) ? revealBy : other.timelock);
    case 'decide_extra':
      return until(revealBy);
    case 'paid_late':
    case 'paid_little':
    case 'waits_for_refund':
    case 'giving_up':
    case 'other_is_late':
    case 'watching':
      return from(own.timelock);
    default:
      return null;
  }
}

/** Whether anybody may know the secret: from then on only the other leg's timelock ends a claim. */
export function isPublic(swap: SwapView): boolean {
  const { own, other } = sidesOf(swap);
  const isShown = factsOf(own).secret ?? factsOf(other).secret ?? factsOf(other).claimed;
  return isShown !== null || swap.state === 'claiming';
}

/** Whether a person's word to give it up still brings coins back sooner. */
export function mayGiveUp(swap: SwapView): boolean {
  const { phase, state, isGivenUp } = swap;
  if (phase === 'ended' || state === 'preparing' || isGivenUp) return false;
  return !isPublic(swap) && state !== 'refunding' && state !== 'received';
}

export type Fate = {
  readonly payment: EscrowPayment;
  /** Its key in the texts: `settlement.fate.…`. */
  readonly fate:
    | 'swap'
    | 'swap_more'
    | 'back_later'
    | 'collected'
    | 'collected_more'
    | 'back'
    | 'takeable';
  /** Beyond the amount, of the one that funds. */
  readonly extra: BaseUnits;
};

/** The outcome of every payment to the escrow of the own leg. */
export function fatesOf({ swap, payments }: Seen): Fate[] {
  const { own } = sidesOf(swap);
  const secretIsOut = isPublic(swap);
  return payments.map((payment) => {
    const { is, spent, amount } = payment;
    const extra = is === 'funding' && amount > own.amount ? amount - own.amount : 0n;
    const of = (fate: Fate['fate']): Fate => ({ payment, fate, extra });
    if (spent?.by === 'refund') return of('back');
    if (spent?.by === 'claim') return of(extra > 0n ? 'collected_more' : 'collected');
    if (is === 'funding') return of(extra > 0n ? 'swap_more' : 'swap');
    return of(secretIsOut ? 'takeable' : 'back_later');
  });
}

/** The loss where fees cannot be paid, and by when. */
export function gasUrgency({
  state,
}: Pick<SwapView, 'state'>): 'fund' | 'reveal' | 'collect' | 'refund' {
  switch (state) {
    case 'claiming':
    case 'received':
      return 'collect';
    case 'refunding':
      return 'refund';
    case 'revealing':
    case 'funded':
      return 'reveal';
    default:
      return 'fund';
  }
}

type Left = 'refunds' | 'refund' | 'claims' | 'claim';

/**
 * Steps that happen without this page: on Bitcoin by claims and refunds that were signed beforehand,
 * elsewhere by any party that has gas.
 */
export function leftWith(swap: SwapView, isKept: (chain: ChainKey) => boolean): readonly Left[] {
  if (swap.phase !== 'running') return [];
  const { own, other } = sidesOf(swap);
  const mine = factsOf(own);
  const theirs = factsOf(other);
  const isIn = mine.funded !== null && mine.refunded === null && mine.claimed === null;
  const isOwed = theirs.claimed === null && theirs.refunded === null && mine.refunded === null;
  // A side that gives up has released what it was owed.
  const isClaimed = isOwed && !swap.isGivenUp && swap.state !== 'giving_up';
  const claims = swap.role === 'counterparty' && mine.funded !== null && isClaimed;
  return [
    ...(swap.isRefundLeft && isIn ? (['refunds'] as const) : []),
    ...(!has(own, 'coins') && isIn && isKept(own.chain) ? (['refund'] as const) : []),
    ...(swap.isClaimLeft && isClaimed ? (['claims'] as const) : []),
    ...(!has(other, 'coins') && claims && isKept(other.chain) ? (['claim'] as const) : []),
  ];
}
