// The state of a chain in one word, and when a clock is worth a warning.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockToleranceSeconds } from '@parley/sdk/verify.ts';
import { mostClockOffSeconds } from '../../market/config.ts';
import { clockOff, lateBy, stateOf } from './verdict.ts';

const chain = {
  chain: 'bitcoin',
  height: 9,
  clock: 1,
  seenAt: '2026-01-01T00:00:00Z',
  blockSeconds: 600,
  isQuiet: false,
  haltedSince: null,
  sendsClaims: true,
  sendsFundings: true,
};

test('a halt stands above what is seen, and a chain that was never seen is not merely quiet', () => {
  const since = '2026-01-01T00:00:00Z';
  for (const [more, state] of [
    [{}, 'good'],
    [{ isQuiet: true }, 'quiet'],
    [{ height: null, isQuiet: true }, 'unseen'],
    [{ haltedSince: since, height: null, isQuiet: true }, 'halted'],
  ] as const) {
    assert.equal(stateOf({ ...chain, ...more }), state);
  }
});

test('a delay is what a quiet chain is behind its usual time, under a halt too', () => {
  const at = '2026-01-01T01:10:00Z';
  for (const [more, late] of [
    [{}, null],
    [{ isQuiet: true }, 3_600],
    [{ isQuiet: true, haltedSince: at }, 3_600],
    [{ isQuiet: true, blockSeconds: null }, 4_200],
    [{ isQuiet: true, height: null, seenAt: null }, null],
  ] as const) {
    assert.equal(lateBy({ ...chain, ...more }, at), late);
  }
});

test('a clock is worth a warning where nothing is accepted with it, either way', () => {
  const at = '2026-01-01T00:01:00Z';
  const market = Date.parse(at) / 1_000;
  for (const [off, told] of [
    [60, null],
    [61, 61],
    [-60, null],
    [-61, -61],
  ] as const) {
    assert.equal(clockOff({ at }, market + off), told);
  }
  assert.equal(2 * mostClockOffSeconds, clockToleranceSeconds);
});
