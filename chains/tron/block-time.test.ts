// Finding the blocks of a second on chains of any rhythm, and how often the node is asked for it.
// The node is a table of times.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../test/support/runs.ts';
import type { Http } from './http.ts';
import type { Block } from './node.ts';
import { blocksAt } from './receipts.ts';
import type { Seen, Watch } from './watch.ts';

/** Block `n` is of the `n`th of these seconds. */
type Seconds = readonly number[];

const idOf = (number: number) => (number + 1).toString(16).padStart(64, '0');

function blockOf(seconds: Seconds, number: number): Block {
  // Milliseconds count for nothing.
  const timestampMs = (seconds[number] as number) * 1_000 + (number % 1_000);
  return { number, hash: idOf(number), parentHash: idOf(number - 1), timestampMs, txs: [] };
}

/** A node that has these blocks, and the numbers it was asked for. */
function chainOf(seconds: Seconds, remembered: readonly number[] = []) {
  const asked: number[] = [];
  const call = async (path: string, { num }: { readonly num: number }) => {
    assert.equal(path, 'wallet/getblockbynum');
    asked.push(num);
    if (num < 0 || num >= seconds.length) return {};
    const { hash, parentHash, number, timestampMs: timestamp } = blockOf(seconds, num);
    return { blockID: hash, block_header: { raw_data: { number, parentHash, timestamp } } };
  };
  const blocks: Seen[] = remembered.map((number) => blockOf(seconds, number));
  const watch = { http: { call } as unknown as Http, blocks } as unknown as Watch;
  const head = blockOf(seconds, seconds.length - 1);
  const find = (second: number) => blocksAt(watch, second, head, AbortSignal.timeout(5_000));
  return { asked, find };
}

const start = 1_700_000_000;
const everySlot = (count: number): Seconds =>
  Array.from({ length: count }, (_, n) => start + 3 * n);
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

test('where no slot was missed a block is found at once, however old', async () => {
  const seconds = everySlot(100_000);
  for (const number of [0, 1, 50_000, 99_998]) {
    const { asked, find } = chainOf(seconds);
    assert.deepEqual(await find(seconds[number] as number), [number]);
    // It, the one before, which is older, and the one behind, which is newer.
    assert.ok(asked.length <= 4, `${asked}`);
  }
  const { asked, find } = chainOf(seconds);
  assert.deepEqual(await find(seconds[99_999] as number), [99_999]);
  assert.ok(asked.length <= 4, `${asked}`);
});

test('missed slots, a standstill of a day too, cost some questions more', async () => {
  const seconds: number[] = [];
  for (let [n, at] = [0, start]; n < 100_000; n += 1) {
    seconds.push(at);
    at += 3;
    if (n % 7 === 0) at += 3;
    if (n === 60_000) at += 86_400;
  }
  for (const number of [0, 3, 59_999, 60_000, 60_001, 60_002, 99_990]) {
    const { asked, find } = chainOf(seconds);
    assert.deepEqual(await find(seconds[number] as number), [number]);
    // Eight guesses, seventeen halves, and the neighbours.
    assert.ok(asked.length <= 28, `block ${number}: ${asked.length}`);
  }
});

test('of one second there may be several blocks, on a simulator', async () => {
  const seconds = [...range(0, 50).map((n) => start + n), ...Array(30).fill(start + 60)];
  seconds.push(start + 61);
  const { find } = chainOf(seconds);
  assert.deepEqual(await find(start + 60), range(50, 80));
  assert.deepEqual(await find(start + 61), [80]);
  assert.deepEqual(await find(start + 49), [49]);
  const many = chainOf([start, ...Array(400).fill(start + 1), start + 2]);
  assert.deepEqual(await many.find(start + 1), range(1, 257));
});

test('a second between blocks, before the first or behind the head has none', async () => {
  const seconds = everySlot(1_000);
  const { asked, find } = chainOf(seconds);
  assert.deepEqual(await find(start + 4), []);
  assert.deepEqual(await find(start - 1), []);
  const before = asked.length;
  assert.deepEqual(await find((seconds[999] as number) + 1), []);
  assert.equal(asked.length, before, 'the head says so');
});

test('blocks that were followed are not asked for again, but where their second may go on', async () => {
  const seconds = [0, 1, 2, 2, 2, 3, 4, 4, 4, 5].map((each) => start + each);
  const followed = chainOf(seconds, [1, 2, 3, 4, 5]);
  assert.deepEqual(await followed.find(start + 2), [2, 3, 4]);
  assert.deepEqual(followed.asked, []);
  // The last that is remembered may not be the last of its second.
  const ahead = chainOf(seconds, [4, 5, 6, 7]);
  assert.deepEqual(await ahead.find(start + 4), [6, 7, 8]);
  assert.deepEqual(ahead.asked, [8, 9]);
  // Nor the oldest the first.
  const behind = chainOf(seconds, [3, 4, 5]);
  assert.deepEqual(await behind.find(start + 2), [2, 3, 4]);
});

test('a node that lacks a block tells nothing rather than something wrong', async () => {
  const { find } = chainOf(everySlot(100));
  const head = blockOf(everySlot(200), 199);
  const watch = { http: { call: async () => ({}) }, blocks: [] } as unknown as Watch;
  assert.deepEqual(await blocksAt(watch, start + 3, head, AbortSignal.timeout(5_000)), []);
  const own = Math.floor(head.timestampMs / 1_000);
  assert.deepEqual(await blocksAt(watch, own, head, AbortSignal.timeout(5_000)), []);
  assert.deepEqual(await find(start + 3), [1]);
});

test('on every chain all blocks of a second are found, within the questions that halving takes', async () => {
  const gaps = fc.array(fc.constantFrom(0, 0, 1, 3, 3, 3, 3, 6, 30, 5_000), {
    minLength: 1,
    maxLength: 300,
  });
  await fc.assert(
    fc.asyncProperty(gaps, fc.nat(), fc.nat(400), async (some, which, off) => {
      let at = start;
      const seconds = some.map((gap) => (at += gap));
      const wanted = off < 300 ? (seconds[which % seconds.length] as number) : start + off;
      const expected = seconds.flatMap((each, number) => (each === wanted ? [number] : []));
      const { asked, find } = chainOf(seconds);
      assert.deepEqual(await find(wanted), expected);
      const most = 8 + Math.ceil(Math.log2(seconds.length + 1)) + expected.length + 2;
      assert.ok(asked.length <= most, `${asked.length} of ${most}`);
    }),
    { numRuns: runs(300) },
  );
});
