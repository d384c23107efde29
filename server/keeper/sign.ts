// Signing with a gas key, one at a time on a chain, whichever process: the nonce, what the purse
// allows, and what is signed are all of one turn, and nothing is kept that outlasted it.

import { randomUUID } from 'node:crypto';
import type { GasSlot, GasTransaction, GasWork } from '../../chains/gas-account.ts';
import { ParleyError } from '../../core/errors.ts';
import type { Tx } from '../db/database.ts';
import {
  type Attempt,
  insertAttempt,
  keeperSums,
  liveAttempts,
  nonceAboveDeep,
} from '../db/keeper-attempts.ts';
import { awaitTurn, endTurn, takeTurn } from '../db/keeper-turns.ts';
import type { Deps } from '../deps.ts';
import { within } from '../time-limit.ts';
import { mostRelays, mostUnderWay, signMs, turnAwaitedMs, turnMs } from './bounds.ts';
import type { Gas } from './gas.ts';
import { openTransaction, sealTransaction } from './sealing.ts';
import { dayOf, freeNonce, gapsIn, type Purse } from './spending.ts';
import { realTime } from './time.ts';

/** A turn to sign on one chain. `signal` ends all that is read and signed in it. */
export type Turn = { readonly gas: Gas; readonly holder: string; readonly signal: AbortSignal };

/** A gas key that is looked at, in a turn or before one. */
export type Looking = Pick<Turn, 'gas' | 'signal'>;

/** Between two looks whether it is free. */
const pollMs = 50;

/** Null: it is somebody else's for longer than `patienceMs`. */
export async function turnOn(
  deps: Pick<Deps, 'db' | 'signingTime'>,
  gas: Gas,
  how: { readonly relays: boolean; readonly patienceMs: number; readonly signal: AbortSignal },
): Promise<Turn | null> {
  const holder = randomUUID();
  const { chain } = gas.account;
  const { elapsedMs, pause, turnClock } = deps.signingTime ?? realTime;
  const until = elapsedMs() + how.patienceMs;
  const asked = () => ({ relays: how.relays, milliseconds: turnMs, clock: turnClock() });
  while (!(await takeTurn(deps.db, chain, holder, asked()))) {
    if (elapsedMs() > until) return null;
    const { relays } = how;
    await awaitTurn(deps.db, chain, { relays, milliseconds: turnAwaitedMs, clock: turnClock() });
    await pause(pollMs, how.signal);
  }
  // One limit for all of it: others wait, and a request does so for less than a whole turn.
  const limit = (deps.signingTime ?? realTime).limit(signMs);
  return { gas, holder, signal: AbortSignal.any([how.signal, limit]) };
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
  { account }: Gas,
  signal: AbortSignal,
): Promise<number | null> {
  const { chain, address } = account;
  const used = await usedNonces(deps, account, signal);
  if (used === null) return null;
  const asked = account.pendingNonce?.(signal);
  const pending = asked === undefined ? used : await within(signal, chain, asked);
  if (pending <= used) return used;
  const live = await liveAttempts(deps.db, chain, address);
  // What is signed behind nonces that nothing has lands only once each of them is paid for.
  const most = used + new Set(live.map(({ nonce }) => nonce)).size + mostUnderWay + mostRelays;
  if (pending <= most) return pending;
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
  const mined = await within(signal, chain, account.minedNonce(signal));
  // A node that is behind must not make us use one twice.
  return mined === null ? null : Math.max(mined, await nonceAboveDeep(deps.db, chain, address));
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

/** `waitedMs`: for its turn, or how long its turn was. */
export function outOfTurn(chain: string, waitedMs: number): ParleyError {
  const sentence = `the gas key of ${chain} is busy signing for ${waitedMs} ms; nothing was sent`;
  return new ParleyError('overloaded', sentence, { chain, waitedMs });
}
