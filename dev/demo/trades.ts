// How a swap of the demo goes: it settles, with a payee that is away too, or the other side never
// funds, or both fund and nobody claims, or they give it up.

import { sleep } from '@parley/chains/nodes/turn.ts';
import type { Family } from '@parley/core/families.ts';
import type { LegName, Party } from '@parley/core/trade.ts';
import { accept } from '@parley/sdk/agree.ts';
import { formatAmount } from '@parley/sdk/people.ts';
import { pin } from '@parley/sdk/pin.ts';
import { giveUp, type Outcome, type Progress, settle } from '@parley/sdk/settle.ts';
import { type OwnTrade, ownLegs, type PinnedAsset } from '@parley/sdk/trade.ts';
import type { Doings } from './ledger.ts';
import type { Person } from './people.ts';
import { type CoinName, coinNames, type Place, type Plan as PlanOf, settles } from './place.ts';

export type Plan = PlanOf<Person>;
export type Say = (plan: Plan, who: string, what: string, txid?: string | null) => void;

export type Scene = {
  readonly place: Place;
  readonly assets: Readonly<Record<CoinName, PinnedAsset>>;
  readonly now: () => number;
  readonly say: Say;
  readonly signal: AbortSignal;
  /** By person. */
  readonly doings: ReadonlyMap<Person, Doings>;
  /** Until every clock is past this instant, in Unix seconds. */
  untilPast(refundableAt: number): Promise<void>;
};

export type Ended = {
  readonly plan: Plan;
  readonly durationMs: number;
  readonly problems: readonly string[];
  readonly txids: Readonly<Record<string, string>>;
  /** Chains on which money was taken back. */
  readonly refundedOn: readonly string[];
  /** Given up: by leg, how long before its timelock the coins were back. */
  readonly savedSeconds: Saved;
};

type Saved = Partial<Record<LegName, number>>;

const pollMs = 250;
const marketPollMs = 3_000;
const statusPollMs = 1_000;
const statusLimitMs = 15_000;

/** The assets of the demo as pinned facts, compared with what the market lists. */
export async function assetsOf(person: Person, place: Place): Promise<Scene['assets']> {
  const pinned = coinNames.map(
    async (name): Promise<[CoinName, PinnedAsset]> => [
      name,
      await pin(person.client, place.coins[name]),
    ],
  );
  return Object.fromEntries(await Promise.all(pinned)) as Record<CoinName, PinnedAsset>;
}

type Side = { readonly person: Person; readonly trade: OwnTrade };
type Deal = { readonly swapId: string; readonly sides: readonly [taker: Side, maker: Side] };

/** RFQ, quote, both accept. */
async function agree({ assets, now, say }: Scene, plan: Plan): Promise<Deal> {
  const { taker, maker, takerGives, makerGives } = plan;
  const base = assets[takerGives.coin];
  const quote = assets[makerGives.coin];
  const created = await taker.client.createRfq({
    direction: 'sell_base',
    baseAssetId: base.id,
    baseAmount: takerGives.amount.toString(),
    quoteAssetId: quote.id,
    ttlSeconds: 600,
  });
  const quoteAmount = makerGives.amount;
  const thread = await maker.client.quote(created.id, quoteAmount.toString());
  say(plan, maker.name, `quotes ${taker.name}'s request`);
  const accepted = async (person: Person, party: Party) => {
    const { client, userId, chains, store } = person;
    const { trade, swapId } = await accept({
      client,
      userId,
      chains,
      store,
      now,
      base,
      quote,
      quoteAmount,
      party,
      direction: 'sell_base',
      baseAmount: takerGives.amount,
      rfqId: created.id,
      threadId: thread.id,
    });
    return { side: { person, trade }, swapId };
  };
  const first = await accepted(taker, 'taker');
  const { side, swapId } = await accepted(maker, 'maker');
  if (swapId === null) throw new Error('both have accepted and there is no swap');
  say(plan, 'both', `agree: swap ${swapId}`);
  return { swapId, sides: [first.side, side] };
}

/** Leg a is funded by the maker, leg b by the taker. */
const givenOn = (plan: Plan, leg: 'a' | 'b') => (leg === 'a' ? plan.makerGives : plan.takerGives);
const legOf = (plan: Plan, person: Person) => (plan.maker === person ? 'a' : 'b');
const isFinalFunding = ({ step, text }: Progress) =>
  step === 'seen' && text.startsWith('funding') && !/ confirmations?$| in no block$/.test(text);

const quiet = new Set(['waiting', 'address_set']);
const sends = new Set(['approved', 'funded', 'claimed', 'refunded', 'released']);

type Run = {
  /** Ends it early, as a crash would. */
  readonly stopWhen?: (progress: Progress) => boolean;
  /** A person who comes back sees what happened meanwhile: that is no news. */
  readonly isBack?: boolean;
  readonly givesUp?: boolean;
};

async function run(
  scene: Scene,
  plan: Plan,
  swapId: string,
  { person, trade }: Side,
  { stopWhen, isBack = false, givesUp = false }: Run = {},
): Promise<Outcome | null> {
  const stop = new AbortController();
  const { client, chains, store } = person;
  const onProgress = (progress: Progress) => {
    const { step, text, txid, leg } = progress;
    const isSent = sends.has(step) && txid !== null && leg !== null;
    if (isSent) {
      const { family } = scene.place.coins[givenOn(plan, leg).coin];
      scene.doings.get(person)?.sent[family].add(txid);
    }
    // The line, among those observed, that lets the other side go on.
    const isNews = !isBack && isFinalFunding(progress) && leg !== legOf(plan, person);
    if (!quiet.has(step) && (step !== 'seen' || isNews)) {
      scene.say(plan, person.name, text, isSent ? txid : null);
    }
    if (stopWhen?.(progress)) stop.abort();
  };
  try {
    return await (givesUp ? giveUp : settle)({
      swapId,
      trade,
      client,
      chains,
      store,
      pollMs,
      marketPollMs,
      onProgress,
      now: scene.now,
      signal: AbortSignal.any([stop.signal, scene.signal]),
    });
  } catch (error) {
    if (stop.signal.aborted && !scene.signal.aborted) return null;
    throw error;
  }
}

/** A swap from its request to its end. */
export async function play(scene: Scene, plan: Plan): Promise<Ended> {
  const startedMs = performance.now();
  const deal = await agree(scene, plan);
  const savedSeconds: Saved = {};
  const outcomes = settles(plan)
    ? await Promise.all(deal.sides.map((side) => settled(scene, plan, deal, side)))
    : await refunded(scene, plan, deal, savedSeconds);
  const [end, status] = settles(plan)
    ? ['received', 'counterparty_claimed']
    : ['refunded', 'refunded'];
  const problems = outcomes.flatMap((outcome, at) => {
    const isGone = ['no show', 'away'].includes(plan.ends) && outcome === null;
    if (isGone || outcome?.end === end) return [];
    return [`${deal.sides[at]?.person.name} ended ${outcome?.end ?? 'early'}, not ${end}`];
  });
  problems.push(...(await marketSays(plan, deal, status)));
  const durationMs = Math.round(performance.now() - startedMs);
  const { txids, refundedOn } = await written(scene, plan, deal, outcomes);
  return { plan, durationMs, problems, txids, refundedOn, savedSeconds };
}

/**
 * Away: the counterparty, which Bitcoin pays, leaves signed claims, funds, and never comes back.
 * Where the market was too busy to keep them it stays, and claims by itself.
 */
async function settled(scene: Scene, plan: Plan, { swapId }: Deal, side: Side) {
  const { long } = ownLegs(side.trade, side.person.chains);
  const isCounterparty = legOf(plan, side.person) !== long;
  if (plan.ends !== 'away' || !isCounterparty) return run(scene, plan, swapId, side);
  const done = new Set<string>();
  const stopWhen = ({ step }: Progress) => {
    done.add(step);
    return done.has('scheduled') && done.has('funded');
  };
  const outcome = await run(scene, plan, swapId, side, { stopWhen });
  if (outcome === null) scene.say(plan, side.person.name, 'goes away for good');
  return outcome;
}

/**
 * No show: the initiator funds, the other side names its addresses and is never seen again. Both
 * refund: both fund, and the initiator comes back when it is too late to reveal. Given up: both
 * fund, and the initiator takes its coins back instead of revealing.
 */
async function refunded(scene: Scene, plan: Plan, { swapId, sides }: Deal, saved: Saved) {
  const { say } = scene;
  const isNoShow = plan.ends === 'no show';
  const givesUp = plan.ends === 'given up';
  // The party that funds the long leg is the initiator.
  const { long } = ownLegs(sides[1].trade, plan.maker.chains);
  const [initiator, other] = long === 'a' ? [sides[1], sides[0]] : sides;
  const [stays, leaves] = isNoShow ? [initiator, other] : [other, initiator];
  const funded = Promise.withResolvers<void>();
  const isFunded = (progress: Progress) =>
    isFinalFunding(progress) && progress.leg === legOf(plan, stays.person);
  const staying = run(scene, plan, swapId, stays, {
    stopWhen: (progress) => {
      if (isFunded(progress)) funded.resolve();
      return false;
    },
  });
  // A failure while nobody waits for either must not end the process: it is found by the waiter.
  staying.catch(funded.reject);
  funded.promise.catch(() => undefined);
  const last = isNoShow ? 'verified' : 'funded';
  await run(scene, plan, swapId, leaves, { stopWhen: ({ step }) => step === last });
  if (plan.ends === 'both refund') {
    say(plan, leaves.person.name, 'goes away without revealing the secret');
  }
  await funded.promise;
  const { refundAt } = (await plan.taker.client.swap(swapId)).deadlines;
  const past = () => scene.untilPast(Math.max(refundAt.a, refundAt.b));
  if (!givesUp) await past();
  const does = givesUp ? 'gives the swap up' : 'comes back after the timelock';
  if (!isNoShow) say(plan, leaves.person.name, does);
  const back = isNoShow ? null : run(scene, plan, swapId, leaves, { isBack: true, givesUp });
  const early = tellEarly(scene, plan, refundAt, saved);
  const [stayed, came] = await Promise.all([early(stays, staying), early(leaves, back)]);
  return sides.map((side) => (side === stays ? stayed : came));
}

function tellEarly(
  { place, now, say }: Scene,
  plan: Plan,
  refundAt: Readonly<Record<LegName, number>>,
  saved: Saved,
) {
  const sinceMs = performance.now();
  return async ({ person }: Side, running: Promise<Outcome | null> | null) => {
    const outcome = await running;
    const leg = legOf(plan, person);
    const left = refundAt[leg] - now();
    if (outcome?.end !== 'refunded' || left <= 0) return outcome;
    saved[leg] = left;
    const { coin, amount } = givenOn(plan, leg);
    const { decimals, symbol } = place.coins[coin];
    const tookSeconds = Math.round((performance.now() - sinceMs) / 1_000);
    const when = `after ${tookSeconds} s, ${left} s before the timelock`;
    say(plan, person.name, `has ${formatAmount(amount, decimals)} ${symbol} back ${when}`);
    return outcome;
  };
}

/** The market must come to see the same: both parties' own views did already. */
async function marketSays(
  { maker, ends }: Plan,
  { swapId }: Deal,
  expected: string,
): Promise<string[]> {
  const until = performance.now() + statusLimitMs;
  for (;;) {
    const { status, legs } = await maker.client.swap(swapId);
    // An absent payee does not wait for its claim, so the demo does.
    const isMined = ends !== 'away' || [legs.a, legs.b].every((leg) => leg.confirmations > 0);
    const isTaproot = [legs.a, legs.b].every((leg) => leg.redeemScript?.startsWith('tr(') ?? true);
    if (!isTaproot) return ['the leg on Bitcoin is not Taproot, which both sides asked for'];
    if (status === expected && isMined) return [];
    if (performance.now() > until) return [`the market says ${status}, not ${expected}`];
    await sleep(statusPollMs);
  }
}

/** The transactions of a swap, and what they add to what its people have done. */
async function written(
  { place, doings }: Scene,
  plan: Plan,
  { swapId }: Deal,
  outcomes: readonly (Outcome | null)[],
): Promise<Pick<Ended, 'txids' | 'refundedOn'>> {
  const txids: Record<string, string> = {};
  const refundedOn: string[] = [];
  const { legs } = await plan.maker.client.swap(swapId);
  for (const leg of ['a', 'b'] as const) {
    const all = outcomes.flatMap((outcome) => Object.entries(outcome?.txids[leg] ?? {}));
    for (const [what, txid] of all) if (txid !== null) txids[`${leg}.${what}`] = txid;
    const { chain, escrow } = legs[leg];
    const { family }: { family: Family } = place.coins[givenOn(plan, leg).coin];
    const { fund, refund } = { fund: txids[`${leg}.fund`], refund: txids[`${leg}.refund`] };
    const did = doings.get(leg === 'a' ? plan.maker : plan.taker);
    if (refund !== undefined) refundedOn.push(chain);
    if (family === 'solana' && fund !== undefined && escrow !== null) did?.escrows.add(escrow);
    // The market may be first to send one that was left with it, and its fee is its owner's.
    if (family === 'bitcoin' && refund !== undefined) did?.sent.bitcoin.add(refund);
    const { claimTx } = legs[leg];
    const payee = doings.get(leg === 'a' ? plan.taker : plan.maker);
    if (family === 'bitcoin' && claimTx !== null) payee?.sent.bitcoin.add(claimTx);
  }
  return { txids, refundedOn };
}
