import assert from 'node:assert/strict';
import { timed } from './testing/timed.ts';
import { oneByOne } from './waiting.ts';

/** A wait without end has failed. */
const never = new AbortController().signal;
const hangs = () => new Promise<never>(() => {});

timed('an already aborted signal is rejected, even behind a call that hangs', async () => {
  const queued = oneByOne();
  void queued(hangs, never);
  const reason = new Error('too late');
  let isBegun = false;
  const late = queued(async () => {
    isBegun = true;
  }, AbortSignal.abort(reason));
  await assert.rejects(late, reason);
  assert.equal(isBegun, false);
});

timed(
  'a call whose signal aborts while it waits is rejected at once, and is not begun',
  async () => {
    const queued = oneByOne();
    const first = new AbortController();
    const hanging = queued(hangs, first.signal);
    const leaving = new AbortController();
    let isBegun = false;
    const left = queued(async () => {
      isBegun = true;
    }, leaving.signal);
    const reason = new Error('leaves');
    leaving.abort(reason);
    await assert.rejects(left, reason);
    const next = queued(async () => 'next', never);
    first.abort(new Error('hung'));
    await assert.rejects(hanging, /hung/);
    assert.equal(await next, 'next');
    assert.equal(isBegun, false);
  },
);
