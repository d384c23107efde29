// Several escrows settled by one transaction, where a chain can: a job that is due leads and keeps
// the attempt, others of its kind ride on it. They are put off while it may be mined, and look at
// the chain again afterwards. Where an escrow of it would fail each goes alone from then on, since
// one payment that fails reverts all; what is only too dear together goes alone once. A relay, and
// a secret that is not public, is in no batch.

import { paymentOf } from '../chains/escrows/calls.ts';
import type { GasWork } from '../chains/gas/account.ts';
import { within } from '../chains/nodes/time-limit.ts';
import { ParleyError } from '../core/errors.ts';
import type { EscrowTerms } from '../core/terms.ts';
import { inHandSeconds, lookAgainSeconds, mostPayments, stuckSeconds } from './bounds.ts';
import { type Attempt, attemptsOf, isLive } from './db/attempts.ts';
import { type Beside, besides, goAlone, ridersOf, ridesOf, spentOnEach } from './db/rides.ts';
import { graceOf } from './decide.ts';
import type { Stored } from './port.ts';
import { type Funds, isAskedFor, isDust, type Part, partOfEach } from './spending.ts';
import { isPassing, type On } from './step.ts';

type Rideable = Beside & Pick<Stored, 'terms' | 'secret'>;
export type Batch = { readonly work: GasWork; readonly riders: readonly Rideable[] };

/** What a batch is refused for where one of its escrows is in the way, whichever that is. */
const breaking: readonly string[] = ['payout_would_fail', 'nothing_there'];

/** What it takes the place of, and whether its riders are all that is in it. */
export type Place = { readonly instead: Attempt | null; readonly ridersOnly: boolean };

/**
 * The work of this job and of those that may ride on it; null: it goes alone. Tried before the
 * lease is taken for it.
 */
export async function batchOf(on: On, own: GasWork, place: Place): Promise<Batch | null> {
  const { job, signal, gas } = on;
  const { instead, ridersOnly } = place;
  if (!ridersOnly && !(await mayLead(on, instead))) return null;
  const { mostInBatch = 1 } = gas.account;
  const found = instead === null ? await beside(on, mostInBatch) : await takenAlong(on, instead);
  const batch = together(on, own, found, ridersOnly);
  if (batch === null) return null;
  try {
    const { mostCost } = await within(signal, job.chain, gas.account.quote(batch.work, signal));
    if (instead !== null) return batch;
    const each = partOfEach(mostCost, 1 + found.length);
    const worth = found.filter(({ terms }) => !isDust(terms, each));
    return worth.length === found.length ? batch : together(on, own, worth, ridersOnly);
  } catch (error) {
    if (!(error instanceof ParleyError) || isPassing(error)) throw error;
    // Some of it was settled since: who waits for this nonce is not left out for that.
    if (instead !== null && error.code === 'nothing_there') throw error;
    await breakUp(on, batch, error);
    return null;
  }
}

async function mayLead(on: On, instead: Attempt | null): Promise<boolean> {
  const { deps, gas, job, escrow } = on;
  if ((gas.account.mostInBatch ?? 1) < 2 || isAskedFor(job.purpose) || job.alone) return false;
  if (instead === null && isShortOfTime(on, escrow.terms)) return false;
  // What this look has found of them is kept by now.
  const attempts = await attemptsOf(deps.db, job.id, gas.account.address);
  return !attempts.some(({ outcome, legs }) => outcome === 'failed' && legs > 1);
}

/** By its chain as it was last seen; what is late for a claim is late by our own clock, too. */
function clockOf({ deps, job, about }: On): number {
  const wall = job.verb === 'claim' ? Math.floor(deps.now() / 1000) : 0;
  return Math.max(about.clock, wall);
}

/** A claim that waits for nobody else's transaction any more, nor has others wait for its own. */
function isShortOfTime(on: On, { timelock }: EscrowTerms): boolean {
  return on.job.verb === 'claim' && timelock - clockOf(on) <= stuckSeconds;
}

/** Those of what is replaced that are open still. */
async function takenAlong(on: On, instead: Attempt): Promise<readonly Rideable[]> {
  const all = await openRiders(on);
  return all.filter(({ attemptId, alone }) => attemptId === instead.id && !alone);
}

/** Who waits for what this job has signed. */
export async function waitingOn(on: On) {
  const all = await openRiders(on);
  return all.map(({ attemptId, alone, terms: { timelock } }) => ({ attemptId, alone, timelock }));
}

/**
 * Riders that are open still by what is stored: their money is there, and nothing but this job's
 * own is known to take it. No claim past its timelock is among them.
 */
async function openRiders(on: On) {
  const { deps, job, attempts } = on;
  const riders = await ridersOf(deps.db, job.id);
  const own = new Set(attempts.map(({ txid }) => txid));
  const clock = clockOf(on);
  return withTerms(on, riders, ({ terms, facts }) => {
    const settled = facts.claimed ?? facts.refunded;
    const isLate = job.verb === 'claim' && terms.timelock <= clock;
    return !isLate && facts.balance >= terms.amount && (settled === null || own.has(settled.txid));
  });
}

/** With what is stored of their escrows, where that passes. */
async function withTerms<Of extends Beside>(
  { deps, job }: On,
  all: readonly Of[],
  may: (stored: Stored) => boolean,
): Promise<(Of & Pick<Stored, 'terms' | 'secret'>)[]> {
  if (all.length === 0) return [];
  const escrows = all.map(({ escrow }) => escrow);
  const stored = await deps.market.storedOf(job.chain, escrows);
  return all.flatMap((each) => {
    const found = stored.get(each.escrow);
    return found !== undefined && may(found) ? [{ ...each, ...found }] : [];
  });
}

/** Jobs read for one batch: a page as many times what it takes, and so many pages. */
const [sightedFor, mostPages] = [10, 5];

/** Others that are due, the soonest first, with few payments beside: each takes gas of its own. */
async function beside(on: On, mostInBatch: number): Promise<readonly Rideable[]> {
  const { deps, job, escrow } = on;
  const open: Rideable[] = [];
  // What another lane has in hand at this moment is due, too.
  const dueBy = new Date(deps.now() + inHandSeconds * 1_000);
  const limit = sightedFor * mostInBatch;
  let after = 0;
  for (let page = 0; page < mostPages; page += 1) {
    const found = await besides(deps.db, job, { dueBy, after, limit });
    open.push(...(await rideableOf(on, found)));
    if (found.length < limit) break;
    after = found.at(-1)?.id ?? after;
  }
  const payments = new Set([paymentOn(on, escrow.terms)]);
  const riders: Rideable[] = [];
  for (const each of open.toSorted((a, b) => a.terms.timelock - b.terms.timelock)) {
    if (riders.length + 1 >= mostInBatch) break;
    const paid = paymentOn(on, each.terms);
    if (!payments.has(paid) && payments.size >= mostPayments) continue;
    payments.add(paid);
    riders.push(each);
  }
  return riders;
}

/** Those whose money is there for them now, that nobody is waited for. */
async function rideableOf(on: On, found: readonly Beside[]): Promise<readonly Rideable[]> {
  const { deps, gas, job, escrow } = on;
  const wall = Math.floor(deps.now() / 1000);
  const clock = clockOf(on);
  const open = await withTerms(on, found, ({ terms, facts, secret }) => {
    if (facts.claimed !== null || facts.refunded !== null || facts.balance < terms.amount) {
      return false;
    }
    return job.verb === 'claim'
      ? secret !== null && terms.timelock > clock
      : terms.timelock <= clock;
  });
  return open.filter(({ terms, createdAt }) => {
    const grace = graceOf(job.verb, gas.graces, terms.timelock, clock);
    if (wall < Math.floor(createdAt.getTime() / 1000) + grace) return false;
    // A batch is one call of one contract.
    return !isShortOfTime(on, terms) && terms.lane?.contract === escrow.terms.lane?.contract;
  });
}

function paymentOn({ job }: On, terms: EscrowTerms): string {
  return paymentOf(terms, job.verb === 'claim' ? 'claim' : 'refund');
}

/**
 * Neighbours of one payment are paid by one transfer. Null: nothing goes along, or some secret is
 * not known after all.
 */
function together(
  on: On,
  own: GasWork,
  riders: readonly Rideable[],
  ridersOnly: boolean,
): Batch | null {
  if (riders.length === 0) return null;
  const { escrow } = on;
  const sorted = <T extends { readonly terms: EscrowTerms }>(
    first: T,
    others: readonly T[],
  ): T[] => {
    const all = ridersOnly ? others : [first, ...others];
    return [...Map.groupBy(all, ({ terms }) => paymentOn(on, terms)).values()].flat();
  };
  if (own.verb === 'refund') {
    const all = sorted<{ readonly terms: EscrowTerms }>({ terms: escrow.terms }, riders);
    return { work: { verb: 'batch', batch: { verb: 'refund', legs: all } }, riders };
  }
  if (own.verb !== 'claim' || !own.isPublic) return null;
  const claims = riders.flatMap(({ terms, secret }) =>
    secret === null ? [] : [{ terms, secret }],
  );
  if (claims.length < riders.length) return null;
  const { secret } = own;
  const all = sorted({ terms: escrow.terms, secret }, claims);
  return { work: { verb: 'batch', batch: { verb: 'claim', legs: all } }, riders };
}

/** What would fail together is asked for one by one. */
export async function breakUp({ deps, job }: On, batch: Batch, error: unknown): Promise<void> {
  if (!(error instanceof ParleyError) || !breaking.includes(error.code)) return;
  const ids = [job.id, ...batch.riders.map(({ id }) => id)];
  await goAlone(deps.db, ids);
  const { chain, verb } = job;
  const facts = { chain, verb, legs: ids.length, failure: error.code };
  deps.log.info(facts, 'what would fail together goes alone');
}

/** What each account has spent today, and how many escrows of a batch are its own. */
export async function partsOn(
  { deps, gas, job }: On,
  { since, sums }: Funds,
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
  const outcomes = await ridesOf(deps.db, job.id);
  if (outcomes.includes('failed') && !job.alone) await goAlone(deps.db, [job.id]);
  return outcomes.some(isLive) ? lookAgainSeconds : null;
}
