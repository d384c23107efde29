// EVM: a transaction that waits too long is replaced with the same nonce and higher fees; a late
// funding gets its nonce used.

import { evmTransactionGas, untriedGas } from '@parley/chains/evm/gas-policy.ts';
import type { Spend } from '@parley/chains/interface/gas.ts';
import { larger, smaller } from '@parley/core/amounts.ts';
import { depthOf, lateClaim } from '@parley/core/deadlines.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { VerificationError } from '../../errors.ts';
import { inPlaceOf, type Kept, keptNow, versionsOf } from '../../stores/store.ts';
import type { EvmWallet, Waiting } from '../../wallets/wallet.ts';
import { byEachNode } from '../chains.ts';
import { type Context, type On, sourceOf } from '../context.ts';
import type { SetLeg } from '../record.ts';
import {
  due,
  lookedAfter,
  overdue,
  send,
  sendAlone,
  sendToAll,
  sendWaiting,
  waitAnew,
} from '../send.ts';
import { accountHand, notFor } from './account.ts';
import {
  forgetFunding,
  type Hand,
  keepCancel,
  noFee,
  notYetDeep,
  type SpendHow,
  type Spending,
} from './hand.ts';
import {
  isGivenAway,
  isSpend,
  laterOfBatch,
  type Slot,
  takenNonces,
  withNonceLock,
} from './nonces.ts';

/** A replacement may offer this part of a native amount, as on Bitcoin, whatever is estimated. */
const mostShareBps = 2_500n;
/** And a claim whose secret is public, which takes all or nothing, this part. */
const publicClaimShareBps = 9_500n;
const gasSharePercent = 125n;

type OnEvm = On<EvmWallet>;

export function evmHand(context: Context, leg: SetLeg, wallet: EvmWallet): Hand {
  const on: OnEvm = { context, leg, wallet };
  return accountHand(context, leg, wallet, {
    approvesTokens: true,
    sends: wallet.sends !== undefined,
    signingsOf: (built, { gas, isUrgent } = { gas: undefined, isUrgent: false }) => {
      if (built.sign !== 'evm-tx') return notFor(wallet, built);
      return built.txs.map((call) => async () => {
        const taken = await takenNonces(on, isUrgent);
        const sending = gas === undefined ? call : { ...call, gas };
        return wallet.sign(built.chainId, sending, context.signingLimit(wallet), taken);
      });
    },
    gasOf: (asked, how) => gasOf(on, asked, how),
    sharesNonces: true,
    keeping: (work, isUrgent) => withNonceLock(on, work, isUrgent),
    push: (slot, kept, outcome) => {
      const by = slot === 'claim' || slot === 'refund' ? sendToAll : send;
      return push(on, { slot, kept, by, cancel: false }, outcome);
    },
    // Else the nonces of transactions that nobody has are left out.
    forget: () => wallet.forget(),
    cancelFunding: () => cancelFunding(on),
    withdrawClaim: () => withdraw(on),
    isGivenAway: (slot, kept) => isGivenAway(context, leg, { slot, kept }),
  });
}

/**
 * Gas that is not used is not paid. No node stops a claim with a public secret; before, one that
 * says it would fail does.
 */
async function gasOf(on: OnEvm, asked: Spending, how: SpendHow): Promise<bigint> {
  const { context, leg, wallet } = on;
  const { adapter, view } = sourceOf(context, leg.chain);
  if (view.family !== 'evm') throw new VerificationError('view.family', 'evm', view.family);
  const { terms } = leg.escrow;
  const isReveal = asked.verb === 'claim' && !how.isPublic;
  const most = untriedGas(view.chainId, 'reveal');
  if (asked.verb === 'claim' && how.hasFailed && (await affords(on, most))) return most;
  const isNative = terms.token === null;
  const told = await adapter.untriedGas?.(terms, context.limit(1 / 4)).catch(() => null);
  context.signal?.throwIfAborted();
  const least = told ?? untriedGas(view.chainId, isNative ? 'native' : 'token');
  const spend: Spend =
    asked.verb === 'claim'
      ? { verb: 'claim', terms, secret: how.isPublic ? asked.secret : null }
      : { verb: 'refund', terms };
  try {
    const tried = (await adapter.spendGas?.(spend, wallet.address, context.limit(1 / 2))) ?? least;
    const asked = smaller((tried * gasSharePercent) / 100n, evmTransactionGas);
    // One node may dream of so much gas that another one refuses what is offered for it.
    const isDreamt = !isReveal && asked > most && !(await affords(on, asked, 'every'));
    const wanted = isDreamt ? most : asked;
    if (wanted >= least || isReveal || (await affords(on, least))) return larger(least, wanted);
    // A node takes nothing from a wallet that lacks what is offered.
    return wanted;
  } catch (error) {
    context.signal?.throwIfAborted();
    if (!isReveal) return least;
    if (error instanceof ParleyError && error.code === 'payout_would_fail') throw error;
    // A contract that is paid may take more than any account.
    return isNative && !(await affords(on, most)) ? least : most;
  }
}

/**
 * Whether the wallet can offer that much for the claim, by one node at least, or by every one that
 * answers: one that lies must not have a claim fail for want of gas. A silent node stops nothing.
 */
async function affords(
  { context, leg, wallet }: OnEvm,
  gas: bigint,
  by: 'some' | 'every' = 'some',
): Promise<boolean> {
  const { terms } = leg.escrow;
  const owed = { claims: [terms], fundings: [], offered: { gas, feePerGas: null } };
  try {
    const all = await byEachNode(context, leg.chain, async (each, limit) =>
      each.fundsShortage?.(owed, wallet.address, limit),
    );
    return all[by]((shortage) => !shortage);
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

/** Long waits: its fee is raised where it is next, and another nonce taken where none leads there. */
async function push(on: OnEvm, pushed: Push, outcome: Waiting): Promise<void> {
  const { context, leg, wallet } = on;
  const { slot, kept, by, cancel } = pushed;
  if (await isGivenAway(context, leg, pushed)) return giveWay(on, pushed);
  if (!overdue(context, leg, kept)) return sendWaiting(context, leg, kept, by);
  if (isStranded(wallet, kept, outcome)) return leaveNonce(on, pushed, outcome);
  waitAnew(context, kept);
  const isPublicClaim = slot === 'claim' && !cancel && context.record.publicSecret !== null;
  const how = { ...raiseOf(leg, isPublicClaim ? publicClaimShareBps : mostShareBps), cancel };
  const raised = outcome.next ? await wallet.raise(kept, how, context.limit()) : null;
  if (raised === null) {
    // No version of it could show whether a block takes its nonce.
    if (outcome.isDisputed) return leaveNonce(on, pushed, outcome);
    if (outcome.next) context.waits(leg, tooCheap(wallet, slot));
    return sendWaiting(context, leg, kept, by);
  }
  const { batch } = kept;
  await context.keep({ [slot]: keptNow({ ...raised, ...(batch && { batch }) }) });
  const text = cancel
    ? `takes the place of the ${slot}, which is too late, with a payment to self`
    : `sends the ${slot} again, with a higher fee`;
  context.emit('replaced', leg.leg, text, raised.txid);
  // The market relays what concerns the swap; the rest is for one's own node alone.
  if (slot === 'cancel') lookedAfter(context, raised);
  await sendWaiting(context, leg, raised, by);
}

function tooCheap({ sends }: EvmWallet, slot: Slot): string {
  if (sends === undefined) return 'the highest fee allowed is not enough yet';
  return `no block has taken the ${slot} yet: raise its fee in your wallet`;
}

/** Versions that one whose nonce is disputed has, the first included, before another is tried. */
const disputedVersions = 2;

/**
 * Whether no block takes its nonce: one before it was lost, or a node has made it up. A person's
 * wallet looks after its own nonces.
 */
function isStranded(
  { sends }: EvmWallet,
  kept: Kept,
  { next, gap, isDisputed = false }: Waiting,
): boolean {
  const isTried = !next || versionsOf(kept).length >= disputedVersions;
  return (gap && sends === undefined) || (isDisputed && isTried);
}

/**
 * With the next nonce, or one that another node names: an escrow takes one claim and pays one
 * refund, whichever is mined. A funding that may still be mined is kept, and only its own nonce
 * cancels anything.
 */
async function leaveNonce(
  { context, leg, wallet }: OnEvm,
  { slot, kept, cancel }: Push,
  { gap }: Waiting,
): Promise<void> {
  const { txid } = kept;
  lookedAfter(context, kept);
  waitAnew(context, kept);
  wallet.forget(!gap);
  const isKept = cancel || slot === 'cancel' || slot === 'funding';
  const then = isKept ? '' : ': it is made anew with another one';
  const why = gap
    ? `a transaction before the ${slot} was lost, and no block takes its nonce`
    : `nodes disagree about the nonce of the ${slot}, and no block takes it`;
  context.waits(leg, `${why}${then}`, { txid });
  if (!isKept) await context.keep({ [slot]: null });
}

/** Sent again it could displace what has the nonce now, maybe a claim whose secret was shown. */
async function giveWay({ context, leg, wallet }: OnEvm, pushed: Push): Promise<void> {
  const { slot, kept } = pushed;
  lookedAfter(context, kept);
  const later = slot === 'funding' ? await laterOfBatch(context, leg, kept) : null;
  if (later !== null) return context.keep({ funding: inPlaceOf(kept, later) });
  const isAnew = isSpend(pushed);
  const then = isAnew ? 'made anew' : 'it waits until that one is mined';
  const text = `another transaction has the nonce of the ${slot}: ${then}`;
  context.waits(leg, text, { txid: kept.txid });
  if (!isAnew) return;
  // The escrow pays once, whichever of them is mined.
  wallet.forget();
  await context.keep({ [slot]: null });
}

function raiseOf(leg: SetLeg, shareBps = mostShareBps): { mostFeeWei: bigint | null } {
  if (leg.escrow.terms.token !== null) return { mostFeeWei: null };
  return { mostFeeWei: (leg.amount * shareBps) / 10_000n };
}

/** A useless claim in somebody's pool would hold up every later transaction of the account. */
async function withdraw(on: OnEvm): Promise<void> {
  const { context, leg, wallet } = on;
  const { claim: kept } = context.record;
  if (kept === null || !due(context, leg, kept)) return;
  const outcome = await wallet.outcome(kept, context.limit());
  lookedAfter(context, kept);
  if (outcome.state !== 'waiting' || !overdue(context, leg, kept)) return;
  await push(on, { slot: 'claim', kept, by: sendAlone, cancel: true }, outcome);
}

/**
 * Whether the contract refuses a funding, should the lost ones before it ever be mined: a chain that
 * stood still may work through its past, whatever its nodes show now.
 */
async function isRefused({ context, leg }: OnEvm): Promise<boolean> {
  const { policy } = sourceOf(context, leg.chain).view;
  const depth = depthOf(policy, leg.requiredConfirmations);
  const { fundBefore = leg.timelock } = leg.escrow.terms;
  return (await context.now()) > fundBefore + lateClaim({ policy, depth });
}

async function cancelFunding(on: OnEvm): Promise<void> {
  const { context, leg, wallet } = on;
  const { funding, cancel } = context.record;
  if (funding === null || !due(context, leg, cancel ?? funding)) return;
  const outcome = await wallet.outcome(funding, context.limit());
  lookedAfter(context, cancel ?? funding);
  if (outcome.state === 'succeeded') return context.waits(leg, 'the funding was mined after all');
  if (outcome.state !== 'waiting') {
    // Any transaction may have used the nonce: once that is final, no version of the funding can be
    // mined.
    const { requiredConfirmations } = leg;
    const isOver = await wallet.isNonceDeep(funding, requiredConfirmations, context.limit());
    return isOver ? forgetFunding(context, leg) : notYetDeep(context, leg);
  }
  if (outcome.gap)
    return (await isRefused(on)) ? forgetFunding(context, leg) : notYetDeep(context, leg);
  if (cancel) return push(on, { slot: 'cancel', kept: cancel, by: send, cancel: false }, outcome);
  if (!overdue(context, leg, funding)) return;
  const late: Push = { slot: 'funding', kept: funding, by: send, cancel: true };
  if (await isGivenAway(context, leg, late)) return giveWay(on, late);
  const signed = await wallet.raise(funding, { ...raiseOf(leg), cancel: true }, context.limit());
  if (signed === null) return noFee(context, leg, funding);
  // Versions of the funding are no versions of its cancellation.
  await keepCancel(context, leg, { txid: signed.txid, raw: signed.raw });
  lookedAfter(context, signed);
  await sendWaiting(context, leg, signed);
}
