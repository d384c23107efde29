// Bounds what is asked of a node at once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { lanes } from './watch.ts';

test('never more at once than there are lanes, in the order of asking, whatever fails', async () => {
  const work = lanes(3);
  const begun: number[] = [];
  let open = 0;
  let most = 0;
  const one = async (at: number) => {
    begun.push(at);
    open += 1;
    most = Math.max(most, open);
    for (let turns = 0; turns < 1 + (at % 4); turns += 1) await turn();
    open -= 1;
    if (at % 5 === 0) throw new Error('in vain');
    return at;
  };
  const all = Array.from({ length: 40 }, (_, at) => work(() => one(at)));
  const ends = await Promise.allSettled(all);
  assert.equal(most, 3);
  assert.deepEqual(begun, [...Array(40).keys()]);
  assert.equal(ends.filter(({ status }) => status === 'rejected').length, 8);
  assert.equal(await work(async () => 'free again'), 'free again');
});
