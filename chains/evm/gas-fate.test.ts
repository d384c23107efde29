import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hex } from 'viem';
import { rpcClient } from '../nodes/rpc.ts';
import { hangingNode, type Lie, lyingNode, type TestNode } from '../testing/nodes.ts';
import { countByAll, fateOf, pendingCounts } from './gas-fate.ts';
import { reachBlocks } from './gas-fees.ts';
import { startAnvil } from './testing/anvil.ts';
import { signal, strangerOn } from './testing/gas.ts';

const chain = await startAnvil();
before(async () => {
  await chain.client.mine({ blocks: 2 * reachBlocks });
});
after(() => chain.stop());
const nodes: TestNode[] = [];
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((each) => each.stop()));
});
const lying = async (lie: Lie): Promise<string> => {
  const node = await lyingNode(chain.rpcUrl, lie);
  nodes.push(node);
  return node.url;
};

const without =
  (head: number | null): Lie =>
  async ({ method, params }, forward) => {
    if (/^eth_getTransaction(Receipt|ByHash)$/.test(method)) return { result: null };
    if (method === 'eth_getTransactionCount') return { result: '0x0' };
    const answer = await forward();
    const isOfHead = method === 'eth_getBlockByNumber' && params[0] === 'latest';
    if (!isOfHead || head === null || !('result' in answer)) return answer;
    return { result: { ...(answer.result as object), number: `0x${head.toString(16)}` } };
  };

test('one node alone says of nothing that it is deep, unless the other has stopped far below', async () => {
  const { account, send } = await strangerOn(chain);
  const { txid, nonce } = await send({ verb: 'void' });
  await chain.client.mine({ blocks: 4 });
  const receipt = await chain.client.getTransactionReceipt({ hash: txid as Hex });
  const block = Number(receipt.blockNumber);
  const depths = { confirmations: 3, tag: null };
  const fateBy = (urls: readonly string[], of: { isPast?: boolean } = {}) => {
    const rpc = rpcClient({ chain: 'evm-dev', urls, rounds: 1 });
    return fateOf(rpc, account.address, depths, { txid, nonce, ...of }, signal());
  };
  const { rpcUrl } = chain;
  const other = await lying(without(null));
  const [near, far] = [
    await lying(without(block - reachBlocks)),
    await lying(without(block - reachBlocks - 1)),
  ];
  assert.equal(await fateBy([rpcUrl]), 'deep');
  assert.equal(await fateBy([rpcUrl, rpcUrl]), 'deep');
  assert.equal(await fateBy([rpcUrl, other, rpcUrl]), 'deep', 'two of three');
  assert.equal(await fateBy([rpcUrl, other]), 'mined');
  assert.equal(await fateBy([rpcUrl, other, other]), 'mined');
  assert.equal(await fateBy([rpcUrl, near]), 'mined');
  assert.equal(await fateBy([rpcUrl, far]), 'deep');
  assert.equal(
    await fateBy([rpcUrl, other], { isPast: true }),
    'deep',
    'used up by what came later',
  );
});

const own = '0x00000000000000000000000000000000000000A1';

/**
 * It knows of no transaction, and says that blocks have so many, not before `until`; null: it
 * refuses to say.
 */
async function saying(count: number | null, until?: Promise<unknown>): Promise<string> {
  const node = await lyingNode('http://127.0.0.1:1', async ({ method }) => {
    if (method !== 'eth_getTransactionCount') return { result: null };
    await until;
    if (count === null) return { error: { code: 429, message: 'not now' } };
    return { result: `0x${count.toString(16)}` };
  });
  nodes.push(node);
  return node.url;
}

const over = (...urls: string[]) =>
  rpcClient({ chain: 'evm-dev', urls, rounds: 1, attemptTimeoutMs: 2_000 });

const countOf = async (...counts: (number | null)[]) => {
  const urls = await Promise.all(counts.map((each) => saying(each)));
  return countByAll(over(...urls), own, patient, signal());
};

/** All that will answer are waited for. */
const patient = { most: 0, othersMs: 30_000 };

/** Nobody is waited for where one alone may decide. */
const hasty = { most: 5, othersMs: 0 };

test('one node that says too much is not believed, nor of three one that is behind', async () => {
  for (const counts of [[5], [5, 90], [90, 5], [90, 5, 5], [5, 5, 0], [5, 0, 90], [null, 5]]) {
    assert.equal(await countOf(...counts), 5, counts.join());
  }
  await assert.rejects(countOf(null, null), { code: 'chain_unavailable' });
  const hanging = await hangingNode();
  nodes.push(hanging);
  for (const urls of [
    [hanging.url, await saying(5)],
    [await saying(5), hanging.url],
  ]) {
    assert.equal(await countByAll(over(...urls), own, hasty, signal()), 5);
  }
});

test('above what is plausible one that answers first decides nothing alone, however slow others are', async () => {
  const { promise: later, resolve: answer } = Promise.withResolvers<void>();
  const liar = await saying(90);
  const counting = countByAll(over(liar, await saying(5, later)), own, hasty, signal());
  await sleep(300);
  answer();
  assert.equal(await counting, 5);
  const hanging = await hangingNode();
  nodes.push(hanging);
  const rpc = rpcClient({ chain: 'evm-dev', urls: [hanging.url, liar], rounds: 1 });
  const late = countByAll(rpc, own, hasty, AbortSignal.timeout(500));
  await assert.rejects(late, { code: 'chain_timeout' });
  // Where no other serves the chain at all there is one node, as where one is configured.
  assert.equal(await countOf(null, 90), 90);
});

test('of four the second lowest counts: more than half say it or more', async () => {
  assert.equal(await countOf(7, 5, 90, 6), 6);
});

test('what waits is not gone because one node says that its nonce is taken', async () => {
  const sent = { txid: `0x${'11'.repeat(32)}`, nonce: 5 };
  const depths = { confirmations: 1, tag: null };
  const fateBy = async (...counts: number[]) => {
    const urls = await Promise.all(counts.map((each) => saying(each)));
    return fateOf(over(...urls), own, depths, sent, signal());
  };
  assert.equal(await fateBy(90, 5), 'unknown');
  assert.equal(await fateBy(5, 90), 'unknown');
  assert.equal(await fateBy(6, 6), 'gone');
  const { promise: later, resolve: answer } = Promise.withResolvers<void>();
  const urls = [await saying(90), await saying(5, later)];
  const fate = fateOf(over(...urls), own, depths, sent, signal());
  // Longer than others are waited for where one alone may decide.
  await sleep(800);
  answer();
  assert.equal(await fate, 'unknown');
});

test('what waits is gone once its nonce is past, though one node stays behind', async () => {
  const sent = { txid: `0x${'11'.repeat(32)}`, nonce: 5, isPast: true };
  const depths = { confirmations: 1, tag: null };
  const fateBy = async (...counts: (number | null)[]) => {
    const urls = await Promise.all(counts.map((each) => saying(each)));
    return fateOf(over(...urls), own, depths, sent, signal());
  };
  assert.equal(await fateBy(6, 5), 'gone');
  assert.equal(await fateBy(5, 6), 'gone');
  assert.equal(await fateBy(5), 'gone');
  // The one that is silent may be the only one with its block.
  const down = await hangingNode();
  await down.stop();
  const fate = fateOf(over(await saying(5), down.url), own, depths, sent, signal());
  assert.equal(await fate, 'unknown');
});

test('each node has as long for its count as whoever asks can wait', async () => {
  const hanging = await hangingNode();
  nodes.push(hanging);
  const rpc = rpcClient({ chain: 'evm-dev', urls: [hanging.url, await saying(90)], rounds: 1 });
  const expected = { ...hasty, answerMs: 200 };
  assert.equal(await countByAll(rpc, own, expected, AbortSignal.timeout(4_000)), 90);
});

test('what each node says waits is told by node', async () => {
  const urls = await Promise.all([7, null, 5].map((each) => saying(each)));
  assert.deepEqual(await pendingCounts(over(...urls), own, signal()), [5, 7]);
});

test('nor does one alone say what waits in mempools', async () => {
  const { promise: later, resolve: answer } = Promise.withResolvers<void>();
  const waiting = (counts: { readonly latest: number; readonly pending: number }, slow = false) =>
    lyingNode('http://127.0.0.1:1', async ({ params }) => {
      if (slow) await later;
      return { result: `0x${counts[params[1] as 'latest' | 'pending'].toString(16)}` };
    }).then((node) => {
      nodes.push(node);
      return node.url;
    });
  const liar = await waiting({ latest: 5, pending: 15 });
  const honest = await waiting({ latest: 5, pending: 7 });
  const pending = { ...patient, at: 'pending' } as const;
  for (const urls of [
    [liar, honest],
    [honest, liar],
    [liar, honest, honest],
  ]) {
    assert.equal(await countByAll(over(...urls), own, pending, signal()), 7);
  }
  const slow = await waiting({ latest: 5, pending: 7 }, true);
  const counting = countByAll(over(liar, slow), own, { ...hasty, at: 'pending' }, signal());
  await sleep(300);
  answer();
  assert.equal(await counting, 7);
});
