// Shapes of indicative levels.

import { levelSeconds, minSettled, mostLevels } from '@parley/core/limits.ts';
import { directions } from '@parley/core/trade.ts';
import * as s from './common.ts';
import { standing } from './standing.ts';

const direction = s.oneOf(
  directions,
  'what the taker does with the base asset: `sell_base` is the maker’s bid, `buy_base` its ask',
);
const terms = {
  baseAmount: s.as(s.amount, 'the size: RFQs of up to so many base units of the base asset'),
  quoteAmount: s.as(
    s.amount,
    'for all of `baseAmount`, in base units of the quote asset: their quotient is the price',
    '250000000',
  ),
};
const least = s.as(s.amount, 'RFQs of at least so many base units of the base asset', '1000');
const { least: minimum, most: maximum } = levelSeconds;

const wantedLevel = s.form('WantedLevel', 'A level that is to be shown.', {
  direction,
  ...terms,
  leastBaseAmount: s.optional(least),
  validForSeconds: s.int('how long it is shown, from its receipt', 60, { minimum, maximum }),
});

/** The fields in which a maker publishes a pair, by REST and on the feed. */
export const published = {
  ...s.pair,
  levels: s.list(
    'all levels of yours on this pair, in place of those before; an empty list withdraws them',
    wantedLevel,
    { maxItems: mostLevels },
  ),
};

export const publishLevels = s.form(
  'PublishLevels',
  'Prices at which you would quote a pair; they promise nothing.',
  published,
);

export const publishedFields = {
  ...s.pair,
  published: s.int('how many levels of yours there are on the pair now', 4),
  endsAt: s.nullable(
    s.instant('when the first of them ends, by the market’s database'),
    'when the first of them ends: RFC 3339, UTC, milliseconds; null of none',
  ),
};

export const publishedLevels = s.model(
  'PublishedLevels',
  'What is published now.',
  publishedFields,
);

export const withdrawnLevels = s.model('WithdrawnLevels', 'What was withdrawn.', {
  withdrawn: s.int('how many levels, of all pairs', 12),
});

export const levelsQuery = s.pageQuery({
  direction,
  ...s.pair,
  baseAmount: s.optional(s.as(s.amount, 'only levels that are for so much of the base asset')),
  minSettled: s.optional(
    s.int('only of makers with at least so many settled swaps', 5, {
      minimum: 0,
      maximum: minSettled.most,
    }),
  ),
  makerId: s.optional(s.as(s.accountId, 'only of this account')),
});

const level = s.model('Level', 'A price at which a maker would quote. It promises nothing.', {
  makerId: s.as(s.accountId, 'UUID of the account that published it; `makerId` of its quotes'),
  makerStanding: s.nullable(
    standing,
    'how it kept its agreements; null: the market has not counted yet',
  ),
  direction,
  ...s.pair,
  ...terms,
  leastBaseAmount: s.nullable(least, 'RFQs of at least so much of the base asset; null: any'),
  publishedAt: s.instant('when it was published'),
  expiresAt: s.instant('when it ends'),
});

export const levelList = s.page(
  'LevelList',
  'A page of levels, the best price for the taker first.',
  'levels',
  level,
);
