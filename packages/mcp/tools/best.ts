// Asks for quotes and waits for the best one that keeps a bound. The bound is held against quotes
// here and told to nobody: makers who knew it would quote it. It accepts nothing.

import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { parseIsoTime } from '@parley/sdk/people.ts';
import type { Rfq, Thread } from '@parley/sdk/types.ts';
import { shownAmount } from '@parley/trader/assets.ts';
import { misused } from '@parley/trader/failures.ts';
import {
  gatherSeconds,
  goodOffers,
  type Offer,
  offersIn,
  quotesOf,
} from '@parley/trader/orders/offers.ts';
import { type Order, orderOf } from '@parley/trader/orders/order.ts';
import { compareTerms, keepTerms } from '@parley/trader/terms.ts';
import { z } from 'zod';
import type { Desk } from '../desk.ts';
import { idIn, instantIn } from '../foreign.ts';
import { errorOf, Refusal } from '../refusal.ts';
import * as shape from '../schemas.ts';
import { readTool, type Tool } from '../tool.ts';
import { type Call, mostWaitSeconds, noWait, waited } from '../waiting.ts';
import { accept, elsewhere } from './accept.ts';
import {
  type Asking,
  askedPair,
  askingOf,
  minSettled,
  mustHaveScope,
  posted,
} from './negotiate.ts';
import { threadView } from './views.ts';

/** Makers answer within one or two. */
const usualWaitSeconds = 20;
/** A quarter of a key's budget of requests, where as many calls wait as may. */
const everyMs = 2_000;
/** A request that is younger than its end by less is asked anew. */
const leastLeftSeconds = 60;
/** Twice the longest wait. */
const ttlSeconds = 2 * mostWaitSeconds;
/** A person has to read the plan of a quote before its price ends. */
const leastPriceSeconds = 10;
/** A quote that the own checks refuse makes room for the next one. */
const mostTried = 3;

const input = z.object({
  ...askedPair,
  atLeast: shape.amountIn.optional().describe('to sell: of the quote asset, for all of it'),
  atMost: shape.amountIn.optional().describe('to buy: of the quote asset, for all of it'),
  minSettled,
  waitSeconds: shape.waitSeconds.describe(`default ${usualWaitSeconds}`),
  ...elsewhere,
});
type Args = z.infer<typeof input>;

const output = z.object({
  rfqId: z.string(),
  endsAt: z.string(),
  quotes: z.number().describe('that stand, whatever their price'),
  best: shape.threadOut.nullable(),
  plan: shape.planOut
    .nullable()
    .describe('of "accept" with threadId, price, and what was given here of payTo to hashlock'),
  refused: z.object({ code: z.string(), sentence: z.string() }).nullable(),
  next: z.string(),
});

/** A request, and the order with its bound that it is for. */
type Wanted = { readonly asking: Asking; readonly bounded: Order };

const asked = readTool({
  name: 'best_quote',
  title: 'The best quote within a bound',
  about:
    'Asks all makers, waits, and answers the best price that keeps the bound, with the plan to ' +
    'accept it. It accepts nothing. Called again it waits on at the same request.',
  depth: 1,
  input,
  output,
  waits: ({ waitSeconds = usualWaitSeconds }) => waitSeconds,
  run: async (desk, args, call) => {
    await mustHaveScope(desk, 'taker');
    const { waitSeconds = usualWaitSeconds } = args;
    const wanted = await wantedOf(desk, args);
    const rfq = await desk.inTurn(`ask ${JSON.stringify(wanted.asking.order)}`, () =>
      requestOf(desk, wanted.asking),
    );
    const offers = await offersOf(desk, wanted.bounded, rfq, { call, waitSeconds });
    const about = { rfqId: idIn(rfq.id), endsAt: instantIn(rfq.expiresAt) };
    const good = goodOffers(offers, wanted.bounded);
    return { ...about, quotes: offers.length, ...(await planned(desk, good, args)) };
  },
});

/** It posts a request, which binds nobody: no mere look, and nothing that a plan is for. */
export const bestQuote: Tool = {
  ...asked,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
};

/** Throws Failure `usage`, and what the limits refuse before anybody is asked. */
async function wantedOf(desk: Desk, args: Args): Promise<Wanted> {
  const { side, minSettled: settled, waitSeconds: _, ...words } = args;
  const bounded = orderOf(desk.session, { ...words, side, settled });
  const { base, quote, baseAmount, limit } = bounded;
  if (limit === null) throw misused('to sell, "best_quote" takes atLeast; to buy, atMost');
  const [gives, gets] = side === 'sell' ? [base, quote] : [quote, base];
  const units = side === 'sell' ? baseAmount : limit;
  await desk.held?.ledger.check({ threadId: '', gives: gives.name, gets: gets.name, units });
  const named = { base: base.name, quote: quote.name, forSeconds: ttlSeconds };
  return { bounded, asking: await askingOf(desk, { ...args, ...named }) };
}

/** The own request that asks the same and stands long enough, or a new one. */
async function requestOf(desk: Desk, asking: Asking): Promise<Rfq> {
  const { order, base, quote, baseAmount } = asking;
  const { baseAssetId, quoteAssetId } = order;
  const { rfqs } = await desk.client.rfqs({ own: true, baseAssetId, quoteAssetId });
  const until = desk.session.now() + leastLeftSeconds;
  const same = rfqs.find(
    (each) =>
      (each.status === 'open' || each.status === 'negotiating') &&
      each.creatorId === desk.userId &&
      each.direction === order.direction &&
      each.baseAssetId === baseAssetId &&
      each.quoteAssetId === quoteAssetId &&
      each.baseAmount === order.baseAmount &&
      each.visibility === 'public' &&
      each.askAmount === null &&
      each.minSettled === (order.minSettled ?? null) &&
      parseIsoTime(each.expiresAt) > until,
  );
  if (same === undefined) return posted(desk, asking, bytesToHex(randomBytes(16)));
  const terms = { party: 'taker', direction: order.direction, baseAmount, base, quote } as const;
  const kept = await compareTerms(desk.session, same.id, terms);
  if (kept === null) await keepTerms(desk.session, same.id, terms);
  return same;
}

type How = { readonly call: Call; readonly waitSeconds: number };

/** Quotes of others that a person has time to accept, the best first. */
async function offersOf(
  desk: Desk,
  bounded: Order,
  rfq: Rfq,
  { call, waitSeconds }: How,
): Promise<readonly Offer[]> {
  const { now } = desk.session;
  const isLong = ({ endsAt }: Offer) => endsAt === null || endsAt > now() + leastPriceSeconds;
  let since: number | null = null;
  return waited<readonly Offer[]>({
    call,
    timer: desk.timer,
    seconds: Math.min(waitSeconds, parseIsoTime(rfq.expiresAt) - now()),
    everyMs,
    look: async () => {
      const threads = await quotesOf(desk.client, rfq.id, call.signal);
      mustBeFree(threads);
      return offersIn(threads, bounded, now()).filter(isLong);
    },
    isOver: (offers, passed) => {
      if (goodOffers(offers, bounded).length > 0) since ??= passed;
      return since !== null && passed - since >= gatherSeconds;
    },
    words: (offers) => {
      const [best] = goodOffers(offers, bounded);
      const price = best && shownAmount(best.price, bounded.quote);
      return `${offers.length} quotes: ${price ?? 'none keeps the bound'}`;
    },
  });
}

/** Throws Refusal `accepted_already`: two acceptances of one request are two promises. */
function mustBeFree(threads: readonly Thread[]): void {
  const taken = threads.find(({ takerAccepted, status }) => takerAccepted && status !== 'closed');
  if (taken === undefined) return;
  const { id: threadId, swapId } = taken;
  const sentence = `you have accepted thread ${threadId} of this request: "thread" shows it`;
  throw new Refusal('needs_you', 'accepted_already', sentence, { threadId, swapId });
}

type Planned = Pick<z.infer<typeof output>, 'best' | 'plan' | 'refused' | 'next'>;

async function planned(desk: Desk, good: readonly Offer[], args: Args): Promise<Planned> {
  const [first] = good;
  const none = { best: null, plan: null, refused: null };
  if (first === undefined) {
    const next = 'no quote keeps the bound: call again to wait on, or "cancel_rfq"';
    return { ...none, next };
  }
  const names = await desk.names();
  const shown = ({ thread }: Offer) => threadView(thread, names, desk.userId);
  const { payTo, refundTo, form, hashlock } = args;
  if (desk.held === null && (payTo ?? refundTo) === undefined) {
    const next = '"accept" with threadId, price, payTo and refundTo gives the plan';
    return { ...none, best: shown(first), next };
  }
  let refused: Planned['refused'] = null;
  for (const offer of good.slice(0, mostTried)) {
    const best = shown(offer);
    try {
      const { threadId, price } = best;
      const named = { threadId, price: price.amount, payTo, refundTo, form, hashlock };
      const { plan } = (await accept.run(desk, named as never, noWait)) as Pick<Planned, 'plan'>;
      const next =
        'show plan.words; "accept" does it with threadId, price, plan.digest, and what was given here of payTo to hashlock';
      return { best, plan, refused, next };
    } catch (error) {
      const { code, sentence } = errorOf(error);
      refused ??= { code, sentence };
    }
  }
  return { ...none, best: shown(first), refused, next: 'no plan was made: see "refused"' };
}
