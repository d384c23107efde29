// Drives one side of a swap to its end: funds when the other leg is there, claims in time, refunds
// when it must. It decides by the customer's own trade, clock and chain sources alone; the market
// is asked to build fundings and to relay, and nothing it says is believed. Every step can be
// repeated after a crash at any point, and once funded the market is not needed any more.

import { ParleyError } from '../core/errors.ts';
import { legStatus } from '../core/facts.ts';
import { fundBy } from '../core/gates.ts';
import { nextSteps } from '../core/next.ts';
import { type SwapStatus, swapStatus } from '../core/status.ts';
import { pessimistic } from '../core/swap.ts';
import type { LegName } from '../core/trade.ts';
import { SettleError } from './errors.ts';
import { sleep } from './http.ts';
import { claim, refund, replaceStuck, reveal, takeRent } from './settle/act.ts';
import { cancelFunding, isLate } from './settle/cancel.ts';
import {
  type Context,
  contextOf,
  type LegSeen,
  legOf,
  look,
  ownSides,
  type Seen,
  type SettleInput,
  stopWatching,
} from './settle/context.ts';
import { fund, pushApproval, raiseFunding } from './settle/fund.ts';
import { StoreSilent } from './settle/keeping.ts';
import { isLeftToBatch } from './settle/left.ts';
import { aloneOf, type Sight, secretIn, sightOf, wholeOf } from './settle/looks.ts';
import { heardSecret } from './settle/market.ts';
import { tendOwed } from './settle/owed.ts';
import { prepare, refresh } from './settle/prepare.ts';
import { leaveRefunds } from './settle/scheduled.ts';
import { withSeen } from './stores/seen.ts';
import { mayBeFunded, type SwapRecord } from './stores/store.ts';

export type { ChainSource, Progress, SettleInput } from './settle/context.ts';

/** How it ended for this side. */
export type Outcome = {
  readonly swapId: string;
  /** `received`: paid what was promised; `refunded`: own funds back; `nothing`: none moved. */
  readonly end: 'received' | 'refunded' | 'nothing';
  /** By the customer's own chains. */
  readonly status: SwapStatus;
  /** As the chains show them, whoever sent them. */
  readonly txids: Readonly<
    Record<LegName, { fund: string | null; claim: string | null; refund: string | null }>
  >;
};

/**
 * Runs until this side has nothing left to do. Throws SettleError when a person is needed and the
 * signal's reason when it is aborted; before its own funding also VerificationError when the market
 * lies about the terms, and whatever a wallet or the market refuses with. Call again with the same
 * store to go on.
 */
export async function settle(input: SettleInput): Promise<Outcome> {
  // What goes on beside the passes ends with them.
  const over = new AbortController();
  const signals = input.signal === undefined ? [over.signal] : [over.signal, input.signal];
  try {
    return await settled(contextOf({ ...input, signal: AbortSignal.any(signals) }));
  } finally {
    over.abort();
  }
}

async function settled(context: Context): Promise<Outcome> {
  const first = await prepared(context);
  if (first === null) return nothing(context);
  try {
    return await passes(context, first);
  } finally {
    stopWatching(context);
  }
}

async function passes(context: Context, first: SwapRecord): Promise<Outcome> {
  let record = first;
  const { asking } = context;
  const isTimeToAsk = () => {
    const now = performance.now();
    if (now - asking.lastAtMs <= context.marketPollMs) return false;
    asking.lastAtMs = now;
    return true;
  };
  for (;;) {
    context.signal?.throwIfAborted();
    try {
      const passed = await pass(context, record, isTimeToAsk);
      if ('end' in passed) return passed;
      record = passed;
    } catch (error) {
      context.signal?.throwIfAborted();
      record = (await context.store.getSwap(context.swapId)) ?? record;
      if (!passing(error, record)) throw error;
      context.tell('waiting', null, messageOf(error));
    }
    await sleep(context.pollMs, context.signal);
  }
}

/** Without its record nothing can be done: a store that is silent is asked again. */
async function prepared(context: Context): Promise<SwapRecord | null> {
  for (;;) {
    try {
      return await prepare(context);
    } catch (error) {
      if (!(error instanceof StoreSilent)) throw error;
    }
    await sleep(context.pollMs, context.signal);
  }
}

/**
 * One look at the chains and what follows. What one chain alone opens to this side comes first, and
 * each leg fails by itself: a chain, a market or a disk that is silent holds up nothing else.
 */
async function pass(
  context: Context,
  before: SwapRecord,
  isTimeToAsk: () => boolean,
): Promise<SwapRecord | Outcome> {
  const { gives, gets } = ownSides(before);
  const sight = await sightOf(context, before);
  let record = await remember(context, before, sight);
  const failures: [LegName | null, unknown][] = [...sight.errors];
  const trying = async <T>(about: LegName | null, work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work();
    } catch (error) {
      context.signal?.throwIfAborted();
      failures.push([about, error]);
      // What was kept before the interruption counts.
      record = (await context.store.getSwap(context.swapId)) ?? record;
      return null;
    }
  };
  const seen = wholeOf(record, sight);
  const isOver = seen !== null && ended(record, seen);
  let isActing = false;
  for (const name of isOver ? [] : [gets, gives]) {
    const leg = sight.legs[name];
    if (leg === undefined) continue;
    isActing ||= isOpenAlone(record, leg, sight.wall);
    record = (await trying(name, () => actAlone(context, record, leg, sight.wall))) ?? record;
  }
  const claiming = isClaiming(record, sight);
  if (seen !== null) {
    const how = { isOver, isActing, isClaiming: claiming, isTimeToAsk };
    const after = await trying(null, () => together(context, record, seen, how));
    if (after !== null && 'end' in after) return after;
    record = after ?? record;
  }
  for (const [about, error] of failures) {
    const isOfOther = about !== gets || !(error instanceof SettleError);
    if (!passing(error, record) && !(claiming && isOfOther)) throw error;
    context.tell('waiting', about, messageOf(error));
  }
  await context.store.writeAgain();
  return record;
}

/**
 * Whether the next look may find it otherwise. With money in an escrow nothing but a need for a
 * person ends the watch: not a wallet that is locked, nor a market that lies or closed the key.
 */
function passing(error: unknown, record: SwapRecord): boolean {
  if (error instanceof SettleError) return false;
  if (error instanceof StoreSilent) return true;
  if (mayBeFunded(record)) return true;
  if (!(error instanceof ParleyError)) return false;
  const { kind, code } = error;
  return (
    kind === 'conflict' ||
    kind === 'timeout' ||
    kind === 'unavailable' ||
    code === 'refused_by_node'
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether this side may still be paid for a secret that is public. */
function isClaiming(record: SwapRecord, { legs }: Sight): boolean {
  if (record.publicSecret === null) return false;
  const paying = legs[ownSides(record).gets];
  if (paying === undefined) return true;
  const status = legStatus(paying.leg.facts);
  return status === 'funded' || status === 'seen';
}

/** Whether a claim with a public secret, or a refund, is open by what this chain shows. */
function isOpenAlone(record: SwapRecord, seen: LegSeen, wall: number): boolean {
  const { leg: name } = seen.leg;
  const action = name === ownSides(record).gives ? 'refund' : 'claim';
  if (action === 'claim' && record.publicSecret === null) return false;
  const { state, clocks } = aloneOf(record, seen, wall);
  return nextSteps(state, clocks).some(
    (step) => step.by === record.swap.role && step.action === action && step.leg === name,
  );
}

/** What this chain alone opens to this side: nothing is asked of the other one. */
async function actAlone(
  context: Context,
  record: SwapRecord,
  seen: LegSeen,
  wall: number,
): Promise<SwapRecord> {
  const replaced = await replaceStuck(context, record, seen, wall);
  if (replaced !== record || !isOpenAlone(record, seen, wall)) return replaced;
  const { publicSecret } = record;
  const { leg: name } = seen.leg;
  const isOwn = name === ownSides(record).gives;
  const verb = isOwn ? 'refund' : 'claim';
  const isNew = record[verb] === null;
  if (isNew && isLeftToBatch(context, legOf(record, name), verb, { ...seen, wall })) return record;
  if (isOwn || publicSecret === null) return refund(context, record, aloneOf(record, seen, wall));
  return claim(context, record, seen, publicSecret);
}

/** What takes both chains: funding, revealing, and the end. */
async function together(
  context: Context,
  before: SwapRecord,
  first: Seen,
  how: {
    readonly isOver: boolean;
    readonly isActing: boolean;
    readonly isClaiming: boolean;
    readonly isTimeToAsk: () => boolean;
  },
): Promise<SwapRecord | Outcome> {
  let [record, seen] = [before, first];
  // With the secret public no escrow may be funded, so none may move.
  if (record.publicSecret === null && how.isTimeToAsk()) {
    record = await refresh(context, record, seen);
    if (record !== before) seen = await look(context, record);
  }
  record = await tendOwed(context, record, seen, how.isOver);
  if (how.isOver) {
    await takeRent(context, record, seen);
    return outcome(context, record, seen);
  }
  if (!how.isClaiming) record = await leaveRefunds(context, record, seen);
  return how.isActing ? record : act(context, record, seen);
}

/** The most urgent step that the rules open to this side by both chains. */
async function act(context: Context, record: SwapRecord, seen: Seen): Promise<SwapRecord> {
  const { gives, gets } = ownSides(record);
  const open = nextSteps(seen.state, seen.clocks).filter(({ by }) => by === record.swap.role);
  const has = (action: string, leg: LegName) =>
    open.some((step) => step.action === action && step.leg === leg);
  if (has('claim', gets)) {
    // A secret that was seen a moment ago is kept first.
    return seen.state.secret === null ? reveal(context, record, seen) : record;
  }
  const raised = await raiseFunding(context, record, seen);
  if (raised !== record) return raised;
  if (has('fund', gives)) return fund(context, record);
  // What takes the late funding's nonce waits behind the approval, if that waits.
  const tended = await pushApproval(context, record);
  if (isLate(tended, seen)) return cancelFunding(context, tended);
  if (record.approval) return tended;
  const [next] = open;
  if (next !== undefined) context.tell('waiting', next.leg, next.why);
  return record;
}

/**
 * Keeps a secret that was seen: a chain may take it back, nobody can forget it. And what the
 * escrows show: a chain may forget that.
 */
async function remember(context: Context, before: SwapRecord, sight: Sight): Promise<SwapRecord> {
  const legs = Object.values(sight.legs).map(({ leg }) => leg);
  const record = await keepSeen(context, before, withSeen(before, legs));
  for (const leg of legs) {
    const { leg: name, facts, requiredConfirmations } = leg;
    const last = facts.refunded ?? facts.claimed ?? facts.funded;
    if (last === null) continue;
    const what = facts.refunded ? 'refund' : facts.claimed ? 'claim' : 'funding';
    const depth = last.deep ? 'deep' : `not yet ${requiredConfirmations} deep`;
    context.tell('seen', name, `${what} of leg ${name} is ${depth}`, last.txid);
  }
  if (record.publicSecret !== null) return record;
  const secret = secretIn(sight) ?? heardSecret(context, record);
  if (secret === null) return record;
  const next = { ...record, publicSecret: secret };
  await context.store.putSeen(next);
  return next;
}

/** A store that fails here stops nothing: the next look sees it again, and tries again. */
async function keepSeen(
  context: Context,
  before: SwapRecord,
  record: SwapRecord,
): Promise<SwapRecord> {
  if (record === before) return before;
  try {
    await context.store.putSwap(record);
    return record;
  } catch (error) {
    context.signal?.throwIfAborted();
    context.tell('store', null, `what the chains show is not kept: ${messageOf(error)}`);
    return before;
  }
}

/** Whether anything can still be gained or lost by this side. */
function ended(record: SwapRecord, { state, clocks }: Seen): boolean {
  const { gives, gets } = ownSides(record);
  const [own, other] = [state.legs[gives], state.legs[gets]];
  const ownStatus = legStatus(own.facts);
  const otherStatus = legStatus(other.facts);
  const now = Math.max(pessimistic(clocks, state.legs.a), pessimistic(clocks, state.legs.b));
  const untouched = ownStatus === 'unfunded' && !mayBeFunded(record) && !record.approval;
  const neverFunds = untouched && (now > fundBy(state, own) || state.secret !== null);
  const ownDone =
    ((ownStatus === 'claimed' || ownStatus === 'refunded') && own.facts.balance === 0n) ||
    neverFunds;
  if (!ownDone) return false;
  // A reorganisation took its funding back: it may come again.
  const isTakenBack = otherStatus === 'unfunded' && clocks[gets] < other.timelock;
  const otherOpen =
    otherStatus === 'funded' || otherStatus === 'seen' || (ownStatus === 'claimed' && isTakenBack);
  // Whoever claimed the own leg has shown the secret, found yet or not: it opens the other leg.
  const isPublic = state.secret !== null || ownStatus === 'claimed';
  return !otherOpen || !isPublic;
}

function outcome(context: Context, record: SwapRecord, { state, clocks }: Seen): Outcome {
  const { gives, gets } = ownSides(record);
  const status = swapStatus(state, clocks.wall);
  const received = legStatus(state.legs[gets].facts) === 'claimed';
  const refunded = legStatus(state.legs[gives].facts) === 'refunded';
  const end = received ? 'received' : refunded ? 'refunded' : 'nothing';
  context.tell('ended', null, `${end}; the swap is ${status}`);
  const txids = (name: LegName) => {
    const { facts } = state.legs[name];
    return {
      fund: facts.funded?.txid ?? (name === gives ? (record.funding?.txid ?? null) : null),
      claim: facts.claimed?.txid ?? null,
      refund: facts.refunded?.txid ?? null,
    };
  };
  return { swapId: record.swap.id, end, status, txids: { a: txids('a'), b: txids('b') } };
}

function nothing(context: Context): Outcome {
  const none = { fund: null, claim: null, refund: null };
  context.tell('ended', null, 'the addresses were not complete in time: nothing moved');
  const txids = { a: none, b: none };
  return { swapId: context.swapId, end: 'nothing', status: 'expired', txids };
}
