// Claims and refunds that a party signed beforehand: checked and kept for it, and sent when they are
// due, the next higher when one sticks. A claim is due once its secret is public, a refund from its
// timelock on. One pass, no input, bounded: its acts follow from the chain's facts
// and the stored rows, so it may end anywhere and be done again.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import type {
  Bump,
  ScheduledSpends,
  ScheduledVerb,
  Verdict,
} from '@parley/chains/interface/scheduled.ts';
import type { InTurns } from '@parley/chains/interface/turns.ts';
import { within } from '@parley/chains/nodes/time-limit.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { ChainKey } from '@parley/core/families.ts';
import { mustFund, mustReceive } from '@parley/core/gates.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import type { LegName } from '@parley/core/trade.ts';
import { inParallel } from '@parley/host/in-parallel.ts';
import type { Tx } from '../db/database.ts';
import { escrowAt } from '../db/escrows.ts';
import { claimJobs, finishJob, type Job, nextJobs, retryJob } from '../db/jobs.ts';
import {
  findScheduled,
  noteSent,
  putScheduled,
  type Scheduled,
  type ScheduledKey,
  type ScheduledView,
  spendsOn,
} from '../db/scheduled-spends.ts';
import { lockSwap, type Swap, swapById } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { longestNodePassMs, type Next, type Service, service } from '../ports/service.ts';
import { legNamed, swapOfCaller } from './access.ts';
import { escrowToRefund } from './builders.ts';
import { escrowOfRow } from './escrows.ts';
import { adapterOf } from './preview.ts';

export const scheduledLimits = {
  /** Schedules read in one pass of a chain. */
  perPass: 20,
  parallel: 4,
  /** Passes between two reads of one that waits for a block or for the chain's clock. */
  passesBetween: 3,
  /** Between reads of one that is mined, whose funding is not, or whose secret is not public. */
  calmSeconds: 60,
  /** A process that died has its schedules for so long. */
  leaseSeconds: 60,
  /** A pass ends so long before that, however slow the chain is. */
  leaseMarginSeconds: 10,
  /** Waiting after failures doubles up to this. */
  backoffMs: 30_000,
} as const;

export type ScheduleRequest = {
  readonly verb: ScheduledVerb;
  readonly accountId: string;
  readonly swapId: string;
  readonly leg: string;
  readonly transactions: readonly string[];
  readonly escrow: string | null;
  readonly inTurns: InTurns;
  readonly signal: AbortSignal;
};

export type Prepared = {
  readonly verb: ScheduledVerb;
  readonly accountId: string;
  readonly chain: ChainKey;
  readonly escrow: WatchedEscrow;
  readonly leg: LegName;
  readonly bumps: readonly Bump[];
};

/** Reads the chain and checks every transaction. A leg's payee gives claims, its funder refunds. */
export async function prepareSchedule(deps: Deps, request: ScheduleRequest): Promise<Prepared> {
  const { verb, signal, transactions, inTurns } = request;
  const { swap, party } = await swapOfCaller(deps.db, request.swapId, request.accountId);
  const { leg, chain } = legNamed(swap, request.leg);
  const may = verb === 'claim' ? mustReceive : mustFund;
  may(swap.state.legs[leg], party);
  const adapter = adapterOf(deps, chain);
  const { scheduledSpends } = adapter;
  if (scheduledSpends === undefined) {
    const sentence = `leg ${leg} is on ${chain}: only spends on Bitcoin are signed beforehand`;
    throw new ParleyError('bad_chain', sentence, { leg, chain });
  }
  const escrow = await escrowToRefund(deps, swap, leg, request.escrow);
  const kept = await findScheduled(deps.db, { chain, escrow: escrow.address, verb });
  const known = kept?.bumps ?? [];
  const checking = scheduledSpends.check(escrow, { verb, transactions, known, inTurns }, signal);
  const { accountId } = request;
  return { verb, accountId, chain, escrow, leg, bumps: await within(signal, chain, checking) };
}

type ScheduleView = ScheduledView & { readonly escrow: string; readonly txids: string[] };

export async function storeSchedule(
  tx: Tx,
  deps: Pick<Deps, 'now'>,
  swapId: string,
  { verb, accountId, chain, escrow, leg, bumps }: Prepared,
): Promise<ScheduleView> {
  const { address, terms } = escrow;
  const at = new Date(deps.now());
  // Under the lock of whoever stores the secret, which wakes the claims that are there.
  const isPublic = verb === 'claim' && (await lockSwap(tx, swapId))?.state.secret !== null;
  const dueAt = isPublic ? at : new Date(terms.timelock * 1_000);
  const ladder = { verb, accountId, chain, escrow: address, swapId, leg, bumps, dueAt, at };
  const view = await putScheduled(tx, ladder);
  return { escrow: address, txids: bumps.map(({ txid }) => txid), ...view };
}

type ScheduledPasses = Omit<Service, 'ring'> & {
  /** One pass over everything that is due; returns how many were sent. */
  pass(): Promise<number>;
};

type ScheduledLimits = { readonly [K in keyof typeof scheduledLimits]: number };

export function createScheduledSpends(
  deps: Deps,
  limits: ScheduledLimits = scheduledLimits,
): ScheduledPasses {
  const { followIntervalMs } = deps.settings;
  const pass = (signal: AbortSignal) => passOf(deps, signal, limits);
  const { start, stop } = service(deps, {
    name: 'scheduled spends',
    wokenBy: ['jobs'],
    mostPassMs: longestNodePassMs,
    failureMs: {
      least: followIntervalMs,
      most: Math.max(scheduledLimits.backoffMs, followIntervalMs),
    },
    pass: async (signal): Promise<Next> => {
      const firsts = await nextJobs(
        deps.db,
        able(deps).map(({ chain, verb }) => spendsOn(chain, verb)),
      );
      if (firsts.length === 0) return undefined;
      const inMs = Math.min(...firsts.map(({ at }) => at.getTime())) - deps.now();
      if (inMs > 0) return inMs;
      await pass(signal);
      return followIntervalMs;
    },
  });
  return { pass: () => pass(new AbortController().signal), start, stop };
}

/** Where spends are signed beforehand; the claims first, which the other side may race. */
const able = ({ adapters }: Deps) =>
  [...adapters].flatMap(([chain, adapter]) => {
    const { scheduledSpends: spends } = adapter;
    if (spends === undefined) return [];
    return (['claim', 'refund'] as const).map((verb) => ({ chain, verb, adapter, spends }));
  });

const seconds = (deps: Deps) => Math.floor(deps.now() / 1000);

async function passOf(deps: Deps, stop: AbortSignal, limits: ScheduledLimits): Promise<number> {
  stop.throwIfAborted();
  let sent = 0;
  for (const on of able(deps)) {
    const { chain, verb } = on;
    const { perPass: limit, leaseSeconds, leaseMarginSeconds } = limits;
    const now = new Date(deps.now());
    const until = new Date(deps.now() + leaseSeconds * 1_000);
    // From before they are taken, so that another process never has them too.
    const lease = AbortSignal.timeout((leaseSeconds - leaseMarginSeconds) * 1_000);
    const taken = await claimJobs(deps.db, { kind: spendsOn(chain, verb), now, until, limit });
    const ends = await inParallel(taken, limits.parallel, async (each) => {
      if (!lease.aborted) return tend(deps, on, each, { stop, lease });
      await retryJob(deps.db, each, { dueAt: now, failure: null });
      return false;
    });
    sent += ends.filter((isSent) => isSent).length;
  }
  return sent;
}

type On = { readonly adapter: ChainAdapter; readonly spends: ScheduledSpends };

/** One schedule; true when one of it was sent. Its own trouble never holds up the others. */
async function tend(
  deps: Deps,
  on: On,
  job: Job,
  { stop, lease }: { readonly stop: AbortSignal; readonly lease: AbortSignal },
): Promise<boolean> {
  const soon = Math.ceil(deps.settings.followIntervalMs / 1000) * scheduledLimits.passesBetween;
  const key = job.about as ScheduledKey;
  const { swapId, escrow, verb } = key;
  let restSeconds: number | null = soon;
  let sent = false;
  try {
    const limit = AbortSignal.timeout(deps.settings.chainTimeoutMs);
    const signal = AbortSignal.any([stop, lease, limit]);
    const ladder = await findScheduled(deps.db, key);
    if (ladder === null) throw new Error(`escrow ${escrow} has no signed ${verb}s`);
    const { verdict, secret } = await verdictOf(deps, on, ladder, signal);
    switch (verdict.kind) {
      case 'over':
        restSeconds = null;
        break;
      case 'wait': {
        const { calm, tried } = verdict;
        if (tried !== ladder.tried) await noteSent(deps.db, ladder, { ...ladder, tried });
        if (calm) restSeconds = scheduledLimits.calmSeconds;
        break;
      }
      case 'send':
        sent = await sendFrom(deps, on, { ...ladder, secret }, verdict, signal);
        break;
    }
    deps.log.debug({ swapId, escrow, verb, verdict: verdict.kind }, 'a scheduled spend was polled');
  } catch (error) {
    if (stop.aborted) return false;
    deps.log.warn({ swapId, verb, err: error }, 'a scheduled spend was not polled');
  }
  if (restSeconds === null) await finishJob(deps.db, job);
  else {
    const dueAt = new Date(deps.now() + restSeconds * 1_000);
    await retryJob(deps.db, job, { dueAt, failure: null });
  }
  return sent;
}

/** A ladder, and the secret of its swap if that is public. */
type Opened = Scheduled & { readonly secret: Secret | null };

async function verdictOf(
  deps: Deps,
  { adapter, spends }: On,
  ladder: Scheduled,
  signal: AbortSignal,
): Promise<{ readonly verdict: Verdict; readonly secret: Secret | null }> {
  const { chain } = adapter;
  const { swap, escrow } = await escrowOf(deps, ladder);
  const { secret } = swap.state;
  const { verb, tried } = ladder;
  if (verb === 'claim' && secret === null) {
    const { refunded } = swap.state.legs[ladder.leg].facts;
    if (swap.done && refunded !== null) {
      return { verdict: { kind: 'over', txid: refunded.txid }, secret };
    }
    const why = 'the secret is not public';
    return { verdict: { kind: 'wait', why, calm: true, tried }, secret };
  }
  if (verb === 'refund') {
    // Most of the wait is for the chain's clock, which is told for all of them at once.
    const { clock } = await within(signal, chain, adapter.heads(signal));
    const { timelock } = escrow.terms;
    if (clock <= timelock && tried === null) {
      const why = `median time past ${clock} is not beyond ${timelock}`;
      return { verdict: { kind: 'wait', why, calm: false, tried }, secret };
    }
  }
  const next = spends.next(escrow, { ...ladder, secret }, signal);
  return { verdict: await within(signal, chain, next), secret };
}

async function escrowOf(
  deps: Deps,
  { swapId, chain, escrow }: Scheduled,
): Promise<{ swap: Swap; escrow: WatchedEscrow }> {
  const swap = await swapById(deps.db, swapId);
  const row = await escrowAt(deps.db, chain, escrow);
  if (swap === null || row === null) throw new Error(`escrow ${escrow} has no swap`);
  return { swap, escrow: escrowOfRow(swap, row) };
}

/**
 * Sends one; a higher one where the node refuses it, after another poll: its refusal may be the
 * sign of a claim that came meanwhile. False when it took none.
 */
async function sendFrom(
  deps: Deps,
  on: On,
  ladder: Opened,
  verdict: Verdict & { kind: 'send' },
  signal: AbortSignal,
): Promise<boolean> {
  const { swapId, escrow, verb, bumps } = ladder;
  let next: Verdict = verdict;
  let least = 0;
  while (next.kind === 'send') {
    const at = Math.max(next.from, least);
    const bump = bumps[at];
    if (bump === undefined) break;
    const { txid } = bump;
    const outcome = await sendOne(deps, on, ladder, { bump, ...next }, signal);
    if (outcome === 'sent') return true;
    if (outcome === 'rival' || outcome === 'replaced') break;
    const refused = { swapId, escrow, verb, txid, err: outcome };
    deps.log.warn(refused, 'the node refused a scheduled spend');
    least = at + 1;
    next = (await verdictOf(deps, on, ladder, signal)).verdict;
  }
  await noteSent(deps.db, ladder, ladder);
  return false;
}

/** The node's reason to refuse it, or its outcome. */
async function sendOne(
  deps: Deps,
  { adapter, spends }: On,
  ladder: Opened,
  { bump, over, height }: { bump: Bump; over: string | null; height: number },
  signal: AbortSignal,
): Promise<'sent' | 'rival' | 'replaced' | ParleyError> {
  const { swapId, escrow, verb, tried: before } = ladder;
  const { txid } = bump;
  const { chain } = adapter;
  const raw = spends.finished((await escrowOf(deps, ladder)).escrow, bump, ladder);
  const tried = before?.txid === txid ? before : { txid, at: seconds(deps), height };
  // Kept first: once it is sent, a lower one must not follow it.
  if (!(await noteSent(deps.db, ladder, { sentTxid: txid, tried }))) return 'replaced';
  const asking =
    verb === 'claim'
      ? Promise.resolve(null)
      : within(signal, chain, spends.rival(bump, over, signal));
  const rival = await asking.catch(async (error: unknown) => {
    // The refund was not sent: its funder must not read that it was.
    await noteSent(deps.db, ladder, ladder);
    throw error;
  });
  if (rival !== null) {
    deps.log.info({ swapId, escrow, txid, rival }, 'a scheduled refund gives way');
    return 'rival';
  }
  try {
    await within(signal, chain, adapter.broadcast({ txid, raw, touches: [] }, signal));
    deps.log.info({ swapId, escrow, verb, txid }, 'a scheduled spend was sent');
    return 'sent';
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'refused_by_node') return error;
    throw error;
  }
}
