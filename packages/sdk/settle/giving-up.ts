// Giving a swap up. This side's word is kept before it leaves: from then on nothing is funded, and
// no undecided secret is shown. Another device of the account may give that word: the market tells
// it, and a market that lies only makes this side wait for its timelock. The other side's release
// brings the own leg back before that.

import type { ReleaseMaterial } from '@parley/chains/interface/consent.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { releaseGate } from '@parley/core/gates.ts';
import { messageOf, ParleyApiError } from '../errors.ts';
import { type GivenUp, keptNow, mayBeFunded } from '../stores/store.ts';
import { verifyRelease } from '../verify-release.ts';
import { snapshot } from './chains.ts';
import { asPersonWants, type Context, ownLeg, payingLeg, sourceOf, walletOf } from './context.ts';
import { answerTogether, cosignerOf, exchanges, isDue } from './cosigning.ts';
import { handOf } from './hands/of.ts';
import { asked } from './market.ts';
import { ownSides, type SetLeg, watchedOf } from './record.ts';
import { due, overdue, sendToAll, sendWaiting } from './send.ts';
import { mustAgree } from './sign.ts';

/**
 * Tries to release, each after twice the pause: 17 minutes in all. The leg goes back from its
 * timelock on all the same.
 */
export const mostTries = 10;

/** Where both sides sign, the other one waits for the answer: two minutes in all. */
const mostRestSeconds = 16;

/** By the own clock; one that was set back makes no pause longer. */
function rests({ releasing, lastWall }: Context, most = Infinity): boolean {
  const { tries, triedAt } = releasing;
  const wall = lastWall() ?? 0;
  if (tries > 0 && Math.abs(wall - triedAt) < Math.min(2 ** tries, most)) return true;
  releasing.triedAt = wall;
  return false;
}

/** A person's wish is kept. It comes too late once the secret is public. */
export async function takeWish(context: Context): Promise<void> {
  const { record, givesUp } = context;
  if (record.givenUp?.byPerson === true || givesUp?.() !== true) return;
  if (record.publicSecret === null) return keepWord(context, { byPerson: true });
  context.waits(payingLeg(context), 'the secret is public: the swap goes on, and claims');
}

async function keepWord(context: Context, change: Partial<GivenUp>): Promise<void> {
  const { givenUp = keptNow({ byPerson: false }) } = context.record;
  await context.keep({ givenUp: { ...givenUp, ...change } });
}

/**
 * The other side's word, as the market has it. By the wish a side that has funded nothing gives up
 * too. A release is kept once the own nodes say that the contract takes it.
 */
export async function takeReleased(context: Context): Promise<void> {
  const { record, heard } = context;
  const { release } = heard;
  if (release === null) return;
  const isFree = !mayBeFunded(record) && record.restored !== true && record.publicSecret === null;
  if (isFree && record.givenUp === undefined) await keepWord(context, {});
  const leg = ownLeg(context);
  const { consent } = sourceOf(context, leg.chain).adapter;
  const { signature } = release;
  const isKnown = record.released?.signature === signature || heard.refused === signature;
  if (typeof signature !== 'string' || consent?.checkRelease === undefined || isKnown) return;
  try {
    await consent.checkRelease(leg.escrow.terms, signature, context.limit());
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'bad_signature') throw error;
    heard.refused = signature;
    return context.emit('market_lied', leg.leg, `a release that opens nothing: ${error.message}`);
  }
  await context.keep({ released: { escrow: leg.escrow.address, signature } });
  context.emit('released', leg.leg, `the other side has released leg ${leg.leg}`);
}

/** Tells the market, which lets nothing be funded from then on. */
export async function tellWish(context: Context): Promise<void> {
  if (!rests(context)) await told(context, {});
}

/** Whether the market takes it, or is gone. */
async function told(context: Context, body: { readonly signature?: string }): Promise<boolean> {
  const { client, swapId, releasing } = context;
  const { leg } = payingLeg(context);
  releasing.tries += 1;
  if (client === null) return true;
  try {
    await asked(context, (how) => client.release(swapId, leg, body, how));
  } catch (error) {
    if (!(error instanceof ParleyApiError)) throw error;
    context.emit('market_refused', leg, error.message, null, error.code);
    return error.silent;
  }
  await keepWord(context, { told: body.signature === undefined ? 'wish' : 'release' });
  return true;
}

/** Releases the leg that pays this side. A person's wallet is asked by that person's wish alone. */
export async function release(context: Context): Promise<void> {
  const leg = payingLeg(context);
  const isTogether = leg.escrow.terms.form === 'p2tr';
  if (rests(context, isTogether ? mostRestSeconds : undefined)) return;
  if (isTogether) return releaseTogether(context, leg);
  const { consent } = sourceOf(context, leg.chain).adapter;
  const { asks } = walletOf(context, leg.chain);
  const isWanted = asks === undefined || context.record.givenUp?.byPerson === true;
  if (consent === undefined || !isWanted) return leaveToTime(context, leg);
  const { givenUp } = context.record;
  if (givenUp?.signature !== undefined) {
    await told(context, { signature: givenUp.signature });
    return;
  }
  if (givenUp?.sent !== undefined && !overdue(context, leg, givenUp.sent)) {
    if (!due(context, leg, givenUp.sent)) return;
    context.releasing.tries += 1;
    return sendWaiting(context, leg, givenUp.sent, sendToAll);
  }
  await mayRelease(context);
  // A wallet that is asked shows that this side will not go on.
  await keepWord(context, {});
  const input = { escrow: watchedOf(context.record, leg.leg), feeRateSatPerVbyte: null };
  const built = await consent.buildRelease({ ...input, isPublic: false }, context.limit());
  verifyRelease(built, leg.escrow.terms, sourceOf(context, leg.chain).view);
  try {
    await asPersonWants(context, leg, 'release', () => signed(context, leg, built));
  } catch (error) {
    // A wallet that signs it wrongly ends no run: the leg goes back from its timelock on.
    context.signal?.throwIfAborted();
    context.waits(leg, `leg ${leg.leg} is not released: ${messageOf(error)}`);
  }
}

/**
 * Bitcoin by Taproot: the wish is told, so that the funder asks this side to sign its refund. It may
 * ask again, until the refund is seen: a process that ends forgets what it asked.
 */
async function releaseTogether(context: Context, leg: SetLeg): Promise<void> {
  const by = cosignerOf(context, leg);
  const isTold = context.record.givenUp?.told !== undefined;
  const mayTell = context.record.givenUp !== undefined && context.client !== null;
  if (by === null && mayTell && !isTold) {
    await told(context, {});
    return;
  }
  if (by === null) return leaveToTime(context, leg);
  if (!isDue(context, `releasing ${leg.leg}`)) return;
  if (!isTold) {
    await mayRelease(context);
    await keepWord(context, {});
    await told(context, {});
    return;
  }
  const { funded } = context.lastSeen.get(leg.leg)?.leg.facts ?? {};
  // The funder asks only for payments that are in a block.
  if (funded?.confirmations !== 0) context.releasing.tries += 1;
  try {
    const { refund } = await exchanges(by);
    if (refund === null || refund.answer !== null) return;
    await mayRelease(context);
    await answerTogether(by, 'refund', refund);
    context.emit('released', leg.leg, `signs that leg ${leg.leg} goes back to its funder`);
  } catch (error) {
    context.signal?.throwIfAborted();
    context.waits(leg, `leg ${leg.leg} is not released: ${messageOf(error)}`);
  }
}

function leaveToTime({ releasing, waits }: Context, leg: SetLeg): void {
  releasing.tries = mostTries;
  waits(leg, `leg ${leg.leg} goes back to its funder from its timelock on`);
}

/** By both chains once more, and where the own leg is to be back, by every node of it. */
async function mayRelease(context: Context): Promise<void> {
  const { gives, gets } = ownSides(context.record);
  const { state, clocks } = await snapshot(context);
  releaseGate(state, gets, clocks);
  if (state.legs[gets].long) await mustAgree(context, [gives]);
}

async function signed(context: Context, leg: SetLeg, built: ReleaseMaterial): Promise<void> {
  const hand = handOf(context, leg);
  context.releasing.tries += 1;
  if (built.sign === 'typed-data') {
    const signature = await hand.signRelease?.(built);
    if (signature === undefined) return leaveToTime(context, leg);
    const { consent } = sourceOf(context, leg.chain).adapter;
    await consent?.checkRelease?.(leg.escrow.terms, signature, context.limit());
    await keepWord(context, { signature });
    context.emit('released', leg.leg, `gives leg ${leg.leg} back to its funder`);
    await told(context, { signature });
    return;
  }
  // The market knows whether another device has shown the secret there.
  const isKnown = context.record.givenUp?.told !== undefined;
  if (!isKnown && !(await told(context, {}))) return;
  const how = { isPublic: false, hasFailed: false };
  const { sign } = await hand.signSpend(built, { verb: 'refund' }, how);
  const sent = keptNow(await sign());
  await keepWord(context, { sent });
  context.emit('released', leg.leg, `sends leg ${leg.leg} back to its funder`, sent.txid);
  await sendWaiting(context, leg, sent, sendToAll);
}
