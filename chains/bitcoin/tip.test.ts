// Which questions after the tip may be one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BitcoinBackend } from './backend.ts';
import { createFollower, followOnce, tipOnce } from './follower.ts';

const soon = () => AbortSignal.timeout(20_000);

/** A source without blocks to read, whose tips are told one by one. */
function source() {
  const asked: PromiseWithResolvers<number>[] = [];
  const tip = async () => {
    const each = Promise.withResolvers<number>();
    asked.push(each);
    const height = await each.promise;
    return { height, hash: `block ${height}`, clock: 0 };
  };
  const past = { kind: 'by_address', read: async () => [] };
  const backend = { name: 'a node', past, tip } as unknown as BitcoinBackend;
  return { asked, follower: createFollower(backend, () => 0) };
}

test('a request that reads heads and an escrow asks once, and another one by itself', async () => {
  const { asked, follower } = source();
  const signal = soon();
  const heads = tipOnce(follower, signal);
  const pass = followOnce(follower, null, signal);
  await new Promise(setImmediate);
  assert.equal(asked.length, 1);
  const other = tipOnce(follower, soon());
  assert.equal(asked.length, 2);
  for (const each of asked) each.resolve(7);
  assert.equal((await heads).height, 7);
  assert.equal((await pass).heads.height, 7);
  assert.equal((await other).height, 7);
  // What was answered is not kept.
  const later = tipOnce(follower, signal);
  assert.equal(asked.length, 3);
  asked[2]?.resolve(8);
  assert.equal((await later).height, 8);
});

test('a pass that waited for another goes by a tip from after it', async () => {
  const { asked, follower } = source();
  const before = followOnce(follower, null, soon());
  await new Promise(setImmediate);
  const signal = soon();
  const heads = tipOnce(follower, signal);
  const pass = followOnce(follower, null, signal);
  asked[0]?.resolve(9);
  await before;
  await new Promise(setImmediate);
  assert.equal(asked.length, 3);
  // Asked before the other pass ended: an older tip, which takes back nothing.
  asked[1]?.resolve(8);
  asked[2]?.resolve(9);
  assert.equal((await heads).height, 8);
  assert.equal((await pass).heads.height, 9);
  assert.deepEqual(
    follower.index.blocks.map(({ height }) => height),
    [9],
  );
});
