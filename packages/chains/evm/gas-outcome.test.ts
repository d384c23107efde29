import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hex } from 'viem';
import { rpcClient } from '../nodes/rpc.ts';
import { hangingNode, type Lie, lyingNode, untilTested } from '../testing/nodes.ts';
import { reachBlocks } from './gas-fees.ts';
import { countByAll, outcomeOf, pendingCounts } from './gas-outcome.ts';
import { strangerOn } from './testing/gas.ts';
import { evmWorld } from './testing/world.ts';

const { chain, urlOf, signal, mine } = await evmWorld();
const made = untilTested(lyingNode);
const hangs = untilTested(hangingNode);

const own = '0x00000000000000000000000000000000000000A1';
const over = (...urls: string[]) =>
  rpcClient({ chain: 'evm-dev', urls, rounds: 1, attemptTimeoutMs: 5_000 });

/** Knows of no transaction, and says these counts, not before `until`. null: refuses to say. */
type Says = number | null | { readonly latest: number; readonly pending: number };
const saying = async (says: Says, until?: Promise<unknown>): Promise<string> => {
  const { url } = await made('http://127.0.0.1:1', async ({ method, params }) => {
    if (method !== 'eth_getTransactionCount') return { result: null };
    await until;
    if (says === null) return { error: { code: 429, message: 'not now' } };
    const count = typeof says === 'number' ? says : says[params[1] as 'latest' | 'pending'];
    return { result: `0x${count.toString(16)}` };
  });
  return url;
};
const nodesSaying = async (all: readonly Says[]) =>
  over(...(await Promise.all(all.map((each) => saying(each)))));

/** `patient` waits for all that will answer, `hasty` for none if one alone may decide. */
const patient = { most: 0, othersMs: 30_000 };
const hasty = { most: 5, othersMs: 0 };
const countOf = async (...says: Says[]) =>
  countByAll(await nodesSaying(says), own, patient, signal());
const depths = { confirmations: 1, tag: null };
const waiting = { txid: `0x${'11'.repeat(32)}`, nonce: 5 };

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
  await mine(2 * reachBlocks);
  const { account, send } = await strangerOn(chain);
  const { txid, nonce } = await send({ verb: 'void' });
  await mine(4);
  const receipt = await chain.client.getTransactionReceipt({ hash: txid as Hex });
  const block = Number(receipt.blockNumber);
  const { rpcUrl } = chain;
  const [other = '', near = '', far = ''] = await Promise.all(
    [null, block - reachBlocks, block - reachBlocks - 1].map((head) => urlOf(without(head))),
  );
  for (const [urls, isPast, outcome] of [
    [[rpcUrl], false, 'deep'],
    [[rpcUrl, rpcUrl], false, 'deep'],
    [[rpcUrl, other, rpcUrl], false, 'deep'],
    [[rpcUrl, other], false, 'mined'],
    [[rpcUrl, other, other], false, 'mined'],
    [[rpcUrl, near], false, 'mined'],
    [[rpcUrl, far], false, 'deep'],
    // Used up by what came later.
    [[rpcUrl, other], true, 'deep'],
  ] as const) {
    const rpc = over(...urls);
    const of = { txid, nonce, ...(isPast && { isPast }) };
    const three = { ...depths, confirmations: 3 };
    const is = await outcomeOf(rpc, account.address, three, of, signal());
    assert.equal(is, outcome, `${urls.length} ${isPast}`);
  }
});

test('one node that says too much is not believed, nor of three one that is behind', async () => {
  for (const counts of [[5], [5, 90], [90, 5], [90, 5, 5], [5, 5, 0], [5, 0, 90], [null, 5]]) {
    assert.equal(await countOf(...counts), 5, counts.join());
  }
  // The second lowest of four counts: more than half say it or more.
  assert.equal(await countOf(7, 5, 90, 6), 6);
  // Where no other serves the chain at all there is one node, as where one is configured.
  assert.equal(await countOf(null, 90), 90);
  await assert.rejects(countOf(null, null), { code: 'chain_unavailable' });
  const { url } = await hangs();
  const honest = await saying(5);
  for (const urls of [
    [url, honest],
    [honest, url],
  ]) {
    assert.equal(await countByAll(over(...urls), own, hasty, signal()), 5);
  }
});

test('above what is plausible one that answers first decides nothing alone, however slow others are', async () => {
  const liar = await saying({ latest: 90, pending: 90 });
  for (const at of ['latest', 'pending'] as const) {
    const { promise: later, resolve: answer } = Promise.withResolvers<void>();
    const slow = await saying({ latest: 5, pending: 7 }, later);
    const expected = { ...hasty, ...(at === 'pending' && { at }) };
    const counting = countByAll(over(liar, slow), own, expected, signal());
    await sleep(300);
    answer();
    assert.equal(await counting, at === 'pending' ? 7 : 5);
  }
  const { url } = await hangs();
  const rpc = rpcClient({ chain: 'evm-dev', urls: [url, liar], rounds: 1 });
  const late = countByAll(rpc, own, hasty, AbortSignal.timeout(500));
  await assert.rejects(late, { code: 'chain_timeout' });
  // Each node has as long for its count as whoever asks can wait.
  const soon = { ...hasty, answerMs: 3_000 };
  assert.equal(await countByAll(rpc, own, soon, signal()), 90);
});

test('nor does one alone say what waits in mempools, of which each is told', async () => {
  const liar = { latest: 5, pending: 15 };
  const honest = { latest: 5, pending: 7 };
  for (const all of [
    [liar, honest],
    [honest, liar],
    [liar, honest, honest],
  ]) {
    const pending = { ...patient, at: 'pending' } as const;
    assert.equal(await countByAll(await nodesSaying(all), own, pending, signal()), 7);
  }
  assert.deepEqual(await pendingCounts(await nodesSaying([7, null, 5]), own, signal()), [5, 7]);
});

for (const [what, isPast, counts, outcome] of [
  ['one of two says that its nonce is taken', false, [90, 5], 'unknown'],
  ['the other of two says so', false, [5, 90], 'unknown'],
  ['both say so', false, [6, 6], 'gone'],
  ['its nonce is past, and one stays behind', true, [6, 5], 'gone'],
  ['its nonce is past, and the other stays behind', true, [5, 6], 'gone'],
  ['its nonce is past for the one node', true, [5], 'gone'],
] as const) {
  test(`a waiting transaction is ${outcome} where ${what}`, async () => {
    const rpc = await nodesSaying(counts);
    assert.equal(await outcomeOf(rpc, own, depths, { ...waiting, isPast }, signal()), outcome);
  });
}

test('a waiting transaction is not gone for one node, while another is slow, or silent with its block', async () => {
  const { promise: later, resolve: answer } = Promise.withResolvers<void>();
  const rpc = over(await saying(90), await saying(5, later));
  const outcome = outcomeOf(rpc, own, depths, waiting, signal());
  // Longer than others are waited for where one alone may decide.
  await sleep(800);
  answer();
  assert.equal(await outcome, 'unknown');
  const down = over(await saying(5), 'http://127.0.0.1:1');
  const past = { ...waiting, isPast: true };
  assert.equal(await outcomeOf(down, own, depths, past, signal()), 'unknown');
});
