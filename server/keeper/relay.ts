// A claim that its receiver asked us to send. Once it is answered for it has to land, so it is
// refused where that is not certain: gates, purse, time. What is signed, what is reserved for it
// and the answer are kept in one transaction, and nothing is sent before that has committed.

import type { GasTransaction, GasWork } from '../../chains/gas/account.ts';
import { ParleyError } from '../../core/errors.ts';
import { baseUnits, type ChainKey, type Family } from '../../core/families.ts';
import type { Secret } from '../../core/hashlock.ts';
import type { Tx } from '../db/database.ts';
import { type Attempt, attemptsOf, isLive } from '../db/keeper-attempts.ts';
import { blockersOf, holdToFree } from '../db/keeper-blocking.ts';
import { findJob, insertAsked } from '../db/keeper-jobs.ts';
import { relaySums } from '../db/keeper-relays.ts';
import type { Deps } from '../ports/deps.ts';
import { within } from '../ports/time-limit.ts';
import { type Claimable, claimAsked, mayClaim } from '../settle/builders.ts';
import { adapterOf } from '../settle/preview.ts';
import {
  type Asking,
  beyondBounds,
  mustHaveTime,
  type Prepared,
  type Relayed,
  relayedBefore,
  signInTurn,
  tooBusy,
  unavailable,
} from './asked.ts';
import { mostFailed, relayLeadSeconds } from './bounds.ts';
import { sealSecret } from './sealing.ts';
import {
  keepSigned,
  type Looking,
  missingBefore,
  mustBeTurn,
  type Nonces,
  nextNonce,
  noncesOf,
  purseOf,
  signWith,
  type Turn,
} from './sign.ts';
import {
  allowanceOfRelay,
  dayOf,
  freeOf,
  isDust,
  type Purse,
  relayShort,
  type Short,
} from './spending.ts';

export type RelayRequest = Asking & { readonly secret: Secret };

export type PreparedRelay = Prepared<{
  readonly claimable: Claimable;
  readonly accountId: string;
  readonly reserve: bigint;
  readonly makesAccount: boolean;
  /** Jobs before it in the order of nonces, and what freeing the nonce of one may take. */
  readonly blockers: { readonly jobIds: readonly number[]; readonly least: bigint };
  /** Null: one of the keeper's own is under way, and is made to land. */
  readonly signed: GasTransaction | null;
  readonly txid: string;
}>;

/** Passes the gates and signs. Throws `relay_unavailable`, and what the builder throws. */
export async function prepareRelay(deps: Deps, request: RelayRequest): Promise<PreparedRelay> {
  const { signal, accountId } = request;
  const asked = await claimAsked(deps.db, request);
  const { swap, name } = asked;
  const { chain, family } = swap.state.legs[name];
  const gas = deps.gas?.get(chain);
  if (gas === undefined) {
    const why =
      family === 'bitcoin'
        ? 'a Bitcoin claim needs its receiver’s own signature'
        : `this market has no gas key on "${chain}"`;
    throw unavailable('claim', why, { chain });
  }
  const { escrow } = swap.state.legs[name];
  const verb = 'claim';
  const before = escrow && (await relayedBefore(deps.db, { gas, verb, escrow }));
  if (before) return { before, wasAdmitted: false };
  await request.admit();
  const claimable = await mayClaim(deps, asked, gas.account.address, signal).catch(
    (error: unknown) => {
      if (!(error instanceof ParleyError) || error.code !== 'claim_unpayable') throw error;
      // What the key lacks is the market's trouble: its address is nobody's to send coins to.
      const { lack = null, has = null, need = null } = error.facts;
      const key = `the gas key of "${chain}" has ${has} ${baseUnits[family]}`;
      const why = `${key} and sending this may take ${need}`;
      throw unavailable('claim', why, { chain, lack, has, need });
    },
  );
  mustHaveTime(verb, claimable, timeOf(deps, claimable));
  const wish = await weigh(deps, { gas, signal }, claimable, accountId);
  const wanted = { gas, verb, escrow: wish.escrow } as const;
  return signInTurn(deps, wanted, request, async (turn) => {
    return { claimable, ...wish, ...(await signRelay(deps, turn, wish)) };
  });
}

/** What is to be relayed, whom it pays, and what landing it may take. */
type Wish = {
  readonly chain: ChainKey;
  readonly accountId: string;
  readonly work: Extract<GasWork, { readonly verb: 'claim' }>;
  readonly escrow: string;
  readonly reserve: bigint;
  readonly makesAccount: boolean;
};

/**
 * Everything that can be refused without a turn, which is for whoever signs: what is refused here
 * holds up nobody. Tried as it will be signed.
 */
async function weigh(
  deps: Deps,
  looking: Looking,
  { escrow, secret, state }: Claimable,
  accountId: string,
): Promise<Wish> {
  const { gas, signal } = looking;
  const { account } = gas;
  const { chain } = account;
  const { terms, address } = escrow;
  const work = { verb: 'claim', terms, secret, isPublic: state.secret !== null } as const;
  const asking = Promise.all([account.quote(work, signal), account.reserve(work, signal)]);
  const [{ mostCost, makesAccount }, reserve] = await within(signal, chain, asking);
  mustBeWorth(work, mostCost);
  const wish = { chain, accountId, work, escrow: address, reserve, makesAccount };
  await roomFor(deps, looking, wish);
  return wish;
}

async function signRelay(deps: Deps, turn: Turn, wish: Wish) {
  const { work, makesAccount } = wish;
  const { live, nonce, landing, blockers } = await roomFor(deps, turn, wish);
  if (live !== undefined) return { reserve: landing, blockers, signed: null, txid: live.txid };
  const slot = { nonce, instead: null, most: wish.reserve, withoutAccount: !makesAccount };
  const signed = await signWith(deps, turn, work, slot);
  mustBeWorth(work, signed.mostCost);
  return { reserve: landing, blockers, signed, txid: signed.txid };
}

/** Bounds, purse and nonce of this moment. In a turn nobody else changes them. */
async function roomFor(deps: Deps, looking: Looking, wish: Wish) {
  const { gas } = looking;
  const { chain, escrow, reserve, accountId, makesAccount } = wish;
  const job = await findJob(deps.db, { chain, escrow, verb: 'claim' });
  const except = job?.id ?? null;
  const since = dayOf(deps.now());
  const sums = await relaySums(deps.db, { chain, since, accountId, except });
  const own = job === null ? [] : await attemptsOf(deps.db, job.id, gas.account.address);
  mustNotFail(chain, own);
  const live = own.find(({ fate, verb }) => verb === 'claim' && isLive(fate));
  const nonces = await noncesOf(deps, looking);
  const nonce = live === undefined ? nextNonce(nonces) : live.nonce;
  const before = await freeingBefore(deps, looking, nonces, nonce);
  const landing = reserve + before.gaps;
  const short = relayShort(gas.relays, sums, { reserve: landing, makesAccount });
  if (short !== null) throw beyondBounds('claim', chain, short, landing);
  const needed = landing + before.lacking;
  const purse = await purseOf(deps, looking, { accountId: null, jobId: except });
  const allowance = allowanceOfRelay(purse, needed);
  if ('short' in allowance) throw beyondPurse(chain, allowance.short, purse, needed);
  return { live, nonce, landing, blockers: before.blockers };
}

function beyondPurse(chain: ChainKey, short: Short, purse: Purse, needed: bigint): ParleyError {
  const { relaysUnderWay: underWay } = purse.sums;
  if (short === 'busy') return tooBusy('claim', chain, underWay);
  const free = freeOf(purse);
  const why = `the gas key of "${chain}" has ${free} to spare and landing this may take ${needed}`;
  return unavailable('claim', why, { chain, free, reserve: needed, underWay });
}

/** Asked for again, what a chain refuses each time would cost gas each time. */
function mustNotFail(chain: ChainKey, attempts: readonly Attempt[]): void {
  const failed = attempts.filter(({ fate, verb }) => fate === 'failed' && verb === 'claim').length;
  if (failed < mostFailed) return;
  const sentence = `"${chain}" took ${failed} claims of this leg and refused each of them`;
  throw unavailable('claim', sentence, { chain, failed });
}

/** Dust in the native coin. What a token is worth is not known here: bounds are all there is. */
function mustBeWorth({ terms }: Wish['work'], mostCost: bigint): void {
  if (!isDust(terms, mostCost)) return;
  const { chain, amount } = terms;
  const sentence = `a leg of ${amount} is not worth the ${mostCost} that its gas may take`;
  throw unavailable('claim', sentence, { chain, amount, mostCost });
}

/**
 * No block takes it before everything with a lower nonce: what freeing those may take at reserve
 * fees, beyond what their own jobs hold. `gaps`: of those that have no job, or nothing at all.
 */
async function freeingBefore(
  deps: Deps,
  { gas, signal }: Looking,
  nonces: Nonces | null,
  nonce: number | null,
) {
  const { chain, address } = gas.account;
  const found = nonce === null ? [] : await blockersOf(deps.db, { chain, address, nonce });
  const missing = nonces === null || nonce === null ? 0 : missingBefore(nonces, nonce);
  const least =
    found.length + missing === 0
      ? 0n
      : await within(signal, chain, gas.account.reserve({ verb: 'void' }, signal));
  const jobIds: number[] = [];
  let [gaps, lacking] = [least * BigInt(missing), 0n];
  for (const { jobId, held } of found) {
    if (jobId === null) gaps += least;
    else {
      jobIds.push(jobId);
      if (held < least) lacking += least - held;
    }
  }
  return { gaps, lacking, blockers: { jobIds, least } };
}

/** Nothing is relayed on Bitcoin. */
function leadOf(family: Family): number {
  return relayLeadSeconds[family === 'bitcoin' ? 'evm' : family];
}

/** By when it has to be sent, and how long before. */
function timeOf(deps: Deps, { name, state }: Claimable) {
  const leg = state.legs[name];
  if (state.secret === null) return { by: state.deadlines.revealBy, needs: leadOf(leg.family) };
  const { normal } = adapterOf(deps, leg.chain).policy;
  return { by: leg.timelock, needs: normal.settleSeconds };
}

/** Keeps all of it, in the transaction of the answer. */
export async function storeRelay(tx: Tx, deps: Deps, prepared: PreparedRelay): Promise<Relayed> {
  if (prepared.before !== null) return prepared.before;
  const { turn, wanted, signed, txid, reserve, makesAccount, blockers, ...of } = prepared;
  const { swap, name, secret } = of.claimable;
  const at = new Date(deps.now());
  await mustBeTurn(tx, deps, turn);
  const earlier = await relayedBefore(tx, wanted);
  if (earlier !== null) return earlier;
  const { version, sealed } = sealSecret(deps, secret);
  const jobId = await insertAsked(tx, {
    ...{ chain: turn.gas.account.chain, escrow: wanted.escrow, verb: 'claim', purpose: 'relay' },
    ...{ swapId: swap.id, leg: name, accountId: of.accountId },
    ...{ reserve, makesAccount, secret: sealed, secretVersion: version, signature: null },
    ...{ at, since: dayOf(deps.now()) },
  });
  await holdToFree(tx, blockers.jobIds, { least: blockers.least, now: at });
  if (signed !== null) await keepSigned(tx, deps, turn, signed, { jobId, verb: 'claim' });
  return { relayed: true, txid };
}
