import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createBell } from './bell.ts';

/** A bell, and whether what was begun with it has ended. */
function start(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const bell = createBell();
  const begin = (pause: Promise<void>) => {
    let ended = false;
    void pause.then(() => {
      ended = true;
    });
    return async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return ended;
    };
  };
  return { bell, begin, tick: (ms: number) => t.mock.timers.tick(ms) };
}

test('a wait ends when its time is over, or as soon as somebody rings', async (t) => {
  const { bell, begin, tick } = start(t);
  const long = begin(bell.wait(100));
  tick(99);
  assert.equal(await long(), false);
  tick(1);
  assert.equal(await long(), true);
  const rung = begin(bell.wait(100));
  bell.ring();
  assert.equal(await rung(), true);
});

test('what was rung while nobody waited ends the next wait, and no other', async (t) => {
  const { bell, begin } = start(t);
  bell.ring();
  bell.ring();
  assert.equal(await begin(bell.wait(100))(), true);
  assert.equal(await begin(bell.wait(100))(), false);
});

test('a rest hears nothing, and what was rung in it ends the wait after it', async (t) => {
  const { bell, begin, tick } = start(t);
  const rest = begin(bell.rest(100));
  bell.ring();
  assert.equal(await rest(), false);
  tick(100);
  assert.equal(await rest(), true);
  assert.equal(await begin(bell.wait(100))(), true);
});

test('when it is stopped what is waited for ends, and nothing is waited for after it', async (t) => {
  for (const way of ['wait', 'rest'] as const) {
    const { bell, begin } = start(t);
    const pause = begin(bell[way](100));
    bell.stop();
    assert.equal(await pause(), true);
    assert.equal(await begin(bell[way](100))(), true);
    t.mock.timers.reset();
  }
});
