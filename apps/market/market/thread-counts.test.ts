// A count of an RFQ's threads holds for some of the quotes after it, and never for all that is left.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createThreadCounts } from './thread-counts.ts';

const rfqId = 'one';
const other = 'two';

test('a count holds until a sixteenth of what is left to the most is added', () => {
  const counts = createThreadCounts(() => 0, 2_000);
  assert.equal(counts.of(rfqId), null);
  counts.added(rfqId, 3, 400);
  assert.deepEqual([counts.of(rfqId), counts.of(other)], [403, null]);
  counts.added(rfqId, 96, null);
  assert.equal(counts.of(rfqId), 499);
  counts.added(rfqId, 1, null);
  assert.equal(counts.of(rfqId), null);
  counts.added(rfqId, 1, 1_968);
  assert.equal(counts.of(rfqId), 1_969);
  counts.added(rfqId, 1, 1_985);
  assert.equal(counts.of(rfqId), null);
});

test('a count holds for five minutes, as other processes add too', () => {
  let now = 0;
  const counts = createThreadCounts(() => now, 2_000);
  counts.added(rfqId, 1, 0);
  now = 299_999;
  counts.added(rfqId, 1, null);
  assert.equal(counts.of(rfqId), 2);
  now = 300_000;
  assert.equal(counts.of(rfqId), null);
});

test('counts of 20,000 RFQs are kept, and forgotten together', () => {
  const counts = createThreadCounts(() => 0, 2_000);
  for (let each = 0; each < 20_000; each += 1) counts.added(String(each), 1, 0);
  counts.added('0', 1, null);
  assert.deepEqual([counts.of('0'), counts.of('1')], [2, 1]);
  counts.added('one more', 1, 0);
  assert.deepEqual([counts.of('0'), counts.of('one more')], [null, 1]);
});
