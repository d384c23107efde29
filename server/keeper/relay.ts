// A claim that its receiver asked us to send. Once it is answered for it has to land, so it is
// refused where that is not certain: gates, purse, time. What is signed, what is reserved for it
// and the answer are kept in one transaction, and nothing is sent before that has committed.

import type { GasTransaction, GasWork } from '../../chains/gas-account.ts';
import { ParleyError } from '../../core/errors.ts';
import type { ChainKey, Family } from '../../core/families.ts';
import { pessimistic } from '../../core/swap.ts';
import type { Tx } from '../db/database.ts';
import { attemptsOf, isLive } from '../db/keeper-attempts.ts';
import { blockersOf, holdToFree } from '../db/keeper-blocking.ts';
import { findJob, insertRelay } from '../db/keeper-jobs.ts';
import type { Deps } from '../deps.ts';
import { type Claimable, claimAsked, mayClaim } from '../settle/builders.ts';
import { adapterOf } from '../settle/preview.ts';
import { within } from '../time-limit.ts';
import { relayLeadSeconds, turnPatienceMs } from './bounds.ts';
import type { Gas } from './gas.ts';
import { sealSecret } from './sealing.ts';
import {
  giveTurnBack,
  keepSigned,
  mustBeTurn,
  nonceFor,
  outOfTurn,
  purseOf,
  signWith,
  type Turn,
  turnOn,
} from './sign.ts';
import { allowanceOfRelay, freeOf } from './spending.ts';

export type RelayRequest = {
  readonly accountId: string;
  readonly swapId: string;
  readonly leg: string;
  readonly secret: string;
  readonly signal: AbortSignal;
};

export type Relayed = { readonly relayed: true; readonly txid: string };

/** Signed and not kept; or what was relayed before. */
export type PreparedRelay =
  | { readonly before: Relayed; readonly chain: ChainKey }
  | {
      readonly before: null;
      readonly chain: ChainKey;
      readonly claimable: Claimable;
      readonly accountId: string;
      readonly turn: Turn;
      readonly reserve: bigint;
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
  if (earlier !== null) return { before: earlier, chain };
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
  const turn = await turnOn(deps, gas, { relays: true, patienceMs: turnPatienceMs, signal });
  if (turn === null) throw outOfTurn(chain, turnPatienceMs);
  try {
    const made = await signRelay(deps, turn, gas, claimable);
    return { before: null, chain, claimable, accountId, turn, ...made };
  } catch (error) {
    await giveTurnBack(deps, turn);
    throw error;
  }
}

async function signRelay(deps: Deps, turn: Turn, gas: Gas, claimable: Claimable) {
  const { chain } = gas.account;
  const { escrow, secret, state } = claimable;
  const { terms } = escrow;
  const isPublic = state.secret !== null;
  const work: GasWork = { verb: 'claim', terms, secret, isPublic };
  const job = await findJob(deps.db, { chain, escrow: escrow.address, verb: 'claim' });
  const { signal } = turn;
  const reserve = await within(signal, chain, gas.account.reserve(work, signal));
  const own = job === null ? [] : await attemptsOf(deps.db, job.id, gas.account.address);
  const live = own.find(({ fate, verb }) => verb === 'claim' && isLive(fate));
  const nonce = live === undefined ? await nonceFor(deps, turn, null) : live.nonce;
  const before = await freeingBefore(deps, turn, nonce);
  const landing = reserve + before.gaps;
  const needed = landing + before.lacking;
  const purse = await purseOf(deps, turn, { accountId: null, jobId: job?.id ?? null });
  const allowance = allowanceOfRelay(purse, needed, true);
  if ('short' in allowance) {
    const { relaysUnderWay: underWay } = purse.sums;
    const free = freeOf(purse);
    const why =
      allowance.short === 'balance'
        ? `the gas key of "${chain}" has ${free} to spare and landing this may take ${needed}`
        : `the gas key of "${chain}" has ${underWay} relays under way`;
    throw unavailable(`${why}: send the claim yourself`, {
      chain,
      free,
      reserve: needed,
      underWay,
    });
  }
  const { blockers } = before;
  if (live !== undefined) return { reserve: landing, blockers, signed: null, txid: live.txid };
  const slot = { nonce, instead: null, most: reserve };
  const signed = await signWith(deps, turn, work, slot);
  return { reserve: landing, blockers, signed, txid: signed.txid };
}

/**
 * No block takes it before everything with a lower nonce: what freeing those may take at reserve
 * fees, beyond what their own jobs hold. `gaps`: of those that have no job.
 */
async function freeingBefore(deps: Deps, { gas, signal }: Turn, nonce: number | null) {
  const { chain, address } = gas.account;
  const found = nonce === null ? [] : await blockersOf(deps.db, { chain, address, nonce });
  const least =
    found.length === 0
      ? 0n
      : await within(signal, chain, gas.account.reserve({ verb: 'void' }, signal));
  const jobIds: number[] = [];
  let [gaps, lacking] = [0n, 0n];
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
  const by = reveals && !leg.long ? state.deadlines.revealBy : leg.timelock;
  const needs = reveals && !leg.long ? leadOf(leg.family) : normal.settleSeconds;
  if (now + needs <= by) return;
  const sentence =
    `relaying leg ${name} needs ${needs} s before ${by}, and it is ${now}: ` +
    'send the claim yourself';
  throw unavailable(sentence, { leg: name, now, by, needs });
}

/** Whatever became of it: nobody waits for a turn that nothing is signed in any more. */
export async function endRelay(deps: Deps, prepared: PreparedRelay): Promise<void> {
  if (prepared.before === null) await giveTurnBack(deps, prepared.turn);
}

/** Keeps all of it, in the transaction of the answer. */
export async function storeRelay(tx: Tx, deps: Deps, prepared: PreparedRelay): Promise<Relayed> {
  if (prepared.before !== null) return prepared.before;
  const { turn, signed, reserve, blockers, accountId, claimable, chain, txid } = prepared;
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
    secret: sealed,
    secretVersion: version,
    at: new Date(now),
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
