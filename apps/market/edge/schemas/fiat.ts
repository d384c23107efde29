// Shapes of prices in a currency.

import * as s from './common.ts';

const price = s.group('The price of one whole coin.', {
  assetId: s.assetId,
  price: s.text('in the currency, decimal', '65120.12'),
});

export const fiat = s.model('Fiat', 'Prices of coins in a currency, by a source of the operator.', {
  currency: s.nullable(
    s.text('ISO 4217', 'USD'),
    'ISO 4217; null: the operator has no source, or it has told nothing for ten minutes',
  ),
  source: s.nullable(s.text('host of the source', 'prices.market.example')),
  at: s.nullable(s.instant('when the source told it')),
  prices: s.list('one entry an open asset that the source knows', price),
});
