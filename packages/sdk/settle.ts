// Drives one side of a swap to its end, by the customer's own trade, clock and chain sources alone.
// The market builds fundings and relays, and nothing it says is believed. Every effect can be
// repeated after a crash at any point. One thing rests on the market's word: whether another device
// of the account gave the swap up. A lie there may cost an initiator whose other device released.

import { sleep } from '@parley/chains/nodes/turn.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type LegStatus, legStatus } from '@parley/core/facts.ts';
import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import { type SwapStatus, swapStatus } from '@parley/core/status.ts';
import type { Leg } from '@parley/core/swap.ts';
import type { LegName } from '@parley/core/trade.ts';
import { codeOf, messageOf, SettleError } from './errors.ts';
import { isoTime } from './people.ts';
import { type Poll, poll, readLeg, stopWatching } from './settle/chains.ts';
import { claim, refund, replaceStuck, reveal, takeRent, withdrawClaim } from './settle/claims.ts';
import {
  type Context,
  contextOf,
  type Failure,
  ownLeg,
  payingLeg,
  type SettleInput,
  sourceOf,
  walletOf,
} from './settle/context.ts';
import { dropNonces, tendTogether } from './settle/cosigning.ts';
import { fund } from './settle/fund.ts';
import { mostTries, release, takeReleased, takeWish, tellWish } from './settle/giving-up.ts';
import { handOf } from './settle/hands/of.ts';
import { StoreSilent } from './settle/keeping.ts';
import {
  type Effect,
  type Facts,
  isAlone,
  next,
  type Owes,
  type SettleState,
} from './settle/machine.ts';
import { heardSecret, takeOwnWord } from './settle/market.ts';
import { keepOwed } from './settle/owed.ts';
import { openLane } from './settle/own-lane.ts';
import { prepare, takeMoves } from './settle/prepare.ts';
import {
  doubtsOf,
  type LegSeen,
  legOf,
  ownSides,
  type Seen,
  seenOf,
  toldOf,
} from './settle/record.ts';
import { leaveSpends } from './settle/scheduled.ts';
import { isUnheard } from './settle/told.ts';
import { takeTurn } from './settle/turn.ts';
import { endUnsent } from './settle/ways.ts';
import { mayBeFunded, newsOf, type StoreLock } from './stores/store.ts';
import { verdictOf } from './verdict.ts';

export type { EscrowPayment } from '@parley/chains/interface/reading.ts';
export type {
  Failure,
  Progress,
  ProgressStep,
  SettleInput,
  Shown,
} from './settle/context.ts';
export type { SettleState } from './settle/machine.ts';

export type Outcome = {
  readonly swapId: string;
  /**
   * `received`: paid what was promised; `refunded`: own funds back; `lost`: the own leg was taken,
   * and nothing paid for it; `nothing`: none moved.
   */
  readonly end: 'received' | 'refunded' | 'lost' | 'nothing';
  readonly status: SwapStatus;
  /** As the chains show them, whoever sent them. */
  readonly txids: Readonly<
    Record<LegName, { fund: string | null; claim: string | null; refund: string | null }>
  >;
  /** Left in the own escrow, and worth a refund's fee: a run from then on takes it. */
  readonly remains: { readonly amount: BaseUnits; readonly refundableAt: UnixSeconds } | null;
};

/**
 * Runs until this side has nothing left to do; where the store has locks, one run of a swap at a
 * time (settle/turn.ts). Throws SettleError when a person is needed, and the
 * signal's reason. Before its own funding also VerificationError, and refusals of wallet and
 * market. Call again to go on.
 */
export async function settle(input: SettleInput): Promise<Outcome> {
  // Work beside the passes ends with them.
  const over = new AbortController();
  const signals = input.signal === undefined ? [over.signal] : [over.signal, input.signal];
  const signal = AbortSignal.any(signals);
  const context = contextOf({ ...input, signal });
  let turn: StoreLock | null = null;
  try {
    turn = await takeTurn(context, signal, () => isOpen({ ...input, signal }));
    if (!(await prepared(context))) return nothing(context);
    for (;;) {
      context.signal?.throwIfAborted();
      const outcome = await pass(context);
      if (outcome !== null) {
        await dropNonces(context);
        return outcome;
      }
      await (input.pause ?? sleep)(context.pollMs, context.signal);
    }
  } finally {
    stopWatching(context);
    over.abort();
    await turn?.release();
  }
}

/**
 * A person gives the swap up: as `settle`, which goes on until both legs are back or decided.
 */
export function giveUp(input: Omit<SettleInput, 'givesUp'>): Promise<Outcome> {
  return settle({ ...input, givesUp: () => true });
}

/** Whether something is to be done that harms nobody when two do it. Reads the record anew. */
async function isOpen({ onProgress: _, onShown: __, ...input }: SettleInput): Promise<boolean> {
  const context = contextOf(input);
  try {
    if ((await context.store.getSwap(input.swapId)) === null) return false;
    const polled = await poll(context);
    const facts = factsOf(context, polled);
    const shown = [...polled.legs.values()].map(({ leg }) => leg.facts.secret);
    const publicSecret = facts.record.publicSecret ?? shown.find((each) => each !== null) ?? null;
    const known = { ...facts, record: { ...facts.record, publicSecret } };
    const { effects } = next(context.state, known, clocksOf(polled));
    return effects.some((each) => each.do === 'claim' || each.do === 'refund');
  } finally {
    stopWatching(context);
  }
}

/** Without its record nothing can be done: a store that is silent is asked again. */
async function prepared(context: Context): Promise<boolean> {
  for (;;) {
    try {
      return await prepare(context);
    } catch (error) {
      if (!(error instanceof StoreSilent)) throw error;
    }
    await sleep(context.pollMs, context.signal);
  }
}

/** Each leg fails by itself: a chain, a market or a disk that is silent holds up nothing else. */
async function pass(context: Context): Promise<Outcome | null> {
  const failures: [LegName | null, unknown][] = [];
  const trying = async <T>(about: LegName | null, work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work();
    } catch (error) {
      context.signal?.throwIfAborted();
      failures.push([about, error]);
      return null;
    }
  };
  const polled = await trying(null, async () => {
    const found = await poll(context);
    await remember(context, found);
    // Its facts are read from the next pass on.
    return (await takeStrayed(context, found)) ? poll(context) : found;
  });
  await trying(null, () => takeWish(context));
  await trying(null, () => takeOwnWord(context));
  await trying(ownSides(context.record).gives, () => takeReleased(context));
  if (polled === null) {
    context.shows(new Map(), failures.map(failureOf));
    return waitOn(context, failures, false);
  }
  failures.push(...polled.errors);
  const found = next(context.state, factsOf(context, polled), clocksOf(polled));
  const { state, unconfirmed = state, effects, owes } = found;
  const shows = (entered: SettleState) => {
    // A screen that draws both would show the end beside the state before it.
    if (entered !== context.state) context.shows(polled.legs, failures.map(failureOf));
    context.enter(entered);
  };
  shows(unconfirmed);
  for (const effect of effects.filter(isAlone)) {
    await trying(effect.leg, () => runAlone(context, effect, polled));
  }
  const seen = wholeOf(context, polled);
  const together = effects.filter((effect) => !isAlone(effect));
  const outcome = await trying(null, async () => {
    if (seen === null) return null;
    await runTogether(context, seen, together, owes);
    return state === 'settled' ? endOf(context, () => shows(state)) : null;
  });
  if (seen !== null && outcome === null) await tendTogether(context, seen);
  context.shows(polled.legs, failures.map(failureOf));
  if (outcome !== null) return outcome;
  await waitOn(context, failures, isClaiming(context, polled));
  await context.store.writeAgain();
  return null;
}

/** An error about the whole swap may itself name the leg that it is about. */
function failureOf([about, error]: readonly [LegName | null, unknown]): Failure {
  const { leg: named = null } = error instanceof ParleyError ? error.facts : {};
  const leg = named === 'a' || named === 'b' ? named : null;
  return { leg: about ?? leg, code: codeOf(error), sentence: messageOf(error) };
}

/** Throws what waiting cannot mend, and emits the rest. */
function waitOn(
  context: Context,
  failures: readonly [LegName | null, unknown][],
  claiming: boolean,
): null {
  const { gets } = ownSides(context.record);
  for (const [about, error] of failures) {
    // A person is called for the other leg only when nothing is to be claimed.
    const isOfOther = about !== gets || !(error instanceof SettleError);
    if (!isPassing(context, error) && !(claiming && isOfOther)) throw error;
    context.emit('waiting', about, messageOf(error), null, codeOf(error));
  }
  return null;
}

/** With money in an escrow nothing but a need for a person ends the watch. */
function isPassing({ record }: Context, error: unknown): boolean {
  if (error instanceof SettleError) return false;
  const mayHoldMoney = mayBeFunded(record) || record.restored === true;
  if (error instanceof StoreSilent || mayHoldMoney) return true;
  return error instanceof ParleyError && verdictOf(error) === 'again';
}

/** Whether this side may still be paid for a secret that is public. */
function isClaiming({ record }: Context, { fresh }: Poll): boolean {
  if (record.publicSecret === null) return false;
  const paying = fresh.get(ownSides(record).gets);
  if (paying === undefined) return true;
  const status = legStatus(paying.leg.facts);
  return status === 'funded' || status === 'seen';
}

function factsOf(context: Context, { fresh, legs }: Poll): Facts {
  const { record, asking, marketPollMs, client, heard } = context;
  const seen: Facts['legs'] = {};
  const leaving: NonNullable<Facts['leaving']> = {};
  for (const [name, { leg, evidence }] of legs) {
    const isFresh = fresh.has(name);
    seen[name] = evidence === undefined ? { ...leg, isFresh } : { ...leg, isFresh, evidence };
    const left = leavingOf(context, name);
    if (left !== null) leaving[name] = left;
  }
  const isMarketDue = performance.now() - asking.lastAtMs > marketPollMs;
  const isRefundTried = context.refunding.isTried;
  const isReleaseTried = context.releasing.tries >= mostTries;
  // Where the market is gone, a person decides by its wallet to go on with what it has restored.
  const isPersons = () => walletOf(context, payingLeg(context).chain).asks !== undefined;
  const isUnsure = record.restored === true && client !== null && heard.own === undefined;
  const mayBeGivenUp = isUnsure && !(heard.isSilent && isPersons());
  const tried = { isRefundTried, isReleaseTried };
  return { record, legs: seen, isMarketDue, leaving, ...tried, mayBeGivenUp };
}

function leavingOf(context: Context, name: LegName) {
  const { leaveToBatchMs: ms = 0, openSince, record } = context;
  const { adapter, view } = sourceOf(context, legOf(record, name).chain);
  if (ms === 0 || adapter.buildBatch === undefined) return null;
  const { high, reactSeconds } = view.policy;
  const needsSeconds = high.outageSeconds + reactSeconds + high.settleSeconds;
  return { ms, needsSeconds, since: openSince.get(name) ?? null };
}

function clocksOf({ wall, legs }: Poll) {
  return { wall, ...Object.fromEntries([...legs].map(([name, { clock }]) => [name, clock])) };
}

function wholeOf({ record }: Context, { wall, legs }: Poll): Seen | null {
  const a = legs.get('a');
  const b = legs.get('b');
  return a === undefined || b === undefined ? null : seenOf(record, { a, b }, wall);
}

async function runAlone(context: Context, effect: Effect, { fresh, wall }: Poll): Promise<void> {
  const { leg: name, why = '' } = effect;
  const seen = name === null ? undefined : fresh.get(name);
  if (name === null || seen === undefined) return;
  switch (effect.do) {
    case 'replace':
      return replaceStuck(context, name, wall);
    case 'claim':
      return claim(context, seen);
    case 'withdraw_claim':
      return withdrawClaim(context);
    case 'refund':
      return refund(context, seen, wall);
    case 'leave_to_batch':
      // A clock that was set back must not make the wait longer than it is known to be.
      context.openSince.set(name, Math.min(context.openSince.get(name) ?? wall, wall));
      return context.waits(seen.leg, why);
  }
}

/** One after the other: a failure of one keeps the others for the next pass. */
async function runTogether(
  context: Context,
  seen: Seen,
  effects: readonly Effect[],
  owes: Owes | null,
): Promise<void> {
  const [first, ...rest] = effects;
  const asks = first?.do === 'ask_market';
  // The poll saw another escrow then.
  if (asks && (await takeMoves(context, seen))) return;
  if (owes !== null) await keepOwed(context, owes);
  for (const effect of asks ? rest : effects) await runOne(context, seen, effect);
}

async function runOne(context: Context, seen: Seen, effect: Effect): Promise<void> {
  const hand = () => handOf(context, ownLeg(context));
  switch (effect.do) {
    case 'take_rent':
      return takeRent(context);
    case 'release':
      return release(context);
    case 'tell_wish':
      return tellWish(context);
    case 'schedule_refunds':
      return leaveSpends(context, seen, 'refund');
    case 'schedule_claims':
      return leaveSpends(context, seen, 'claim');
    case 'reveal':
      return reveal(context, seen);
    case 'open_lane':
      return openLane(context);
    case 'raise_funding':
      return hand().raiseFunding();
    case 'fund':
      return fund(context);
    case 'push_approval':
      return hand().tendApproval();
    case 'cancel_funding':
      // Where the wallet sends, its chain alone ends what is late.
      return context.record.funding === null || hand().sends
        ? endUnsent(context)
        : hand().cancelFunding();
    case 'wait':
      return context.emit('waiting', effect.leg, effect.why ?? '');
  }
}

const held = '; this side begins and ends nothing by it';

/** Emitted once, until it changes: doubts about the answers for a leg, and its end. */
function tellDoubts({ emit, doubted, ending }: Context, name: LegName, seen: LegSeen): void {
  const doubts = toldOf(seen);
  const [first] = doubts;
  if (first === undefined) {
    // One that has yet to answer is not well.
    if (!isUnheard(seen) && doubted.delete(name))
      emit('evidence', name, `the nodes of leg ${name} are well again`);
    return;
  }
  const stops = doubtsOf(seen).length > 0 ? held : '';
  // Heights and ages in the sentences are others at each look.
  const what = `${doubts.map(({ code, node = '' }) => `${code} ${node}`).join()}${stops}`;
  if (doubted.get(name) === what) return;
  // At the end each look waits the whole time of every node. Passes before do not.
  if (ending.isTried && doubted.get(name) === `${what}${held}`) return;
  doubted.set(name, what);
  const text = doubts.map(({ sentence }) => sentence).join('; ');
  emit('evidence', name, `${text}${stops}`, null, first.code);
}

/** A chain may take back or forget what it showed: secret and facts are kept. */
export async function remember(context: Context, { fresh }: Poll): Promise<void> {
  const legs = [...fresh.values()].map(({ leg }) => leg);
  for (const [name, each] of fresh) tellDoubts(context, name, each);
  // A fact that one node alone shows, or an answer that was refused, is no memory.
  const sure = [...fresh.values()].filter(({ evidence }) => evidence?.agreed !== false);
  const news = newsOf(context.record, sure);
  if (news !== null) {
    // A store that fails here stops nothing: the next pass sees it again, and tries again.
    await context.keep(news).catch((error: unknown) => {
      context.signal?.throwIfAborted();
      context.emit(
        'store',
        null,
        `the store did not keep the state of the chains: ${messageOf(error)}`,
      );
    });
  }
  for (const { leg: name, facts, requiredConfirmations } of legs) {
    const last = facts.refunded ?? facts.claimed ?? facts.funded;
    if (last === null) continue;
    const what = facts.refunded ? 'refund' : facts.claimed ? 'claim' : 'funding';
    const depth = last.deep ? 'deep' : `not yet ${requiredConfirmations} deep`;
    context.emit('seen', name, `${what} of leg ${name} is ${depth}`, last.txid);
  }
  if (context.record.publicSecret !== null) return;
  const shown = legs.map(({ facts }) => facts.secret).find((each) => each !== null);
  const publicSecret = shown ?? heardSecret(context);
  if (publicSecret !== null) await context.store.putSeen({ ...context.record, publicSecret });
}

/** With the secret public a payment in an escrow that the leg moved off is claimed there. */
export async function takeStrayed(context: Context, { fresh }: Poll): Promise<boolean> {
  const { record } = context;
  const name = ownSides(record).gets;
  const { leg, evidence } = fresh.get(name) ?? {};
  const strayed = evidence?.strayed ?? null;
  if (record.publicSecret === null || strayed === null || leg?.facts.funded !== null) return false;
  const { [name]: before = [] } = record.former ?? {};
  const { escrow } = legOf(record, name);
  const { address, terms } = strayed;
  const others = before.filter((each) => each.address !== address);
  const legs = { ...record.swap.legs };
  legs[name] = { ...legs[name], escrow: { ...escrow, address, terms } };
  const former = { ...record.former, [name]: [escrow, ...others] };
  await context.keep({ swap: { ...record.swap, legs }, former });
  context.emit('verified', name, `the payment of leg ${name} is in its former escrow ${address}`);
  return true;
}

/** The end, once each node has had its whole time to speak against it. null: one did. */
async function endOf(context: Context, ends: () => void): Promise<Outcome | null> {
  context.ending.isTried = true;
  const [a, b] = await Promise.all([readLeg(context, 'a', null), readLeg(context, 'b', null)]);
  const legs = new Map<LegName, LegSeen>([
    ['a', a],
    ['b', b],
  ]);
  const polled = { wall: await context.now(), fresh: legs, legs, errors: new Map() };
  await remember(context, polled);
  const { state } = next(context.state, factsOf(context, polled), clocksOf(polled));
  const seen = wholeOf(context, polled);
  if (state !== 'settled' || seen === null) return null;
  ends();
  return outcomeOf(context, seen);
}

/** By the own leg, where the other one has not paid. */
const endsOf = {
  unfunded: 'nothing',
  seen: 'nothing',
  funded: 'nothing',
  claimed: 'lost',
  refunded: 'refunded',
} as const satisfies Record<LegStatus, Outcome['end']>;

function outcomeOf(context: Context, { state, clocks }: Seen): Outcome {
  const { swapId, record } = context;
  const { gives, gets } = ownSides(record);
  const status = swapStatus(state, clocks.wall);
  const received = legStatus(state.legs[gets].facts) === 'claimed';
  const end = received ? 'received' : endsOf[legStatus(state.legs[gives].facts)];
  const remains = remainsOf(state.legs[gives]);
  const left = remains === null ? '' : `; ${remainsWords(remains)}`;
  const lost = end === 'lost' ? ': the own leg was taken, and nothing was paid for it' : '';
  context.emit('ended', null, `${end}${lost}; the swap is ${status}${left}`);
  const txids = (name: LegName) => {
    const { facts } = state.legs[name];
    return {
      fund: facts.funded?.txid ?? (name === gives ? (record.funding?.txid ?? null) : null),
      claim: facts.claimed?.txid ?? null,
      refund: facts.refunded?.txid ?? null,
    };
  };
  return { swapId, end, status, txids: { a: txids('a'), b: txids('b') }, remains };
}

function remainsOf({ facts: { balance }, timelock }: Leg): Outcome['remains'] {
  return balance === 0n ? null : { amount: balance, refundableAt: timelock };
}

/** For people, whoever paid it. */
export function remainsWords({ amount, refundableAt }: NonNullable<Outcome['remains']>): string {
  const from = isoTime(refundableAt);
  return `${amount} base units are left in the own escrow: run it again from ${from} to refund them`;
}

function nothing(context: Context): Outcome {
  const none = { fund: null, claim: null, refund: null };
  context.emit('ended', null, 'the addresses were not complete in time: the coins did not move');
  const txids = { a: none, b: none };
  const swapId = context.swapId;
  return { swapId, end: 'nothing', status: 'expired', txids, remains: null };
}
