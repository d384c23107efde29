import assert from 'node:assert/strict';
import { test } from 'node:test';
import { follow, push, type Seen, type Steps } from './follow.ts';
import { newWatching } from './watch.ts';

const signal = new AbortController().signal;
const blockAt = (number: number): Seen => ({ number, hash: `${number}` });

/**
 * A follower with this last block, and what it was told. `broken`: the node fails from there on.
 * `lacking`: it does not give them.
 */
function followerOf({ tip, readTo = null }: { tip?: number; readTo?: number | null }) {
  const blocks = tip === undefined ? [] : [blockAt(tip)];
  const watch = { ...newWatching('it'), blocks, readTo, broken: Number.POSITIVE_INFINITY };
  const lacking = new Set<number>();
  let passedOver = 0;
  const taken: number[] = [];
  const skipped: number[] = [];
  const steps: Steps<typeof watch, Seen, Seen> = {
    fullBlocks: 128,
    mostBlocks: 2_048,
    recentBlocks: 3,
    passOver: async () => {
      passedOver += 1;
    },
    blockAt: async (_, number) => (lacking.has(number) ? null : blockAt(number)),
    past: (block) => block,
    skip: async ({ blocks }, { to }) => {
      skipped.push(to);
      blocks.splice(0, blocks.length, blockAt(to));
    },
    take: async (watch, { from, to }) => {
      for (let number = from; number <= to; number += 1) {
        if (number >= watch.broken) throw new Error('no answer');
        if (lacking.has(number)) return false;
        taken.push(number);
        push(watch, blockAt(number));
      }
      return true;
    },
  };
  return {
    watch,
    taken,
    skipped,
    lacking,
    passedOver: () => passedOver,
    to: (head: number) => follow(watch, steps, blockAt(head), signal),
  };
}

const head = 5_000;

for (const [says, begun, first, skips] of [
  ['it was told of no more', {}, 4_873, false],
  ['the last ones were read', { readTo: 4_990 }, 4_873, false],
  ['some were not read, and those below may be others by now', { readTo: 4_000 }, 3_937, false],
  ['too many were not read', { readTo: 2_900 }, 2_953, false],
  ['another chain was higher', { readTo: 6_000 }, 4_873, false],
  ['it stood still', { tip: 3_000 }, 3_001, false],
  ['it stood still for too long', { tip: 2_900 }, 2_953, true],
  ['another process read on', { tip: 2_900, readTo: 4_000 }, 3_937, true],
  ['it read on itself since it was told', { tip: 4_500, readTo: 4_000 }, 4_501, false],
] as const) {
  test(`blocks are read whole from ${first} of ${head} on: ${says}`, async () => {
    const { to, taken, skipped } = followerOf(begun);
    await to(head);
    assert.deepEqual([taken[0], taken.at(-1)], [first, head]);
    assert.deepEqual(skipped, skips ? [first - 1] : []);
  });
}

test('a young chain is read from its first block on', async () => {
  const { to, taken } = followerOf({ readTo: 6_000 });
  await to(50);
  assert.equal(taken[0], 1);
});

test('a call that failed in the middle is gone on with', async () => {
  const { to, taken, watch } = followerOf({ readTo: 4_000 });
  watch.broken = 4_100;
  await assert.rejects(to(head), { message: 'no answer' });
  watch.broken = Number.POSITIVE_INFINITY;
  await to(head + 10);
  assert.deepEqual(
    taken,
    Array.from({ length: head + 10 - 3_936 }, (_, at) => 3_937 + at),
  );
});

test('a block that is not given counts as an error of its node once it is no new one', async () => {
  const { to, taken, lacking, watch, passedOver } = followerOf({ tip: 4_990 });
  lacking.add(4_995);
  await to(4_997);
  assert.deepEqual([watch.blocks.at(-1)?.number, passedOver()], [4_994, 0]);
  const facts = { chain: 'it', block: 4_995, head: 4_998 };
  await assert.rejects(to(4_998), { code: 'chain_unavailable', facts });
  assert.deepEqual([taken.at(-1), passedOver()], [4_994, 1]);
  lacking.clear();
  await to(4_999);
  assert.deepEqual(taken.slice(-5), [4_995, 4_996, 4_997, 4_998, 4_999]);
});

test('a node that lacks the block to begin at is no beginning', async () => {
  const { to, lacking, watch } = followerOf({});
  lacking.add(head - 128);
  await assert.rejects(to(head), { code: 'chain_unavailable' });
  assert.deepEqual(watch.blocks, []);
});

test('a follower that holds no block any more reads on from where it was', async () => {
  const { to, taken, lacking } = followerOf({ tip: 4_500 });
  for (let number = 4_000; number < head; number += 1) lacking.add(number);
  await assert.rejects(to(head), { code: 'chain_unavailable' });
  lacking.clear();
  await to(head);
  assert.equal(taken[0], 4_437);
});
