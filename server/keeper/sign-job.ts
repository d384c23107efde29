// Signing for one job of the keeper, in a turn: what it may cost, the nonce, and what is kept of
// it. Where others of its kind are due, they ride on its transaction.

import type { GasWork } from '../../chains/gas/account.ts';
import { ParleyError } from '../../core/errors.ts';
import { type Attempt, attemptsOf, blocksRelay, isLive } from '../db/keeper-attempts.ts';
import { reservedBehind } from '../db/keeper-blocking.ts';
import { keepReserve } from '../db/keeper-jobs.ts';
import { type FundingSums, fundingSums } from '../db/keeper-relays.ts';
import { putOn, type Rideable, ridesOf } from '../db/keeper-rides.ts';
import { within } from '../ports/time-limit.ts';
import { type Batch, batchOf, breakUp, type Place, partsOn } from './batches.ts';
import { jobPatienceMs, lookAgainSeconds } from './bounds.ts';
import {
  giveTurnBack,
  isPassing,
  keepSigned,
  mostOfVoid,
  mustBeTurn,
  nextNonce,
  noncesOf,
  outOfTurn,
  purseOf,
  signWith,
  type Turn,
  turnOn,
} from './sign.ts';
import {
  allowanceOf,
  freeOf,
  holdOf,
  isAskedFor,
  isDust,
  least,
  mostToFund,
  mostToLand,
  type Part,
  type Purse,
  partOfEach,
  type Short,
} from './spending.ts';
import type { On } from './tend.ts';
import { hasRoomForAccount, wantsAccount } from './token-accounts.ts';

/** Put off by what may be spent: no failure of anything. */
export class TooShort extends Error {
  readonly short: Short;
  constructor(short: Short) {
    super(short);
    this.short = short;
  }
}

/** What cannot be made to pay more gives way to a relay behind it: nothing takes its nonce. */
export async function signOrYield(on: On, work: GasWork, place: Place): Promise<Attempt> {
  const { job } = on;
  const { instead } = place;
  try {
    return await sign(on, work, place);
  } catch (error) {
    // A funding that claims leave nothing for is held up by its own bounds alone.
    const isShort = error instanceof TooShort && job.purpose === 'fund';
    const isRefused = isShort || (error instanceof ParleyError && !isPassing(error));
    const { nonce = null } = instead ?? {};
    if (instead === null || nonce === null || !isRefused || job.purpose === 'relay') throw error;
    if (!(await hasRelayBehind(on, instead))) throw error;
    return signVoid(on, instead);
  }
}

const kinds = { relay: 'promised', fund: 'fund' } as const;

/** Throws `overloaded` where others have it for too long. */
async function turnOf(on: On, kind: 'promised' | 'own' | 'fund'): Promise<Turn> {
  const { deps, gas, job, signal } = on;
  const turn = await turnOn(deps, gas, { kind, patienceMs: jobPatienceMs, signal });
  if (turn === null) throw outOfTurn(job.chain, jobPatienceMs);
  return turn;
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
  const { purpose } = job;
  const isPromised = isAskedFor(purpose);
  const riders = batch?.riders ?? [];
  const wouldKeep = await reserveToLand(on, work, instead);
  const makesAccount = await wantsAccount(on, work);
  // A funding that a relay waits behind does not wait for its turn.
  const isHurried = purpose === 'fund' && (await hasRelayBehind(on, instead));
  const turn = await turnOf(on, isPromised && !isHurried ? kinds[purpose] : 'own');
  try {
    await mustBeNewest(on);
    const purse = await purseOf(deps, turn, { accountId: job.accountId, jobId: job.id });
    const parts = await partsOn(on, purse, batch);
    const funded = job.purpose === 'fund' ? await fundingsOf(on, purse) : null;
    const most = allowed(on, purse, { instead, wouldKeep, parts, funded });
    const nonce = instead?.nonce ?? nextNonce(await noncesOf(deps, turn));
    if (makesAccount && !(await hasRoomForAccount(on))) throw new TooShort('accounts');
    const slot = { nonce, instead, most, withoutAccount: !makesAccount };
    const signed = await signWith(deps, turn, work, slot);
    if (!isPromised) mustBeWorth(on, riders, signed.mostCost);
    return await deps.db.transaction(async (tx) => {
      await mustBeTurn(tx, deps, turn);
      const about = { jobId: job.id, verb: job.verb, legs: 1 + riders.length };
      const attempt = await keepSigned(tx, deps, turn, signed, about);
      const reserve = isPromised ? signed.mostCost : holdOf(purse, signed.mostCost);
      const kept = { reserve, attemptId: attempt.id, makesAccount };
      if (!(await keepReserve(tx, job.id, kept))) throw overtaken(on);
      const again = new Date(deps.now() + lookAgainSeconds * 1_000);
      const place = { attemptId: attempt.id, leaderId: job.id };
      const ids = riders.map(({ id }) => id);
      if (ids.length > 0 && !(await putOn(tx, place, ids, again))) throw overtaken(on);
      return attempt;
    });
  } catch (error) {
    await giveTurnBack(deps, turn);
    throw error;
  }
}

/** While this waited for its turn another server may have taken the same job up, and signed. */
async function mustBeNewest(on: On): Promise<void> {
  const { deps, gas, job, attempts } = on;
  const now = await attemptsOf(deps.db, job.id, gas.account.address);
  if (now.at(-1)?.id !== attempts.at(-1)?.id) throw overtaken(on);
  if ((await ridesOf(deps.db, job.id)).some(isLive)) throw overtaken(on);
}

function overtaken({ job: { id, chain } }: On): ParleyError {
  const sentence = `job ${id} of the keeper has moved on since it was looked at; nothing was signed`;
  return new ParleyError('overloaded', sentence, { chain, job: id });
}

/** What would be kept now for what was asked for, or has a relay behind it; null of all else. */
async function reserveToLand(
  on: On,
  work: GasWork,
  instead: Attempt | null,
): Promise<bigint | null> {
  const { gas, job, signal } = on;
  const { account } = gas;
  if (!isAskedFor(job.purpose) && !(await hasRelayBehind(on, instead))) return null;
  return within(signal, account.chain, account.reserve(work, signal));
}

async function hasRelayBehind({ deps, gas, job }: On, instead: Attempt | null): Promise<boolean> {
  const { chain, address } = gas.account;
  const nonce = instead?.nonce ?? null;
  const { purpose } = job;
  return nonce !== null && blocksRelay(deps.db, { chain, address, nonce, purpose });
}

/** What fundings have taken of their bounds, without what this one has reserved. */
function fundingsOf({ deps, job }: On, { since }: Purse): Promise<FundingSums> {
  const { chain, accountId, id } = job;
  return fundingSums(deps.db, { chain, since, accountId, except: id });
}

/** What was promised does not wait behind those that were promised after it, nor for the cap. */
function allowed(
  { gas, job: { purpose, reserve: kept } }: On,
  purse: Purse,
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
    const counted = instead !== null && instead.signedAt >= purse.since ? instead.charged : 0n;
    const most =
      sums === null
        ? mostToLand(purse, gas.relays, { kept, wouldKeep })
        : mostToFund(purse, gas.fundings, { kept, wouldKeep, sums, counted });
    if (most === 0n && isAskedFor(purpose)) throw new TooShort('balance');
    return most;
  }
  if (isAskedFor(purpose)) throw new Error(`a ${purpose} is signed by what would be kept for it`);
  const allowance = allowanceOf(purse, instead, purpose, parts);
  if ('short' in allowance) throw new TooShort(allowance.short);
  return allowance.most;
}

function mustBeWorth(
  { job, escrow }: On,
  riders: readonly Pick<Rideable, 'terms'>[],
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

/** Costs little, and frees what is behind it: no cap holds it up. */
export async function signVoid(on: On, instead: Attempt): Promise<Attempt> {
  const { deps, gas, job } = on;
  const turn = await turnOf(on, job.purpose === 'relay' ? 'promised' : 'own');
  try {
    await mustBeNewest(on);
    const purse = await purseOf(deps, turn, { accountId: null, jobId: job.id });
    const { nonce } = instead;
    const { chain, address } = gas.account;
    const besides =
      nonce === null ? 0n : await reservedBehind(deps.db, { chain, address, nonce }, job.id);
    const most = least(freeOf(purse, besides), await mostOfVoid(turn, instead));
    const slot = { nonce, instead, most };
    const signed = await signWith(deps, turn, { verb: 'void' }, slot);
    return await deps.db.transaction(async (tx) => {
      await mustBeTurn(tx, deps, turn);
      return keepSigned(tx, deps, turn, signed, { jobId: job.id, verb: 'void' });
    });
  } catch (error) {
    await giveTurnBack(deps, turn);
    throw error;
  }
}
