// When a service counts as late, by a clock that the test moves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPasses } from './passes.ts';

test('a service is late ten seconds after it said that it would be heard of, and not before', () => {
  let now = 0;
  const passes = createPasses(() => now);
  const feed = passes.join('feed');
  const tokens = passes.join('tokens');
  now = 1e9;
  assert.deepEqual(passes.late(), [], 'none that has not begun is late');
  feed.within(1_000);
  tokens.within(500);
  now += 11_000;
  assert.deepEqual(passes.late(), [{ service: 'tokens', byMs: 500 }]);
  now += 1;
  const late = passes.late();
  assert.deepEqual(late, [
    { service: 'tokens', byMs: 501 },
    { service: 'feed', byMs: 1 },
  ]);
  tokens.within(1);
  feed.leave();
  assert.deepEqual(passes.late(), []);
});
