// Signing with a gas key, one at a time on a chain, whichever process: balance, nonce and what is
// signed are all of one lease, and nothing is kept that outlasted it. Where a chain counts nonces
// one transaction of the key is in flight: another is signed once a block has it.

import { randomUUID } from 'node:crypto';
import type { GasTransaction, GasWork } from '@parley/chains/gas/account.ts';
import { within } from '@parley/chains/nodes/time-limit.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { ChainKey } from '@parley/core/families.ts';
import {
  countMs,
  jobPatienceMs,
  leaseMs,
  leasePollMs,
  mostUnknownNonces,
  mostWaiting,
  mostWaitingOf,
  signMs,
  unknownSeconds,
  vouchedSeconds,
} from './bounds.ts';
import {
  type Attempt,
  attemptsOf,
  failedNonces,
  insertAttempt,
  liveAttempts,
  noncesKnown,
} from './db/attempts.ts';
import { keepReserve } from './db/jobs.ts';
import { endKey, noteUnknown, takeKey } from './db/keys.ts';
import { keySums } from './db/sums.ts';
import { withOutcomes } from './outcomes.ts';
import type { Gas, Parts, Tx } from './port.ts';
import { openTransaction, sealTransaction } from './sealing.ts';
import {
  allowanceOf,
  dayOf,
  type Funds,
  freeNonce,
  freeOf,
  holdOf,
  isAskedFor,
  isDust,
  least,
  mostToLand,
} from './spending.ts';
import { isPassing, type On, realTime, TooShort } from './step.ts';

/** The lease of a gas key. `signal` ends all that is read and signed under it. */
export type Lease = { readonly gas: Gas; readonly holder: string; readonly signal: AbortSignal };

/** A gas key that is asked about, under a lease or before one. */
export type Looking = Pick<Lease, 'gas' | 'signal'>;

type Waiting = { readonly patienceMs: number; readonly signal: AbortSignal };

/** By chain, the accounts whose requests wait in this process. */
const queues = new WeakMap<Parts['gas'], Map<string, string[]>>();

function queueOf({ gas }: Parts, chain: string): string[] {
  const all = queues.get(gas) ?? new Map<string, string[]>();
  queues.set(gas, all);
  const queue = all.get(chain) ?? [];
  all.set(chain, queue);
  return queue;
}

/** Throws `overloaded`: others have it for too long. */
export async function leased<Result>(
  deps: Parts,
  gas: Gas,
  how: Waiting,
  work: (lease: Lease) => Promise<Result>,
): Promise<Result> {
  const { chain } = gas.account;
  const { limit, leaseClock } = deps.signingTime ?? realTime;
  const holder = randomUUID();
  const giveBack = () => endKey(deps.db, chain, { holder, clock: leaseClock() }).catch(() => false);
  try {
    await take(deps, chain, holder, how);
    // One limit for all of it: others wait, and a request does so for less than a whole lease.
    return await work({ gas, holder, signal: AbortSignal.any([how.signal, limit(signMs)]) });
  } finally {
    await giveBack();
  }
}

/**
 * A request waits in one of the places of its chain, of which an account has a share; a promised
 * one needs none. Throws `overloaded`: as many wait as may.
 */
export async function inPlace<Result>(
  deps: Parts,
  { chain, accountId }: { readonly chain: ChainKey; readonly accountId: string },
  wait: () => Promise<Result>,
): Promise<Result> {
  const queue = queueOf(deps, chain);
  const own = queue.filter((each) => each === accountId).length;
  if (own >= mostWaitingOf) throw tooManyWait(chain, mostWaitingOf, ' of this account');
  if (queue.length >= mostWaiting) throw tooManyWait(chain, mostWaiting, '');
  queue.push(accountId);
  try {
    return await wait();
  } finally {
    queue.splice(queue.indexOf(accountId), 1);
  }
}

async function take(
  { db, signingTime = realTime }: Parts,
  chain: string,
  holder: string,
  { patienceMs, signal }: Waiting,
): Promise<void> {
  const { elapsedMs, pause, leaseClock } = signingTime;
  const until = elapsedMs() + patienceMs;
  for (let failures = 0; ; ) {
    const lease = { holder, milliseconds: leaseMs, clock: leaseClock() };
    try {
      if (await takeKey(db, chain, lease)) return;
    } catch (error) {
      // Its answer may have been lost, and the lease be ours. A second failure ends in that error.
      failures += 1;
      if (failures > 1) throw error;
    }
    if (elapsedMs() > until) throw outOfLease(chain, patienceMs);
    await pause(leasePollMs, signal);
  }
}

/** The balance of the key, and the promised part of it. */
export async function fundsOf(
  deps: Pick<Parts, 'db' | 'now'>,
  { gas, signal }: Looking,
  jobId: number | null,
): Promise<Funds> {
  const { account, dailyCap } = gas;
  const balance = await within(signal, account.chain, account.balance(signal));
  const since = dayOf(deps.now());
  const sums = await keySums(deps.db, { chain: account.chain, since, except: jobId });
  return { balance, dailyCap, since, sums };
}

/** Whether something waits for its block, as it is stored. A replaced one does not. */
export async function isStoredBusy(
  { db }: Pick<Parts, 'db'>,
  { account: { chain, address } }: Gas,
): Promise<boolean> {
  const live = await liveAttempts(db, chain, address);
  const used = new Set(live.filter(({ outcome }) => outcome === 'mined').map(({ nonce }) => nonce));
  return live.some(
    ({ nonce, outcome }) => nonce !== null && outcome !== 'mined' && !used.has(nonce),
  );
}

/** Transactions that may still be mined before the next one, asked of the nodes anew. */
export async function inFlight(deps: Parts, on: Looking): Promise<readonly Attempt[]> {
  const { chain, address } = on.gas.account;
  const live = await liveAttempts(deps.db, chain, address);
  const waiting = live.filter(({ nonce, outcome }) => nonce !== null && outcome !== 'mined');
  const fresh = await withOutcomes({ deps, ...on }, waiting);
  return fresh.filter(({ outcome }) => outcome === 'unknown' || outcome === 'pending');
}

/**
 * The nonce of the next transaction; null on chains without. Throws `TooShort`: one is in flight,
 * or nodes count some that nothing here knows of. Those were sent before a backup was restored, and
 * nothing is signed in the place of any for so long, all in all.
 */
export async function nextNonce(deps: Parts, looking: Looking): Promise<number | null> {
  const { gas, signal } = looking;
  const { account } = gas;
  const { chain, address } = account;
  // A nonce that this finds to be final counts as used below.
  const waiting = await inFlight(deps, looking);
  const asked = account.pendingNonce?.(signal);
  const asking = Promise.all([account.minedNonce(signal), asked]);
  const [mined, said = 0] = await within(signal, chain, asking);
  if (mined === null) return null;
  const used = await usedNonces(deps, looking, { mined });
  if (waiting.some(({ nonce }) => (nonce ?? -1) >= used)) throw new TooShort('busy');
  const live = await liveAttempts(deps.db, chain, address);
  const failed = await failedNonces(deps.db, { chain, address, from: used });
  const next = freeNonce(used, [...live.map(({ nonce }) => nonce), ...failed]);
  // One of several nodes is not believed alone.
  const sure = { most: next, answerMs: countMs };
  const again = said > next ? account.pendingNonce?.(signal, sure) : undefined;
  const isThere = again !== undefined && (await within(signal, chain, again)) > next;
  const clock = (deps.signingTime ?? realTime).leaseClock();
  const unknown = { isThere, forgetMs: 2_000 * vouchedSeconds, clock };
  const forSeconds = await noteUnknown(deps.db, chain, unknown);
  if (forSeconds === null) return next;
  const counts = (await account.pendingNonces?.(signal)) ?? [];
  const vouchers = counts.filter((each) => each > next).length;
  const seconds = vouchers < 2 ? unknownSeconds : vouchedSeconds;
  if (forSeconds < seconds) throw new TooShort('busy');
  return next;
}

/**
 * How many blocks have used, where nodes say `mined`. `surely`: with time for every answer, and one
 * node alone is believed in nothing above what is deep.
 */
export async function usedNonces(
  deps: Parts,
  { gas: { account }, signal }: Looking,
  { mined: said, surely = false }: { readonly mined: number; readonly surely?: boolean },
): Promise<number> {
  const { chain, address } = account;
  const { aboveDeep, aboveSigned, deepAt } = await noncesKnown(deps.db, chain, address);
  const deep = aboveDeep ?? 0;
  const sure = surely ? { most: deep } : { most: aboveSigned, answerMs: countMs };
  const mined =
    said > sure.most
      ? ((await within(signal, chain, account.minedNonce(signal, sure))) ?? 0)
      : said;
  // A later signature is no proof: a node that caught up yet may have given its nonce.
  const mayLack = deepAt === null || (await deps.market.lacksTimeSince(deepAt));
  const most = aboveSigned + mostUnknownNonces;
  if (!mayLack && mined > most) {
    const sentence =
      `the nodes of ${chain} say that blocks have ${mined} transactions of the gas key, above ` +
      `${most}: a node lies, or the key is used elsewhere and has to be replaced`;
    throw new ParleyError('chain_unavailable', sentence, { chain, mined, most });
  }
  // A node that is behind must not make us use one twice.
  return Math.max(mined, deep);
}

export async function signWith(
  deps: Pick<Parts, 'seal'>,
  { gas, signal }: Lease,
  work: GasWork,
  slot: {
    readonly nonce: number | null;
    readonly instead: Attempt | null;
    readonly most: bigint;
  },
): Promise<GasTransaction> {
  const { nonce, instead, most: mostCost } = slot;
  const former = instead === null ? null : openTransaction(deps, instead);
  const above =
    instead === null || former === null ? null : { offer: instead.offer, raw: former.raw };
  const signing = gas.account.sign(work, { nonce, above, mostCost }, signal);
  return within(signal, gas.account.chain, signing);
}

/**
 * The most that freeing a nonce may cost: its cost at reserve fees, or that of the transaction in
 * whose place it comes. Beyond that it waits for fees to fall.
 */
export async function mostOfVoid(
  { gas, signal }: Looking,
  instead: Attempt | null,
): Promise<bigint> {
  const { account } = gas;
  const usual = await within(signal, account.chain, account.reserve({ verb: 'void' }, signal));
  const former = instead === null || instead.verb === 'void' ? 0n : instead.mostCost;
  return former > usual ? former : usual;
}

/**
 * Keeps what was signed, in the transaction that ends the lease. Throws `overloaded`: the lease was
 * over, and whoever has it now may have signed with the same nonce.
 */
export async function keepSigned(
  tx: Tx,
  deps: Parts,
  { gas }: Lease,
  signed: GasTransaction,
  of: { readonly jobId: number | null; readonly verb: Attempt['verb'] },
): Promise<Attempt> {
  const { chain, address } = gas.account;
  const { version, sealed } = sealTransaction(deps, signed);
  const { txid, nonce, offer, mostCost, diesAt } = signed;
  return insertAttempt(tx, {
    chain,
    address,
    txid,
    nonce,
    offer,
    mostCost,
    diesAt,
    ...of,
    sealed,
    sealedVersion: version,
    at: new Date(deps.now()),
  });
}

/** In the transaction of `keepSigned`, before it. */
export async function mustHold(tx: Tx, deps: Parts, { gas, holder }: Lease): Promise<void> {
  const { chain } = gas.account;
  const clock = (deps.signingTime ?? realTime).leaseClock();
  if (!(await endKey(tx, chain, { holder, clock }))) throw outOfLease(chain, leaseMs);
}

function tooManyWait(chain: string, waiting: number, whose: string): ParleyError {
  const sentence =
    `${waiting} requests${whose} wait for the gas key of ${chain} to sign, and no more may; ` +
    'the watchtower sent nothing';
  return new ParleyError('overloaded', sentence, { chain, waiting });
}

/** `waitedMs`: for a lease, or how long it was. */
function outOfLease(chain: string, waitedMs: number): ParleyError {
  const sentence = `the gas key of ${chain} is busy signing for ${waitedMs} ms; the watchtower sent nothing`;
  return new ParleyError('overloaded', sentence, { chain, waitedMs });
}

// Signing for one job, under the lease of its key: its most cost, the nonce, and the rows that are
// kept.

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
  const sentence = `job ${id} of the keeper has moved on since it was looked at; the watchtower signed nothing`;
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
