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
import { claim, refund, replaceStuck, takeRent } from './settle/act.ts';
import { cancelFunding, isLate } from './settle/cancel.ts';
import {
  type Context,
  contextOf,
  look,
  ownSides,
  type Seen,
  type SettleInput,
} from './settle/context.ts';
import { fund, pushApproval, raiseFunding } from './settle/fund.ts';
import { tendOwed } from './settle/owed.ts';
import { prepare, refresh } from './settle/prepare.ts';
import { leaveRefunds } from './settle/scheduled.ts';
import type { SwapRecord } from './stores/store.ts';

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
  const context = contextOf(input);
  let record = await prepare(context);
  if (record === null) return nothing(context);
  let askedAtMs = performance.now();
  for (;;) {
    context.signal?.throwIfAborted();
    try {
      let seen = await look(context, record);
      record = await remember(context, record, seen);
      if (performance.now() - askedAtMs > context.marketPollMs) {
        askedAtMs = performance.now();
        const before: SwapRecord = record;
        record = await refresh(context, record, seen);
        if (record !== before) seen = await look(context, record);
      }
      const isOver = ended(record, seen);
      record = await tendOwed(context, record, seen, isOver);
      if (isOver) {
        await takeRent(context, record, seen);
        return outcome(context, record, seen);
      }
      record = await leaveRefunds(context, record, seen);
      record = await act(context, record, seen);
    } catch (error) {
      context.signal?.throwIfAborted();
      // What was kept before the interruption counts.
      record = (await context.store.getSwap(context.swapId)) ?? record;
      if (!passing(error, record)) throw error;
      context.tell('waiting', null, error instanceof Error ? error.message : String(error));
    }
    await sleep(context.pollMs, context.signal);
  }
}

/**
 * Whether the next look may find it otherwise. With money in an escrow nothing but a need for a
 * person ends the watch: not a wallet that is locked, nor a market that lies or closed the key.
 */
function passing(error: unknown, record: SwapRecord): boolean {
  if (error instanceof SettleError) return false;
  if (record.funding !== null) return true;
  if (!(error instanceof ParleyError)) return false;
  const { kind, code } = error;
  return (
    kind === 'conflict' ||
    kind === 'timeout' ||
    kind === 'unavailable' ||
    code === 'refused_by_node'
  );
}

/** The most urgent step that the rules open to this side now. */
async function act(context: Context, record: SwapRecord, seen: Seen): Promise<SwapRecord> {
  const { gives, gets } = ownSides(record);
  const open = nextSteps(seen.state, seen.clocks).filter(({ by }) => by === record.swap.role);
  const has = (action: string, leg: LegName) =>
    open.some((step) => step.action === action && step.leg === leg);
  const replaced = await replaceStuck(context, record, seen);
  if (replaced !== record) return replaced;
  if (has('claim', gets)) {
    if (!has('refund', gives)) return claim(context, record, seen);
    return claimAndRefund(context, record, seen);
  }
  if (has('refund', gives)) return refund(context, record, seen);
  const raised = await raiseFunding(context, record, seen);
  if (raised !== record) return raised;
  if (has('fund', gives)) return fund(context, record);
  // What takes the late funding's nonce waits behind the approval, if that waits.
  const tended = await pushApproval(context, record);
  if (isLate(tended, seen)) return cancelFunding(context, tended);
  if (record.approval) return tended;
  const [first] = open;
  if (first !== undefined) context.tell('waiting', first.leg, first.why);
  return record;
}

/** Both are open at the end of a swap that went wrong: neither waits for the other to succeed. */
async function claimAndRefund(
  context: Context,
  record: SwapRecord,
  seen: Seen,
): Promise<SwapRecord> {
  let next = record;
  try {
    next = await claim(context, record, seen);
  } catch (error) {
    context.signal?.throwIfAborted();
    context.tell('waiting', null, error instanceof Error ? error.message : String(error));
    next = (await context.store.getSwap(context.swapId)) ?? record;
  }
  return refund(context, next, seen);
}

/** Keeps a secret that was seen: a chain may take it back, nobody can forget it. */
async function remember(context: Context, record: SwapRecord, seen: Seen): Promise<SwapRecord> {
  for (const name of ['a', 'b'] as const) {
    const { facts, requiredConfirmations } = seen.state.legs[name];
    const last = facts.refunded ?? facts.claimed ?? facts.funded;
    if (last === null) continue;
    const what = facts.refunded ? 'refund' : facts.claimed ? 'claim' : 'funding';
    const depth = last.deep ? 'deep' : `not yet ${requiredConfirmations} deep`;
    context.tell('seen', name, `${what} of leg ${name} is ${depth}`, last.txid);
  }
  const { secret } = seen.state;
  if (secret === null || record.publicSecret === secret) return record;
  await context.store.putSecret(record.swap.hashlock, secret);
  const next = { ...record, publicSecret: secret };
  await context.store.putSwap(next);
  return next;
}

/** Whether anything can still be gained or lost by this side. */
function ended(record: SwapRecord, { state, clocks }: Seen): boolean {
  const { gives, gets } = ownSides(record);
  const [own, other] = [state.legs[gives], state.legs[gets]];
  const ownStatus = legStatus(own.facts);
  const otherStatus = legStatus(other.facts);
  const now = Math.max(pessimistic(clocks, state.legs.a), pessimistic(clocks, state.legs.b));
  const untouched = ownStatus === 'unfunded' && record.funding === null && !record.approval;
  const neverFunds = untouched && (now > fundBy(state, own) || state.secret !== null);
  const ownDone =
    ((ownStatus === 'claimed' || ownStatus === 'refunded') && own.facts.balance === 0n) ||
    neverFunds;
  if (!ownDone) return false;
  const otherOpen = otherStatus === 'funded' || otherStatus === 'seen';
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
