// How an account kept what it agreed to, in whole days.

import * as s from './common.ts';

const counts = {
  agreed: s.int('counterparties it agreed with, each once a day', 43),
  settled: s.int('of them, those with whom both sides were paid, each once a day', 41),
  abandoned: s.int('swaps that ended because it did not fund or reveal in its turn', 1),
  refunded: s.int('swaps in which something was locked and went back, by whoever’s fault', 1),
};

export const standingFields = {
  countedFrom: s.instant('swaps are counted that were agreed from then on'),
  countedUntil: s.instant('and before then: the beginning of a day, UTC'),
  ...counts,
  high: s.group('Of them, swaps with an amount from `highValueFrom` of its asset on.', counts),
  medianFundSeconds: s.nullable(
    s.int('from its turn to fund until its funding was seen; null of fewer than three', 140),
  ),
};

export const standing = s.model(
  'Standing',
  'How an account kept its agreements, up to the beginning of a day.',
  standingFields,
);
