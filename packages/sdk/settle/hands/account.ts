// Rules that the account families share: a kept transaction is sent again while it waits, and made
// anew only when no version of it can be mined.

import type { Material } from '@parley/chains/interface/material.ts';
import { sleep } from '@parley/chains/nodes/turn.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { has } from '@parley/core/families.ts';
import { VerificationError } from '../../errors.ts';
import type { Kept } from '../../stores/store.ts';
import { locked } from '../../waiting.ts';
import type { AccountWallet, ExpiringWallet, Waiting } from '../../wallets/wallet.ts';
import type { Context } from '../context.ts';
import { accountKey, type SetLeg } from '../record.ts';
import { due, lookedAfter, overdue, send, sendToAll, sendWaiting, waitAnew } from '../send.ts';
import {
  buildAnew,
  forgetFunding,
  type Hand,
  isInVain,
  type Signing,
  type SpendHow,
  type Spending,
  unshared,
} from './hand.ts';
import { isWhole, type Slot } from './nonces.ts';

export const approvalLimitMs = 120_000;

/** Its gas limit, where that is known, and whether it waits for nothing. */
type Spent = { readonly gas: bigint | undefined; readonly isUrgent: boolean };

export type AccountFamily = Pick<
  Hand,
  | 'approvesTokens'
  | 'sends'
  | 'sharesNonces'
  | 'keeping'
  | 'forget'
  | 'cancelFunding'
  | 'withdrawClaim'
> & {
  /** The signings of this material's calls, in order; `how` the one of a spend is. */
  signingsOf(built: Material, how?: Spent): readonly Signing[];
  /** The gas limit of a claim or refund, where a transaction has one. */
  gasOf?(asked: Spending, how: SpendHow): Promise<bigint>;
  /** Sends a kept transaction that waits again, or one that takes its place. */
  push(slot: Slot, kept: Kept, outcome: Waiting): Promise<void>;
  /** Whether another transaction of the account has its nonce now. */
  isGivenAway(slot: Slot, kept: Kept): Promise<boolean>;
};

export function accountHand(
  context: Context,
  leg: SetLeg,
  wallet: AccountWallet,
  family: AccountFamily,
): Hand {
  const outcomeOf = (kept: Kept) => wallet.outcome(kept, context.limit());
  const isAway = async (kept?: Kept) => kept && (await outcomeOf(kept)).state === 'waiting';
  const { gasOf, signingsOf, push, isGivenAway, ...own } = family;
  const recallApproval = async () => {
    const { approval, approved } = context.record;
    if (approval || !approved || !(await isAway(approved))) return;
    // The time before the question: anything kept during it is kept later.
    const keptAtMs = Date.now();
    const { txid } = approved;
    if (await isGivenAway('approval', approved)) {
      const text = `another transaction has the nonce of the approval ${txid}: it is not sent again`;
      return context.waits(leg, text, { txid });
    }
    // It waits from now on: the same bytes are sent again, and not others in their place.
    waitAnew(context, approved);
    context.sentAtMs.delete(txid);
    await context.keep({ approval: { ...approved, keptAtMs } });
    const text = `a reorganisation took back the approval ${txid}: sends it again`;
    context.waits(leg, text, { txid });
  };
  const tendApproval = async () => {
    const { approval } = context.record;
    if (!approval) return;
    const outcome = await outcomeOf(approval);
    if (outcome.state === 'waiting') {
      if (due(context, leg, approval)) await push('approval', approval, outcome);
      return;
    }
    const isMined = outcome.state === 'succeeded';
    await context.keep({ approval: null, ...(isMined ? { approved: approval } : {}) });
    if (isMined) return;
    const { txid } = approval;
    const sentence = `the approval ${txid} has ${outcome.state}`;
    throw new ParleyError('funding_would_fail', sentence, { txid });
  };
  return {
    ...own,
    ...textHand(context, wallet),
    paysByHand: false,
    alone: (work) => locked(accountKey(leg.chain, wallet.family, wallet.address), work),
    signFunding: (built) => signingsOf(built),
    signSpend: async (built, asked, how) => {
      const gas = await gasOf?.(asked, how);
      const isUrgent = how.isPublic || asked.verb === 'refund';
      const [sign] = signingsOf(built, { gas, isUrgent });
      if (sign === undefined) throw new VerificationError('sign', 'something', 'nothing');
      return { sign, gas: gas ?? null };
    },
    tendFunding: async () => {
      const { funding, approval: before } = context.record;
      if (funding === null || !due(context, leg, funding)) return 'tended';
      // Should a version of it come back, the contract makes the escrow of these terms only once.
      const anew = (why: string) => {
        context.waits(leg, `the funding ${funding.txid} ${why}: funds anew`);
        return 'dead' as const;
      };
      const mayBeSent = context.sentAtMs.has(funding.txid) || (await isWhole(context, funding));
      if (!mayBeSent) return anew('is of a batch that was never sent');
      const outcome = await outcomeOf(funding);
      const isWaiting = outcome.state === 'waiting';
      if (isWaiting) await recallApproval();
      if (context.record.approval) await tendApproval();
      if (isWaiting && context.record.approval) {
        // Next when the approval is mined. One read that misses the approval does not begin its
        // wait anew.
        if (before) waitAnew(context, funding);
        await sendWaiting(context, leg, funding);
      } else if (isWaiting && !(await isAway(context.record.approved))) {
        const isStranded = outcome.gap && !own.sends && overdue(context, leg, funding);
        if (isStranded) return anew('waits behind a lost one');
        await push('funding', funding, outcome);
      } else {
        // Where its approval was not sent again, alone it would only fail.
        lookedAfter(context, funding);
      }
      if (isWaiting || outcome.state === 'succeeded') return 'tended';
      return anew(`has ${outcome.state}`);
    },
    tendApproval,
    recallApproval,
    tendSpend: async (verb) => {
      const kept = context.record[verb];
      if (kept === null) return;
      const outcome = await outcomeOf(kept);
      // A transaction that one node calls mined is pushed while another says that it waits.
      const waits = outcome.state === 'waiting' ? outcome : outcome.doubt;
      if (waits !== undefined) return push(verb, kept, waits);
      lookedAfter(context, kept);
      if (outcome.state === 'succeeded') return;
      // Made anew while its step is open: a second claim or refund finds the escrow empty.
      own.forget();
      const hasFailed = verb === 'claim' && outcome.state === 'reverted';
      await context.keep({ [verb]: null, ...(hasFailed ? { claimFailed: true } : {}) });
    },
    sendSpend: async (verb) => {
      const kept = context.record[verb];
      if (kept !== null) await sendWaiting(context, leg, kept, sendToAll);
    },
    untilMined: async (kept) => {
      const patienceMs = Math.min(approvalLimitMs, context.replaceAfterMs(leg.family));
      const until = performance.now() + patienceMs;
      while (performance.now() < until) {
        if ((await outcomeOf(kept)).state !== 'waiting') return;
        await sleep(context.pollMs, context.signal);
      }
    },
    isStuck: () => false,
    raiseFunding: async () => {},
  };
}

/** A program's account signs a transaction instead. */
function textHand(context: Context, wallet: AccountWallet): Pick<Hand, 'signRelease'> {
  if (!has(wallet, 'lanes')) return {};
  const { signTypedData } = wallet;
  if (signTypedData === undefined) return {};
  return { signRelease: ({ typedData }) => signTypedData(typedData, context.signingLimit(wallet)) };
}

export function notFor({ family }: AccountWallet, { sign }: Material): never {
  throw new VerificationError('sign', `for a ${family} wallet`, sign);
}

export function expiringHand(context: Context, leg: SetLeg, wallet: ExpiringWallet): Hand {
  return accountHand(context, leg, wallet, {
    // On Solana one transaction does it all.
    approvesTokens: has(wallet, 'approvals'),
    signingsOf: (built) => signingsOf(context, wallet, built),
    push: async (slot, kept) => {
      const isSpend = slot === 'claim' || slot === 'refund';
      if (isSpend && isInVain(context, leg, kept)) return buildAnew(context, leg, slot, kept);
      await sendWaiting(context, leg, kept, isSpend ? sendToAll : send);
    },
    // They have no nonces. A late claim holds nobody up, and fails without effect if it is mined.
    ...unshared,
    cancelFunding: () => awaitDeath(context, leg, wallet),
    isGivenAway: async () => false,
  });
}

/** On TRON approvals of a token come first, each signed when the one before has succeeded. */
function signingsOf(context: Context, wallet: ExpiringWallet, built: Material): readonly Signing[] {
  const limit = () => context.signingLimit(wallet);
  switch (wallet.family) {
    case 'tron':
      if (built.sign !== 'tron-txid') return notFor(wallet, built);
      return built.transactions.map((each) => () => wallet.sign(each, limit()));
    case 'solana':
      if (built.sign !== 'solana-tx') return notFor(wallet, built);
      return [() => wallet.sign(built, limit())];
  }
}

/** No nonce or coin can be spent otherwise, and an expired transaction is dead. */
async function awaitDeath(context: Context, leg: SetLeg, wallet: ExpiringWallet): Promise<void> {
  const { funding } = context.record;
  if (funding === null || !due(context, leg, funding)) return;
  const outcome = await wallet.outcome(funding, context.limit());
  lookedAfter(context, funding);
  const { state } = outcome;
  const isWaiting = state === 'waiting' || outcome.doubt !== undefined;
  if (!isWaiting && state !== 'succeeded') return forgetFunding(context, leg);
  context.waits(leg, isWaiting ? 'waits until the late funding has died' : 'the funding was mined');
}
