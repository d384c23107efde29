// What families of accounts have in common. A leg is funded, claimed and refunded by calls, and
// what became of a kept one is asked of the customer's own node: it is sent again while it waits,
// and made anew only when no version of it can be mined any more.

import type { Material } from '../../../chains/interface/material.ts';
import { ParleyError } from '../../../core/errors.ts';
import { VerificationError } from '../../errors.ts';
import { sleep } from '../../http.ts';
import type { Kept, SwapRecord } from '../../stores/store.ts';
import type { AccountWallet, Fate } from '../../wallets/wallet.ts';
import type { Context, SetLeg } from '../context.ts';
import { due, lookedAfter, type Slot, sendToAll, sendWaiting, waitAnew } from '../send.ts';
import { accountKey, inTurn } from '../turns.ts';
import type { Hand, Signing, SpendHow, Spending } from './hand.ts';

/** How long the parts of one funding are waited for. */
export const approvalLimitMs = 120_000;

export type Waiting = Fate & { readonly state: 'waiting' };

/** Its gas limit, where that is known, and whether it waits for nothing. */
type Spent = { readonly gas: bigint | undefined; readonly isUrgent: boolean };

/** What each family of accounts says for itself. */
export type AccountFamily = Pick<
  Hand,
  'approvesTokens' | 'takesTurns' | 'keeping' | 'forget' | 'cancelFunding' | 'withdrawClaim'
> & {
  /** What is signed for the calls of this material, in order; `how` the one of a spend is. */
  signingsOf(built: Material, how?: Spent): readonly Signing[];
  /** The gas limit of a claim or refund, where a transaction has one. */
  gasOf?(asked: Spending, how: SpendHow): Promise<bigint>;
  /** Sends a kept transaction that waits again, or one that takes its place. */
  push(record: SwapRecord, slot: Slot, kept: Kept, fate: Waiting): Promise<SwapRecord>;
  /** Whether another transaction of the account has its nonce now. */
  isGivenAway(record: SwapRecord, slot: Slot, kept: Kept): Promise<boolean>;
};

export function accountHand(
  context: Context,
  leg: SetLeg,
  wallet: AccountWallet,
  family: AccountFamily,
): Hand {
  const fateOf = (kept: Kept) => wallet.fate(kept, context.limit());
  const { isGivenAway } = family;
  const waits = async (kept?: Kept) => kept && (await fateOf(kept)).state === 'waiting';
  const recallApproval = async (record: SwapRecord) => {
    const { approval, approved } = record;
    if (approval || !approved || !(await waits(approved))) return record;
    return recall(context, leg, record, { approved, isGivenAway });
  };
  const tendApproval = async (record: SwapRecord, approval: Kept) => {
    const fate = await fateOf(approval);
    if (fate.state === 'waiting') {
      if (!due(context, leg, approval)) return record;
      return family.push(record, 'approval', approval, fate);
    }
    const isMined = fate.state === 'succeeded';
    const next = { ...record, approval: null, ...(isMined ? { approved: approval } : {}) };
    await context.store.putSwap(next);
    if (isMined) return next;
    const { txid } = approval;
    const sentence = `the approval ${txid} has ${fate.state}`;
    throw new ParleyError('funding_would_fail', sentence, { txid });
  };
  return {
    approvesTokens: family.approvesTokens,
    claimsPastTimelock: false,
    alone: (work) => inTurn(accountKey(leg.chain, wallet.family, wallet.address), work),
    takesTurns: family.takesTurns,
    keeping: (work, turn) => family.keeping(work, turn),
    signFunding: (built) => family.signingsOf(built),
    signSpend: async (built, asked, how) => {
      const gas = await family.gasOf?.(asked, how);
      const isUrgent = how.isPublic || asked.verb === 'refund';
      const [sign] = family.signingsOf(built, { gas, isUrgent });
      if (sign === undefined) throw new VerificationError('sign', 'something', 'nothing');
      return { sign, gas: gas ?? null };
    },
    forget: () => family.forget(),
    tendFunding: async (before, kept) => {
      if (!due(context, leg, kept)) return before;
      const fate = await fateOf(kept);
      const recalled = fate.state === 'waiting' ? await recallApproval(before) : before;
      const { approval } = recalled;
      const record = approval ? await tendApproval(recalled, approval) : recalled;
      const { funding } = record;
      if (funding === null) return record;
      if (fate.state === 'waiting' && record.approval) {
        // It is next when the approval is mined: nothing of it is raised, and no nonce filled. One
        // look alone that misses the approval, at a node that lags, does not begin its wait anew.
        if (before.approval) waitAnew(context, funding);
        await sendWaiting(context, leg, funding);
        return record;
      }
      if (fate.state === 'waiting') {
        if (!(await waits(record.approved))) return family.push(record, 'funding', funding, fate);
        // Its approval was not sent again: alone it would only fail.
        lookedAfter(context, funding);
        return record;
      }
      lookedAfter(context, funding);
      if (fate.state === 'succeeded') return record;
      // If a reorganisation let a version of it come back, the contract would still make the escrow
      // of these terms only once: the terms stay while a funding is kept.
      const text = `the funding ${funding.txid} has ${fate.state}: funds anew`;
      context.tell('waiting', leg.leg, text);
      return 'dead';
    },
    tendApproval,
    recallApproval,
    tendSpend: (record, verb, kept) => tendSpend(context, record, verb, kept, { fateOf, family }),
    sendSpend: async (record, _, kept) => {
      await sendWaiting(context, leg, kept, sendToAll);
      return record;
    },
    untilMined: async (funding) => {
      const patienceMs = Math.min(approvalLimitMs, context.replaceAfterMs(leg.family));
      const until = performance.now() + patienceMs;
      while (performance.now() < until) {
        if ((await fateOf(funding)).state !== 'waiting') return;
        await sleep(context.pollMs, context.signal);
      }
    },
    isStuck: () => false,
    raiseFunding: async (record) => record,
    cancelFunding: (record, funding) => family.cancelFunding(record, funding),
    withdrawClaim: (record) => family.withdrawClaim(record),
  };
}

/** In their order: without its approval the funding would wait for a nonce, or fail. */
async function recall(
  context: Context,
  leg: SetLeg,
  record: SwapRecord,
  { approved, isGivenAway }: Pick<AccountFamily, 'isGivenAway'> & { readonly approved: Kept },
): Promise<SwapRecord> {
  // Of before the question: what is kept during it is kept later.
  const keptAtMs = Date.now();
  if (await isGivenAway(record, 'approval', approved)) {
    const text = `another transaction has the nonce of the approval ${approved.txid}`;
    context.tell('waiting', leg.leg, `${text}: it is not sent again`, approved.txid);
    return record;
  }
  // It waits from now on: the same bytes are sent again, and not others in their place.
  const approval = { ...approved, keptAtMs };
  waitAnew(context, approval);
  context.sentAtMs.delete(approved.txid);
  const next = { ...record, approval };
  await context.store.putSwap(next);
  const text = `a reorganisation took back the approval ${approved.txid}: sends it again`;
  context.tell('waiting', leg.leg, text, approved.txid);
  return next;
}

async function tendSpend(
  context: Context,
  record: SwapRecord,
  verb: Spending['verb'],
  kept: Kept,
  by: { fateOf: (kept: Kept) => Promise<Fate>; family: AccountFamily },
): Promise<SwapRecord> {
  const fate = await by.fateOf(kept);
  if (fate.state === 'waiting') return by.family.push(record, verb, kept, fate);
  lookedAfter(context, kept);
  if (fate.state === 'succeeded') return record;
  // Made anew while its step is open: a second claim or refund finds the escrow empty.
  by.family.forget();
  const hasFailed = verb === 'claim' && fate.state === 'reverted';
  const next = { ...record, [verb]: null, ...(hasFailed ? { claimFailed: true } : {}) };
  await context.store.putSwap(next);
  return next;
}

/** Throws VerificationError: these bytes are not for this wallet. */
export function notFor({ family }: AccountWallet, { sign }: Material): never {
  throw new VerificationError('sign', `for a ${family} wallet`, sign);
}
