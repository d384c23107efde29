// Shapes of the maker feed's frames: specification part 6, and what a maker may ask for beyond it.

import Type from 'typebox';
import { amount, input, named, oneOf, uuid } from './common.ts';
import { rfq } from './rfq.ts';

const seq = Type.Optional(
  Type.Integer({
    description: 'with `resume` only: the number of the last public entry of the log',
  }),
);

export const firstFrame = named(
  'FirstFrame',
  input({
    apiKey: Type.String({
      maxLength: 200,
      description: 'a key with the scope `maker`, or a ticket of POST /account/feed-ticket',
    }),
    resume: Type.Optional(
      Type.Boolean({ description: 'asks for `seq`, `gone`, `pong` and what was missed' }),
    ),
    since: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'with `resume`: the last `seq` that was seen; what came after it is sent, and private ' +
          'RFQs of that `seq` again',
      }),
    ),
  }),
);

// What the header could carry: both are one space of keys.
const headerText = '^[!-~]([ -~]*[!-~])?$';

export const quoteFrame = named(
  'QuoteFrame',
  input({
    quote: input({
      rfqId: Type.String({ maxLength: 200 }),
      quoteAmount: amount,
      idempotencyKey: Type.Optional(Type.String({ maxLength: 255, pattern: headerText })),
    }),
  }),
);

export const pingFrame = named(
  'PingFrame',
  input({ ping: Type.String({ maxLength: 64, description: 'comes back in `pong`' }) }),
);

export const snapshotFrame = named(
  'SnapshotFrame',
  Type.Object({
    type: oneOf(['snapshot']),
    rfqs: Type.Array(rfq, { maxItems: 100, description: 'the public book, newest first' }),
    addressed: Type.Optional(
      Type.Array(rfq, { maxItems: 100, description: 'with `resume`: private RFQs for you' }),
    ),
    seq,
  }),
);

export const readyFrame = named('ReadyFrame', Type.Object({ type: oneOf(['ready']), seq }));

export const rfqFrame = named(
  'RfqFrame',
  Type.Object({ type: oneOf(['rfq']), kind: oneOf(['created', 'cancelled']), rfq, seq }),
);

const idempotencyKey = Type.Optional(
  Type.String({ description: 'with `resume`: that of the quote, where it had one' }),
);

export const quotedFrame = named(
  'QuotedFrame',
  Type.Object({ type: oneOf(['quoted']), rfqId: uuid, threadId: uuid, idempotencyKey, seq }),
);

export const errorFrame = named(
  'ErrorFrame',
  Type.Object({
    type: oneOf(['error']),
    error: Type.String({ description: 'one plain sentence' }),
    code: Type.Optional(
      Type.String({ description: 'with `resume`: the code that REST has in x-<name>-error' }),
    ),
    rfqId: Type.Optional(
      Type.String({ description: 'with `resume`: of the quote that was refused' }),
    ),
    idempotencyKey,
    seq,
  }),
);

export const resumedFrame = named(
  'ResumedFrame',
  Type.Object({ type: oneOf(['resumed']), seq: Type.Integer() }),
);

export const resetFrame = named(
  'ResetFrame',
  Type.Object({ type: oneOf(['reset']), seq: Type.Integer() }),
);

export const goneFrame = named(
  'GoneFrame',
  Type.Object({
    type: oneOf(['gone']),
    rfqId: uuid,
    reason: oneOf(['expired', 'agreed']),
    seq: Type.Integer(),
  }),
);

export const pongFrame = named(
  'PongFrame',
  Type.Object({ type: oneOf(['pong']), pong: Type.String(), seq: Type.Integer() }),
);
