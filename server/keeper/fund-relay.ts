// A funding that its funder signed and asked us to send (EIP-3009): the signature binds every term
// of the escrow, so the key decides over nothing but its gas. Paid from a cap of its own, out of
// what neither claims nor relays have a use for. What is signed, what is reserved for it and the
// answer are kept in one transaction, and nothing is sent before that has committed.

import type { GasTransaction, GasWork } from '../../chains/gas-account.ts';
import { ParleyError } from '../../core/errors.ts';
import type { ChainKey } from '../../core/families.ts';
import { fundBy } from '../../core/gates.ts';
import { type Leg, pessimistic } from '../../core/swap.ts';
import type { Tx } from '../db/database.ts';
import { attemptsOf } from '../db/keeper-attempts.ts';
import { fundingSums } from '../db/keeper-fundings.ts';
import { findJob, insertFunding } from '../db/keeper-jobs.ts';
import { lockSwap } from '../db/swaps.ts';
import type { Deps } from '../deps.ts';
import { type Fundable, fundAsked, mayFund, mustStillBe } from '../settle/builders.ts';
import { within } from '../time-limit.ts';
import { fundingLeadSeconds, turnPatienceMs } from './bounds.ts';
import type { Gas } from './gas.ts';
import type { Relayed } from './relay.ts';
import {
  giveTurnBack,
  keepSigned,
  type Looking,
  missingBefore,
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
  allowanceOfFunding,
  dayOf,
  type FundingShort,
  freeOf,
  fundingShort,
  keptForDay,
} from './spending.ts';

export type FundRelayRequest = {
  readonly accountId: string;
  readonly swapId: string;
  readonly leg: string;
  /** 65 bytes in hex with 0x, by the refund address over the escrow's authorization. */
  readonly signature: string;
  /** What was signed for: `escrow_moved` where it is the leg's no more. */
  readonly escrow: string;
  readonly signal: AbortSignal;
  /** Asked before chains are read for it; throws where this account has had enough of that. */
  readonly admit: () => Promise<void>;
};

/** Signed and not kept; or what was relayed before. */
export type PreparedFundRelay =
  | { readonly before: Relayed; readonly chain: ChainKey; readonly wasAdmitted: boolean }
  | {
      readonly before: null;
      readonly chain: ChainKey;
      readonly fundable: Fundable;
      readonly accountId: string;
      readonly signature: string;
      readonly turn: Turn;
      readonly reserve: bigint;
      readonly signed: GasTransaction;
    };

/**
 * Whether this market would send a funding of the leg by signature, as far as no chain is asked:
 * what is refused for today's bounds or balance is told when it is asked for.
 */
export function relaysFundings(
  deps: Pick<Deps, 'gas'>,
  { chain, family }: Leg,
  token: string | null,
) {
  return typeof senderOf(deps, { chain, family, token }) !== 'string';
}

/** Passes the gates and signs. Throws `relay_unavailable`, and what the gates throw. */
export async function prepareFundRelay(
  deps: Deps,
  request: FundRelayRequest,
): Promise<PreparedFundRelay> {
  const { signal, accountId, signature } = request;
  const asked = await fundAsked(deps.db, request);
  const { swap, name } = asked;
  const { chain, family } = swap.state.legs[name];
  await mustStillBe(deps.db, request);
  const gas = senderOf(deps, { chain, family, token: swap.tokens[name] });
  if (typeof gas === 'string') throw unavailable(gas, { chain });
  const earlier = await relayedBefore(deps.db, gas, request.escrow);
  if (earlier !== null) return { before: earlier, chain, wasAdmitted: false };
  await request.admit();
  const fundable = await mayFund(deps, asked, signal);
  mustHaveTime(fundable);
  const wish = await weigh(deps, { gas, signal }, fundable, { accountId, signature });
  const turn = await turnOn(deps, gas, {
    kind: 'fund',
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
    const { nonce, most } = await roomFor(deps, turn, wish);
    const signed = await signWith(deps, turn, wish.work, { nonce, instead: null, most });
    const { reserve } = wish;
    return { before: null, chain, fundable, accountId, signature, turn, reserve, signed };
  } catch (error) {
    await giveTurnBack(deps, turn);
    throw error;
  }
}

/** The key that sends fundings of such a leg; or why none does, whoever asks and whenever. */
function senderOf(
  deps: Pick<Deps, 'gas'>,
  { chain, family, token }: Pick<Leg, 'chain' | 'family'> & { readonly token: string | null },
): Gas | string {
  if (family !== 'evm') return `a funding on "${chain}" is sent by its funder alone`;
  if (token === null) return `the native coin of "${chain}" has no authorization to sign`;
  const gas = deps.gas?.get(chain);
  if (gas === undefined) return `this market has no gas key on "${chain}"`;
  return gas.fundings.cap === 0n ? `this market sends no fundings on "${chain}"` : gas;
}

/** What is to be sent, whose it is, and what landing it may take. */
type Wish = {
  readonly chain: ChainKey;
  readonly accountId: string;
  readonly work: Extract<GasWork, { readonly verb: 'fund' }>;
  readonly escrow: string;
  readonly reserve: bigint;
};

/** Everything that can be refused without a turn. Tried as it will be signed. */
async function weigh(
  deps: Deps,
  looking: Looking,
  { escrow: { terms, address } }: Fundable,
  { accountId, signature }: { readonly accountId: string; readonly signature: string },
): Promise<Wish> {
  const { gas, signal } = looking;
  const { account } = gas;
  const { chain } = account;
  const work = { verb: 'fund', terms, signature } as const;
  const asking = Promise.all([account.quote(work, signal), account.reserve(work, signal)]);
  const [, reserve] = await within(signal, chain, asking);
  const wish = { chain, accountId, work, escrow: address, reserve };
  await roomFor(deps, looking, wish);
  return wish;
}

/** Bounds, purse and nonce of this moment. In a turn nobody else changes them. */
async function roomFor(deps: Deps, looking: Looking, wish: Wish) {
  const { gas } = looking;
  const { chain, escrow, reserve, accountId } = wish;
  const job = await findJob(deps.db, { chain, escrow, verb: 'fund' });
  const except = job?.id ?? null;
  const sums = await fundingSums(deps.db, { chain, since: dayOf(deps.now()), accountId, except });
  const short = fundingShort(gas.fundings, sums, reserve);
  if (short !== null) throw beyondBounds(chain, short, reserve);
  const nonces = await noncesOf(deps, looking);
  const nonce = nextNonce(nonces);
  const missing = nonces === null || nonce === null ? 0 : missingBefore(nonces, nonce);
  if (missing > 0) {
    const sentence = `${missing} nonces before it are to be freed on "${chain}"`;
    throw unavailable(sentence, { chain, missing });
  }
  const purse = await purseOf(deps, looking, { accountId: null, jobId: except });
  const allowance = allowanceOfFunding(purse, reserve);
  if (!('short' in allowance)) return { nonce, most: allowance.most };
  const { fundingsUnderWay: underWay } = purse.sums;
  const free = freeOf(purse);
  const kept = keptForDay(purse);
  const why =
    allowance.short === 'busy'
      ? `the gas key of "${chain}" has ${underWay} fundings under way`
      : `the gas key of "${chain}" has ${free} to spare, keeps ${kept} for claims, and this ` +
        `may take ${reserve}`;
  throw unavailable(why, { chain, free, kept, reserve, underWay });
}

function beyondBounds(
  chain: ChainKey,
  { what, limit, used }: FundingShort,
  reserve: bigint,
): ParleyError {
  // What is too much for a whole day is so on every day.
  const isOver = limit === 0n || ((what === 'share' || what === 'cap') && reserve > limit);
  const until = isOver ? '' : ', until the UTC day ends';
  const sentences: Readonly<Record<FundingShort['what'], string>> = {
    number: `this account had ${used} fundings on "${chain}" today and ${limit} is the most`,
    failed: `${used} fundings of this account failed on "${chain}" today; ${limit} is the most`,
    share:
      `fundings of this account on "${chain}" may take ${limit} today, ${used} of it is taken, ` +
      `and this may take ${reserve}`,
    cap:
      `all fundings on "${chain}" may take ${limit} today, ${used} of it is taken, ` +
      `and this may take ${reserve}`,
  };
  const facts = { chain, reason: what, limit, used, reserve };
  return unavailable(`${sentences[what]}${until}`, facts);
}

/** The newest transaction for it, if it was taken on and is not given up. */
async function relayedBefore(
  tx: Tx,
  { account: { chain, address } }: Gas,
  escrow: string,
): Promise<Relayed | null> {
  const job = await findJob(tx, { chain, escrow, verb: 'fund' });
  if (job === null || job.state === 'dropped') return null;
  const attempts = (await attemptsOf(tx, job.id, address)).filter(({ verb }) => verb === 'fund');
  const landed = attempts.find(({ fate }) => fate === 'mined' || fate === 'deep');
  const newest = landed ?? attempts.at(-1);
  return newest === undefined ? null : { relayed: true, txid: newest.txid };
}

/** Refuses what could not land in time any more. */
function mustHaveTime({ name, state, clocks }: Fundable): void {
  const leg = state.legs[name];
  const now = Math.max(pessimistic(clocks, state.legs.a), pessimistic(clocks, state.legs.b));
  const by = fundBy(state, leg);
  const needs = fundingLeadSeconds;
  if (now + needs <= by) return;
  const sentence = `sending it needs ${needs} s before ${by}, and it is ${now}`;
  throw unavailable(sentence, { leg: name, now, by, needs });
}

/**
 * Whatever became of it: nobody waits for a turn that nothing is signed in any more. True: it was
 * admitted, and it is taken on.
 */
export async function endFundRelay(deps: Deps, prepared: PreparedFundRelay): Promise<boolean> {
  if (prepared.before !== null) return prepared.wasAdmitted;
  const { turn, fundable } = prepared;
  await giveTurnBack(deps, turn);
  return (await relayedBefore(deps.db, turn.gas, fundable.escrow.address)) !== null;
}

/** Keeps all of it, in the transaction of the answer. Throws `escrow_moved`. */
export async function storeFundRelay(
  tx: Tx,
  deps: Deps,
  prepared: PreparedFundRelay,
): Promise<Relayed> {
  if (prepared.before !== null) return prepared.before;
  const { turn, signed, reserve, accountId, signature, fundable, chain } = prepared;
  const { swap, name, escrow } = fundable;
  const now = deps.now();
  await mustBeTurn(tx, deps, turn);
  // From here on the leg stays where it is.
  await lockSwap(tx, swap.id);
  await mustStillBe(tx, { swapId: swap.id, leg: name, escrow: escrow.address });
  const earlier = await relayedBefore(tx, turn.gas, escrow.address);
  if (earlier !== null) return earlier;
  const jobId = await insertFunding(tx, {
    chain,
    escrow: escrow.address,
    swapId: swap.id,
    leg: name,
    accountId,
    reserve,
    signature,
    at: new Date(now),
    since: dayOf(now),
    dueAt: new Date(now),
  });
  await keepSigned(tx, deps, turn, signed, { jobId, verb: 'fund' });
  return { relayed: true, txid: signed.txid };
}

function unavailable(
  sentence: string,
  facts: Readonly<Record<string, string | number | bigint>>,
): ParleyError {
  return new ParleyError('relay_unavailable', `${sentence}: send the funding yourself`, facts);
}
