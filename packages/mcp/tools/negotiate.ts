// Tools that come to a price: requests, quotes, counters, and taking them back. They bind nobody
// until both sides accept.

import { ttlSeconds } from '@parley/core/limits.ts';
import { parseIsoTime } from '@parley/sdk/people.ts';
import type { Rfq, Thread } from '@parley/sdk/types.ts';
import { ownPair, pinnedAsset, typedAmount } from '@parley/trader/assets.ts';
import { ownAssets, unitsIn } from '@parley/trader/deal.ts';
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
async function mustHaveScope(desk: Desk, scope: 'taker' | 'maker'): Promise<void> {
  const scopes = await desk.scopes();
  if (scopes.includes(scope)) return;
  const sentence = `the API key has the scopes ${scopes.join(', ')}, and this wants ${scope}`;
  throw new Refusal('needs_you', 'missing_scope', sentence, { wants: scope, has: scopes.join() });
}

const postRfq = tradeTool({
  name: 'post_rfq',
  title: 'Ask for quotes',
  about:
    'Posts a request for quote. It binds nobody. First call: a plan. Second call, with the digest ' +
    'of the plan and the same arguments: it is posted.',
  input: z.object({
    side: shape.side,
    amount: shape.amountIn,
    base: shape.assetName,
    quote: shape.assetName,
    asks: shape.amountIn
      .optional()
      .describe('for all of it, in the quote asset; default any price'),
    forSeconds: z
      .int()
      .min(1)
      .max(ttlSeconds.most)
      .optional()
      .describe('how long it stands; default 600'),
    to: z.string().max(120).optional().describe('private, for the account that holds this address'),
    minSettled: z
      .int()
      .min(1)
      .max(1_000_000)
      .optional()
      .describe('takes quotes of accounts with so many settled swaps'),
    digest,
  }),
  done: rfqDone,
  output: shape.outcome(rfqDone),
  destructive: false,
  prepare: async (desk, { side, amount, base, quote, asks, forSeconds = 600, to, minSettled }) => {
    await mustHaveScope(desk, 'taker');
    const { session, client } = desk;
    const [ownBase, ownQuote] = ownPair(session, base, quote);
    const baseAmount = typedAmount(amount, ownBase);
    const askAmount = asks === undefined ? null : typedAmount(asks, ownQuote);
    const pinned = [
      await pinnedAsset(client, ownBase),
      await pinnedAsset(client, ownQuote),
    ] as const;
    const order = {
      direction: side === 'sell' ? ('sell_base' as const) : ('buy_base' as const),
      baseAssetId: pinned[0].id,
      baseAmount: baseAmount.toString(),
      quoteAssetId: pinned[1].id,
      ttlSeconds: forSeconds,
      ...(askAmount === null ? {} : { askAmount: askAmount.toString() }),
      ...(to === undefined ? {} : { visibility: 'private' as const, targetAddress: to }),
      ...(minSettled === undefined ? {} : { minSettled }),
    };
    const what = inWords(amountOf(baseAmount, ownBase));
    const price = askAmount === null ? 'any price' : inWords(amountOf(askAmount, ownQuote));
    const whom = to === undefined ? 'everybody' : `the account of ${to}`;
    return {
      words: [
        `ask ${whom} for quotes: you ${side} ${what} for ${ownQuote.name}, at ${price}`,
        `it stands ${forSeconds} seconds, binds nobody and locks nothing`,
      ],
      order,
      act: async (idempotencyKey) => {
        const rfq = await client.createRfq(order, { idempotencyKey });
        const terms = { party: 'taker', direction: order.direction, baseAmount } as const;
        await keepTerms(session, rfq.id, { ...terms, base: ownBase, quote: ownQuote });
        return rfqMade(rfq);
      },
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
      const what = inWords(amountOf(rfq.baseAmount, terms.base));
      return {
        words: [
          words(terms),
          `you offer ${inWords(amountOf(units, terms.quote))} for all of it, ${what}`,
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
      words: ({ direction, base }) => {
        const does = direction === 'sell_base' ? 'sells' : 'buys';
        return `the taker ${does} ${inWords(amountOf(rfq.baseAmount, base))}`;
      },
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
      words: ({ quote }) => `the price is ${inWords(amountOf(from, quote))}, by ${by}`,
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
