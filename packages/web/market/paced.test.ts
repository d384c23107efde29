// Work that is asked for often.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paced } from './paced.ts';

test('the first one is done at once, all that come in the pause are one, and none after the end', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let done = 0;
  const work = paced(500, () => {
    done += 1;
  });
  work.soon();
  assert.equal(done, 1);
  work.soon();
  work.soon();
  t.mock.timers.tick(499);
  assert.equal(done, 1);
  t.mock.timers.tick(1);
  assert.equal(done, 2);
  t.mock.timers.tick(500);
  assert.equal(done, 2, 'nothing was asked for');
  work.soon();
  assert.equal(done, 3, 'at once again');
  work.soon();
  work.stop();
  work.soon();
  t.mock.timers.tick(1_000);
  assert.equal(done, 3);
});
