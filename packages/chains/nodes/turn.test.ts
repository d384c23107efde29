// Waiting as a page waits: without Node's own turns.

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { nextTurn, sleep } from './turn.ts';

test('the next turn comes after all that goes on, with and without setImmediate', async (t) => {
  for (const isPage of [false, true]) {
    const own = globalThis.setImmediate;
    if (isPage) {
      Reflect.deleteProperty(globalThis, 'setImmediate');
      t.after(() => Object.assign(globalThis, { setImmediate: own }));
    }
    const order: string[] = [];
    const goingOn = async () => {
      for (let step = 0; step < 50; step += 1) await null;
      order.push('went on');
    };
    await Promise.all([nextTurn().then(() => order.push('turn')), goingOn()]);
    assert.deepEqual(order, ['went on', 'turn']);
  }
});

test('a sleep ends with its time or with its signal, and leaves nothing behind', async () => {
  const { signal } = new AbortController();
  await sleep(1, signal);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  const reason = new Error('enough');
  const is = (error: unknown) => error === reason;
  await assert.rejects(sleep(1e9, AbortSignal.abort(reason)), is);
  const ended = new AbortController();
  const sleeping = assert.rejects(sleep(1e9, ended.signal), is);
  ended.abort(reason);
  await sleeping;
});
