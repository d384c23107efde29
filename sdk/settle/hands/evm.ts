// EVM: what waits too long is replaced by one with the same nonce and higher fees, so at most one
// of them is mined; nonces before it that were lost are filled; and what came too late gets its
// nonce used by a payment of nothing.

import { evmTransactionGas, untriedGas } from '../../../chains/evm/gas-policy.ts';
import type { Spend } from '../../../chains/interface/gas.ts';
import { larger, smaller } from '../../../core/amounts.ts';
import { ParleyError } from '../../../core/errors.ts';
import { VerificationError } from '../../errors.ts';
import { type Kept, keptNow, type SwapRecord } from '../../stores/store.ts';
import type { EvmWallet } from '../../wallets/wallet.ts';
import { type Context, type SetLeg, sourceOf } from '../context.ts';
import {
  due,
  lookedAfter,
  overdue,
  type Slot,
  send,
  sendAlone,
  sendToAll,
  sendWaiting,
  waitAnew,
} from '../send.ts';
import { accountHand, notFor, type Waiting } from './account.ts';
import { fillGap } from './gap.ts';
import { isGivenAway, isSpend } from './given-away.ts';
import type { Hand, On, SpendHow, Spending } from './hand.ts';
import { forgetFunding, keepCancel, noFee, notYetDeep } from './late.ts';
import { inNonceTurn, takenNonces } from './nonces.ts';

/** A replacement may offer this part of a native amount, as on Bitcoin, whatever is estimated. */
const mostShareBps = 2_500n;
/** Gas beyond what was tried: the state may change until it is mined. */
const gasSharePercent = 125n;

type OnEvm = On<EvmWallet>;

export function evmHand(context: Context, leg: SetLeg, wallet: EvmWallet): Hand {
  const on: OnEvm = { context, leg, wallet };
  return accountHand(context, leg, wallet, {
    approvesTokens: true,
    signingsOf: (built, { gas, isUrgent } = { gas: undefined, isUrgent: false }) => {
      if (built.sign !== 'evm-tx') return notFor(wallet, built);
      return built.txs.map((call) => async () => {
        const taken = await takenNonces(on, isUrgent);
        const sending = gas === undefined ? call : { ...call, gas };
        return wallet.sign(built.chainId, sending, context.limit(), taken);
      });
    },
    gasOf: (asked, how) => gasOf(on, asked, how),
    takesTurns: true,
    keeping: (work, turn) => inNonceTurn(on, work, turn),
    push: (record, slot, kept, fate) => {
      const by = slot === 'claim' || slot === 'refund' ? sendToAll : send;
      return push(on, record, { slot, kept, by, cancel: false }, fate);
    },
    // Else the nonces of transactions that nobody has are left out.
    forget: () => wallet.forget(),
    cancelFunding: (record, funding) => cancelFunding(on, record, funding),
    withdrawClaim: (record) => withdraw(on, record),
    isGivenAway: (record, slot, kept) => isGivenAway(context, leg, record.swap.id, { slot, kept }),
  });
}

/**
 * Never less than what does where no node tells it: what is not used is not paid. A node that
 * refuses every estimate, or answers none in half the time that there is, stops no claim. Nor does
 * one that says it would fail, once the secret is public; before, the claim is not sent.
 */
async function gasOf(on: OnEvm, asked: Spending, how: SpendHow): Promise<bigint> {
  const { context, leg, wallet } = on;
  const { adapter, view } = sourceOf(context, leg.chain);
  if (view.family !== 'evm') throw new VerificationError('view.family', 'evm', view.family);
  const { terms } = leg.escrow;
  const isReveal = asked.verb === 'claim' && !how.isPublic;
  const most = untriedGas(view.chainId, 'reveal', 'either');
  if (asked.verb === 'claim' && how.hasFailed && (await affords(on, most))) return most;
  const isNative = terms.token === null;
  const least = await untriedOf(on);
  const spend: Spend =
    asked.verb === 'claim'
      ? { verb: 'claim', terms, secret: how.isPublic ? asked.secret : null }
      : { verb: 'refund', terms };
  try {
    const tried = (await adapter.spendGas?.(spend, wallet.address, context.limit(1 / 2))) ?? least;
    const wanted = smaller((tried * gasSharePercent) / 100n, evmTransactionGas);
    if (wanted >= least || isReveal || (await affords(on, least))) return larger(least, wanted);
    // A node takes nothing from a wallet that lacks what is offered.
    return wanted;
  } catch (error) {
    context.signal?.throwIfAborted();
    if (!isReveal) return least;
    if (error instanceof ParleyError && error.code === 'payout_would_fail') throw error;
    return isNative ? least : most;
  }
}

/** By the rules of the fork where its nodes tell one; else the larger. */
async function untriedOf({ context, leg }: OnEvm): Promise<bigint> {
  const { adapter, view } = sourceOf(context, leg.chain);
  if (view.family !== 'evm') throw new VerificationError('view.family', 'evm', view.family);
  const { terms } = leg.escrow;
  try {
    const told = await adapter.untriedGas?.(terms, context.limit(1 / 4));
    if (told !== undefined) return told;
  } catch {
    context.signal?.throwIfAborted();
  }
  return untriedGas(view.chainId, terms.token === null ? 'native' : 'token', 'either');
}

/** Whether the wallet can offer that much for the claim. A silent node stops nothing. */
async function affords({ context, leg, wallet }: OnEvm, gas: bigint): Promise<boolean> {
  const { adapter } = sourceOf(context, leg.chain);
  const { terms } = leg.escrow;
  const owed = { claims: [terms], fundings: [], offered: { gas, feePerGas: null } };
  try {
    return !(await adapter.purseShortage?.(owed, wallet.address, context.limit(1 / 2)));
  } catch {
    context.signal?.throwIfAborted();
    return true;
  }
}

type Push = {
  readonly slot: Slot;
  readonly kept: Kept;
  readonly by: typeof send;
  readonly cancel: boolean;
};

/**
 * Sends it again. One that has waited too long gets the gap before it filled, or, if it is the next
 * one, its fee raised; those behind another wait for it.
 */
async function push(
  { context, leg, wallet }: OnEvm,
  record: SwapRecord,
  { slot, kept, by, cancel }: Push,
  fate: Waiting,
): Promise<SwapRecord> {
  if (await isGivenAway(context, leg, record.swap.id, { slot, kept, cancel })) {
    return giveWay({ context, leg, wallet }, record, { slot, kept, by, cancel });
  }
  if (!overdue(context, leg, kept)) {
    await sendWaiting(context, leg, kept, by);
    return record;
  }
  const isUrgent = isSpend({ slot, cancel });
  const isThrough = !fate.gap || (await fillGap({ context, leg, wallet }, kept, { isUrgent }));
  if (isThrough) waitAnew(context, kept);
  const how = { ...raiseOf(leg), cancel };
  const raised = fate.next ? await wallet.raise(kept, how, context.limit()) : null;
  if (raised === null) {
    if (fate.next) context.tell('waiting', leg.leg, 'the highest fee allowed is not enough yet');
    await sendWaiting(context, leg, kept, by);
    return record;
  }
  const next = { ...record, [slot]: keptNow(raised) };
  await context.store.putSwap(next);
  const text = cancel
    ? `takes the place of the ${slot}, which is too late, with a payment to self`
    : `sends the ${slot} again, with a higher fee`;
  context.tell('replaced', leg.leg, text, raised.txid);
  // The market relays what concerns the swap; the rest is for one's own node alone.
  if (slot === 'cancel') lookedAfter(context, raised);
  await sendWaiting(context, leg, raised, by);
  return next;
}

/** Sent again it could displace what has the nonce now, maybe a claim whose secret was shown. */
async function giveWay(
  { context, leg, wallet }: OnEvm,
  record: SwapRecord,
  { slot, kept, cancel }: Push,
): Promise<SwapRecord> {
  lookedAfter(context, kept);
  const isAnew = isSpend({ slot, cancel });
  const then = isAnew ? 'made anew' : 'it waits until that one is mined';
  const text = `another transaction has the nonce of the ${slot}: ${then}`;
  context.tell('waiting', leg.leg, text, kept.txid);
  if (!isAnew) return record;
  // The escrow pays once, whichever of them is mined.
  wallet.forget();
  const next = { ...record, [slot]: null };
  await context.store.putSwap(next);
  return next;
}

function raiseOf(leg: SetLeg): { mostFeeWei: bigint | null } {
  if (leg.escrow.terms.token !== null) return { mostFeeWei: null };
  return { mostFeeWei: (leg.amount * mostShareBps) / 10_000n };
}

/**
 * Uses the nonce of a claim that waited too long and is of no use any more: left in somebody's pool
 * it would hold up every later transaction of the account.
 */
async function withdraw(on: OnEvm, record: SwapRecord): Promise<SwapRecord> {
  const { context, leg, wallet } = on;
  const { claim: kept } = record;
  if (kept === null || !due(context, leg, kept)) return record;
  const fate = await wallet.fate(kept, context.limit());
  lookedAfter(context, kept);
  if (fate.state !== 'waiting' || !overdue(context, leg, kept)) return record;
  return push(on, record, { slot: 'claim', kept, by: sendAlone, cancel: true }, fate);
}

async function cancelFunding(on: OnEvm, record: SwapRecord, funding: Kept): Promise<SwapRecord> {
  const { context, leg, wallet } = on;
  const { cancel } = record;
  if (!due(context, leg, cancel ?? funding)) return record;
  const fate = await wallet.fate(funding, context.limit());
  lookedAfter(context, cancel ?? funding);
  if (fate.state === 'succeeded') {
    context.tell('waiting', leg.leg, 'the funding was mined after all');
    return record;
  }
  if (fate.state !== 'waiting') {
    // Whatever used the nonce: once that is deep, no version of the funding can be mined.
    const { requiredConfirmations } = leg;
    if (await wallet.isNonceDeep(funding, requiredConfirmations, context.limit())) {
      return forgetFunding(context, record, leg);
    }
    return notYetDeep(context, record, leg);
  }
  if (cancel)
    return push(on, record, { slot: 'cancel', kept: cancel, by: send, cancel: false }, fate);
  if (!overdue(context, leg, funding)) return record;
  const late: Push = { slot: 'funding', kept: funding, by: send, cancel: true };
  if (await isGivenAway(context, leg, record.swap.id, late)) return giveWay(on, record, late);
  const how = { ...raiseOf(leg), cancel: true };
  const signed = await wallet.raise(funding, how, context.limit());
  if (signed === null) return noFee(context, record, leg, funding);
  // Versions of the funding are no versions of its cancellation.
  const next = await keepCancel(context, record, leg, { txid: signed.txid, raw: signed.raw });
  lookedAfter(context, signed);
  await sendWaiting(context, leg, signed);
  return next;
}
