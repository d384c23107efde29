// Tools that come to a price: requests, quotes, counters, and taking them back. They bind nobody
// until both sides accept.

import { ttlSeconds } from '@parley/core/limits.ts';
import { parseIsoTime } from '@parley/sdk/people.ts';
import type { Rfq, Thread } from '@parley/sdk/types.ts';
import { type OwnAsset, ownPair, pinnedAsset, typedAmount } from '@parley/trader/assets.ts';
import { ownAssets, unitsIn } from '@parley/trader/deal.ts';
import { roundedAmount } from '@parley/trader/rounded.ts';
import { givesBase } from '@parley/trader/sides.ts';
import { compareTerms, keepTerms } from '@parley/trader/terms.ts';
import { z } from 'zod';
import { amountOf, type Desk, inWords, type Names } from '../desk.ts';
import { idIn, instantIn, orNull, word } from '../foreign.ts';
import { Refusal } from '../refusal.ts';
import * as shape from '../schemas.ts';
import { type Prepared, tradeTool } from '../tool.ts';
import { rfqView, threadView } from './views.ts';

const rfqDone = z.object({ rfqId: z.string(), status: z.string(), endsAt: z.string() });
const threadDone = z.object({
  threadId: z.string(),
  status: z.string(),
  price: shape.amountOut,
  priceEndsAt: z.string().nullable(),
});

/** Small: the tools that read have the rest. */
const rfqMade = ({ id, status, expiresAt }: Rfq) => ({
  rfqId: idIn(id),
  status: word(status),
  endsAt: instantIn(expiresAt),
});

function threadMade({ id, status, quoteAmount, quoteExpiresAt, rfq }: Thread, names: Names) {
  const price = amountOf(quoteAmount, names.of(rfq.quoteAssetId));
  return {
    threadId: idIn(id),
    status: word(status),
    price,
    priceEndsAt: orNull(instantIn, quoteExpiresAt),
  };
}
const { digest } = shape;
/** The output of tools about a thread. */
const ofThread = { done: threadDone, output: shape.outcome(threadDone) } as const;
/** A price that is named. */
const priced = {
  amount: shape.amountIn.describe('for all of it, in the quote asset'),
  validForSeconds: shape.validForSeconds,
  digest,
} as const;

/** Throws Refusal `missing_scope` before anything is planned that the key may not do. */
export async function mustHaveScope(desk: Desk, scope: 'taker' | 'maker'): Promise<void> {
  const scopes = await desk.scopes();
  if (scopes.includes(scope)) return;
  const sentence = `the API key has the scopes ${scopes.join(', ')}, and this wants ${scope}`;
  throw new Refusal('needs_you', 'missing_scope', sentence, { wants: scope, has: scopes.join() });
}

/** A request as it is named, with the own assets that it is about. */
export type Asking = {
  readonly order: Parameters<Desk['client']['createRfq']>[0];
  readonly baseAmount: bigint;
  readonly base: OwnAsset;
  readonly quote: OwnAsset;
};

export const askedPair = {
  side: shape.side,
  amount: shape.amountIn,
  base: shape.assetName,
  quote: shape.assetName,
};
export const minSettled = z
  .int()
  .min(1)
  .max(1_000_000)
  .optional()
  .describe('only quotes of accounts with so many settled swaps');

type Named = z.infer<z.ZodObject<typeof askedPair>> & {
  readonly asks?: string | undefined;
  readonly forSeconds: number;
  readonly to?: string | undefined;
  readonly minSettled?: number | undefined;
};

/** Throws Failure `not_pinned`, `same_chain`, `usage`. */
export async function askingOf({ session, client }: Desk, named: Named): Promise<Asking> {
  const { side, amount, asks, forSeconds, to, minSettled: least } = named;
  const [base, quote] = ownPair(session, named.base, named.quote);
  const baseAmount = typedAmount(amount, base);
  const askAmount = asks === undefined ? null : typedAmount(asks, quote);
  const baseAsset = await pinnedAsset(client, base);
  const quoteAsset = await pinnedAsset(client, quote);
  const order = {
    direction: side === 'sell' ? ('sell_base' as const) : ('buy_base' as const),
    baseAssetId: baseAsset.id,
    baseAmount: baseAmount.toString(),
    quoteAssetId: quoteAsset.id,
    ttlSeconds: forSeconds,
    ...(askAmount === null ? {} : { askAmount: askAmount.toString() }),
    ...(to === undefined ? {} : { visibility: 'private' as const, targetAddress: to }),
    ...(least === undefined ? {} : { minSettled: least }),
  };
  return { order, baseAmount, base, quote };
}

export async function posted({ session, client }: Desk, asking: Asking, idempotencyKey: string) {
  const { order, baseAmount, base, quote } = asking;
  const rfq = await client.createRfq(order, { idempotencyKey });
  const terms = { party: 'taker', direction: order.direction, baseAmount } as const;
  await keepTerms(session, rfq.id, { ...terms, base, quote });
  return rfq;
}

const postRfq = tradeTool({
  name: 'post_rfq',
  title: 'Ask for quotes',
  about: 'Posts a request for quote, which binds nobody. "best_quote" does it and waits.',
  input: z.object({
    ...askedPair,
    asks: shape.amountIn.optional().describe('in the quote asset; default any price'),
    forSeconds: z.int().min(1).max(ttlSeconds.most).optional().describe('default 600'),
    to: z.string().max(120).optional().describe('private, for the account that holds this address'),
    minSettled,
    digest,
  }),
  done: rfqDone,
  output: shape.outcome(rfqDone),
  destructive: false,
  prepare: async (desk, args) => {
    await mustHaveScope(desk, 'taker');
    const { side, to, forSeconds = 600 } = args;
    const asking = await askingOf(desk, { ...args, forSeconds });
    const { order, baseAmount, base, quote } = asking;
    const what = inWords(amountOf(baseAmount, base));
    const price =
      order.askAmount === undefined ? 'any price' : inWords(amountOf(order.askAmount, quote));
    const whom = to === undefined ? 'everybody' : `the account of ${to}`;
    return {
      words: [
        `ask ${whom} for quotes: you ${side} ${what} for ${quote.name}, at ${price}`,
        `it stands ${forSeconds} seconds, binds nobody and locks nothing`,
      ],
      order,
      act: async (idempotencyKey) => rfqMade(await posted(desk, asking, idempotencyKey)),
    };
  },
});

const cancelRfq = tradeTool({
  name: 'cancel_rfq',
  title: 'Take a request back',
  about: 'Cancels a request of yours and closes its threads. First a plan, then its digest.',
  input: z.object({ rfqId: shape.id, digest }),
  done: rfqDone,
  output: shape.outcome(rfqDone),
  destructive: true,
  prepare: async (desk, { rfqId }) => {
    const [names, rfq] = await Promise.all([desk.names(), desk.client.rfq(rfqId)]);
    const { base, side, quoteAsset } = rfqView(rfq, names, desk.userId);
    return {
      words: [`take back the request ${rfqId}: ${side} ${inWords(base)} for ${quoteAsset}`],
      order: { rfqId },
      act: async (idempotencyKey) => {
        return rfqMade(await desk.client.cancelRfq(rfqId, { idempotencyKey }));
      },
    };
  },
});

/** The terms of an RFQ as the profile pins them. Throws where it is another than it was. */
async function termsOf(desk: Desk, rfq: Rfq, party: 'maker' | 'taker') {
  const names = await desk.names();
  const { base, quote } = ownAssets(desk.session, names.whole, { rfq });
  const { direction } = rfq;
  const baseAmount = unitsIn('rfq.baseAmount', rfq.baseAmount);
  const terms = { party, direction, baseAmount, base, quote };
  await compareTerms(desk.session, rfq.id, terms);
  return { names, terms };
}

const endOf = (rfq: Pick<Rfq, 'expiresAt'>) => parseIsoTime(rfq.expiresAt);

/** The request or thread on which a price is offered. */
type Ground = {
  readonly rfq: Rfq;
  readonly party: 'maker' | 'taker';
  readonly words: (terms: Terms) => string;
  readonly order: Readonly<Record<string, string>>;
  /** Fields of the order that the offer itself changes. */
  readonly moves: readonly string[];
  readonly send: (units: string, how: How) => Promise<Thread>;
};
type How = { readonly validForSeconds?: number; readonly idempotencyKey: string };
type Terms = Awaited<ReturnType<typeof termsOf>>['terms'];

const baseWords = (terms: Terms) =>
  roundedAmount(terms.baseAmount, terms.base, givesBase(terms) ? 'up' : 'down');
const priceWords = (terms: Terms, units: string) =>
  roundedAmount(unitsIn('price', units), terms.quote, givesBase(terms) ? 'down' : 'up');

type Offering<K extends string> = {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly of: K;
  readonly on: (desk: Desk, id: string) => Promise<Ground>;
};

/** A price for all of a request: a new quote, or an answer to one. */
function offerTool<K extends 'rfqId' | 'threadId'>({ of, on, ...told }: Offering<K>) {
  const input = z.object({ [of]: shape.id, ...priced } as Record<K, typeof shape.id> &
    typeof priced);
  return tradeTool({
    ...told,
    input,
    ...ofThread,
    destructive: false,
    prepare: async (desk, args) => {
      const { amount, validForSeconds } = args as { amount: string; validForSeconds?: number };
      const id = String((args as Record<string, unknown>)[of]);
      const { rfq, party, words, order, moves, send } = await on(desk, id);
      const { names, terms } = await termsOf(desk, rfq, party);
      const units = `${typedAmount(amount, terms.quote)}`;
      const lifetime = validForSeconds === undefined ? {} : { validForSeconds };
      const holds =
        validForSeconds === undefined ? 'as long as the request' : `${validForSeconds} seconds`;
      return {
        words: [
          words(terms),
          `you offer ${priceWords(terms, units)} for all of it, ${baseWords(terms)}`,
          `the price holds ${holds}`,
          'it locks nothing until both sides accept',
        ],
        order: { ...order, quoteAmount: units, ...lifetime },
        moves,
        until: endOf(rfq),
        act: async (idempotencyKey) => {
          if (party === 'maker') await keepTerms(desk.session, rfq.id, terms);
          return threadMade(await send(units, { ...lifetime, idempotencyKey }), names);
        },
      };
    },
  });
}

const quoteTool = offerTool({
  name: 'quote',
  title: 'Quote a request',
  about:
    'Offers an amount of the quote asset for all of a request. The taker may accept it; the ' +
    'swap is agreed once you accept too. First a plan, then its digest.',
  of: 'rfqId',
  on: async (desk, rfqId) => {
    await mustHaveScope(desk, 'maker');
    const rfq = await desk.client.rfq(rfqId);
    return {
      rfq,
      party: 'maker',
      moves: [],
      words: (terms) =>
        `the taker ${terms.direction === 'sell_base' ? 'sells' : 'buys'} ${baseWords(terms)}`,
      order: { rfqId, direction: rfq.direction, baseAmount: rfq.baseAmount },
      send: (units, how) => desk.client.quote(rfqId, units, how),
    };
  },
});

const counter = offerTool({
  name: 'counter',
  title: 'Propose another price',
  about: 'Answers the price of a thread with another. First a plan, then its digest.',
  of: 'threadId',
  on: async (desk, threadId) => {
    const thread = await desk.client.thread(threadId);
    const { rfq, quoteAmount: from, proposedBy } = thread;
    const party = thread.makerId === desk.userId ? 'maker' : 'taker';
    const by = proposedBy === party ? 'you' : 'them';
    return {
      rfq,
      party,
      moves: ['from'],
      words: (terms) => `the price is ${priceWords(terms, from)}, by ${by}`,
      order: { threadId, from, direction: rfq.direction, baseAmount: rfq.baseAmount },
      send: (units, how) => desk.client.propose(threadId, units, how),
    };
  },
});

const withdraw = tradeTool({
  name: 'withdraw_quote',
  title: 'Take a quote back',
  about: 'Withdraws a quote of yours, which closes its thread. First a plan, then its digest.',
  input: z.object({ threadId: shape.id, digest }),
  ...ofThread,
  destructive: true,
  prepare: async (desk, { threadId }): Promise<Prepared> => {
    const [names, thread] = await Promise.all([desk.names(), desk.client.thread(threadId)]);
    const { price } = threadView(thread, names, desk.userId);
    return {
      words: [`take back your quote of ${inWords(price)} on thread ${threadId}`],
      order: { threadId },
      act: async (idempotencyKey) => {
        const done = await desk.client.withdrawQuote(threadId, { idempotencyKey });
        return threadMade(done, names);
      },
    };
  },
});

export const negotiationTools = [postRfq, cancelRfq, quoteTool, counter, withdraw];
