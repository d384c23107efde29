// Signing for one job, under the lease of its key: what it may cost, the nonce, and what is kept of
// it. Where others of its kind are due, they ride on its transaction.

import type { GasWork } from '../chains/gas/account.ts';
import { within } from '../chains/nodes/time-limit.ts';
import { ParleyError } from '../core/errors.ts';
import { type Batch, batchOf, breakUp, type Place, partsOn } from './batches.ts';
import { jobPatienceMs, lookAgainSeconds } from './bounds.ts';
import { type Attempt, attemptsOf, isLive } from './db/attempts.ts';
import { keepReserve } from './db/jobs.ts';
import { putOn, ridesOf } from './db/rides.ts';
import { type FundingSums, fundingSums } from './db/sums.ts';
import {
  fundsOf,
  keepSigned,
  type Lease,
  leased,
  mostOfVoid,
  mustHold,
  nextNonce,
  signWith,
} from './sign.ts';
import {
  allowanceOf,
  type Funds,
  freeOf,
  holdOf,
  isAskedFor,
  isDust,
  least,
  mostToFund,
  mostToLand,
  type Part,
  partOfEach,
} from './spending.ts';
import { isPassing, type On, TooShort } from './step.ts';
import { hasRoomForAccount, wantsAccount } from './token-accounts.ts';

/**
 * `isWaitedFor`: something more urgent waits for what is in flight, so that what cannot be made to
 * pay more gives its nonce up for that. A relay was promised: it gives way to nothing.
 */
export async function signOrYield(
  on: On,
  work: GasWork,
  place: Place & { readonly isWaitedFor: boolean },
): Promise<Attempt> {
  const { instead } = place;
  try {
    return await sign(on, work, place);
  } catch (error) {
    const isRefused =
      error instanceof TooShort || (error instanceof ParleyError && !isPassing(error));
    const isPromised = on.job.purpose === 'relay';
    if (instead?.nonce == null || !isRefused || !place.isWaitedFor || isPromised) throw error;
    return signVoid(on, instead);
  }
}

async function sign(on: On, own: GasWork, place: Place): Promise<Attempt> {
  const { instead, ridersOnly } = place;
  const batch = await batchOf(on, own, place);
  if (batch === null) {
    if (ridersOnly) throw overtaken(on);
    return signIn(on, own, { instead, batch });
  }
  try {
    return await signIn(on, batch.work, { instead, batch });
  } catch (error) {
    await breakUp(on, batch, error);
    if (ridersOnly || !isTooDear(error)) throw error;
    return signIn(on, own, { instead, batch: null });
  }
}

/** A batch may be where its leader alone is not; and whose share is used up holds up no other. */
function isTooDear(error: unknown): boolean {
  if (error instanceof TooShort) return error.short === 'share';
  return error instanceof ParleyError && tooDear.includes(error.code);
}

const tooDear: readonly string[] = ['fee_above_limit', 'amount_too_small'];

type Placed = { readonly instead: Attempt | null; readonly batch: Batch | null };

async function signIn(on: On, work: GasWork, { instead, batch }: Placed): Promise<Attempt> {
  const { deps, job } = on;
  const isPromised = isAskedFor(job.purpose);
  const riders = batch?.riders ?? [];
  const wouldKeep = await reserveToLand(on, work);
  const makesAccount = await wantsAccount(on, work);
  return leasedFor(on, async (lease) => {
    const funds = await fundsOf(deps, lease, { accountId: job.accountId, jobId: job.id });
    const parts = await partsOn(on, funds, batch);
    const funded = job.purpose === 'fund' ? await fundingsOf(on, funds) : null;
    const most = allowed(on, funds, { instead, wouldKeep, parts, funded });
    const nonce = instead?.nonce ?? (await nextNonce(deps, lease));
    if (makesAccount && !(await hasRoomForAccount(on))) throw new TooShort('accounts');
    const slot = { nonce, instead, most, withoutAccount: !makesAccount };
    const signed = await signWith(deps, lease, work, slot);
    if (!isPromised) mustBeWorth(on, riders, signed.mostCost);
    return deps.db.transaction(async (tx) => {
      await mustHold(tx, deps, lease);
      const about = { jobId: job.id, verb: job.verb, legs: 1 + riders.length };
      const attempt = await keepSigned(tx, deps, lease, signed, about);
      const reserve = isPromised ? signed.mostCost : holdOf(funds, signed.mostCost);
      const kept = { reserve, attemptId: attempt.id, makesAccount };
      const again = new Date(deps.now() + lookAgainSeconds * 1_000);
      const place = { attemptId: attempt.id, leaderId: job.id };
      const ids = riders.map(({ id }) => id);
      const isKept = (await keepReserve(tx, job.id, kept)) && (await putOn(tx, place, ids, again));
      if (!isKept) throw overtaken(on);
      return attempt;
    });
  });
}

/** While this waited another process may have taken the same job up, and signed. */
function leasedFor(on: On, work: (lease: Lease) => Promise<Attempt>): Promise<Attempt> {
  const { deps, gas, job, signal, attempts } = on;
  return leased(deps, gas, { patienceMs: jobPatienceMs, signal }, async (lease) => {
    const now = await attemptsOf(deps.db, job.id, gas.account.address);
    const isNewest = now.at(-1)?.id === attempts.at(-1)?.id;
    if (!isNewest || (await ridesOf(deps.db, job.id)).some(isLive)) throw overtaken(on);
    return work(lease);
  });
}

function overtaken({ job: { id, chain } }: On): ParleyError {
  const sentence = `job ${id} of the keeper has moved on since it was looked at; nothing was signed`;
  return new ParleyError('overloaded', sentence, { chain, job: id });
}

/** What would be kept now for what was asked for; null of all else. */
async function reserveToLand({ gas, job, signal }: On, work: GasWork): Promise<bigint | null> {
  if (!isAskedFor(job.purpose)) return null;
  return within(signal, job.chain, gas.account.reserve(work, signal));
}

/** What fundings have taken of their bounds, without what this one has reserved. */
function fundingsOf({ deps, job }: On, { since }: Funds): Promise<FundingSums> {
  const { chain, accountId, id } = job;
  return fundingSums(deps.db, { chain, since, accountId, except: id });
}

/** What was promised does not wait behind those that were promised after it, nor for the cap. */
function allowed(
  { gas, job: { purpose, reserve: kept } }: On,
  funds: Funds,
  of: {
    readonly instead: Attempt | null;
    readonly wouldKeep: bigint | null;
    readonly parts: readonly Part[];
    /** Of a funding. */
    readonly funded: FundingSums | null;
  },
): bigint {
  const { instead, wouldKeep, parts, funded: sums } = of;
  if (wouldKeep !== null) {
    const counted = instead !== null && instead.signedAt >= funds.since ? instead.charged : 0n;
    const most =
      sums === null
        ? mostToLand(funds, gas.relays, { kept, wouldKeep })
        : mostToFund(funds, gas.fundings, { kept, wouldKeep, sums, counted });
    if (most === 0n) throw new TooShort('balance');
    return most;
  }
  if (isAskedFor(purpose)) throw new Error(`a ${purpose} is signed by what would be kept for it`);
  const allowance = allowanceOf(funds, instead, purpose, parts);
  if ('short' in allowance) throw new TooShort(allowance.short);
  return allowance.most;
}

function mustBeWorth(
  { job, escrow }: On,
  riders: readonly Pick<Batch['riders'][number], 'terms'>[],
  mostCost: bigint,
): void {
  // What it brings is not the leg: the chain's part bounds its cost by that.
  if (job.purpose === 'close') return;
  const part = partOfEach(mostCost, 1 + riders.length);
  const dust = [escrow, ...riders].find(({ terms }) => isDust(terms, part));
  if (dust === undefined) return;
  const { amount } = dust.terms;
  const sentence = `a leg of ${amount} is not worth the ${part} that gas may take`;
  throw new ParleyError('amount_too_small', sentence, { amount, mostCost: part });
}

/** Costs little, and frees the nonce for what comes next: no cap holds it up. */
export function signVoid(on: On, instead: Attempt): Promise<Attempt> {
  const { deps, job } = on;
  return leasedFor(on, async (lease) => {
    const funds = await fundsOf(deps, lease, { accountId: null, jobId: job.id });
    const most = least(freeOf(funds), await mostOfVoid(lease, instead));
    const slot = { nonce: instead.nonce, instead, most };
    const signed = await signWith(deps, lease, { verb: 'void' }, slot);
    return deps.db.transaction(async (tx) => {
      await mustHold(tx, deps, lease);
      return keepSigned(tx, deps, lease, signed, { jobId: job.id, verb: 'void' });
    });
  });
}
