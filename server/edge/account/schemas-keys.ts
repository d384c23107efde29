// Shapes of keys in the browser, and of tickets for the feed.

import Type from 'typebox';
import { scopes } from '../../../core/scopes.ts';
import { keyLifeDays } from '../../market/keys.ts';
import { longestName } from '../../market/messages.ts';
import { dateTime, input, named, nullable, oneOf } from '../schemas/common.ts';

export const keysShown = named(
  'Keys',
  Type.Object({
    keys: Type.Array(
      named(
        'KeyShown',
        Type.Object({
          id: Type.String({ format: 'uuid' }),
          prefix: Type.String({ description: 'how the key begins' }),
          name: nullable(Type.String()),
          scopes: Type.Array(oneOf(scopes)),
          createdAt: dateTime,
          expiresAt: dateTime,
          usedOn: nullable(
            Type.String({
              pattern: '^\\d{4}-\\d{2}-\\d{2}$',
              description: 'the day (UTC) of the last use',
            }),
          ),
          usedFrom: nullable(Type.String({ description: 'the network of the last use' })),
        }),
      ),
    ),
  }),
);

export const makeKeyBody = named(
  'MakeKey',
  input({
    name: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: longestName }))),
    scopes: Type.Array(oneOf(scopes), { minItems: 1, maxItems: scopes.length, uniqueItems: true }),
    lifeDays: Type.Optional(
      Type.Integer({ minimum: 1, maximum: keyLifeDays, description: `${keyLifeDays} unless told` }),
    ),
  }),
);

export const feedTicket = named(
  'FeedTicket',
  Type.Object({
    ticket: Type.String({ description: 'good once' }),
    expiresAt: dateTime,
  }),
);
