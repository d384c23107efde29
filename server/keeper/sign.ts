// Signing with a gas key, one at a time on a chain, whichever process: the nonce, what the purse
// allows, and what is signed are all of one turn, and nothing is kept that outlasted it.

import { randomUUID } from 'node:crypto';
import type { GasSlot, GasTransaction, GasWork } from '../../chains/gas/account.ts';
import { ParleyError } from '../../core/errors.ts';
import type { ChainKey } from '../../core/families.ts';
import type { Tx } from '../db/database.ts';
import {
  type Attempt,
  failedNonces,
  insertAttempt,
  keeperSums,
  liveAttempts,
  noncesKnown,
} from '../db/keeper-attempts.ts';
import {
  awaitTurn,
  awaitTurnAmong,
  endTurn,
  leaveQueue,
  type Most,
  type TurnKind,
  takeTurn,
} from '../db/keeper-turns.ts';
import type { Deps } from '../ports/deps.ts';
import type { Gas } from '../ports/gas.ts';
import { realTime } from '../ports/signing-time.ts';
import { within } from '../ports/time-limit.ts';
import {
  countMs,
  mostPlaces,
  mostWaiting,
  mostWaitingOf,
  signMs,
  turnAwaitedMs,
  turnMs,
  turnPollMs,
} from './bounds.ts';
import { openTransaction, sealTransaction } from './sealing.ts';
import { dayOf, freeNonce, gapsIn, type Purse } from './spending.ts';

/** A turn to sign on one chain. `signal` ends all that is read and signed in it. */
export type Turn = { readonly gas: Gas; readonly holder: string; readonly signal: AbortSignal };

/** A gas key that is looked at, in a turn or before one. */
export type Looking = Pick<Turn, 'gas' | 'signal'>;

const passing: readonly string[] = ['overloaded', 'chain_timeout', 'chain_unavailable'];

/** A refusal that says nothing of what was tried. */
export function isPassing({ code }: ParleyError): boolean {
  return passing.includes(code);
}

export type Waiting = {
  readonly kind: TurnKind;
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  /** Who asks for what is new: has a share of the places. */
  readonly accountId?: string;
};

/**
 * The longest waiting of its kind is next. Null: others have it for longer than `patienceMs`.
 * Throws `overloaded`, at once: as many wait with something new as may, of all or of one account.
 */
export async function turnOn(
  deps: Pick<Deps, 'db' | 'signingTime'>,
  gas: Gas,
  how: Waiting,
): Promise<Turn | null> {
  const holder = randomUUID();
  const { chain } = gas.account;
  const { turnClock, pause, limit } = deps.signingTime ?? realTime;
  const take = () => {
    const times = { milliseconds: turnMs, lapseMs: turnAwaitedMs, clock: turnClock() };
    return takeTurn(deps.db, chain, holder, { kind: how.kind, ...times });
  };
  const surely = () =>
    take().catch(async (error: unknown) => {
      // Its answer may have been lost, and the turn be ours. What fails again ends in that error.
      await pause(turnPollMs.most, how.signal).catch(() => Promise.reject(error));
      return take();
    });
  try {
    if (!(await surely()) && !(await comesUp(deps, { chain, holder }, how, surely))) {
      await leaveQueue(deps.db, chain, holder);
      return null;
    }
  } catch (error) {
    // A place that nobody has any more lapses by itself, and a turn ends.
    await leaveQueue(deps.db, chain, holder).catch(() => {});
    await endTurn(deps.db, chain, holder, turnClock()).catch(() => {});
    throw error;
  }
  // One limit for all of it: others wait, and a request does so for less than a whole turn.
  return { gas, holder, signal: AbortSignal.any([how.signal, limit(signMs)]) };
}

/** Waits in the queue until `take` succeeds; false: not in its patience. */
async function comesUp(
  deps: Pick<Deps, 'db' | 'signingTime'>,
  { chain, holder }: { readonly chain: ChainKey; readonly holder: string },
  { kind, patienceMs, signal, accountId }: Waiting,
  take: () => Promise<boolean>,
): Promise<boolean> {
  const { elapsedMs, pause, turnClock } = deps.signingTime ?? realTime;
  const until = elapsedMs() + patienceMs;
  const place = () => ({ kind, milliseconds: turnAwaitedMs, clock: turnClock(), accountId });
  const most = { all: mostWaiting, ofAccount: mostWaitingOf };
  const among = () =>
    deps.db.transaction((tx) => awaitTurnAmong(tx, chain, holder, { ...place(), most }));
  const again = () => awaitTurn(deps.db, chain, holder, place());
  const isNew = kind === 'new' || kind === 'fund';
  const first = await (isNew ? among() : again());
  if (typeof first !== 'number') throw tooManyWait(chain, first);
  for (let before = first; ; before = await again()) {
    // Who is next looks often, whoever is far behind seldom.
    await pause(Math.min(turnPollMs.least * (1 + before), turnPollMs.most), signal);
    if (await take()) return true;
    if (elapsedMs() > until) return false;
  }
}

export async function giveTurnBack(
  deps: Pick<Deps, 'db' | 'signingTime'>,
  turn: Turn,
): Promise<void> {
  await end(deps.db, deps, turn);
}

function end(tx: Tx, deps: Pick<Deps, 'signingTime'>, { gas, holder }: Turn): Promise<boolean> {
  const { turnClock } = deps.signingTime ?? realTime;
  return endTurn(tx, gas.account.chain, holder, turnClock());
}

/** What the key has, and what of it is promised. */
export async function purseOf(
  deps: Pick<Deps, 'db' | 'now'>,
  { gas, signal }: Looking,
  of: { readonly accountId: string | null; readonly jobId: number | null },
): Promise<Purse> {
  const { account, dailyCap } = gas;
  const balance = await within(signal, account.chain, account.balance(signal));
  const since = dayOf(deps.now());
  const { accountId, jobId: except } = of;
  const sums = await keeperSums(deps.db, { chain: account.chain, since, accountId, except });
  return { balance, dailyCap, since, sums };
}

/** What is known of the nonces of a gas key, by nodes and by what it has signed. */
export type Nonces = {
  /** How many blocks have used. */
  readonly used: number;
  /**
   * The lowest that may be free. What is in a mempool and not in our database was sent before a
   * backup was restored: nothing is signed in its place, unless something of ours has waited behind
   * it for long (`fillGaps`).
   */
  readonly first: number;
  /** By what may still be mined, or be taken back. */
  readonly live: readonly (number | null)[];
  /** By what a block has without effect: a node that is behind does not know of it. */
  readonly failed: readonly number[];
};

/**
 * Null on chains without. `surely`: with time for every answer, and one node alone is believed in
 * nothing above what is deep.
 */
export async function noncesOf(
  deps: Pick<Deps, 'db'>,
  { gas: { account }, signal }: Looking,
  { surely = false }: { readonly surely?: boolean } = {},
): Promise<Nonces | null> {
  const { chain, address } = account;
  const asked = account.pendingNonce?.(signal);
  const asking = Promise.all([account.minedNonce(signal), asked]);
  const [mined, said] = await within(signal, chain, asking);
  if (mined === null) return null;
  const used = await usedNonces(deps, { account, mined, surely }, signal);
  const attempts = await liveAttempts(deps.db, chain, address);
  const live = attempts.map(({ nonce }) => nonce);
  const failed = await failedNonces(deps.db, { chain, address, from: used });
  const nonces = { used, first: used, live, failed };
  if (said === undefined || said <= used) return nonces;
  // Above what we know to be under way one of several is not believed alone.
  const sure = { most: freeNonce(used, live), answerMs: countMs };
  const again = said > sure.most ? account.pendingNonce?.(signal, sure) : undefined;
  const pending = again === undefined ? said : await within(signal, chain, again);
  if (pending <= used) return nonces;
  // What is signed behind nonces that nothing has lands only once each of them is paid for.
  const most = used + new Set(live).size + mostPlaces;
  if (pending <= most) return { ...nonces, first: pending };
  const sentence = `a node of ${chain} gives ${pending} as the gas key's next nonce, above ${most}`;
  throw new ParleyError('chain_unavailable', sentence, { chain, pending, most });
}

/** How many blocks have used, where nodes say `mined`. */
async function usedNonces(
  deps: Pick<Deps, 'db'>,
  of: { readonly account: Gas['account']; readonly mined: number; readonly surely: boolean },
  signal: AbortSignal,
): Promise<number> {
  const { account, mined: said, surely } = of;
  const { chain, address } = account;
  const { aboveDeep, aboveSigned, mayLack } = await noncesKnown(deps.db, chain, address);
  const sure = surely ? { most: aboveDeep } : { most: aboveSigned, answerMs: countMs };
  const mined =
    said > sure.most
      ? ((await within(signal, chain, account.minedNonce(signal, sure))) ?? 0)
      : said;
  const most = mayLack ? mined : aboveSigned + mostPlaces;
  if (mined > most) {
    const sentence =
      `the nodes of ${chain} say that blocks have ${mined} transactions of the gas key, above ` +
      `${most}: a node lies, or the key is used elsewhere and has to be replaced`;
    throw new ParleyError('chain_unavailable', sentence, { chain, mined, most });
  }
  // A node that is behind must not make us use one twice.
  return Math.max(mined, aboveDeep);
}

/** How many before this one neither a block nor anything of ours has. */
export function missingBefore({ used, live }: Nonces, nonce: number): number {
  const below = [...live, nonce].filter((each) => each !== null && each <= nonce);
  return gapsIn(used, below, 2 * mostPlaces).length;
}

/** The next nonce; null on chains without. */
export function nextNonce(nonces: Nonces | null): number | null {
  if (nonces === null) return null;
  const { first, live, failed } = nonces;
  return freeNonce(first, [...live, ...failed]);
}

export async function signWith(
  deps: Pick<Deps, 'settings'>,
  { gas, signal }: Turn,
  work: GasWork,
  slot: {
    readonly nonce: number | null;
    readonly instead: Attempt | null;
    readonly most: bigint;
    readonly withoutAccount?: boolean;
  },
): Promise<GasTransaction> {
  const { nonce, instead, most: mostCost, withoutAccount = false } = slot;
  const former = instead === null ? null : openTransaction(deps, instead);
  const above: GasSlot['above'] =
    instead === null || former === null ? null : { offer: instead.offer, raw: former.raw };
  const signing = gas.account.sign(work, { nonce, above, mostCost, withoutAccount }, signal);
  return within(signal, gas.account.chain, signing);
}

/**
 * The most that freeing a nonce may cost: what it costs at reserve fees, or what it takes the place
 * of. Beyond that it waits for fees to fall.
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
 * Ends the turn in the transaction that keeps what was signed in it. Throws `overloaded`: the turn
 * was over, and whoever has it now may have signed with the same nonce.
 */
export async function mustBeTurn(
  tx: Tx,
  deps: Pick<Deps, 'signingTime'>,
  turn: Turn,
): Promise<void> {
  if (!(await end(tx, deps, turn))) throw outOfTurn(turn.gas.account.chain, turnMs);
}

/** Keeps what was signed; in the transaction of `mustBeTurn`. */
export async function keepSigned(
  tx: Tx,
  deps: Pick<Deps, 'settings' | 'now'>,
  { gas }: Turn,
  signed: GasTransaction,
  of: { readonly jobId: number | null; readonly verb: Attempt['verb']; readonly legs?: number },
): Promise<Attempt> {
  const { chain, address } = gas.account;
  const { version, sealed } = sealTransaction(deps, signed);
  return insertAttempt(tx, {
    chain,
    address,
    jobId: of.jobId,
    verb: of.verb,
    legs: of.legs ?? 1,
    txid: signed.txid,
    nonce: signed.nonce,
    sealed,
    sealedVersion: version,
    offer: signed.offer,
    mostCost: signed.mostCost,
    diesAt: signed.diesAt,
    at: new Date(deps.now()),
  });
}

function tooManyWait(chain: string, of: keyof Most): ParleyError {
  const waiting = of === 'all' ? mostWaiting : mostWaitingOf;
  const whose = of === 'all' ? '' : ' of this account';
  const sentence =
    `${waiting} requests${whose} wait for the gas key of ${chain} to sign, and no more may; ` +
    'nothing was sent';
  return new ParleyError('overloaded', sentence, { chain, waiting });
}

/** `waitedMs`: for its turn, or how long its turn was. */
export function outOfTurn(chain: string, waitedMs: number): ParleyError {
  const sentence = `the gas key of ${chain} is busy signing for ${waitedMs} ms; nothing was sent`;
  return new ParleyError('overloaded', sentence, { chain, waitedMs });
}
