// Shapes of pairs: the meaning of a trade, its cost, and the prices that others traded at.

import { directions, parties } from '@parley/core/trade.ts';
import {
  historyDays,
  mostPairsShown,
  priceAgreements,
  priceWindowSeconds,
} from '../../market/bounds.ts';
import * as s from './common.ts';
import { rules } from './rules.ts';
import { standingFields } from './standing.ts';

const direction = s.oneOf(directions, 'what the taker does with the base asset');
export const priceQuery = s.group('The pair.', s.pair);

export const pairQuery = s.group('The trade.', {
  direction,
  ...s.pair,
  baseAmount: s.optional(s.as(s.amount, 'in base units; high amounts wait longer')),
  quoteAmount: s.optional(s.as(s.amount, 'in base units; high amounts wait longer', '250000000')),
});

const agreement = {
  direction,
  baseAmount: s.as(s.amount, 'in base units of the base asset'),
  quoteAmount: s.as(s.amount, 'in base units of the quote asset', '250000000'),
  agreedAt: s.instant('when both had accepted, the seconds cut off'),
};

export const pairPrice = s.model('PairPrice', 'What a pair was traded at of late.', {
  ...s.pair,
  median: s.nullable(
    s.group('The middle one of them by price, the lower of two.', agreement),
    'the middle one of them by price, the lower of two; null of fewer than three',
  ),
  agreements: s.list(
    `public agreements that both sides funded, newest first, the latest ${priceAgreements}`,
    s.group('An agreement that became a swap.', agreement),
  ),
  windowSeconds: s.int('how far back they are looked for', priceWindowSeconds),
});

const amounts = {
  baseAmount: s.as(s.amount, 'in base units of the base asset'),
  quoteAmount: s.as(s.amount, 'for all of it, in base units of the quote asset', '250000000'),
};

export const historyQuery = s.group('The pair, and how far back.', {
  ...s.pair,
  days: s.optional(s.int('how many days', 7, { minimum: 1, maximum: historyDays, default: 7 })),
});

const point = s.group('Agreements of one bucket.', {
  at: s.instant('when the bucket begins'),
  ...amounts,
  low: s.group('the one of the lowest price', amounts),
  high: s.group('the one of the highest price', amounts),
  count: s.int('how many agreements, the newest hundred at most', 12),
});

export const pairHistory = s.model('PairHistory', 'What a pair was traded at over days.', {
  ...s.pair,
  days: s.int('how many days', 7),
  bucketSeconds: s.int('length of a bucket; buckets begin at whole multiples of it', 3_600),
  points: s.list(
    'buckets with public agreements that both sides funded, oldest first; `baseAmount` and ' +
      '`quoteAmount` are those of the middle one by price, the lower of two',
    point,
  ),
});

const tradedPair = s.group('A pair that is traded.', {
  ...s.pair,
  median: s.nullable(
    s.group('of the agreements', amounts),
    'the middle one of the agreements by price, the lower of two; null of fewer than three',
  ),
  agreements: s.int('public agreements that both sides funded, of the window', 34),
  bid: s.nullable(
    s.group('a level', amounts),
    'the best level for a taker that sells the base asset: of makers with settled swaps, else of ' +
      'all; null of none. It promises nothing',
  ),
  ask: s.nullable(s.group('a level', amounts), 'the same for a taker that buys the base asset'),
  makers: s.int('makers of the best levels of the pair', 3),
});

export const pairList = s.model('PairList', 'The pairs that are traded.', {
  pairs: s.list(
    `pairs of open assets with levels or agreements, at most ${mostPairsShown}: those of ` +
      'verified assets first, then by agreements, then by makers. The base is the asset that was ' +
      'listed first',
    tradedPair,
  ),
  windowSeconds: s.int('how far back agreements are looked for', priceWindowSeconds),
});

const units = s.text('base units of the native coin of the chain', '61780000000000', {
  pattern: '^(0|[1-9][0-9]{0,77})$',
});
const cost = s.group('Of one transaction.', {
  usual: s.as(units, 'likely now, base units of the native coin'),
  most: s.as(units, 'what its sender should have for it', '148300000000000'),
});
const costs = s.model('LegCosts', 'Fees of a leg by the prices of now.', {
  fund: cost,
  claim: cost,
  refund: cost,
  settlesFromAmount: s.flag('Bitcoin: a claim or refund pays its fee out of the amount', false),
  deposit: s.nullable(
    s.group('Solana: beside the amount', {
      locked: s.as(units, 'lamports that the funding locks', '2338560'),
      keptByClaim: s.as(units, 'of them, what a claim leaves locked until the timelock', '897840'),
    }),
  ),
});

const leg = s.model('PairLeg', 'A leg as a swap would have it.', {
  chain: s.chainKey,
  assetId: s.assetId,
  long: s.flag('funded first, by the initiator', true),
  timelockSeconds: s.int('from the agreement to the refund', 86_400),
  confirmations: s.int('blocks that its funding waits for', 12),
  leastAmount: s.nullable(
    s.as(s.amount, 'less is refused now, base units of its asset; null: its chain does not tell'),
  ),
  costs: s.nullable(costs, 'fees by the prices of now; null: its chain does not tell'),
});

const seconds = (description: string, example: number) =>
  s.int(`seconds from the agreement: ${description}`, example);
const expected = s.group('Of one side.', {
  usualSeconds: seconds('until it is paid, where both act at once', 2_040),
  worstSeconds: seconds('until it is paid, or its own leg is taken back', 97_980),
});

export const pair = s.model('PairTerms', 'What a trade would mean.', {
  direction,
  ...s.pair,
  initiator: s.oneOf(parties, 'who makes the secret and funds first'),
  rules,
  legs: s.group('`a` is funded by the maker, `b` by the taker', { a: leg, b: leg }),
  initiatorFundBySeconds: seconds('last moment for its funding to be sent', 40_000),
  counterpartyFundBySeconds: seconds('last moment for its funding to be sent', 60_000),
  revealBySeconds: seconds('last moment for the initiator to claim', 70_000),
  expected: s.nullable(
    s.group('of each side', { initiator: expected, counterparty: expected }),
    'how long it takes each side; null: a chain does not tell',
  ),
});

export const accountRecord = s.model('AccountRecord', 'How the other side kept its agreements.', {
  accountId: s.accountId,
  since: s.instant('the day on which the account was made'),
  ...standingFields,
});

const chain = s.group('What is known of one chain.', {
  chain: s.chainKey,
  height: s.nullable(s.int('of the best block that was seen; null: none yet', 921_442)),
  clock: s.nullable(s.unixSeconds('the clock of that block')),
  seenAt: s.nullable(s.instant('when that block was first seen')),
  blockSeconds: s.nullable(s.decimal('usual time between blocks', 600)),
  isQuiet: s.flag('no new block for longer than is usual: the market may not see the chain', false),
  haltedSince: s.nullable(s.instant('since then its operator lets no new swap be agreed')),
  sendsClaims: s.flag(
    'claims are sent with the market’s gas for who asks, within its bounds',
    true,
  ),
  sendsFundings: s.flag('so are fundings of tokens that are paid by a signature (EIP-3009)', true),
});

export const marketStatus = s.model('MarketStatus', 'Whether the market works.', {
  at: s.instant('when this was read'),
  network: s.oneOf(['mainnet', 'testnet', 'dev'], 'what its chains are'),
  agrees: s.flag('whether acceptances can become swaps now', true),
  waitsFor: s.list(
    'why not: times that are missing from the database, until the operator goes on',
    s.text('one of them', '2026-11-21T13:00:00.000Z to 2026-11-21T14:00:00.000Z'),
  ),
  chains: s.list('one entry a chain', chain),
});
