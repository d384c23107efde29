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

test('each connection goes on behind the last event that was heard, and says when it cannot', () => {
  const told: unknown[] = [];
  const events = ['thread.closed'] as const;
  const own = createOwn({
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

test('a grace is asked for by each connection, and refused out of its bounds', () => {
  const own = createOwn({ cancelOnDisconnect: 15 });
  assert.deepEqual(own.greeting(), { cancelOnDisconnect: 15 });
  for (const seconds of [4, 61, 5.5, Number.NaN]) {
    assert.throws(() => createOwn({ cancelOnDisconnect: seconds }), RangeError);
  }
});
