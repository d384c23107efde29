// A claim that its receiver asked us to send. Once it is answered for it has to land, so it is
// refused where that is not certain: gates, purse, time. What is signed, what is reserved for it
// and the answer are kept in one transaction, and nothing is sent before that has committed.

import type { GasTransaction, GasWork } from '../../chains/gas-account.ts';
import { ParleyError } from '../../core/errors.ts';
import type { ChainKey, Family } from '../../core/families.ts';
import { pessimistic } from '../../core/swap.ts';
import type { Tx } from '../db/database.ts';
import { type Attempt, attemptsOf, isLive } from '../db/keeper-attempts.ts';
import { blockersOf, holdToFree } from '../db/keeper-blocking.ts';
import { findJob, insertRelay } from '../db/keeper-jobs.ts';
import { relaySums } from '../db/keeper-relays.ts';
import type { Deps } from '../deps.ts';
import { type Claimable, claimAsked, mayClaim } from '../settle/builders.ts';
import { adapterOf } from '../settle/preview.ts';
import { within } from '../time-limit.ts';
import { mostFailed, relayLeadSeconds, turnPatienceMs } from './bounds.ts';
import type { Gas } from './gas.ts';
import { sealSecret } from './sealing.ts';
import {
  giveTurnBack,
  keepSigned,
  type Looking,
  missingBefore,
  mustBeTurn,
  type Nonces,
  nextNonce,
  noncesOf,
  outOfTurn,
  purseOf,
  signWith,
  type Turn,
  turnOn,
} from './sign.ts';
import {
  allowanceOfRelay,
  dayOf,
  freeOf,
  type Purse,
  type RelayShort,
  relayShort,
  type Short,
} from './spending.ts';

export type RelayRequest = {
  readonly accountId: string;
  readonly swapId: string;
  readonly leg: string;
  readonly secret: string;
  readonly signal: AbortSignal;
  /** Asked before chains are read for it; throws where this account has had enough of that. */
  readonly admit: () => Promise<void>;
};

export type Relayed = { readonly relayed: true; readonly txid: string };

/** Signed and not kept; or what was relayed before. */
export type PreparedRelay =
  | { readonly before: Relayed; readonly chain: ChainKey; readonly wasAdmitted: boolean }
  | {
      readonly before: null;
      readonly chain: ChainKey;
      readonly claimable: Claimable;
      readonly accountId: string;
      readonly escrow: string;
      readonly turn: Turn;
      readonly reserve: bigint;
      readonly makesAccount: boolean;
      /** Jobs before it in the order of nonces, and what freeing the nonce of one may take. */
      readonly blockers: { readonly jobIds: readonly number[]; readonly least: bigint };
      /** Null: one of the keeper's own is under way, and is made to land. */
      readonly signed: GasTransaction | null;
      readonly txid: string;
    };

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
    throw unavailable(`${why}: send the claim yourself`, { chain });
  }
  const { escrow } = swap.state.legs[name];
  const earlier = escrow === null ? null : await relayedBefore(deps.db, gas, escrow);
  if (earlier !== null) return { before: earlier, chain, wasAdmitted: false };
  await request.admit();
  const claimable = await mayClaim(deps, asked, gas.account.address, signal).catch(
    (error: unknown) => {
      if (!(error instanceof ParleyError) || error.code !== 'claim_unpayable') throw error;
      // What the key lacks is the market's trouble: its address is nobody's to send coins to.
      const { lack = null } = error.facts;
      const why = `the gas key of "${chain}" cannot pay for it now`;
      throw unavailable(`${why}: send the claim yourself`, { chain, lack: `${lack}` });
    },
  );
  mustHaveTime(deps, claimable);
  const wish = await weigh(deps, { gas, signal }, claimable, accountId);
  const turn = await turnOn(deps, gas, {
    kind: 'new',
    patienceMs: turnPatienceMs,
    signal,
    accountId,
  });
  if (turn === null) throw outOfTurn(chain, turnPatienceMs);
  try {
    // Several requests may have waited for the same.
    const meanwhile = await relayedBefore(deps.db, gas, wish.escrow);
    if (meanwhile !== null) {
      await giveTurnBack(deps, turn);
      return { before: meanwhile, chain, wasAdmitted: true };
    }
    const made = await signRelay(deps, turn, wish);
    return { before: null, claimable, turn, ...wish, ...made };
  } catch (error) {
    await giveTurnBack(deps, turn);
    throw error;
  }
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
  if (short !== null) throw beyondBounds(chain, short, landing);
  const needed = landing + before.lacking;
  const purse = await purseOf(deps, looking, { accountId: null, jobId: except });
  const allowance = allowanceOfRelay(purse, needed);
  if ('short' in allowance) throw beyondPurse(chain, allowance.short, purse, needed);
  return { live, nonce, landing, blockers: before.blockers };
}

function beyondPurse(chain: ChainKey, short: Short, purse: Purse, needed: bigint): ParleyError {
  const { relaysUnderWay: underWay } = purse.sums;
  const free = freeOf(purse);
  const why =
    short === 'balance'
      ? `the gas key of "${chain}" has ${free} to spare and landing this may take ${needed}`
      : `the gas key of "${chain}" has ${underWay} relays under way`;
  const facts = { chain, free, reserve: needed, underWay };
  return unavailable(`${why}: send the claim yourself`, facts);
}

function beyondBounds(
  chain: ChainKey,
  { what, limit, used }: RelayShort,
  reserve: bigint,
): ParleyError {
  // What is too much for a whole day is so on every day.
  const isOver = limit === 0n || ((what === 'share' || what === 'cap') && reserve > limit);
  const until = isOver ? '' : ', until the UTC day ends';
  const sentences: Readonly<Record<RelayShort['what'], string>> = {
    number: `this account has had ${used} relays on "${chain}" today and ${limit} is the most`,
    share:
      `relays of this account on "${chain}" may take ${limit} today, ${used} of it is taken, ` +
      `and landing this may take ${reserve}`,
    cap:
      `all relays on "${chain}" may take ${limit} today, ${used} of it is taken, ` +
      `and landing this may take ${reserve}`,
    accounts:
      `its receiver has no account of the token on "${chain}", and relays asked for by you ` +
      `make or have made ${used} of the ${limit} that they make for one customer a day`,
    'all accounts':
      `its receiver has no account of the token on "${chain}", and relays make or have made ` +
      `${used} of the ${limit} that they make a day`,
  };
  const facts = { chain, reason: what, limit, used, reserve };
  return unavailable(`${sentences[what]}${until}: send the claim yourself`, facts);
}

/** Asked for again, what a chain refuses each time would cost gas each time. */
function mustNotFail(chain: ChainKey, attempts: readonly Attempt[]): void {
  const failed = attempts.filter(({ fate, verb }) => fate === 'failed' && verb === 'claim').length;
  if (failed < mostFailed) return;
  const sentence = `"${chain}" took ${failed} claims of this leg and refused each of them`;
  throw unavailable(`${sentence}: send the claim yourself`, { chain, failed });
}

/** Dust in the native coin. What a token is worth is not known here: bounds are all there is. */
function mustBeWorth({ terms }: Wish['work'], mostCost: bigint): void {
  const { chain, token, amount } = terms;
  if (token !== null || amount > mostCost) return;
  const sentence = `a leg of ${amount} is not worth the ${mostCost} that its gas may take`;
  throw unavailable(`${sentence}: send the claim yourself`, { chain, amount, mostCost });
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

/** The newest transaction for it, if it was relayed and is not given up. */
async function relayedBefore(
  tx: Tx,
  { account: { chain, address } }: Gas,
  escrow: string,
): Promise<Relayed | null> {
  const job = await findJob(tx, { chain, escrow, verb: 'claim' });
  if (job === null || job.purpose !== 'relay' || job.state === 'dropped') return null;
  const attempts = (await attemptsOf(tx, job.id, address)).filter(({ verb }) => verb === 'claim');
  const landed = attempts.find(({ fate }) => fate === 'mined' || fate === 'deep');
  const newest = landed ?? attempts.at(-1);
  return newest === undefined ? null : { relayed: true, txid: newest.txid };
}

/** Nothing is relayed on Bitcoin. */
function leadOf(family: Family): number {
  return relayLeadSeconds[family === 'bitcoin' ? 'evm' : family];
}

/** Refuses what could not land in time any more. */
function mustHaveTime(deps: Deps, { name, state, clocks }: Claimable): void {
  const leg = state.legs[name];
  const now = Math.max(pessimistic(clocks, state.legs.a), pessimistic(clocks, state.legs.b));
  const { normal } = adapterOf(deps, leg.chain).policy;
  const reveals = state.secret === null;
  const by = reveals ? state.deadlines.revealBy : leg.timelock;
  const needs = reveals ? leadOf(leg.family) : normal.settleSeconds;
  if (now + needs <= by) return;
  const sentence =
    `relaying leg ${name} needs ${needs} s before ${by}, and it is ${now}: ` +
    'send the claim yourself';
  throw unavailable(sentence, { leg: name, now, by, needs });
}

/**
 * Whatever became of it: nobody waits for a turn that nothing is signed in any more. True: it was
 * admitted, and it is relayed.
 */
export async function endRelay(deps: Deps, prepared: PreparedRelay): Promise<boolean> {
  if (prepared.before !== null) return prepared.wasAdmitted;
  const { turn, escrow } = prepared;
  await giveTurnBack(deps, turn);
  return (await relayedBefore(deps.db, turn.gas, escrow)) !== null;
}

/** Keeps all of it, in the transaction of the answer. */
export async function storeRelay(tx: Tx, deps: Deps, prepared: PreparedRelay): Promise<Relayed> {
  if (prepared.before !== null) return prepared.before;
  const { turn, signed, reserve, makesAccount, blockers, accountId, claimable, chain, txid } =
    prepared;
  const { swap, name, escrow, secret } = claimable;
  const now = deps.now();
  await mustBeTurn(tx, deps, turn);
  const earlier = await relayedBefore(tx, turn.gas, escrow.address);
  if (earlier !== null) return earlier;
  const { version, sealed } = sealSecret(deps, secret);
  const jobId = await insertRelay(tx, {
    chain,
    escrow: escrow.address,
    swapId: swap.id,
    leg: name,
    accountId,
    reserve,
    makesAccount,
    secret: sealed,
    secretVersion: version,
    at: new Date(now),
    since: dayOf(now),
    dueAt: new Date(now),
  });
  await holdToFree(tx, blockers.jobIds, { least: blockers.least, now: new Date(now) });
  if (signed !== null) await keepSigned(tx, deps, turn, signed, { jobId, verb: 'claim' });
  return { relayed: true, txid };
}

function unavailable(
  sentence: string,
  facts: Readonly<Record<string, string | number | bigint>>,
): ParleyError {
  return new ParleyError('relay_unavailable', sentence, facts);
}
