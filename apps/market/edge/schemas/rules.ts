// Shapes of the rules that a swap is agreed under, and of those of each chain.

import { families } from '@parley/core/families.ts';
import * as s from './common.ts';

const idExample = `${s.examples.contract}:5d3c9b1f2a7e8046`;
const formula = s.int('version of the formula of all times', 3);
const id = s.text(
  '`<address>:<version>` of what holds the escrows; on Bitcoin the version alone. With shards ' +
    '`:` and the first 16 hex digits of the SHA-256 of their list, a space between',
  idExample,
);
const digest = s.text(
  "of the policy: the first 16 hex digits of the SHA-256 of it as JSON, keys in their letters' " +
    'order, no space between',
  '8f14e45fceea167a',
  { pattern: '^[0-9a-f]{16}$' },
);

const isOf =
  'What a swap is agreed under, for good; before that, what an acceptance would mean now.';
export const rules = s.model('Rules', isOf, {
  formula,
  contract: s.group("of each leg's chain", { a: id, b: id }),
  policies: s.group("of each leg's chain", { a: digest, b: digest }),
});

const said = (name: string, what: string, example: string) => {
  const leg = s.text(what, example, { maxLength: 200 });
  return s.form(name, "of each leg's chain", { a: leg, b: leg });
};

const asRead = 'those of the thread as you read it: accepts under no others';
export const rulesInput = s.form('AcceptedRules', asRead, {
  formula,
  contract: said('AcceptedContracts', 'as `rules.contract` of the thread', idExample),
  policies: said('AcceptedPolicies', 'as `rules.policies` of the thread', '8f14e45fceea167a'),
});

const seconds = (description: string, example: number) => s.int(`seconds: ${description}`, example);
const depth = {
  confirmations: s.int('blocks, its own included', 12),
  settleSeconds: seconds('from broadcast to that depth, at the 99.9th percentile', 300),
  outageSeconds: seconds('for which the chain may stand still or be full', 3_600),
};

export const policy = s.model('ChainPolicy', 'What times are computed from for a chain.', {
  floorSeconds: seconds('least timelock, from the agreement', 14_400),
  normal: s.group('for ordinary amounts', depth),
  high: s.group('for amounts of high value', depth),
  lateClaimSeconds: seconds('after its timelock, for which a claim may still land', 60),
  windowSeconds: s.nullable(seconds('for which its clock may trail after a standstill', 43_200)),
  driftSeconds: seconds('by which its clock may be ahead', 15),
  reactSeconds: seconds('for a party to react', 1_800),
  signSeconds: seconds('between asking for a transaction and sending it', 600),
  detectSeconds: seconds('to notice a transaction', 60),
});

const chain = s.group('The rules of one chain.', {
  chain: s.chainKey,
  family: s.oneOf(families, 'the family that the chain belongs to'),
  contract: s.group('what holds its escrows', {
    id,
    address: s.nullable(s.text('where it is; null on Bitcoin', s.examples.contract)),
    version: s.text(
      'the first 16 hex digits of a digest of its code or script',
      '5d3c9b1f2a7e8046',
    ),
    shards: s.list(
      'others of its code that new escrows are spread over',
      s.text('address of a contract of the escrows', s.examples.contract),
    ),
  }),
  policy,
  policyDigest: s.as(digest, 'of `policy`, as threads and swaps name it'),
});

export const marketRules = s.model('MarketRules', 'The rules of this market.', {
  formula,
  limits: s.group('how many requests an account has; `RateLimit-Limit` says what yours has', {
    windowSeconds: seconds('of the window', 60),
    requests: s.int('of an account and of each of its keys', 300),
    requestsOfSettledSwap: s.decimal(
      'more for each settled swap that counts: a counterparty once a UTC day of the agreement',
      30,
    ),
    mostRequests: s.int('the most that it grows to', 3_000),
    settledDays: s.int('how many days back agreements count', 30),
  }),
  chains: s.list('one entry a chain', chain),
});
