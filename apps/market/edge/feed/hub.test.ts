// How long a burst waits for its readers: with a clock that is moved.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHub, type Entry, type Listener } from './hub.ts';

const entry = (seq: number): Entry =>
  ({
    seq,
    number: seq,
    kind: 'created',
    rfqId: 'an RFQ',
    creatorId: 'its creator',
    targetAddress: null,
    body: { id: 'an RFQ' },
    holders: null,
  }) as unknown as Entry;

type Reader = Listener & { full: boolean; written: number; fell: number };

function reader(): Reader {
  const own: Reader = {
    accountId: 'a maker',
    manner: 'plain',
    at: { seq: 0, number: 0 },
    live: true,
    full: false,
    written: 0,
    fell: 0,
    write: () => {
      own.written += 1;
    },
    isFull: () => own.full,
    fallBehind: () => {
      own.fell += 1;
    },
    check: () => {},
  };
  return own;
}

/** Publishes a burst to `readers`; how long it waited, `at` being called at each look. */
async function burst(readers: readonly Reader[], at: (ms: number) => void): Promise<number> {
  let now = 0;
  const hub = createHub({
    now: () => now,
    wait: async (ms) => {
      now += ms;
      assert.ok(now <= 10_000, 'it waits on and on');
      at(now);
    },
  });
  for (const each of readers) hub.join(each);
  await hub.publish([entry(1)], true);
  return now;
}

/** Until when each reader is full, and what comes of that. */
const bursts: [what: string, fullUntil: number[], waited: number, live: boolean[]][] = [
  ['for nobody who keeps up', [0], 0, [true]],
  ['250 ms for readers of whom none gets free', [Infinity, 0], 250, [false, true]],
  ['250 ms after the last one that got free', [200, Infinity], 450, [true, false]],
  [
    '2 s at most, however many get free meanwhile',
    Array.from({ length: 20 }, (_, at) => (at + 1) * 200),
    2_000,
    Array.from({ length: 20 }, (_, at) => at < 10),
  ],
];
for (const [what, fullUntil, waited, live] of bursts) {
  test(`a burst waits ${what}, who then go at their own pace`, async () => {
    const readers = fullUntil.map((until) => Object.assign(reader(), { full: until > 0 }));
    const took = await burst(readers, (ms) => {
      for (const [at, each] of readers.entries()) each.full = ms < fullUntil[at]!;
    });
    assert.equal(took, waited);
    assert.deepEqual(
      readers.map((each) => each.live),
      live,
    );
    assert.ok(readers.every((each) => each.fell === (each.live ? 0 : 1)));
  });
}
