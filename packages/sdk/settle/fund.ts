// Funding the own leg, by a signature where that is better, else by transactions. Another is made
// only when no version of the kept one can be mined.

import { sleep } from '@parley/chains/nodes/turn.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { has } from '@parley/core/families.ts';
import { fundBy } from '@parley/core/gates.ts';
import { opens } from '@parley/core/hashlock.ts';
import { aheadOfMarket, clockFault, lookAtBlocks } from '../clock.ts';
import { SettleError, VerificationError } from '../errors.ts';
import { isoTime } from '../people.ts';
import { type Kept, keptNow, mayBeFunded, mustBeOnly } from '../stores/store.ts';
import type { Built } from '../types.ts';
import { mustFollowToday } from '../verify.ts';
import { payableBy } from '../words.ts';
import { byEachNode } from './chains.ts';
import {
  asPersonWants,
  type Context,
  ownLeg,
  payingLeg,
  shows,
  sourceOf,
  walletOf,
} from './context.ts';
import { approvalLimitMs } from './hands/account.ts';
import type { Signing } from './hands/hand.ts';
import { handOf } from './hands/of.ts';
import { claimPayerOf, owing } from './owed.ts';
import type { SetLeg } from './record.ts';
import { send, sendWaiting } from './send.ts';
import { fundingGate, mustAgree, open, paidBy, signAndKeep } from './sign.ts';
import {
  askToFund,
  authorize,
  keepFunding,
  permitCall,
  tendAuthorization,
  type Way,
  wayOf,
} from './ways.ts';

/** Funds the own leg. Needs the market: with it gone nothing new is begun. */
export async function fund(context: Context): Promise<void> {
  const hand = handOf(context, ownLeg(context));
  const { funding, byHand = false } = context.record;
  if (byHand && funding === null) return waitForPayment(context);
  if (funding !== null) {
    if ((await hand.tendFunding()) !== 'dead') return;
    hand.forget();
  }
  if (context.record.asked && (await tendAsked(context))) return;
  // Approving and funding belong together, until the funding has used the allowance up.
  const work = () =>
    hand.alone(async () => {
      await fundOnce(context);
      const sent = context.record.funding;
      if (sent !== null && sent.txid !== funding?.txid) await hand.untilMined(sent);
    });
  // A signed funding is handed out without asking.
  if (context.record.authorization) return work();
  // One that takes the place of another goes alone: it could end a batch, too.
  if (funding === null && (await context.fundsTogether?.fund(context))) return;
  // Others of the account do not wait for what nobody wants yet.
  await asPersonWants(context, ownLeg(context), 'fund', work);
}

/**
 * A wallet was asked for the funding, and its answer is not known. Resolves to whether there is
 * nothing to ask now. The contract opens the escrow of these terms once, however often it is sent.
 */
async function tendAsked(context: Context): Promise<boolean> {
  const leg = ownLeg(context);
  const { asked } = context.record;
  const wallet = walletOf(context, leg.chain);
  const { sends } = has(wallet, 'nonces') ? wallet : {};
  if (!asked || sends === undefined) return false;
  const { txid } = asked;
  const found = txid === null ? null : await sends.bytesOf(txid, context.limit());
  if (found !== null && (await isFundingOf(context, leg, found))) {
    await context.keep({ funding: keptNow(found), asked: null });
    context.emit('funded', leg.leg, `your wallet sent the funding of leg ${leg.leg}`, found.txid);
    return true;
  }
  const said = txid === null ? 'has not answered' : `says that it has sent ${txid}`;
  const waiting = await sends.waiting(context.limit());
  if (waiting > 0) {
    const text = `${waiting} transactions of ${wallet.address} wait for a block, maybe the funding`;
    context.waits(leg, text);
    return true;
  }
  context.waits(leg, `the wallet was asked for the funding of leg ${leg.leg}, and ${said}`);
  return false;
}

async function isFundingOf(context: Context, leg: SetLeg, { raw }: Kept): Promise<boolean> {
  const { adapter } = sourceOf(context, leg.chain);
  const { touches } = await adapter.readSigned(raw, context.limit());
  return touches.some(({ verb, escrow }) => verb === 'fund' && escrow === leg.escrow.address);
}

/** `pay`: the last step of a funding by transactions. */
export async function fundOnce(
  context: Context,
  pay: (built: Built, way: Way) => Promise<void> = async (built, way) =>
    signAndSend(context, await carried(context, built, way)),
): Promise<void> {
  await mustBeOnly(context.store, context.record);
  await mustHoldSecret(context);
  await approved(context);
  if (!(await followsToday(context))) return;
  if (context.record.authorization) return tendAuthorization(context);
  const built = await askToFund(context);
  if (built === null) return;
  await mustAgree(context);
  const way = await wayOf(context, built);
  const isSent = way.way !== 'authorization';
  await owing(context, { isSent }, async () => {
    await preflight(context, handOf(context, ownLeg(context)).approvesTokens);
    if (handOf(context, ownLeg(context)).paysByHand) return askForPayment(context);
    if (!isSent) return authorize(context);
    await pay(built, way);
  });
}

/** The funding to be signed and sent: one transaction with a permit, where that works. */
async function carried(context: Context, built: Built, way: Way): Promise<Built> {
  const leg = ownLeg(context);
  const wallet = walletOf(context, leg.chain);
  if (way.way !== 'permit' || !has(wallet, 'nonces')) return built;
  const call = await permitCall({ context, leg, wallet }, way.alternative);
  return call === null ? built : { ...way.built, txs: [call] };
}

async function signAndSend(context: Context, built: Built): Promise<void> {
  const leg = ownLeg(context);
  const hand = handOf(context, leg);
  shows(context, leg, { verb: 'fund' }, built);
  const sign = await sendApprovals(context, hand.signFunding(built));
  const funding = await keepFunding(context, sign);
  await send(context, leg, funding);
  const text = `sent the funding of leg ${leg.leg} to ${leg.escrow.address}`;
  context.emit('funded', leg.leg, text, funding.txid);
}

/** Kept before it is told: from then on the leg moves no more, and a payment is looked for. */
async function askForPayment(context: Context): Promise<void> {
  const still = await fundingGate(context);
  await context.keep({ byHand: true, owedBy: claimPayerOf(context) });
  await still();
  waitForPayment(context);
}

function waitForPayment(context: Context): void {
  const leg = ownLeg(context);
  const { address, terms } = leg.escrow;
  const before = isoTime(fundBy(context.record.swap, leg));
  const text = `pay exactly ${leg.amount} sats to ${address} in one payment, sent before ${before}`;
  context.emit('pay_by_hand', leg.leg, `${text}${payableBy(terms)}`);
}

/** A swap kept before an upgrade is not funded under its former times. */
async function followsToday(context: Context): Promise<boolean> {
  const { record } = context;
  try {
    mustFollowToday(record, context.chains, await context.now());
    return true;
  } catch (error) {
    const told = await withClocks(context, error);
    if (!mayBeFunded(record) || !(told instanceof SettleError)) throw told;
    context.waits(ownLeg(context), told.message);
    return false;
  }
}

/** Which clock is the wrong one, as far as last blocks and the market tell. */
async function withClocks({ client, chains, now, limit }: Context, error: unknown) {
  if (!(error instanceof SettleError) || error.code !== 'clock_wrong') return error;
  const sources = Object.values(chains).map(({ source }) => source);
  const blocks = await lookAtBlocks(sources, now, limit(1 / 2));
  const fault = clockFault({ market: aheadOfMarket(client), chains: blocks });
  if (fault === null) return error;
  return new SettleError('clock_wrong', `${error.message}. Now ${fault}`, { cause: error });
}

/** Only the initiator can begin: the other leg pays for a secret that it alone has. */
async function mustHoldSecret({ store, record: { swap } }: Context): Promise<void> {
  if (swap.role !== 'initiator') return;
  const secret = await store.getSecret(swap.hashlock);
  if (secret !== null && opens(secret, swap.hashlock)) return;
  const sentence = `the store has no secret for ${swap.hashlock}: never fund it`;
  throw new SettleError('secret_lost', sentence);
}

/** Both legs must be payable before either is worth funding. `approvesTokens`: see `Hand`. */
export async function preflight(context: Context, approvesTokens: boolean): Promise<void> {
  const own = ownLeg(context);
  const paying = payingLeg(context);
  for (const leg of [paying, own]) {
    const { terms } = paidBy(context, leg, leg === own ? 'refund' : 'claim');
    await byEachNode(context, leg.chain, (each, limit) => each.preflight(terms, 'payout', limit));
  }
  await mustHold(context);
  // Whether the token lets the contract take it is tried when the funding itself is signed.
  const { terms } = own.escrow;
  if (terms.token !== null && approvesTokens) return;
  const { adapter } = sourceOf(context, own.chain);
  await adapter.preflight(terms, 'funding', context.limit());
}

/** Before anything is signed: an approval, or a funding that others send, would be paid in vain. */
async function mustHold(context: Context): Promise<void> {
  const { leg, chain, escrow } = ownLeg(context);
  const { adapter } = sourceOf(context, chain);
  const { token, amount, refund } = escrow.terms;
  if (token === null) return;
  const held = (await adapter.held?.(escrow.terms, context.limit())) ?? amount;
  if (held >= amount) return;
  const sentence = `${refund.address} has ${held} of token ${token}, and leg ${leg} takes ${amount}`;
  throw new ParleyError('funding_would_fail', sentence, { held, amount });
}

/** How to sign the funding, once every approval before it is mined. */
export async function sendApprovals(
  context: Context,
  signings: readonly Signing[],
): Promise<Signing> {
  const leg = ownLeg(context);
  for (const sign of signings.slice(0, -1)) {
    const approval = await signAndKeep(context, leg, {
      sign,
      keeps: (kept) => ({ approval: kept }),
      gate: open,
      isUrgent: false,
    });
    await sendWaiting(context, leg, approval);
    await approved(context);
    const much = context.allowance === 'standing' ? 'any amount from now on' : 'exactly the amount';
    context.emit('approved', leg.leg, `the contract may take ${much}`, approval.txid);
  }
  const sign = signings.at(-1);
  if (sign === undefined) throw new VerificationError('sign', 'something', 'nothing');
  return sign;
}

async function approved(context: Context): Promise<void> {
  const until = performance.now() + approvalLimitMs;
  const hand = handOf(context, ownLeg(context));
  const kept = () => context.record.approval;
  await hand.recallApproval();
  while (kept()) {
    await hand.tendApproval();
    const approval = kept();
    if (!approval) return;
    if (performance.now() > until) {
      const { txid } = approval;
      throw new ParleyError('funding_would_fail', `the approval ${txid} is not mined`, { txid });
    }
    await sleep(context.pollMs, context.signal);
  }
}
