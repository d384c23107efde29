// When a pass is repeated: rung for, polled, after a failure; and how it ends.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { testDeps } from '@parley/verify/test/support/deps.ts';
import type { Database } from '../db/database.ts';
import { type Work, workChannel } from '../db/work.ts';
import { passesOf } from './passes.ts';
import { type Next, type ServiceOptions, service } from './service.ts';
import { workOf } from './work.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A service on a mocked clock, without jitter; `listens`: its process hears of notices. */
function begin(t: TestContext, options: Partial<ServiceOptions> = {}, listens = true) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let heard = (_channel: string, _payload: string) => {};
  const listen: Database['listen'] = async (ears) => {
    if (!listens) throw new Error('a pooler is in between');
    heard = ears.heard;
    return { rows: async () => [], answeredAt: () => 0, end: () => {} };
  };
  const db = { listen } as Database;
  const logged: string[] = [];
  const write = (level: string) => (_: object, words: string) =>
    void logged.push(`${level} ${words}`);
  const log = { debug: write('debug'), info: write('info'), warn: write('warn') } as never;
  const deps = testDeps({ db, log, randomBytes: (count) => new Uint8Array(count) });
  let passes = 0;
  const answers: (Next | Error | Promise<Next>)[] = [];
  const pass = async (): Promise<Next> => {
    passes += 1;
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const own = service(deps, { name: 'test', pass, ...options });
  t.after(() => own.stop());
  return {
    own,
    db,
    logged,
    metrics: deps.metrics.registry,
    /** The results of the next passes. */
    answer: (...next: typeof answers) => void answers.push(...next),
    tick: async (ms: number) => {
      t.mock.timers.tick(ms);
      for (let turns = 0; turns < 5; turns += 1) await turn();
    },
    passes: () => passes,
    /** A commit of any process. */
    hear: (work: Work) => heard(workChannel, work),
  };
}

test('a poll comes after ten seconds, after one where notices are not heard, else when it is set', async (t) => {
  for (const [options, listens, everyMs] of [
    [{ wokenBy: ['feed'] }, true, 10_000],
    [{ wokenBy: ['feed'] }, false, 1_000],
    [{ everyMs: 60_000 }, false, 60_000],
  ] as const) {
    const { own, tick, passes } = begin(t, options, listens);
    own.start();
    own.start();
    await tick(0);
    // A listener that begins reads the earlier rows first; from then on it knows the polled ones.
    own.ring();
    await tick(0);
    const first = passes();
    await tick(everyMs - 1);
    assert.equal(passes(), first);
    await tick(1);
    assert.equal(passes(), first + 1);
    await own.stop();
    t.mock.timers.reset();
  }
});

test('work of its own kind ends the wait, and what is rung during a pass repeats it once', async (t) => {
  const { own, db, tick, passes, answer } = begin(t, { wokenBy: ['feed', 'tokens'] });
  own.start();
  await tick(0);
  const first = passes();
  workOf(db).ring('halts');
  await tick(0);
  assert.equal(passes(), first);
  workOf(db).ring('tokens');
  await tick(0);
  assert.equal(passes(), first + 1);
  const slow = Promise.withResolvers<Next>();
  answer(slow.promise);
  own.ring();
  await tick(0);
  own.ring();
  own.ring();
  await tick(0);
  assert.equal(passes(), first + 2, 'one at a time');
  slow.resolve(undefined);
  await tick(0);
  assert.equal(passes(), first + 3);
});

test('a pass says when the next one is: now, or in so long, but no later than the poll', async (t) => {
  const { own, tick, passes, answer } = begin(t);
  answer('now', 'now', 70, 100_000);
  own.start();
  await tick(0);
  assert.equal(passes(), 3);
  await tick(69);
  assert.equal(passes(), 3);
  await tick(1);
  assert.equal(passes(), 4);
  await tick(1_000);
  assert.equal(passes(), 5);
});

test('after a failure nobody rings sooner; waits double up to a limit, each reason is told once', async (t) => {
  const failureMs = { least: 100, most: 250 };
  const { own, tick, passes, answer, logged, metrics } = begin(t, { failureMs });
  answer(new Error('gone'), new Error('gone'), new Error('gone'), new Error('else'));
  own.start();
  for (const [at, waitMs] of [100, 200, 250, 250].entries()) {
    await tick(0);
    assert.equal(passes(), at + 1);
    own.ring();
    await tick(waitMs - 1);
    assert.equal(passes(), at + 1);
    await tick(1);
  }
  await tick(0);
  const failed = 'a pass failed; it is tried again';
  const over = 'info a pass that failed succeeds again';
  assert.deepEqual(logged, [
    `warn ${failed}`,
    `debug ${failed}`,
    `debug ${failed}`,
    `warn ${failed}`,
    over,
  ]);
  assert.match(await metrics.metrics(), /parley_pass_failures_total\{service="test"\} 4/);
});

test('a stop waits for the pass under way, which hears of it, and begins no other', async (t) => {
  const ended = Promise.withResolvers<Next>();
  let signal = AbortSignal.any([]);
  const pass = (own: AbortSignal) => {
    signal = own;
    return ended.promise;
  };
  const { own, tick, logged } = begin(t, { pass });
  own.start();
  await tick(0);
  let isOver = false;
  const stopping = own.stop().then(() => {
    isOver = true;
  });
  await tick(60_000);
  assert.deepEqual([signal.aborted, isOver], [true, false]);
  ended.reject(new Error('ended early'));
  await stopping;
  assert.deepEqual(logged, [], 'what a stop ends is no failure');
});

test('one that leaves the database to others rests as long as it is to, whoever rings', async (t) => {
  const { own, tick, passes } = begin(t, { restMs: 50 });
  own.start();
  await tick(0);
  own.ring();
  await tick(49);
  assert.equal(passes(), 1);
  await tick(1_000);
  assert.equal(passes(), 2);
});

test('a pass that hangs is noticed when it has taken too long, one that fails or waits is not', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const { own, db, answer, tick } = begin(t, { mostPassMs: 60_000, everyMs: 5_000 });
  const late = () => passesOf(db).late();
  const held = Promise.withResolvers<Next>();
  answer(new Error('a node is silent'), held.promise);
  own.start();
  await tick(0);
  // It rests for a second after a failure, and ten more are forgiven.
  now += 11_000;
  assert.deepEqual(late(), []);
  await tick(1_000);
  now += 70_000;
  assert.deepEqual(late(), []);
  now += 2_000;
  assert.deepEqual(late(), [{ service: 'test', byMs: 2_000 }]);
  held.resolve(undefined);
  await tick(0);
  now += 15_000;
  assert.deepEqual(late(), []);
  now += 1;
  assert.deepEqual(late(), [{ service: 'test', byMs: 1 }]);
  await own.stop();
  assert.deepEqual(late(), []);
});

test('a process that is not the first comes later to work of which all hear, and at once to its own', async (t) => {
  const options = { wokenBy: ['webhooks'], behindFirstMs: 200 } as const;
  const { own, db, hear, tick, passes } = begin(t, options);
  own.start();
  await tick(0);
  await tick(0);
  const began = passes();
  hear('webhooks');
  await tick(0);
  assert.equal(passes(), began + 1);
  workOf(db).beFirst(false);
  hear('webhooks');
  hear('webhooks');
  await tick(199);
  assert.equal(passes(), began + 1);
  await tick(1);
  assert.equal(passes(), began + 2);
  workOf(db).ring('webhooks');
  await tick(0);
  assert.equal(passes(), began + 3);
});

test('a process behind the first comes not at all where it hears that the work is done', async (t) => {
  const options = { wokenBy: ['feed outbox'], behindFirstMs: 200, doneBy: 'feed' } as const;
  const { own, db, hear, tick, passes } = begin(t, options);
  own.start();
  await tick(0);
  await tick(0);
  workOf(db).beFirst(false);
  const began = passes();
  hear('feed outbox');
  await tick(199);
  hear('feed');
  await tick(200);
  assert.equal(passes(), began);
  hear('feed outbox');
  await tick(200);
  assert.equal(passes(), began + 1);
});

test('a process that becomes the first takes up at once what the former one may have left', async (t) => {
  const { own, db, tick, passes } = begin(t, { wokenBy: ['webhooks'] });
  own.start();
  await tick(0);
  await tick(0);
  const began = passes();
  for (const first of [true, false]) workOf(db).beFirst(first);
  await tick(0);
  assert.equal(passes(), began);
  workOf(db).beFirst(true);
  await tick(0);
  assert.equal(passes(), began + 1);
});
