// Signing with a gas key, one at a time on a chain, whichever process: the nonce, what the purse
// allows, and what is signed are all of one turn, and nothing is kept that outlasted it.

import { randomUUID } from 'node:crypto';
import type { GasSlot, GasTransaction, GasWork } from '../../chains/gas-account.ts';
import { ParleyError } from '../../core/errors.ts';
import type { ChainKey } from '../../core/families.ts';
import type { Tx } from '../db/database.ts';
import {
  type Attempt,
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
import type { Deps } from '../deps.ts';
import { within } from '../time-limit.ts';
import {
  mostRelays,
  mostUnderWay,
  mostWaiting,
  mostWaitingOf,
  signMs,
  turnAwaitedMs,
  turnMs,
  turnPollMs,
} from './bounds.ts';
import type { Gas } from './gas.ts';
import { openTransaction, sealTransaction } from './sealing.ts';
import { dayOf, freeNonce, gapsIn, type Purse } from './spending.ts';
import { realTime } from './time.ts';

/** A turn to sign on one chain. `signal` ends all that is read and signed in it. */
export type Turn = { readonly gas: Gas; readonly holder: string; readonly signal: AbortSignal };

/** A gas key that is looked at, in a turn or before one. */
export type Looking = Pick<Turn, 'gas' | 'signal'>;

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
  const first = await (kind === 'new' ? among() : again());
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

/**
 * The lowest nonce that may be free; null on chains without. What is in a mempool and not in our
 * database was sent before a backup was restored, and has to land like all else that was promised.
 */
export async function firstNonce(
  deps: Pick<Deps, 'db'>,
  gas: Gas,
  signal: AbortSignal,
): Promise<number | null> {
  return (await noncesOf(deps, gas, signal))?.first ?? null;
}

/** `used`: how many blocks have used. `first`: the lowest that may be free, as above. */
export async function noncesOf(
  deps: Pick<Deps, 'db'>,
  { account }: Gas,
  signal: AbortSignal,
): Promise<{ readonly used: number; readonly first: number } | null> {
  const { chain, address } = account;
  const used = await usedNonces(deps, account, signal);
  if (used === null) return null;
  const asked = account.pendingNonce?.(signal);
  const said = asked === undefined ? used : await within(signal, chain, asked);
  if (said <= used) return { used, first: used };
  const live = await liveAttempts(deps.db, chain, address);
  const taken = live.map(({ nonce }) => nonce);
  const known = freeNonce(used, taken);
  // Above what we know to be under way one of several is not believed alone.
  const again = said > known ? account.pendingNonce?.(signal, known) : undefined;
  const pending = again === undefined ? said : await within(signal, chain, again);
  if (pending <= used) return { used, first: used };
  // What is signed behind nonces that nothing has lands only once each of them is paid for.
  const most = used + new Set(taken).size + mostUnderWay + mostRelays;
  if (pending <= most) return { used, first: pending };
  const sentence = `a node of ${chain} gives ${pending} as the gas key's next nonce, above ${most}`;
  throw new ParleyError('chain_unavailable', sentence, { chain, pending, most });
}

/** How many blocks have used; null on chains without. */
async function usedNonces(
  deps: Pick<Deps, 'db'>,
  account: Gas['account'],
  signal: AbortSignal,
): Promise<number | null> {
  const { chain, address } = account;
  const said = await within(signal, chain, account.minedNonce(signal));
  if (said === null) return null;
  const { aboveDeep, aboveSigned, mayLack } = await noncesKnown(deps.db, chain, address);
  const mined =
    said > aboveSigned
      ? ((await within(signal, chain, account.minedNonce(signal, aboveSigned))) ?? 0)
      : said;
  const most = mayLack ? mined : aboveSigned + mostUnderWay + mostRelays;
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
export async function missingBefore(
  deps: Pick<Deps, 'db'>,
  { gas: { account }, signal }: Looking,
  nonce: number,
): Promise<number> {
  const used = await usedNonces(deps, account, signal);
  if (used === null) return 0;
  const live = await liveAttempts(deps.db, account.chain, account.address);
  const taken = [...live.map((each) => each.nonce), nonce];
  const below = taken.filter((each) => each !== null && each <= nonce);
  return gapsIn(used, below, 2 * (mostUnderWay + mostRelays)).length;
}

/** The next nonce, or that of what is replaced; null on chains without. */
export async function nonceFor(
  deps: Pick<Deps, 'db'>,
  { gas, signal }: Looking,
  instead: Attempt | null,
): Promise<number | null> {
  if (instead?.nonce != null) return instead.nonce;
  const { account } = gas;
  const { chain, address } = account;
  const from = await firstNonce(deps, gas, signal);
  if (from === null) return null;
  const live = await liveAttempts(deps.db, chain, address);
  return freeNonce(
    from,
    live.map(({ nonce }) => nonce),
  );
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
  of: { readonly jobId: number | null; readonly verb: GasWork['verb'] },
): Promise<Attempt> {
  const { chain, address } = gas.account;
  const { version, sealed } = sealTransaction(deps, signed);
  return insertAttempt(tx, {
    chain,
    address,
    jobId: of.jobId,
    verb: of.verb,
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
