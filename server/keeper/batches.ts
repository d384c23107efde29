// Several escrows settled by one transaction, where a chain can: a job that is due leads and keeps
// the attempt, others of its kind ride on it. They are put off while it may be mined, and look at
// the chain again afterwards. What fails together goes alone from then on, since one payment that
// fails reverts all. A relay, and a secret that is not public, is in no batch.

import type { GasWork } from '../../chains/gas-account.ts';
import { ParleyError } from '../../core/errors.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import { type Attempt, attemptsOf, isLive } from '../db/keeper-attempts.ts';
import {
  goAlone,
  type Rideable,
  rideable,
  ridersOf,
  ridesOf,
  spentOnEach,
} from '../db/keeper-rides.ts';
import { within } from '../time-limit.ts';
import { inHandSeconds, lookAgainSeconds, mostPayments } from './bounds.ts';
import { bumpAfter, graceOf } from './decide.ts';
import { isAskedFor, type Part, type Purse } from './spending.ts';
import type { On } from './tend.ts';

export type Batch = { readonly work: GasWork; readonly riders: readonly Rideable[] };

/** Refusals that say nothing of what was tried. */
const passing: readonly string[] = ['overloaded', 'chain_timeout', 'chain_unavailable'];

/**
 * The work of this job and of those that may ride on it; null: it goes alone. Tried before a turn
 * is taken for it.
 */
export async function batchOf(
  on: On,
  own: GasWork,
  instead: Attempt | null,
): Promise<Batch | null> {
  const { deps, gas, job, signal } = on;
  const { mostInBatch = 1 } = gas.account;
  if (mostInBatch < 2 || isAskedFor(job.purpose) || job.alone) return null;
  // What this look has found of them is kept by now.
  const attempts = await attemptsOf(deps.db, job.id, gas.account.address);
  if (attempts.some(({ fate, legs }) => fate === 'failed' && legs > 1)) return null;
  const found =
    instead === null ? await beside(on, mostInBatch) : await ridersOf(deps.db, instead.id);
  const work = found.length === 0 ? null : together(on, own, found);
  if (work === null) return null;
  const batch = { work, riders: found };
  try {
    await within(signal, job.chain, gas.account.quote(work, signal));
    return batch;
  } catch (error) {
    if (!(error instanceof ParleyError) || passing.includes(error.code)) throw error;
    await breakUp(on, batch, error);
    return null;
  }
}

/** Others that are due, with few payments beside: each takes gas of its own. */
async function beside(on: On, mostInBatch: number): Promise<readonly Rideable[]> {
  const { deps, gas, job, swap, escrow } = on;
  const wall = Math.floor(deps.now() / 1000);
  const clock = Math.max(swap.chainClocks[job.leg], job.verb === 'claim' ? wall : 0);
  // What another lane has in hand at this moment is due, too.
  const dueBy = new Date(deps.now() + inHandSeconds * 1_000);
  const limit = 2 * mostInBatch;
  const all = await rideable(deps.db, job, { dueBy, clock, limit });
  const payments = new Set([paymentOf(on, escrow.terms)]);
  const paceOf = ({ timelock }: EscrowTerms) =>
    bumpAfter({ verb: job.verb, timelock, clock, hurried: false });
  const pace = paceOf(escrow.terms);
  const riders: Rideable[] = [];
  for (const each of all) {
    const createdAt = Math.floor(each.createdAt.getTime() / 1000);
    const grace = graceOf(job.verb, gas.graces, each.terms.timelock, clock);
    if (wall < createdAt + grace) continue;
    // The leader says how soon it is made to pay more: who has less time leads.
    if (paceOf(each.terms) < pace) continue;
    const payment = paymentOf(on, each.terms);
    if (!payments.has(payment) && payments.size >= mostPayments) continue;
    payments.add(payment);
    riders.push(each);
    if (riders.length + 1 >= mostInBatch) break;
  }
  return riders;
}

function paymentOf({ job }: On, { token, payout, refund }: EscrowTerms): string {
  return `${token} ${job.verb === 'claim' ? payout.address : refund.address}`;
}

/** Neighbours of one payment are paid by one transfer. Null: some secret is not known after all. */
function together(on: On, own: GasWork, riders: readonly Rideable[]): GasWork | null {
  const { escrow } = on;
  const sorted = <T extends { readonly terms: EscrowTerms }>(all: readonly T[]): T[] => {
    return [...Map.groupBy(all, ({ terms }) => paymentOf(on, terms)).values()].flat();
  };
  if (own.verb === 'refund') {
    const all = sorted([{ terms: escrow.terms }, ...riders]);
    return { verb: 'refundMany', refunds: all.map(({ terms }) => terms) };
  }
  if (own.verb !== 'claim' || !own.isPublic) return null;
  const claims = riders.flatMap(({ terms, secret }) =>
    secret === null ? [] : [{ terms, secret }],
  );
  if (claims.length < riders.length) return null;
  return {
    verb: 'claimMany',
    claims: sorted([{ terms: escrow.terms, secret: own.secret }, ...claims]),
  };
}

/** What was refused together is asked for one by one. */
export async function breakUp({ deps, job }: On, batch: Batch, error: unknown): Promise<void> {
  if (!(error instanceof ParleyError) || passing.includes(error.code)) return;
  const ids = [job.id, ...batch.riders.map(({ id }) => id)];
  await goAlone(deps.db, ids);
  const { chain, verb } = job;
  const facts = { chain, verb, legs: ids.length, failure: error.code };
  deps.log.info(facts, 'what would fail together goes alone');
}

/** What each account has spent today, and how many escrows of a batch are its own. */
export async function partsOn(
  { deps, gas, job }: On,
  { since, sums }: Purse,
  batch: Batch | null,
): Promise<readonly Part[]> {
  if (batch === null) return [{ spentOn: sums.spentOn, legs: 1 }];
  const accounts = [job.accountId, ...batch.riders.map(({ accountId }) => accountId)];
  const { chain } = gas.account;
  const accountIds = [...new Set(accounts)];
  const spent = await spentOnEach(deps.db, { chain, since, accountIds });
  return accountIds.map((id) => ({
    spentOn: spent.get(id) ?? 0n,
    legs: accounts.filter((each) => each === id).length,
  }));
}

/** Seconds until a job that rides on another's transaction is looked at again; null: it is free. */
export async function ridesFor({ deps, job }: On): Promise<number | null> {
  if (isAskedFor(job.purpose)) return null;
  const fates = await ridesOf(deps.db, job.id);
  if (fates.includes('failed') && !job.alone) await goAlone(deps.db, [job.id]);
  return fates.some(isLive) ? lookAgainSeconds : null;
}
