// Shapes of the maker feed's frames: specification part 6, and what a maker may ask for beyond it.

import { feedTopics } from '@parley/core/events.ts';
import { graceSeconds as grace } from '@parley/core/limits.ts';
import * as s from './common.ts';
import { published, publishedFields } from './level.ts';
import { minSettledBounds, rfq } from './rfq.ts';
import { quoted, quotedMany, quoteOutcomes } from './thread.ts';
import { titleOf, webhookEvents } from './webhook.ts';

const type = <const T extends string>(name: T) => s.oneOf([name], 'which frame it is');
const number = s.int('the number of the last public entry of the log', 48_213);
const seq = s.optional(s.as(number, 'with `resume` only: the number of the last public entry'));
const idempotencyKey = s.optional(
  s.text('with `resume`: that of the quote, where it had one', 'quote-7f3a'),
);
const most = { maxItems: 100 };

const graceSeconds = s.int(
  'cancel on disconnect: your open quotes and levels are withdrawn when you were gone so many seconds',
  15,
  { minimum: grace.least, maximum: grace.most },
);

export const firstFrame = s.form(
  'FirstFrame',
  'The key; the first frame, and the only one taken before.',
  {
    apiKey: s.text(
      'a key with the scope `maker`, or a ticket of POST /account/feed-ticket',
      `{short}_test_${'4kX9mQ2v'.repeat(5)}abc`,
      { maxLength: 200 },
    ),
    minSettled: s.optional(
      s.int(
        'a snapshot of RFQs of accounts with at least so many settled swaps; what comes after it is all',
        1,
        minSettledBounds,
      ),
    ),
    resume: s.optional(s.flag('asks for `seq`, `gone`, `pong` and what was missed', true)),
    since: s.optional(
      s.int(
        'with `resume`: the last `seq` that was seen; what came after it is sent, and private ' +
          'RFQs of that `seq` again',
        48_213,
        { minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      ),
    ),
    events: s.optional(
      s.list(
        'asks for these events of your threads and RFQs',
        s.oneOf(feedTopics, 'the name of an event'),
        { minItems: 1, maxItems: feedTopics.length, uniqueItems: true },
      ),
    ),
    cancelOnDisconnect: s.optional(graceSeconds),
    sinceEvent: s.optional(
      s.int(
        'with `events`: the last `eventSeq` that was seen; what came after it is sent',
        1_773_480_413_017,
        { minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      ),
    ),
  },
);

export const quoteFrame = s.form(
  'QuoteFrame',
  'A price for an RFQ, as POST /v1/rfqs/{id}/quotes.',
  {
    quote: s.input(
      {
        rfqId: s.text('the RFQ', s.exampleIn(s.rfqId), { maxLength: 200 }),
        ...quoted,
        idempotencyKey: s.optional(
          s.text('as the header: a retry with it is answered with the first reply', 'quote-7f3a', {
            maxLength: 255,
            // The pattern of the header: both are one space of keys.
            pattern: '^[!-~]([ -~]*[!-~])?$',
          }),
        ),
      },
      'the quote',
    ),
  },
);

const keyOfMany = s.optional(
  s.text('as the header: a retry with it is answered with the first outcomes', 'batch-7f3a', {
    maxLength: 255,
    pattern: '^[!-~]([ -~]*[!-~])?$',
  }),
);
export const quotesFrame = s.form('QuotesFrame', 'Prices for RFQs, as POST /v1/quotes.', {
  quotes: quotedMany,
  idempotencyKey: keyOfMany,
});

export const levelsFrame = s.form('LevelsFrame', 'Your levels on a pair, as POST /v1/levels.', {
  levels: s.input({ ...published, idempotencyKey: keyOfMany }, 'the pair and its levels'),
});

export const pingFrame = s.form('PingFrame', 'With `resume`: asks for a pong.', {
  ping: s.text('comes back in `pong`', 'are you there?', { maxLength: 64 }),
});

export const snapshotFrame = s.model('SnapshotFrame', 'The book as it is.', {
  type: type('snapshot'),
  rfqs: s.list('the public book, newest first', rfq, most),
  addressed: s.optional(s.list('with `resume`: private RFQs for you', rfq, most)),
  seq,
});

export const readyFrame = s.model('ReadyFrame', 'From here on the stream.', {
  type: type('ready'),
  seq,
});

export const rfqFrame = s.model('RfqFrame', 'An RFQ came, or left the book: an upsert by its id.', {
  type: type('rfq'),
  kind: s.oneOf(['created', 'cancelled'], 'which of both'),
  rfq,
  seq,
});

export const quotedFrame = s.model('QuotedFrame', 'The quote is stored on this thread.', {
  type: type('quoted'),
  rfqId: s.rfqId,
  threadId: s.threadId,
  idempotencyKey,
  seq,
});

export const outcomesFrame = s.model('OutcomesFrame', 'What became of `quotes`, in their order.', {
  type: type('outcomes'),
  outcomes: quoteOutcomes,
  idempotencyKey: s.optional(s.text('that of the frame, where it had one', 'batch-7f3a')),
  seq,
});

export const publishedFrame = s.model('LevelsPublishedFrame', 'Your levels are published.', {
  type: type('levels'),
  ...publishedFields,
  idempotencyKey: s.optional(s.text('that of the frame, where it had one', 'batch-7f3a')),
  seq,
});

export const errorFrame = s.model('ErrorFrame', 'What was refused, or why the socket is closed.', {
  type: type('error'),
  error: s.sentence,
  code: s.optional(s.text('with `resume`: the code that REST has in x-<name>-error', 'bad_field')),
  rfqId: s.optional(s.text('with `resume`: of the quote that was refused', s.exampleIn(s.rfqId))),
  baseAssetId: s.optional(s.text('with `resume`: of the levels', s.exampleIn(s.assetId))),
  quoteAssetId: s.optional(s.text('with `resume`: of the levels', s.exampleIn(s.assetId))),
  idempotencyKey,
  seq,
});

const numbered = (name: string, kind: 'resumed' | 'reset', description: string) =>
  s.model(name, description, { type: type(kind), seq: number });
export const resumedFrame = numbered(
  'ResumedFrame',
  'resumed',
  'With `since`: what was missed follows.',
);
export const resetFrame = numbered('ResetFrame', 'reset', 'With `since`: a snapshot follows.');

export const goneFrame = s.model('GoneFrame', 'With `resume`: an RFQ expired or was agreed.', {
  type: type('gone'),
  rfqId: s.rfqId,
  reason: s.oneOf(['expired', 'agreed'], 'why'),
  seq: number,
});

export const pongFrame = s.model('PongFrame', 'With `resume`: the answer to a ping.', {
  type: type('pong'),
  pong: s.text('what the ping held', 'are you there?'),
  seq: number,
});

const eventSeq = s.int(
  'the number of the event; yours ascend by one, those you did not ask for count too',
  1_773_480_413_017,
);

export const subscribedFrame = s.model('SubscribedFrame', 'With `events`: they are heard.', {
  type: type('subscribed'),
  events: s.list('those asked for', s.oneOf(feedTopics, 'the name of an event')),
  resumed: s.flag(
    'true: what came after `sinceEvent` follows; false: read what stands, GET /v1/threads',
    true,
  ),
  eventSeq: s.as(eventSeq, 'events after this number follow'),
  seq,
});

/** The frame of an event: as a webhook has it, without the delivery. */
function eventFrame(topic: (typeof feedTopics)[number]) {
  const { when, body } = webhookEvents[topic];
  const { deliveryId: _, ...fields } = body.properties;
  return s.model(`${titleOf(topic)}Frame`, `With \`events\`: ${when}.`, {
    ...fields,
    eventSeq,
    seq,
  });
}

export const eventFrames = Object.fromEntries(
  feedTopics.map((topic) => [topic, eventFrame(topic)]),
);

export const switchFrame = s.form(
  'SwitchFrame',
  'Asks for cancel on disconnect from now on, or no more: before you leave for longer.',
  { cancelOnDisconnect: s.nullable(graceSeconds) },
);

export const switchedFrame = s.model('SwitchedFrame', 'Cancel on disconnect is stored so.', {
  type: type('cancelOnDisconnect'),
  seconds: s.nullable(graceSeconds, 'the seconds; null: this connection does not ask for it'),
  seq,
});
