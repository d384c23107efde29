// Shapes of requests for quote.

import Type from 'typebox';
import { ttlSeconds } from '../../market/bounds.ts';
import { amount, dateTime, input, named, nextCursor, oneOf, uuid } from './common.ts';

export const directions = ['sell_base', 'buy_base'] as const;
const visibilities = ['public', 'private'] as const;
const statuses = ['open', 'negotiating', 'agreed', 'cancelled', 'expired'] as const;

export const createRfq = named(
  'CreateRfq',
  input({
    direction: oneOf(directions, 'what the creator does with the base asset'),
    baseAssetId: uuid,
    baseAmount: amount,
    quoteAssetId: uuid,
    ttlSeconds: Type.Integer({
      minimum: ttlSeconds.least,
      maximum: ttlSeconds.most,
      description: 'lifetime in seconds',
    }),
    visibility: Type.Optional(oneOf(visibilities, 'default: public')),
    askAmount: Type.Optional(amount),
    targetAddress: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description:
          'with `private` only, an address of any family: who holds it may quote, nobody else',
      }),
    ),
  }),
);

export const rfq = named(
  'Rfq',
  Type.Object({
    id: uuid,
    direction: oneOf(directions),
    baseAssetId: uuid,
    baseAmount: amount,
    quoteAssetId: uuid,
    status: oneOf(statuses),
    visibility: oneOf(visibilities),
    askAmount: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'the asking price, in base units of the quote asset',
    }),
    creatorId: uuid,
    createdAt: dateTime,
    expiresAt: dateTime,
    targetAddress: Type.Optional(
      Type.String({ description: 'shown to the creator and to who holds the address' }),
    ),
  }),
);

export const rfqReply = named('RfqReply', Type.Object({ rfq }));

export const rfqList = named('RfqList', Type.Object({ rfqs: Type.Array(rfq), nextCursor }));
