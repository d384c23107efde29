// How a swap of the demo goes: it settles, or the other side never funds, or both fund and nobody
// claims.

import { accept } from '../../sdk/agree.ts';
import { type Outcome, type Progress, settle } from '../../sdk/settle.ts';
import { type OwnTrade, ownLegs, type PinnedAsset } from '../../sdk/trade.ts';
import type { Rfq } from '../../sdk/types.ts';
import { verifyAsset } from '../../sdk/verify.ts';
import { sleep } from '../../sdk/waiting.ts';
import { add, type Doings, type Holding, note, nothing } from './ledger.ts';
import type { Person } from './people.ts';
import { type CoinName, coinNames, type Place } from './place.ts';
import type { Plan } from './plans.ts';
import { labelOf, type Report } from './report.ts';

export type Scene = {
  readonly place: Place;
  readonly assets: Readonly<Record<CoinName, PinnedAsset>>;
  readonly now: () => number;
  readonly report: Report;
  readonly signal: AbortSignal;
  /** By name of the person. */
  readonly doings: ReadonlyMap<string, Doings>;
};

export type Ended = {
  readonly plan: Plan;
  readonly swapId: string;
  readonly durationMs: number;
  readonly problems: readonly string[];
  readonly txids: Readonly<Record<string, string>>;
  /** Chains on which money was taken back. */
  readonly refundedOn: readonly string[];
};

const pollMs = 250;
const marketPollMs = 1_500;
const statusLimitMs = 15_000;

/** The assets of the demo as pinned facts, compared with what the market lists. */
export async function assetsOf(person: Person, place: Place): Promise<Scene['assets']> {
  const { assets } = await person.client.assets({ limit: 100 });
  const pinned = coinNames.map((name): [CoinName, PinnedAsset] => {
    const { chain, token, decimals } = place.coins[name];
    const found = assets.find((each) => each.chain === chain && each.address === token);
    if (found === undefined) throw new Error(`the market lists no ${token ?? 'coin'} of ${chain}`);
    const asset = { id: found.id, chain, token, decimals, highValueFrom: null };
    verifyAsset(found, asset);
    return [name, asset];
  });
  return Object.fromEntries(pinned) as Record<CoinName, PinnedAsset>;
}

type Side = { readonly person: Person; readonly trade: OwnTrade };
type Deal = {
  readonly plan: Plan;
  readonly swapId: string;
  readonly taker: Side;
  readonly maker: Side;
  readonly startedMs: number;
};

/** RFQ, quote, both accept. */
async function agree(stage: Scene, plan: Plan): Promise<Deal> {
  const startedMs = performance.now();
  const { taker, maker } = plan;
  const base = stage.assets[plan.takerGives.coin];
  const quote = stage.assets[plan.makerGives.coin];
  const created = await taker.client.createRfq({
    direction: 'sell_base',
    baseAssetId: base.id,
    baseAmount: plan.takerGives.amount.toString(),
    quoteAssetId: quote.id,
    ttlSeconds: 600,
  });
  const rfq: Rfq = { ...created, baseAmount: plan.takerGives.amount.toString() };
  const price = plan.makerGives.amount;
  const thread = await maker.client.quote(rfq.id, price.toString());
  stage.report.event(labelOf(plan.pair, plan.ends), maker.name, `quotes ${taker.name}'s request`);
  const side = async (person: Person) => {
    const { client, userId, store } = person;
    return accept({
      client,
      userId,
      rfq,
      threadId: thread.id,
      quoteAmount: price,
      base,
      quote,
      views: viewsOf(person),
      destinationOn: (chain) => destinationOf(person, chain),
      store,
      now: stage.now,
    });
  };
  const first = await side(taker);
  const second = await side(maker);
  if (second.swapId === null) throw new Error('both have accepted and there is no swap');
  stage.report.event(labelOf(plan.pair, plan.ends), 'both', `agree: swap ${second.swapId}`);
  return {
    plan,
    swapId: second.swapId,
    taker: { person: taker, trade: first.trade },
    maker: { person: maker, trade: second.trade },
    startedMs,
  };
}

function viewsOf(person: Person) {
  return new Map([...person.sources].map(([chain, { view }]) => [chain, view]));
}

function destinationOf(person: Person, chain: string) {
  const wallet = person.wallets.get(chain);
  if (wallet === undefined) throw new Error(`${person.name} has no wallet on ${chain}`);
  const pubkey = wallet.family === 'bitcoin' ? wallet.pubkey : null;
  return { address: wallet.address, pubkey };
}

/** Runs one side; `stopWhen` ends it early, as a crash would. */
async function run(
  stage: Scene,
  deal: Deal,
  side: Side,
  stopWhen: (progress: Progress) => boolean = () => false,
  isBack = false,
): Promise<Outcome | null> {
  const { person, trade } = side;
  const stop = new AbortController();
  const stopped = Symbol('stopped');
  try {
    return await settle({
      swapId: deal.swapId,
      trade,
      client: person.client,
      sources: person.sources,
      wallets: person.wallets,
      store: person.store,
      now: stage.now,
      pollMs,
      marketPollMs,
      signal: AbortSignal.any([stop.signal, stage.signal]),
      onProgress: (progress) => {
        tell(stage, deal.plan, person, progress, isBack);
        if (stopWhen(progress)) stop.abort(stopped);
      },
    });
  } catch (error) {
    if (error === stopped) return null;
    throw error;
  }
}

const quiet = new Set(['waiting', 'address_set']);

/** Of what is seen, the line that lets the other side go on: its money is there, deep. */
function seenByReceiver(plan: Plan, person: Person, progress: Progress): boolean {
  return isDeepFunding(progress) && progress.leg !== legFundedBy(plan, person);
}

const sends = new Set(['approved', 'funded', 'claimed', 'refunded']);

/** Who comes back sees what happened meanwhile: that is no news. */
function tell(stage: Scene, plan: Plan, person: Person, progress: Progress, isBack: boolean): void {
  const { step, text, txid, leg } = progress;
  const doings = stage.doings.get(person.name);
  if (sends.has(step) && txid !== null && leg !== null && doings !== undefined) {
    note(doings.sent, chainOf(stage, plan, leg), txid);
  }
  if (quiet.has(step) || (step === 'seen' && (isBack || !seenByReceiver(plan, person, progress))))
    return;
  stage.report.event(
    labelOf(plan.pair, plan.ends),
    person.name,
    text,
    sends.has(step) ? txid : null,
  );
}

/** Leg a is funded by the maker, leg b by the taker. */
function chainOf(stage: Scene, plan: Plan, leg: 'a' | 'b'): string {
  return stage.assets[(leg === 'a' ? plan.makerGives : plan.takerGives).coin].chain;
}

/** A swap that settles. */
export async function settled(stage: Scene, plan: Plan): Promise<Ended> {
  const deal = await agree(stage, plan);
  const [taker, maker] = await Promise.all([
    run(stage, deal, deal.taker),
    run(stage, deal, deal.maker),
  ]);
  const problems = [
    ...differs(`${plan.taker.name}`, 'received', taker?.end),
    ...differs(`${plan.maker.name}`, 'received', maker?.end),
    ...(await marketSays(deal, 'counterparty_claimed')),
  ];
  return ended(stage, deal, [maker, taker], problems);
}

/** A swap brought to the point where only time can end it. `finish` runs after the clocks moved. */
export type Stuck = { readonly refundableAt: number; finish(): Promise<Ended> };

/** The initiator funds; the other side names its addresses and is never seen again. */
export async function noShow(stage: Scene, plan: Plan): Promise<Stuck> {
  const deal = await agree(stage, plan);
  const [initiator, other] = sides(deal);
  const funded = Promise.withResolvers<void>();
  const running = run(stage, deal, initiator, (progress) => {
    if (isDeepFunding(progress)) funded.resolve();
    return false;
  });
  failTogether(running, funded);
  await run(stage, deal, other, ({ step }) => step === 'verified');
  await funded.promise;
  const finish = async () => {
    const outcome = await running;
    const problems = [
      ...differs(initiator.person.name, 'refunded', outcome?.end),
      ...(await marketSays(deal, 'refunded')),
    ];
    return ended(stage, deal, [outcome], problems);
  };
  return { refundableAt: await refundableAt(deal), finish };
}

/** Both fund; the initiator goes away before it reveals, comes back late, and both refund. */
export async function bothRefund(stage: Scene, plan: Plan): Promise<Stuck> {
  const deal = await agree(stage, plan);
  const [initiator, other] = sides(deal);
  const funded = Promise.withResolvers<void>();
  const theirs = run(stage, deal, other, (progress) => {
    if (isDeepFunding(progress) && progress.leg === legFundedBy(plan, other.person)) {
      funded.resolve();
    }
    return false;
  });
  failTogether(theirs, funded);
  await run(stage, deal, initiator, ({ step }) => step === 'funded');
  stage.report.event(
    labelOf(plan.pair, plan.ends),
    initiator.person.name,
    'goes away without revealing the secret',
  );
  await funded.promise;
  const finish = async () => {
    stage.report.event(
      labelOf(plan.pair, plan.ends),
      initiator.person.name,
      'comes back after the timelock',
    );
    const [first, second] = await Promise.all([
      run(stage, deal, initiator, undefined, true),
      theirs,
    ]);
    const problems = [
      ...differs(initiator.person.name, 'refunded', first?.end),
      ...differs(other.person.name, 'refunded', second?.end),
      ...(await marketSays(deal, 'refunded')),
    ];
    return ended(stage, deal, [first, second], problems);
  };
  return { refundableAt: await refundableAt(deal), finish };
}

/** A failure while nobody waits for either must not end the process: it is found by the waiter. */
function failTogether(running: Promise<unknown>, funded: PromiseWithResolvers<void>): void {
  running.catch(funded.reject);
  funded.promise.catch(() => undefined);
}

function isDeepFunding({ step, text }: Progress): boolean {
  return step === 'seen' && /^funding .* is deep$/.test(text);
}

function legFundedBy(plan: Plan, person: Person): 'a' | 'b' {
  return plan.maker === person ? 'a' : 'b';
}

/** Whoever funds the long leg is the initiator. */
function sides({ plan, taker, maker }: Deal): [Side, Side] {
  const { long } = ownLegs(maker.trade, viewsOf(plan.maker));
  return long === 'a' ? [maker, taker] : [taker, maker];
}

async function refundableAt(deal: Deal): Promise<number> {
  const { deadlines } = await deal.taker.person.client.swap(deal.swapId);
  return Math.max(deadlines.refundAt.a, deadlines.refundAt.b);
}

function differs(who: string, expected: string, got: string | undefined): string[] {
  return got === expected ? [] : [`${who} ended ${got ?? 'early'}, not ${expected}`];
}

/** The market must come to see the same: both parties' own views did already. */
async function marketSays(deal: Deal, expected: string): Promise<string[]> {
  const until = performance.now() + statusLimitMs;
  for (;;) {
    const { status } = await deal.maker.person.client.swap(deal.swapId);
    if (status === expected) return [];
    if (performance.now() > until) return [`the market says ${status}, not ${expected}`];
    await sleep(pollMs);
  }
}

async function ended(
  stage: Scene,
  deal: Deal,
  outcomes: readonly (Outcome | null)[],
  problems: string[],
): Promise<Ended> {
  const durationMs = Math.round(performance.now() - deal.startedMs);
  const txids: Record<string, string> = {};
  const refundedOn: string[] = [];
  const { legs } = await deal.maker.person.client.swap(deal.swapId);
  for (const leg of ['a', 'b'] as const) {
    for (const outcome of outcomes) {
      for (const [what, txid] of Object.entries(outcome?.txids[leg] ?? {})) {
        if (txid !== null) txids[`${leg}.${what}`] = txid;
      }
    }
    const { chain, escrow } = legs[leg];
    if (txids[`${leg}.refund`] !== undefined) refundedOn.push(chain);
    const { person } = leg === 'a' ? deal.maker : deal.taker;
    const doings = stage.doings.get(person.name);
    const isFunded = txids[`${leg}.fund`] !== undefined;
    if (doings !== undefined && escrow !== null && isFunded) {
      note(doings.escrows, chain, escrow);
    }
    // The market may be first to send one that was left with it, and its fee is its owner's.
    const refund = txids[`${leg}.refund`];
    if (doings !== undefined && refund !== undefined && chain === stage.place.bitcoin.chain) {
      note(doings.sent, chain, refund);
    }
  }
  return { plan: deal.plan, swapId: deal.swapId, durationMs, problems, txids, refundedOn };
}

/** What a person's money must have moved by, fees aside. */
export function movedBy(plans: readonly Plan[], person: Person): Holding {
  let sum = nothing;
  for (const plan of plans) {
    if (plan.ends !== 'settled') continue;
    const [gives, gets] =
      plan.taker === person
        ? [plan.takerGives, plan.makerGives]
        : [plan.makerGives, plan.takerGives];
    sum = add(sum, { ...nothing, [gives.coin]: -gives.amount });
    sum = add(sum, { ...nothing, [gets.coin]: gets.amount });
  }
  return sum;
}
