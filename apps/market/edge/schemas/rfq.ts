// Shapes of requests for quote.

import { minSettled, ttlSeconds } from '@parley/core/limits.ts';
import { directions, rfqStatuses } from '@parley/core/trade.ts';
import * as s from './common.ts';
import { standing } from './standing.ts';

const { least: minimum, most: maximum } = ttlSeconds;
const direction = s.oneOf(directions, 'what the creator does with the base asset');
const visibility = s.oneOf(['public', 'private'], 'private: whoever has the link, or one address');
const status = s.oneOf(rfqStatuses, 'where it stands');
const terms = {
  direction,
  ...s.pair,
  baseAmount: s.as(s.amount, 'of the base asset, in base units'),
};
const asked = s.as(s.amount, 'the asking price, in base units of the quote asset', '250000000');

const minSettledWords = 'takes quotes of accounts with at least so many settled swaps';
export const minSettledBounds = { minimum: minSettled.least, maximum: minSettled.most };

export const createRfq = s.form('CreateRfq', 'What quotes are asked for.', {
  ...terms,
  ttlSeconds: s.int('lifetime in seconds', 3_600, { minimum, maximum }),
  visibility: s.optional(s.as(visibility, 'who may see and quote it; default: public', 'private')),
  askAmount: s.optional(asked),
  targetAddress: s.optional(
    s.bounded('with `private` only: its holder alone may quote', s.examples.evm, 128),
  ),
  minSettled: s.optional(s.int(minSettledWords, 5, minSettledBounds)),
});

export const rfq = s.model('Rfq', 'A request for quote.', {
  id: s.rfqId,
  ...terms,
  status,
  visibility,
  askAmount: s.nullable(s.text('the asking price, in base units of the quote asset', '250000000')),
  minSettled: s.nullable(s.int(`${minSettledWords}; null: everybody’s`, 5)),
  creatorId: s.as(s.accountId, 'UUID of the account that asks'),
  creatorStanding: s.nullable(
    standing,
    'how it kept its agreements; null: the market has not counted yet',
  ),
  createdAt: s.instant('when it was posted'),
  expiresAt: s.instant('when it ends by itself'),
  targetAddress: s.optional(s.text('for its creator and who holds it to see', s.examples.evm)),
});

export const rfqReply = s.model('RfqReply', 'The RFQ as it is now.', { rfq });

export const rfqList = s.page('RfqList', 'A page of RFQs, newest first.', 'rfqs', rfq);

export const bookQuery = s.pageQuery({
  direction: s.optional(direction),
  baseAssetId: s.optional(terms.baseAssetId),
  quoteAssetId: s.optional(terms.quoteAssetId),
  minSettled: s.optional(
    s.int('those of accounts with at least so many settled swaps', 1, minSettledBounds),
  ),
  addressed: s.optional(s.flag('instead: private RFQs for an address that you hold', false)),
  own: s.optional(s.flag('instead: your own that have not ended, private ones too', false)),
});
