// Signing for one job, under the lease of its key: its most cost, the nonce, and the rows that are
// kept.

import type { GasWork } from '@parley/chains/gas/account.ts';
import { within } from '@parley/chains/nodes/time-limit.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { jobPatienceMs } from './bounds.ts';
import { type Attempt, attemptsOf } from './db/attempts.ts';
import { keepReserve } from './db/jobs.ts';
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
  mostToLand,
} from './spending.ts';
import { isPassing, type On, TooShort } from './step.ts';

/**
 * `isWaitedFor`: something more urgent waits for what is in flight, so that what cannot be made to
 * pay more gives its nonce up for that. A relay was promised: it gives way to nothing.
 */
export async function signOrYield(
  on: On,
  work: GasWork,
  { instead, isWaitedFor }: { readonly instead: Attempt | null; readonly isWaitedFor: boolean },
): Promise<Attempt> {
  try {
    return await sign(on, work, instead);
  } catch (error) {
    const isRefused =
      error instanceof TooShort || (error instanceof ParleyError && !isPassing(error));
    const isPromised = on.job.purpose === 'relay';
    if (instead?.nonce == null || !isRefused || !isWaitedFor || isPromised) throw error;
    return signVoid(on, instead);
  }
}

async function sign(on: On, work: GasWork, instead: Attempt | null): Promise<Attempt> {
  const { deps, job } = on;
  const isPromised = isAskedFor(job.purpose);
  const wouldKeep = await reserveToLand(on, work);
  return leasedFor(on, async (lease) => {
    const funds = await fundsOf(deps, lease, job.id);
    const most = allowed(on, funds, { instead, wouldKeep });
    const nonce = instead?.nonce ?? (await nextNonce(deps, lease));
    const slot = { nonce, instead, most };
    const signed = await signWith(deps, lease, work, slot);
    if (!isPromised) mustBeWorth(on, signed.mostCost);
    return deps.db.transaction(async (tx) => {
      await mustHold(tx, deps, lease);
      const about = { jobId: job.id, verb: job.verb };
      const attempt = await keepSigned(tx, deps, lease, signed, about);
      const reserve = isPromised ? signed.mostCost : holdOf(funds, signed.mostCost);
      const kept = { reserve, attemptId: attempt.id };
      if (!(await keepReserve(tx, job.id, kept))) throw overtaken(on);
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
    if (!isNewest) throw overtaken(on);
    return work(lease);
  });
}

function overtaken({ job: { id, chain } }: On): ParleyError {
  const sentence = `job ${id} of the keeper has moved on since it was looked at; nothing was signed`;
  return new ParleyError('overloaded', sentence, { chain, job: id });
}

/** The reserve of a relay now; null of all else. */
async function reserveToLand({ gas, job, signal }: On, work: GasWork): Promise<bigint | null> {
  if (job.purpose !== 'relay') return null;
  return within(signal, job.chain, gas.account.reserve(work, signal));
}

/** A promised one does not wait behind those that were promised after it, nor for the cap. */
function allowed(
  { job: { purpose, reserve: kept } }: On,
  funds: Funds,
  of: { readonly instead: Attempt | null; readonly wouldKeep: bigint | null },
): bigint {
  const { instead, wouldKeep } = of;
  if (wouldKeep !== null) {
    const most = mostToLand(funds, instead, { kept, wouldKeep });
    if (most === 0n) throw new TooShort('balance');
    return most;
  }
  const allowance = allowanceOf(funds, purpose, instead);
  if ('short' in allowance) throw new TooShort(allowance.short);
  return allowance.most;
}

function mustBeWorth({ escrow: { terms } }: On, mostCost: bigint): void {
  if (!isDust(terms, mostCost)) return;
  const { amount } = terms;
  const sentence = `a leg of ${amount} is not worth the ${mostCost} that gas may take`;
  throw new ParleyError('amount_too_small', sentence, { amount, mostCost });
}

/** Costs little, and frees the nonce for what comes next: no cap holds it up. */
export function signVoid(on: On, instead: Attempt): Promise<Attempt> {
  const { deps, job } = on;
  return leasedFor(on, async (lease) => {
    const funds = await fundsOf(deps, lease, job.id);
    const most = least(freeOf(funds), await mostOfVoid(lease, instead));
    const slot = { nonce: instead.nonce, instead, most };
    const signed = await signWith(deps, lease, { verb: 'void' }, slot);
    return deps.db.transaction(async (tx) => {
      await mustHold(tx, deps, lease);
      return keepSigned(tx, deps, lease, signed, { jobId: job.id, verb: 'void' });
    });
  });
}
