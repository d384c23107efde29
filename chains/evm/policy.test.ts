import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenInequalities } from '../../core/deadlines.ts';
import { bitcoinPolicies } from '../bitcoin/policy.ts';
import { evmChains } from './policy.ts';

const settings = Object.entries(evmChains);

test('every pair of EVM chains keeps every inequality, at either depth', () => {
  for (const [shortName, { policy: short }] of settings) {
    for (const [longName, { policy: long }] of settings) {
      for (const shortDepth of [short.normal, short.high]) {
        for (const longDepth of [long.normal, long.high]) {
          const broken = brokenInequalities(
            { policy: short, depth: shortDepth },
            { policy: long, depth: longDepth },
          );
          assert.deepEqual(broken, [], `${shortName} short, ${longName} long`);
        }
      }
    }
  }
});

test('every EVM chain keeps every inequality below Bitcoin, which is always the long leg', () => {
  for (const [name, { policy: short }] of settings) {
    for (const long of Object.values(bitcoinPolicies)) {
      for (const shortDepth of [short.normal, short.high]) {
        for (const longDepth of [long.normal, long.high]) {
          const broken = brokenInequalities(
            { policy: short, depth: shortDepth },
            { policy: long, depth: longDepth },
          );
          assert.deepEqual(broken, [], name);
        }
      }
    }
  }
});

test('more value never means less depth or less time, and chain ids are unique', () => {
  for (const [name, { policy }] of settings) {
    assert.ok(policy.high.confirmations >= policy.normal.confirmations, name);
    assert.ok(policy.high.settleSeconds >= policy.normal.settleSeconds, name);
    assert.ok(policy.high.outageSeconds >= policy.normal.outageSeconds, name);
    assert.equal(policy.floorSeconds, 4 * 3_600, name);
  }
  assert.equal(new Set(settings.map(([, { chainId }]) => chainId)).size, settings.length);
});
