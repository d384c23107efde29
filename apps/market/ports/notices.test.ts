// The connection that hears notices, and how its silence is found out.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { noticesOf } from './notices.ts';

test('a listening connection is asked five seconds after its last answer, and replaced without one', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const pass = async (ms: number) => {
    now += ms;
    t.mock.timers.tick(ms);
    await setImmediate();
  };
  let answeredAt = 0;
  let isGone = false;
  const seen = { opened: 0, asked: 0 };
  const rows = async () => {
    seen.asked += 1;
    if (isGone) throw new Error('no answer');
    answeredAt = now;
    return [];
  };
  const listen = async () => {
    seen.opened += 1;
    return { rows, answeredAt: () => answeredAt, end: () => {} };
  };
  const joined = await noticesOf({ listen }).join({ begin: async () => {}, hear: () => {} });
  t.after(() => joined.leave());
  await pass(4_000);
  // Another statement was answered.
  answeredAt = now;
  await pass(4_999);
  assert.deepEqual(seen, { opened: 1, asked: 0 });
  await pass(1);
  assert.deepEqual(seen, { opened: 1, asked: 1 });
  isGone = true;
  await pass(5_000);
  assert.deepEqual([seen.asked, joined.isHeard()], [2, false]);
  await pass(100);
  assert.deepEqual([seen.opened, joined.isHeard()], [2, true]);
});
