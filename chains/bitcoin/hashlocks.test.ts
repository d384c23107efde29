// Until when a page of blocks has shown the chain, by the times of its miners, and that a block is
// fetched once. Blocks without transactions; what those show: test/adapters/reading-back.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BitcoinBackend } from './backend.ts';
import { hashlocksOf, pageBlocks } from './hashlocks.ts';
import { parseBlock } from './raw-transaction.ts';

const soon = () => AbortSignal.timeout(5_000);
const noon = 1_900_000_000;

/** A block of this time, with no transactions. */
function blockOf(time: number, height: number): { hash: string; bytes: Uint8Array } {
  const bytes = new Uint8Array(81);
  const view = new DataView(bytes.buffer);
  view.setUint32(68, time, true);
  view.setUint32(76, height, true);
  return { hash: parseBlock(bytes).hash, bytes };
}

/** A node whose chain is made of these times, and which may be given more. */
function nodeOf(times: number[]) {
  const fetched: string[] = [];
  const at = (height: number) => blockOf(times[height] ?? 0, height);
  const backend = {
    tip: async () => ({ height: times.length - 1, hash: '', clock: 0 }),
    blockHash: async (height: number) => (height < times.length ? at(height).hash : null),
    block: async (hash: string) => {
      fetched.push(hash);
      const height = times.findIndex((_, each) => at(each).hash === hash);
      return at(height).bytes;
    },
  } as unknown as BitcoinBackend;
  return { reader: hashlocksOf('bitcoin', backend), fetched };
}

test('one block says nothing of when it was made, two do, in whatever order', async () => {
  const times = Array.from({ length: 12 }, (_, at) => noon - (12 - at) * 600);
  const { reader } = nodeOf(times);
  const first = await reader.next('0', soon());
  assert.deepEqual([first.isWhole, first.shownUntil], [true, noon - 1_200]);
  // Stamped two hours ahead, as every node takes it.
  times.push(noon + 7_200);
  const ahead = await reader.next(first.cursor, soon());
  assert.deepEqual([ahead.isWhole, ahead.shownUntil], [true, noon - 600]);
  times.push(noon + 900);
  assert.equal((await reader.next(ahead.cursor, soon())).shownUntil, noon + 900);
  const { reader: short } = nodeOf([noon, noon]);
  assert.equal((await short.next('0', soon())).shownUntil, 0, 'one block alone');
});

test('a node that is asked again for the newest blocks gives each of them once', async () => {
  const times = Array.from({ length: 2 * pageBlocks }, (_, at) => noon + at);
  const { reader, fetched } = nodeOf(times);
  const first = await reader.next('0', soon());
  const second = await reader.next(first.cursor, soon());
  const third = await reader.next(second.cursor, soon());
  assert.deepEqual([second.isWhole, third.isWhole, third.shownUntil], [true, true, times.at(-2)]);
  times.push(noon + 100);
  await reader.next(third.cursor, soon());
  assert.deepEqual([fetched.length, new Set(fetched).size], [times.length - 1, fetched.length]);
});
