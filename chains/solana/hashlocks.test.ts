// What a Solana node does not list because it has pruned it, or has not got it yet, is not taken
// for nothing: nobody agrees on a hashlock before all of a missing time was read.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ParleyError } from '../../core/errors.ts';
import { lyingNode } from './testing/nodes.ts';
import { adapterOf, claim, finalize, fund, sceneOf, soon } from './testing/world.ts';

const firstSlot = 300_000_000;

type Lie = Parameters<typeof lyingNode>[2];

/** A world with one funding, and a reader of it over nodes that each lie in their own way. */
async function readerOver(context: TestContext, lies: readonly Lie[]) {
  const { world, escrow } = await sceneOf(context, fund, claim, finalize);
  const { rpcUrl } = world.chain.info;
  const urls = await Promise.all(lies.map((lie) => lyingNode(context, rpcUrl, lie)));
  const reader = adapterOf(world, [], { rpcUrls: urls }).hashlocks;
  assert.ok(reader);
  const { hashlock } = escrow.terms;
  return { world, hashlock, reader, cursor: await reader.begin(world.time.now, soon()) };
}

/** A node whose first block was made at `at`, and that lists nothing. */
const pruned =
  (at: () => number): Lie =>
  ({ method }, forward) => {
    if (method === 'getSignaturesForAddress') return { result: [] };
    if (method === 'getFirstAvailableBlock') return { result: firstSlot };
    return method === 'getBlockTime' ? { result: at() } : forward();
  };

const isUnavailable = (words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ParleyError);
  assert.match(error.message, words);
  return error.code === 'chain_unavailable';
};

test('a node that has pruned the missing time is not one on which nothing happened', async (context) => {
  let at = 0;
  const { world, reader, cursor } = await readerOver(context, [pruned(() => at)]);
  const { since } = JSON.parse(cursor) as { since: number };
  at = since + 1;
  await assert.rejects(reader.next(cursor, soon()), isUnavailable(/has pruned .* 1 s later/));
  at = since;
  const page = await reader.next(cursor, soon());
  assert.deepEqual([page.isWhole, page.hashlocks], [true, []]);
  // What is read on is newer, and need not be reached back for.
  at = world.time.now - 3_600;
  assert.equal((await reader.next(page.cursor, soon())).isWhole, true);
});

test('where another node has kept it, that one is read', async (context) => {
  const pruning = pruned(() => Number.MAX_SAFE_INTEGER);
  const { hashlock, reader, cursor } = await readerOver(context, [pruning, (_, go) => go()]);
  const page = await reader.next(cursor, soon());
  assert.deepEqual([page.isWhole, page.hashlocks], [true, [hashlock]]);
});

test('a page has shown what the node that listed it has, whatever another one says', async (context) => {
  const behind = Math.floor(Date.now() / 1_000) - 7_200;
  const { world, reader, cursor } = await readerOver(context, [
    // The first one is ahead, and lists nothing that is to be read.
    pruned(() => Number.MAX_SAFE_INTEGER),
    async ({ params }, forward) => {
      const answer = await forward();
      if (!JSON.stringify(params).includes('SysvarC1ock')) return answer;
      const { result } = answer as { result: { value: { data: [string, string] }[] } };
      const [clock] = result.value;
      assert.ok(clock);
      const data = Buffer.from(clock.data[0], 'base64');
      data.writeBigInt64LE(BigInt(behind), 32);
      clock.data = [data.toString('base64'), 'base64'];
      return answer;
    },
  ]);
  const page = await reader.next(cursor, soon());
  assert.deepEqual([page.isWhole, page.shownUntil], [true, behind]);
  assert.ok(behind < world.time.now);
});

test('where no node knows what the last page ended with, all since then is read again', async (context) => {
  const unknown = '1'.repeat(64);
  // Before Agave 4 a node lists nothing before what it does not know, and does not say why.
  const old: Lie = ({ method, params }, forward) =>
    method === 'getSignaturesForAddress' && JSON.stringify(params).includes('"before"')
      ? { result: [] }
      : forward();
  for (const lie of [old, (_: unknown, go: () => Promise<object>) => go()]) {
    const { hashlock, reader, cursor } = await readerOver(context, [lie]);
    for (const lost of [{ before: unknown, began: 0 }, { until: unknown }]) {
      const going = JSON.stringify({ ...JSON.parse(cursor), ...lost });
      const page = await reader.next(going, soon());
      assert.deepEqual([page.isWhole, page.hashlocks], [true, [hashlock]]);
    }
  }
});
