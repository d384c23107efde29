// Events of one's own threads across connections, and quotes that end with the connection.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOwn } from './own.ts';

const closed = (eventSeq: number) => ({
  type: 'thread.closed',
  threadId: 't',
  rfqId: 'r',
  role: 'maker',
  reason: 'expired',
  createdAt: '2030-01-01T00:00:00.000Z',
  eventSeq,
});

function harness(options: Parameters<typeof createOwn>[0] = {}) {
  const sent: object[] = [];
  const state = { isLive: true };
  const own = createOwn(options, (frame) => state.isLive && sent.push(frame) > 0);
  return { own, sent, state };
}

test('each connection goes on behind the last event that was heard, and says when it cannot', () => {
  const told: unknown[] = [];
  const events = ['thread.closed'] as const;
  const { own } = harness({
    events,
    sinceEvent: 7,
    onEvent: (event) => told.push(event),
    onGap: () => told.push('gap'),
  });
  assert.deepEqual(own.greeting(), { events, sinceEvent: 7 });
  own.take({ type: 'subscribed', events: [], resumed: true, eventSeq: 7, seq: 1 });
  own.take({ ...closed(8), seq: 1 } as never);
  assert.deepEqual(told, [closed(8)]);
  assert.deepEqual(own.greeting(), { events, sinceEvent: 8 });
  own.take({ type: 'subscribed', events: [], resumed: false, eventSeq: 40, seq: 1 });
  assert.deepEqual([told.at(-1), own.greeting()], ['gap', { events, sinceEvent: 40 }]);
});

test('a grace is asked for by each connection, and changed when the market has stored it', async () => {
  const { own, sent, state } = harness({ cancelOnDisconnect: 15 });
  assert.deepEqual(own.greeting(), { cancelOnDisconnect: 15 });
  state.isLive = false;
  let isStored = false;
  const ended = own.cancelOnDisconnect(null).then(() => {
    isStored = true;
  });
  assert.deepEqual([own.greeting(), sent], [{}, []]);
  state.isLive = true;
  own.connected();
  assert.deepEqual(sent, [{ cancelOnDisconnect: null }]);
  own.take({ type: 'cancelOnDisconnect', seconds: 15, seq: 1 });
  await new Promise(setImmediate);
  assert.equal(isStored, false);
  own.take({ type: 'cancelOnDisconnect', seconds: null, seq: 1 });
  await ended;
  const first = own.cancelOnDisconnect(5);
  const second = own.cancelOnDisconnect(60);
  await assert.rejects(first, /something else/);
  own.end();
  await assert.rejects(second, /closed/);
  await assert.rejects(own.cancelOnDisconnect(5), /closed/);
});

test('a grace that the market refused for a moment is asked for again, as one of no quote', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { own, sent } = harness();
  const refused = { type: 'error', error: 'too many requests', code: 'rate_limited' } as const;
  own.take(refused);
  const stored = own.cancelOnDisconnect(null);
  own.take({ ...refused, idempotencyKey: 'of-a-quote' });
  t.mock.timers.tick(2_000);
  assert.equal(sent.length, 1);
  own.take(refused);
  own.take(refused);
  t.mock.timers.tick(1_999);
  assert.equal(sent.length, 1);
  t.mock.timers.tick(1);
  assert.deepEqual(sent, [{ cancelOnDisconnect: null }, { cancelOnDisconnect: null }]);
  own.take({ type: 'cancelOnDisconnect', seconds: null, seq: 1 });
  own.take(refused);
  t.mock.timers.tick(10_000);
  assert.equal(sent.length, 2);
  return stored;
});

test('a grace out of bounds is refused before the market is asked', async () => {
  for (const seconds of [4, 61, 5.5, Number.NaN]) {
    assert.throws(() => harness({ cancelOnDisconnect: seconds }), RangeError);
    await assert.rejects(harness().own.cancelOnDisconnect(seconds), RangeError);
  }
});
