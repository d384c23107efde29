// A funding that its funder signed and asked us to send (EIP-3009): the signature binds every term
// of the escrow, so the key decides over nothing but its gas. Paid from a cap of its own, out of
// what neither claims nor relays have a use for. What is signed, what is reserved for it and the
// answer are kept in one transaction, and nothing is sent before that has committed.

import type { GasTransaction, GasWork } from '../../chains/gas/account.ts';
import type { ChainKey } from '../../core/families.ts';
import { fundBy } from '../../core/gates.ts';
import type { Leg } from '../../core/swap.ts';
import type { Tx } from '../db/database.ts';
import { findJob, insertAsked } from '../db/keeper-jobs.ts';
import { fundingSums } from '../db/keeper-relays.ts';
import { lockSwap } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import type { Gas } from '../ports/gas.ts';
import { within } from '../ports/time-limit.ts';
import { type Fundable, fundAsked, mayFund, mustStillBe } from '../settle/builders.ts';
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
import { fundingLeadSeconds } from './bounds.ts';
import {
  keepSigned,
  type Looking,
  missingBefore,
  mustBeTurn,
  nextNonce,
  noncesOf,
  purseOf,
  signWith,
} from './sign.ts';
import { allowanceOfFunding, dayOf, freeOf, fundingShort, keptForDay } from './spending.ts';

export type FundRelayRequest = Asking & {
  /** 65 bytes in hex with 0x, by the refund address over the escrow's authorization. */
  readonly signature: string;
  /** What was signed for: `escrow_moved` where it is the leg's no more. */
  readonly escrow: string;
};

export type PreparedFundRelay = Prepared<{
  readonly fundable: Fundable;
  readonly accountId: string;
  readonly signature: string;
  readonly reserve: bigint;
  readonly signed: GasTransaction;
}>;

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
  if (typeof gas === 'string') throw unavailable('fund', gas, { chain });
  const wanted = { gas, verb: 'fund', escrow: request.escrow } as const;
  const before = await relayedBefore(deps.db, wanted);
  if (before !== null) return { before, wasAdmitted: false };
  await request.admit();
  const fundable = await mayFund(deps, asked, signal);
  const by = fundBy(fundable.state, fundable.state.legs[name]);
  mustHaveTime('fund', fundable, { by, needs: fundingLeadSeconds });
  const wish = await weigh(deps, { gas, signal }, fundable, { accountId, signature });
  return signInTurn(deps, wanted, request, async (turn) => {
    const { nonce, most } = await roomFor(deps, turn, wish);
    const signed = await signWith(deps, turn, wish.work, { nonce, instead: null, most });
    return { fundable, accountId, signature, reserve: wish.reserve, signed };
  });
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
  if (short !== null) throw beyondBounds('fund', chain, short, reserve);
  const nonces = await noncesOf(deps, looking);
  const nonce = nextNonce(nonces);
  const missing = nonces === null || nonce === null ? 0 : missingBefore(nonces, nonce);
  if (missing > 0) {
    const sentence = `${missing} nonces before it are to be freed on "${chain}"`;
    throw unavailable('fund', sentence, { chain, missing });
  }
  const purse = await purseOf(deps, looking, { accountId: null, jobId: except });
  const allowance = allowanceOfFunding(purse, reserve);
  if (!('short' in allowance)) return { nonce, most: allowance.most };
  const { fundingsUnderWay: underWay } = purse.sums;
  if (allowance.short === 'busy') throw tooBusy('fund', chain, underWay);
  const free = freeOf(purse);
  const kept = keptForDay(purse);
  const why =
    `the gas key of "${chain}" has ${free} to spare, keeps ${kept} for claims, and this ` +
    `may take ${reserve}`;
  throw unavailable('fund', why, { chain, free, kept, reserve, underWay });
}

/** Keeps all of it, in the transaction of the answer. Throws `escrow_moved`. */
export async function storeFundRelay(
  tx: Tx,
  deps: Deps,
  prepared: PreparedFundRelay,
): Promise<Relayed> {
  if (prepared.before !== null) return prepared.before;
  const { turn, wanted, signed, reserve, accountId, signature, fundable } = prepared;
  const { swap, name } = fundable;
  const { escrow } = wanted;
  await mustBeTurn(tx, deps, turn);
  // From here on the leg stays where it is.
  await lockSwap(tx, swap.id);
  await mustStillBe(tx, { swapId: swap.id, leg: name, escrow });
  const earlier = await relayedBefore(tx, wanted);
  if (earlier !== null) return earlier;
  const jobId = await insertAsked(tx, {
    ...{ chain: turn.gas.account.chain, escrow, verb: 'fund', purpose: 'fund' },
    ...{ swapId: swap.id, leg: name, accountId },
    ...{ reserve, makesAccount: false, secret: null, secretVersion: null, signature },
    ...{ at: new Date(deps.now()), since: dayOf(deps.now()) },
  });
  await keepSigned(tx, deps, turn, signed, { jobId, verb: 'fund' });
  return { relayed: true, txid: signed.txid };
}
