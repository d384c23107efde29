// The pace of requests to one provider, on a clock of the test's own.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ProviderFailure } from './facts.ts';
import { createPace, mostPauseMs, mostWaiting, mostWaitMs, windowMs } from './pace.ts';
import { testClock } from './testing/server.ts';

const never = new AbortController().signal;
const isLimited = (error: unknown) => error instanceof ProviderFailure && error.kind === 'limited';

test('in no window do more requests leave than the provider allows', async () => {
  const gaps = fc.array(fc.nat(20_000), { minLength: 5, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 8 }), gaps, async (perMinute, waits) => {
      const clock = testClock();
      const pace = createPace('it', perMinute, clock);
      const left: number[] = [];
      for (const wait of waits) {
        clock.pass(wait);
        try {
          await pace.turn(never);
          left.push(clock.now());
        } catch (error) {
          assert.ok(isLimited(error));
        }
      }
      left.forEach((at, index) => {
        const before = left[index - perMinute];
        assert.ok(before === undefined || at - before >= windowMs, `${at} after ${before}`);
      });
      assert.ok(left.length > 0);
    }),
    { numRuns: 50 },
  );
});

test('a turn that is near is waited for, one that is far is refused', async () => {
  const clock = testClock();
  const pace = createPace('it', 1, clock);
  await pace.turn(never);
  clock.pass(windowMs - mostWaitMs - 1);
  await assert.rejects(pace.turn(never), isLimited);
  clock.pass(1);
  await pace.turn(never);
  assert.deepEqual(clock.waits, [mostWaitMs]);
});

test('while the provider wants a pause nothing leaves, however long it says at most for a while', async () => {
  const clock = testClock();
  const pace = createPace('it', 100, clock);
  pace.pause(10_000);
  await pace.turn(never);
  assert.deepEqual(clock.waits, [10_000]);
  pace.pause(mostWaitMs + 1);
  await assert.rejects(pace.turn(never), isLimited);
  pace.pause(Number.MAX_SAFE_INTEGER);
  clock.pass(mostPauseMs);
  await pace.turn(never);
  pace.pause(-5);
  await pace.turn(never);
  assert.equal(clock.waits.length, 1);
});

test('a bounded number wait, and a pause that comes meanwhile is kept by all of them', async () => {
  const waiting: (() => void)[] = [];
  const clock = { now: () => 1e12, sleep: () => new Promise<void>((go) => waiting.push(go)) };
  const pace = createPace('it', 1_000, clock);
  pace.pause(5_000);
  const turns = Array.from({ length: mostWaiting }, () => pace.turn(never));
  await assert.rejects(pace.turn(never), isLimited);
  assert.equal(waiting.length, mostWaiting);
  pace.pause(20_000);
  for (const go of waiting) go();
  const ended = await Promise.allSettled(turns);
  assert.ok(ended.every((each) => each.status === 'rejected' && isLimited(each.reason)));
});
