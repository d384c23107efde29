// The requirements on a market: both sides of each threshold, what is not known, and that a
// provider which is down closes nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { marketChecks, type Purpose } from '../ports/markets.ts';
import { defaultListingRules, type MarketNumber, marketNumbers } from '../settings/listing.ts';
import { MarketDataUnavailable, marketFindings, marketsOf } from './market-checks.ts';
import type { MarketFacts } from './providers/facts.ts';

const never = new AbortController().signal;
const token = { chain: 'c', address: 'a' };
const { list } = defaultListingRules;
const nothing = Object.fromEntries(marketNumbers.map((each) => [each, null]));
const none = { ...nothing, honeypot: null, asked: ['p', 'q'], unavailable: [] } as unknown;

function factsOf(
  values: { readonly [Name in MarketNumber]?: number },
  more: Partial<MarketFacts> = {},
): MarketFacts {
  const known = Object.entries(values).map(([name, value]) => [name, { value, source: 'p' }]);
  return { ...(none as MarketFacts), ...Object.fromEntries(known), ...more };
}

const good = {
  capUsd: 100_000,
  liquidityUsd: 25_000,
  volume24hUsd: 10_000,
  holders: 200,
  ageSeconds: 86_400,
  topHoldersShare: 0.5,
};

test('at every threshold a token passes, one finding of each check in their order', () => {
  const findings = marketFindings(factsOf(good), list, 'list');
  assert.deepEqual(
    findings,
    marketChecks.map((check) => ({ check, outcome: 'pass', reason: null })),
  );
});

test('past a threshold it waits, with both numbers in the reason', () => {
  const cases: [MarketNumber, number, string][] = [
    [
      'capUsd',
      99_999.99,
      'its market capitalisation is 99999 USD, says p; at least 100000 USD is wanted',
    ],
    [
      'liquidityUsd',
      0,
      'the liquidity of its pools is 0 USD, says p; at least 25000 USD is wanted',
    ],
    [
      'volume24hUsd',
      9_999.5,
      'its volume of the last 24 hours is 9999 USD, says p; at least 10000 USD is wanted',
    ],
    ['holders', 199, 'the number of its holders is 199, says p; at least 200 is wanted'],
    [
      'ageSeconds',
      86_399,
      'the time since its first pool is 86399 seconds, says p; at least 86400 seconds is wanted',
    ],
    [
      'topHoldersShare',
      0.50001,
      'the share of its ten largest holders is 50.01 %, says p; at most 50.00 % is wanted',
    ],
  ];
  for (const [number, value, reason] of cases) {
    const findings = marketFindings(factsOf({ ...good, [number]: value }), list, 'list');
    const waiting = findings.filter(({ outcome }) => outcome !== 'pass');
    const check = marketChecks[marketNumbers.indexOf(number)];
    assert.deepEqual(waiting, [{ check, outcome: 'wait', reason }]);
  }
});

test('an unknown fact waits, and says whether it may be known later', () => {
  const [cap] = marketFindings(factsOf({}), list, 'list');
  const unknown = 'its market capitalisation is not known to p or q; at least 100000 USD is wanted';
  assert.deepEqual(cap, { check: 'capitalisation', outcome: 'wait', reason: unknown });
  const [later] = marketFindings(factsOf({}, { unavailable: ['q'] }), list, 'list');
  assert.match(later?.reason ?? '', /cannot be told: market data is not available now$/);
  const [nobody] = marketFindings(factsOf({}, { asked: [] }), list, 'list');
  assert.match(nobody?.reason ?? '', /is not known to any provider of market data;/);
});

test("a provider's honeypot waits; where none knows there is no finding", () => {
  const honeypot = (value: boolean) =>
    marketFindings(factsOf(good, { honeypot: { value, source: 'p' } }), list, 'list').at(-1);
  assert.deepEqual(honeypot(false), { check: 'honeypot', outcome: 'pass', reason: null });
  assert.equal(honeypot(true)?.outcome, 'wait');
  assert.match(honeypot(true)?.reason ?? '', /cannot|not sold, says p/);
});

test('a listed token is held to its own thresholds', async () => {
  const asked: unknown[] = [];
  const data = {
    look: async (...all: unknown[]) => {
      asked.push(all.slice(0, 2));
      return factsOf({ ...good, capUsd: 60_000, ageSeconds: 1 });
    },
  };
  const checks = marketsOf(data, defaultListingRules);
  const waits = async (purpose: Purpose) =>
    (await checks.look(token, purpose, never)).findings
      .filter(({ outcome }) => outcome === 'wait')
      .map(({ check }) => check);
  assert.deepEqual(await waits('list'), ['capitalisation', 'age']);
  assert.deepEqual(await waits('keep'), []);
  assert.deepEqual((await checks.look(token, 'keep', never)).notChecked, ['age']);
  assert.deepEqual(asked[0], ['c', 'a']);
});

test('while a provider is down a listed token stays as it is', () => {
  const down = { unavailable: ['q'] };
  const { keep } = defaultListingRules;
  assert.throws(() => marketFindings(factsOf({}, down), keep, 'keep'), {
    code: 'market_data_unavailable',
    facts: { providers: 'q' },
  });
  // The provider that answers instead may know less: its answer is no ground to close either.
  const worse = factsOf({ ...good, topHoldersShare: 0.9 }, down);
  assert.throws(() => marketFindings(worse, keep, 'keep'), MarketDataUnavailable);
  assert.equal(marketFindings(worse, list, 'list').at(-1)?.outcome, 'wait');
  assert.ok(marketFindings(factsOf(good, down), keep, 'keep').every((f) => f.outcome === 'pass'));
  assert.throws(() => marketFindings(factsOf({}), keep, 'keep'), MarketDataUnavailable);
  const known = marketFindings(factsOf({ capUsd: 1 }), keep, 'keep');
  assert.ok(known.some(({ outcome }) => outcome === 'wait'));
});
