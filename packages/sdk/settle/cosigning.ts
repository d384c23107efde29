// A Bitcoin leg of Taproot spent by the keys of both sides, through the market. The side that is paid
// asks, and shows nothing by it but nonces. The other one answers a claim once its own claim is in a
// block: the secret is known then, and the leaf is open to the payee. It answers a refund where it
// may release the leg (giving-up.ts). No side relies on an answer: a claim goes by its leaf after
// some seconds, and a refund from the timelock on.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { NonceStore } from '@parley/chains/bitcoin/musig.ts';
import type { CosignRequest } from '@parley/chains/interface/cosigning.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { has } from '@parley/core/families.ts';
import type { Millis } from '@parley/core/nominal.ts';
import { hasPassed } from '@parley/core/swap.ts';
import type { CallOptions, ParleyClient } from '../client.ts';
import { messageOf, ParleyApiError } from '../errors.ts';
import type { Cosign, CosignReply, CosignExchange as Exchange } from '../generated.ts';
import { type Kept, keptNow } from '../stores/store.ts';
import { paidWhere } from '../verify-material.ts';
import type { Cosigns } from '../wallets/wallet.ts';
import { type Context, ownLeg, payingLeg, sourceOf } from './context.ts';
import { handOf } from './hands/of.ts';
import { asked } from './market.ts';
import { type LegSeen, ownSides, type Seen, type SetLeg, watchedOf } from './record.ts';
import { due } from './send.ts';

type Verb = CosignRequest['verb'];

export type Cosigner = {
  readonly context: Context;
  readonly leg: SetLeg;
  readonly client: ParleyClient;
  readonly cosigns: Cosigns;
};

type Asker = Cosigner & {
  readonly nonces: NonceStore;
  readonly plan: NonNullable<ChainAdapter['planTogether']>;
};

const claimWaitMs = 20_000;
/** So many times that wait are left for the claim by its leaf, beside what the policy needs. */
const leastWaits = 3;
/** For one question to the market. */
const limitMs = 5_000;
/** Between two looks for a question or an answer, in pauses between questions to the market. */
const pausesBetween = 3;
/** How often a run asks for one refund: another payment, or a lost answer, needs it again. */
export const mostAsked = 20;

/** null: its escrow has another form, or its wallet signs alone. */
export function cosignerOf(context: Context, leg: SetLeg): Cosigner | null {
  const { client } = context;
  const wallet = context.chains[leg.chain]?.wallet;
  if (client === null || leg.escrow.terms.form !== 'p2tr' || !has(wallet, 'coins')) return null;
  const { cosigns } = wallet;
  return cosigns === undefined ? null : { context, leg, client, cosigns };
}

/** null: this side asks for no spend by both. */
function askerOf(context: Context, leg: SetLeg): Asker | null {
  const by = cosignerOf(context, leg);
  const { putNonces, takeNonces } = context.store;
  const { planTogether: plan } = sourceOf(context, leg.chain).adapter;
  if (by === null || plan === undefined) return null;
  if (putNonces === undefined || takeNonces === undefined) return null;
  const { swapId } = context;
  const nonces: NonceStore = {
    put: (id, secrets) => putNonces(swapId, { id, secrets }),
    take: async (id) => {
      const kept = await takeNonces(swapId);
      return kept?.id === id ? kept.secrets : null;
    },
  };
  return { ...by, nonces, plan };
}

/** The newest requests and answers of this leg, as the market has them. */
export async function exchanges(
  { context, client, leg }: Cosigner,
  body: Cosign = {},
): Promise<CosignReply['exchange']> {
  const ask = (how: CallOptions) => client.cosign(context.swapId, leg.leg, body, how);
  return (await asked(context, ask, limitMs)).exchange;
}

/** Resolves to the id that the market gave the request. */
async function askTogether(by: Asker, verb: Verb): Promise<string> {
  const { context, leg, cosigns, nonces, plan } = by;
  const { terms, address } = leg.escrow;
  const isPublic = context.record.publicSecret !== null;
  const wallet = context.chains[leg.chain]?.wallet;
  const payout = has(wallet, 'coins') ? wallet.payout : undefined;
  const { view } = sourceOf(context, leg.chain);
  const escrow = paidWhere(watchedOf(context.record, leg.leg), verb, view, payout);
  const given = { escrow, feeRateSatPerVbyte: null, isPublic };
  const planned = await plan(given, verb, context.limit());
  const request = await cosigns.ask(terms, planned, nonces);
  const outputs = request.outputs.map(({ txid, vout, amount }) => {
    return { txid, vout, amount: amount.toString() };
  });
  const { paysTo, nonces: own } = request;
  const feeSats = request.feeSats.toString();
  const body = { request: { escrow: address, verb, outputs, feeSats, paysTo, nonces: own } };
  const { [verb]: exchange } = await exchanges(by, body);
  if (exchange !== null) return exchange.id;
  throw new ParleyError('nothing_there', 'the market has not taken the request', {});
}

/** By the own escrow and verb, whatever the market names. */
function requestOf({ leg }: Cosigner, verb: Verb, given: Exchange): CosignRequest {
  if (given.escrow !== leg.escrow.address) {
    const sentence = `the request is of ${given.escrow}, not of ${leg.escrow.address}`;
    throw new ParleyError('unknown_escrow', sentence, {});
  }
  const outputs = given.outputs.map(({ txid, vout, amount }) => {
    return { txid, vout, amount: BigInt(amount) };
  });
  const { paysTo, nonces } = given;
  return { verb, outputs, feeSats: BigInt(given.feeSats), paysTo, nonces };
}

/** Gives the coins away: its callers have asked whether this side may. */
export async function answerTogether(by: Cosigner, verb: Verb, given: Exchange): Promise<void> {
  const answer = await by.cosigns.answer(by.leg.escrow.terms, requestOf(by, verb, given));
  await exchanges(by, { answer: { id: given.id, ...answer } });
}

/** Nonces are taken by all that they sign for: of a request that is not this side's there are none. */
async function finished(
  { context, leg, cosigns, nonces }: Asker,
  request: CosignRequest,
  answer: NonNullable<Exchange['answer']>,
): Promise<void> {
  const { verb } = request;
  const kept = keptNow(await cosigns.finish(leg.escrow.terms, request, answer, nonces));
  await context.keep({ [verb]: kept });
  const step = verb === 'claim' ? 'claimed' : 'refunded';
  const text = `sends the ${verb} of leg ${leg.leg}, which both sides have signed`;
  context.emit(step, leg.leg, text, kept.txid);
  await handOf(context, leg).sendSpend(verb);
}

/** Whether the claim of a public secret is left to both keys for now, or sent by them. */
export async function claimsTogether(context: Context, { clock }: LegSeen): Promise<boolean> {
  const leg = payingLeg(context);
  const { claim } = context.cosigning;
  const by = claim.isOver ? null : askerOf(context, leg);
  if (by === null) return false;
  let why = 'the other side has not signed in time';
  try {
    if (claim.untilMs === null) {
      const waitMs = await leftToWait(context, leg, clock);
      claim.isOver = waitMs <= 0;
      if (claim.isOver) return false;
      claim.untilMs = performance.now() + waitMs;
    }
    const isOpen = performance.now() < claim.untilMs;
    if (isOpen && !isDue(context, `claiming ${leg.leg}`)) return true;
    if (claim.id === '') {
      claim.id = await askTogether(by, 'claim');
      return true;
    }
    const { claim: found } = await exchanges(by);
    if (found?.id !== claim.id) {
      why = 'another request took the place of this one';
    } else if (found.answer !== null) {
      claim.isOver = true;
      await finished(by, requestOf(by, 'claim', found), found.answer);
      return true;
    } else if (isOpen) {
      return true;
    }
  } catch (error) {
    context.signal?.throwIfAborted();
    // The market may see the secret a moment later.
    const isEarly = error instanceof ParleyApiError && error.code === 'not_releasable';
    if (isEarly && performance.now() < (claim.untilMs ?? 0)) return true;
    why = messageOf(error);
  }
  claim.isOver = true;
  if (context.record.claim !== null) return true;
  context.waits(leg, `leg ${leg.leg} is claimed by this side alone: ${why}`);
  return false;
}

/** The wait counts from the first question: runs that end and begin again delay no claim. */
async function leftToWait(context: Context, leg: SetLeg, clock: number): Promise<Millis> {
  const { cosignWaitMs: waitMs = claimWaitMs, record } = context;
  const { high, reactSeconds } = sourceOf(context, leg.chain).view.policy;
  const needsSeconds = high.outageSeconds + reactSeconds + high.settleSeconds;
  const leftSeconds = leg.timelock - Math.max(clock, await context.now()) - needsSeconds;
  if (leftSeconds * 1_000 <= leastWaits * waitMs) return 0;
  const { claimAskedAtMs = Date.now() } = record;
  // A clock that was set back makes no wait longer.
  const left = waitMs - Math.abs(Date.now() - claimAskedAtMs);
  if (left > 0) await context.keep({ claimAskedAtMs });
  return left;
}

/** Whether it is time to look again. */
export function isDue({ sentAtMs, marketPollMs }: Context, about: string): boolean {
  const now = performance.now();
  const last = sentAtMs.get(about) ?? -Infinity;
  if (now - last < marketPollMs * pausesBetween) return false;
  sentAtMs.set(about, now);
  return true;
}

/** Answers a claim of the own leg, or takes back the coins that the other side gave up. */
export async function tendTogether(context: Context, seen: Seen): Promise<void> {
  const { gives, gets } = ownSides(context.record);
  const { state, clocks, doubt } = seen;
  const own = state.legs[gives];
  const { funded, claimed, refunded, balance } = own.facts;
  const isOpen = (claimed ?? refunded) === null && (funded?.confirmations ?? 0) > 0;
  if (!isOpen || hasPassed(own, own.timelock, clocks)) return;
  const leg = ownLeg(context);
  try {
    if (state.secret === null) return await refundsTogether(context, leg, balance);
    const { claimed: paid } = state.legs[gets].facts;
    const by = cosignerOf(context, leg);
    // A claim that only waits may never be mined, and then its secret need not be known.
    const isPaid = doubt === undefined && paid !== null && paid.confirmations > 0;
    if (by === null || !isPaid || !isDue(context, `cosigning ${gives}`)) return;
    const { claim } = await exchanges(by);
    if (claim === null || claim.answer !== null) return;
    await answerTogether(by, 'claim', claim);
    context.emit('signed', gives, `signs the claim of leg ${gives} with the other side`);
  } catch (error) {
    context.signal?.throwIfAborted();
    context.waits(leg, `leg ${gives} is not spent by both sides: ${messageOf(error)}`);
  }
}

/** By the wish of the other side, as the market has it. A false one only asks in vain. */
async function refundsTogether(context: Context, leg: SetLeg, balance: bigint): Promise<void> {
  const { record, heard, cosigning } = context;
  const { refund: kept } = record;
  if (kept !== null) return sendAgain(context, leg, kept);
  const by = askerOf(context, leg);
  if (by === null || heard.release === null || record.claim !== null) return;
  if (!isDue(context, `cosigning ${leg.leg}`)) return;
  const { refund } = cosigning;
  const { refund: found } = await exchanges(by);
  if (found !== null && found.answer !== null && refund.id !== `used ${found.id}`) {
    // It may be of a former run, whose nonces are kept. They are tried once.
    refund.id = `used ${found.id}`;
    return finished(by, requestOf(by, 'refund', found), found.answer);
  }
  const isAsked = found !== null && found.id === refund.id && refund.balance === balance;
  if (isAsked || refund.tries >= mostAsked) return;
  refund.tries += 1;
  refund.balance = balance;
  refund.id = await askTogether(by, 'refund');
}

/** No nonce of a swap that has ended is left behind. */
export async function dropNonces({ record, store, swapId }: Context): Promise<void> {
  const { a, b } = record.swap.legs;
  if (![a, b].some(({ escrow }) => escrow?.terms.form === 'p2tr')) return;
  await store.takeNonces?.(swapId).catch(() => null);
}

/** A pool may lose it, and before the timelock no other one takes its place. */
async function sendAgain(context: Context, leg: SetLeg, kept: Kept): Promise<void> {
  if (due(context, leg, kept)) await handOf(context, leg).sendSpend('refund');
}
