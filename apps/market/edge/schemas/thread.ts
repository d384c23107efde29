// Shapes of negotiation threads.

import { mostQuotesAtOnce, validForSeconds } from '@parley/core/limits.ts';
import { parties, threadStatuses } from '@parley/core/trade.ts';
import * as s from './common.ts';
import { rfq } from './rfq.ts';
import { rules, rulesInput } from './rules.ts';
import { standing } from './standing.ts';
import { swapSchema } from './swap.ts';

const party = (description: string) => s.oneOf(parties, description);
const quoteAmount = s.as(s.amount, 'the price, in base units of the quote asset', '250000000');

const { least: minimum, most: maximum } = validForSeconds;
const offered = {
  quoteAmount,
  validForSeconds: s.optional(
    s.int('how long this price holds, from its receipt; left out: as long as the RFQ', 30, {
      minimum,
      maximum,
    }),
  ),
};
/** The fields that a maker quotes. */
export const quoted = {
  ...offered,
  unlessAccepted: s.optional(
    s.flag("refused while the taker's acceptance of the price before stands", true),
  ),
};

export const quoteBody = s.form('QuoteBody', 'A price of a maker.', quoted);
/** Many of one request or frame. */
export const quotedMany = s.list(
  `1 to ${mostQuotesAtOnce} quotes, each on another RFQ`,
  s.form('QuoteOfMany', 'A quote on one RFQ.', {
    rfqId: s.text('UUID of the RFQ', s.exampleIn(s.rfqId), { maxLength: 64 }),
    ...quoted,
    // Without the pattern: a price that is no amount is refused alone, not the whole body.
    quoteAmount: s.text('the price, in base units of the quote asset', '250000000'),
  }),
  { minItems: 1, maxItems: mostQuotesAtOnce },
);
export const quotesBody = s.form('QuotesBody', 'Prices for RFQs.', { quotes: quotedMany });

export const quoteOutcomes = s.list(
  'one a quote, in their order',
  s.model('QuoteOutcome', 'What became of a quote.', {
    status: s.int('as POST /v1/rfqs/{id}/quotes would have answered it', 201),
    rfqId: s.text('the RFQ as it was named', s.exampleIn(s.rfqId)),
    threadId: s.optional(s.as(s.threadId, 'UUID of its thread; of 200 and 201')),
    quoteExpiresAt: s.optional(s.nullable(s.instant('as the thread has it; of 200 and 201'))),
    error: s.optional(s.as(s.sentence, 'why it was refused')),
    code: s.optional(s.text('the code of the refusal', 'rfq_gone')),
  }),
);
export const quotesReply = s.model('QuotesReply', 'What became of each quote.', {
  outcomes: quoteOutcomes,
});

export const withdrawBody = s.form('WithdrawBody', 'Where to go on.', {
  after: s.optional(s.as(s.threadId, '`next` of the answer before; left out: from the oldest on')),
});
export const withdrawReply = s.model('WithdrawReply', 'What became of your open quotes.', {
  withdrawn: s.int('how many were withdrawn', 37),
  committed: s.int('how many stay open, because your own acceptance stands', 1),
  next: s.nullable(s.threadId, 'what to name as `after`; null: those were all'),
});

export const proposeBody = s.form('ProposeBody', 'Another price for the thread.', offered);

export const acceptBody = s.form('AcceptBody', 'What is agreed to.', {
  quoteAmount: s.as(quoteAmount, 'the price as you read it; another one is refused'),
  hashlock: s.optional(
    s.as(s.hex32Input, 'SHA-256 of the 32-byte secret; from the initiator, and from nobody else'),
  ),
  rules: s.optional(rulesInput),
});

const leg = s.model('LegPreview', 'A leg as the swap would have it.', {
  chain: s.chainKey,
  assetId: s.assetId,
  amount: s.as(s.amount, 'in base units of its asset'),
  long: s.flag('funded first, by the initiator', true),
  timelockSeconds: s.int('from the agreement to the refund', 86_400),
});

export const thread = s.model('Thread', 'A negotiation between the maker and the taker.', {
  id: s.threadId,
  rfqId: s.rfqId,
  makerId: s.as(s.accountId, 'UUID of the account that quotes'),
  makerStanding: s.nullable(standing, 'how the maker kept its agreements; null: not counted yet'),
  takerId: s.as(s.accountId, 'UUID of the account that asked'),
  status: s.oneOf(threadStatuses, 'where it stands'),
  quoteAmount,
  proposedBy: party('whose price it is'),
  currentQuoteAmount: s.as(quoteAmount, 'alias: the same as `quoteAmount`'),
  pendingAmount: s.nullable(
    quoteAmount,
    'alias: `quoteAmount` while the other side may accept it and has not; null: it is not open',
  ),
  pendingBy: s.nullable(party('alias: `proposedBy` where `pendingAmount` is'), 'else null'),
  makerAccepted: s.flag('the maker accepts this price', true),
  takerAccepted: s.flag('the taker accepts this price', false),
  acceptanceExpiresAt: s.nullable(s.instant('when the standing acceptance lapses')),
  quoteExpiresAt: s.nullable(
    s.instant('from when on nobody may accept this price; null: it has no end of its own'),
  ),
  withdrawnAt: s.nullable(
    s.instant('when the maker withdrew its quote, which closed the thread until it quotes again'),
  ),
  initiator: party('who makes the secret and funds first'),
  legs: s.group('what each side would fund', { a: leg, b: leg }),
  rules,
  swapId: s.nullable(s.swapId, 'the swap, once both have accepted'),
  messages: s.list(
    'the price history, newest last, the latest 100',
    s.group('One price that was named.', {
      by: party('who named it'),
      quoteAmount,
      at: s.instant('when it was named'),
    }),
  ),
  rfq,
  createdAt: s.instant('when the first quote came'),
  updatedAt: s.instant('when it last changed'),
});

/** Which of one's own threads. */
export const ownThreads = {
  role: s.optional(party('your side of them; `maker` unless named')),
  status: s.optional(s.oneOf(threadStatuses, 'where they stand; `open` unless named')),
  rfqId: s.optional(s.as(s.rfqId, 'UUID of the RFQ that they are on; of any unless named')),
};

export const threadReply = s.model('ThreadReply', 'The thread as it is now.', { thread });

export const threadList = s.page(
  'ThreadList',
  'A page of threads, newest activity first.',
  'threads',
  thread,
);

export const acceptReply = s.model('AcceptReply', 'The thread, and the swap where there is one.', {
  thread,
  swap: s.optional(swapSchema),
});
