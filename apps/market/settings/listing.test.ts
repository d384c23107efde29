// PARLEY_MARKET_DATA and PARLEY_LISTING_RULES: the accepted values, and every mistake named without
// keys.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from './config.ts';
import { defaultListingRules } from './listing.ts';

const read = (env: Record<string, unknown>) =>
  readSettings(
    Object.fromEntries(Object.entries(env).map(([name, each]) => [name, JSON.stringify(each)])),
  );

function refusal(env: Record<string, unknown>): string {
  try {
    read(env);
  } catch (error) {
    return (error as Error).message;
  }
  return assert.fail('taken');
}

test('providers are names, or objects with an address, a pace and a key', () => {
  const coingecko = { provider: 'coingecko', plan: 'pro', key: 'CG-f00d', perMinute: 250 };
  const given = ['goplus', coingecko, { provider: 'geckoterminal', url: 'https://d.example/x' }];
  assert.deepEqual(read({ PARLEY_MARKET_DATA: given }).marketData, [
    { provider: 'goplus' },
    coingecko,
    { provider: 'geckoterminal', url: 'https://d.example/x' },
  ]);
});

test('a provider that cannot be asked is refused by its place, and its key is not repeated', () => {
  const cases: [unknown, RegExp][] = [
    ['goplus', /PARLEY_MARKET_DATA must be an array/],
    [null, /PARLEY_MARKET_DATA must be an array/],
    [{ provider: 'goplus' }, /PARLEY_MARKET_DATA must be an array/],
    [['birdeye'], /PARLEY_MARKET_DATA\[0\]: field "provider" must be one of geckoterminal, goplus/],
    [[null], /PARLEY_MARKET_DATA\[0\]/],
    [['goplus', 'goplus'], /PARLEY_MARKET_DATA\[1\]: goplus is named twice/],
    [['coingecko'], /coingecko needs "key" and "plan"/],
    [[{ provider: 'coingecko', key: 'f00d' }], /coingecko needs "key" and "plan"/],
    [[{ provider: 'goplus', key: 'f00d' }], /goplus takes no "key"/],
    [[{ provider: 'coingecko', plan: 'pro', key: 'f00d f00d' }], /field "key" must match/],
    [[{ provider: 'goplus', url: 'http://g.example' }], /"url" must begin with https/],
    [[{ provider: 'goplus', url: 'https://g.example?key=f00d' }], /"url" must begin with https/],
    [[{ provider: 'goplus', perMinute: 0 }], /perMinute/],
    [[{ provider: 'goplus', more: 1 }], /field "more" is not known/],
  ];
  for (const [given, words] of cases) {
    const message = refusal({ PARLEY_MARKET_DATA: given });
    assert.match(message, words);
    assert.doesNotMatch(message, /f00d/);
  }
  assert.throws(
    () => readSettings({ PARLEY_MARKET_DATA: '[{"key":"f00d"' }),
    (error: Error) => {
      return /PARLEY_MARKET_DATA is not JSON/.test(error.message) && !/f00d/.test(error.message);
    },
  );
});

test('the given rules alone differ', () => {
  const given = {
    list: { holders: 500 },
    keep: { volume24hUsd: null },
    powers: { mintable: 'pass' },
  };
  const { listingRules } = read({ PARLEY_LISTING_RULES: given });
  assert.deepEqual(listingRules.list, { ...defaultListingRules.list, holders: 500 });
  assert.deepEqual(listingRules.keep, { ...defaultListingRules.keep, volume24hUsd: null });
  assert.deepEqual(listingRules.powers, { ...defaultListingRules.powers, mintable: 'pass' });
});

test('rules by which a token would be listed and closed again are refused', () => {
  const cases: [unknown, RegExp][] = [
    [{ list: { capUsd: 49_999 } }, /"keep" is stricter than "list" about capUsd/],
    [{ list: { capUsd: null } }, /"keep" is stricter than "list" about capUsd/],
    [{ keep: { topHoldersShare: 0.4999 } }, /"keep" is stricter than "list" about topHoldersShare/],
    [{ keep: { ageSeconds: 86_401 } }, /about ageSeconds/],
  ];
  for (const [given, words] of cases) assert.match(refusal({ PARLEY_LISTING_RULES: given }), words);
  read({ PARLEY_LISTING_RULES: { list: { capUsd: 50_000 }, keep: { topHoldersShare: 0.5 } } });
  read({ PARLEY_LISTING_RULES: { list: { capUsd: null }, keep: { capUsd: null } } });
});
