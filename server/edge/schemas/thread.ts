// Shapes of negotiation threads.

import Type from 'typebox';
import { amount, dateTime, hex32Input, input, named, nextCursor, oneOf, uuid } from './common.ts';
import { rfq } from './rfq.ts';
import { rules, rulesInput } from './rules.ts';
import { swapSchema } from './swap.ts';

const party = oneOf(['maker', 'taker']);

export const quoteBody = named('QuoteBody', input({ quoteAmount: amount }));

export const acceptBody = named(
  'AcceptBody',
  input({
    quoteAmount: amount,
    hashlock: Type.Optional({
      ...hex32Input,
      description: 'SHA-256 of the 32-byte secret; from the initiator, and from nobody else',
    }),
    rules: Type.Optional(rulesInput),
  }),
);

const legPreview = named(
  'LegPreview',
  Type.Object({
    chain: Type.String(),
    assetId: uuid,
    amount,
    long: Type.Boolean({ description: 'funded first, by the initiator' }),
    timelockSeconds: Type.Integer({ description: 'from the agreement to the refund' }),
  }),
);

export const thread = named(
  'Thread',
  Type.Object({
    id: uuid,
    rfqId: uuid,
    makerId: uuid,
    takerId: uuid,
    status: oneOf(['open', 'agreed', 'closed']),
    quoteAmount: amount,
    proposedBy: party,
    makerAccepted: Type.Boolean(),
    takerAccepted: Type.Boolean(),
    acceptanceExpiresAt: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'when the standing acceptance lapses',
    }),
    initiator: party,
    legs: Type.Object({ a: legPreview, b: legPreview }),
    rules: Type.Union([rules, Type.Null()], {
      description:
        'what an acceptance would mean now, or what the swap began with; null: the swap began ' +
        'before they were kept',
    }),
    swapId: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uuid' }),
    messages: Type.Array(Type.Object({ by: party, quoteAmount: amount, at: dateTime }), {
      description: 'the price history, newest last, the latest 100',
    }),
    rfq,
    createdAt: dateTime,
    updatedAt: dateTime,
  }),
);

export const threadReply = named('ThreadReply', Type.Object({ thread }));

export const threadList = named(
  'ThreadList',
  Type.Object({ threads: Type.Array(thread), nextCursor }),
);

export const acceptReply = named(
  'AcceptReply',
  Type.Object({ thread, swap: Type.Optional(swapSchema) }),
);
