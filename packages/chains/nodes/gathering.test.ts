// Questions of one moment leave in one exchange, and are answered as if each were asked alone.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { atLook } from '../evm/node.ts';
import { nodeOf, within } from '../testing/nodes.ts';
import { gathering } from './gathering.ts';
import { type NodeMethod, noBatchMs, type Rpc, RpcError, rpcClient } from './rpc.ts';

type Question = { readonly id: number; readonly method: string };
type Says = (question: Question) => object;
const result = ({ id, method }: Question) => ({ id, result: `of ${method}` });
const no = (code: number, message: string) => ({ error: { code, message } });

/** `batch`: its answer to a list; else each of it, the last one first. */
async function node(context: TestContext, says: Says, batch?: { status: number; body: object }) {
  const exchanges: string[][] = [];
  const answering = nodeOf(async (text) => {
    const asked = JSON.parse(text) as Question | Question[];
    const isList = Array.isArray(asked);
    const all = isList ? asked : [asked];
    exchanges.push(all.map(({ method }) => method));
    if (isList && batch !== undefined) {
      return { status: batch.status, text: JSON.stringify(batch.body) };
    }
    const each = all.map((one) => ({ jsonrpc: '2.0', id: one.id, ...says(one) })).toReversed();
    return { text: JSON.stringify(isList ? each : each[0]) };
  });
  return { url: await within(context, answering), exchanges };
}

/** Words of the test's own for methods. */
const named = (word: string) => word as NodeMethod;

const client = (...nodes: { readonly url: string }[]) =>
  rpcClient({ chain: 'evm-dev', urls: nodes.map(({ url }) => url) });

test('calls of one moment go together, each gets its own answer, and later ones go alone', async (t) => {
  const own = await node(t, result);
  const signal = AbortSignal.timeout(60_000);
  const rpc = gathering(client(own), signal);
  const asked = ['one', 'two', 'three'].map((method) => rpc.call(named(method), [], signal));
  assert.deepEqual(await Promise.all(asked), ['of one', 'of two', 'of three']);
  assert.equal(await rpc.call(named('four'), [], signal), 'of four');
  // A question of another request: its signal ends it alone.
  const others = [
    rpc.call(named('five'), [], signal),
    rpc.call(named('six'), [], AbortSignal.timeout(60_000)),
  ];
  assert.deepEqual(await Promise.all(others), ['of five', 'of six']);
  assert.deepEqual(own.exchanges.slice(0, 2), [['one', 'two', 'three'], ['four']]);
  assert.deepEqual(own.exchanges.slice(2).flat().sort(), ['five', 'six']);
  assert.equal(own.exchanges.length, 4);
});

test('the same question of one moment is asked once, by whatever part of the request', async (t) => {
  const own = await node(t, result);
  const signal = AbortSignal.timeout(60_000);
  const rpc = gathering(client(own), signal);
  const ask = (by: Rpc, ...params: unknown[]) => by.call(named('one'), params, signal);
  const asked = [ask(rpc, 1), ask(gathering(rpc, signal), 2), ask(gathering(rpc, signal), 1)];
  assert.deepEqual(await Promise.all(asked), Array(3).fill('of one'));
  assert.deepEqual(own.exchanges, [['one', 'one']]);
  await ask(rpc, 1);
  assert.equal(own.exchanges.length, 2, 'a later one asks anew');
});

test("a contract's refusal is final; the node's is asked of another, alone", async (t) => {
  const first = await node(t, (question) => {
    if (question.method === 'reverts') return no(3, 'execution reverted');
    if (question.method === 'lacks') return no(-32_601, 'the method is not available');
    return result(question);
  });
  const second = await node(t, result);
  const signal = AbortSignal.timeout(60_000);
  const rpc = gathering(client(first, second), signal);
  const [reverts, lacks, works] = await Promise.allSettled(
    ['reverts', 'lacks', 'works'].map((method) => rpc.call(named(method), [], signal)),
  );
  assert.ok(reverts?.status === 'rejected' && reverts.reason instanceof RpcError);
  assert.equal(reverts.reason.code, 3);
  assert.deepEqual(lacks, { status: 'fulfilled', value: 'of lacks' });
  assert.deepEqual(works, { status: 'fulfilled', value: 'of works' });
  assert.deepEqual(first.exchanges, [['reverts', 'lacks', 'works'], ['lacks']]);
  assert.deepEqual(second.exchanges, [['lacks']]);
});

const both = ['one', 'two'];
const refusals = {
  'with an error': [{ status: 200, body: no(-32_600, 'no batches here') }, true],
  'with one answer': [{ status: 200, body: { result: '0x' } }, true],
  'with an answer that lacks some': [{ status: 200, body: [] }, false],
  'for now': [{ status: 429, body: no(-32_005, 'too many requests') }, false],
} as const;
for (const [how, [batch, isRemembered]] of Object.entries(refusals)) {
  test(`a batch that is refused ${how} is asked one by one${isRemembered ? ', and others for a minute' : ''}`, async (t) => {
    const own = await node(t, result, batch);
    const signal = AbortSignal.timeout(60_000);
    let now = 0;
    const rpc = rpcClient({ chain: 'evm-dev', urls: [own.url], elapsedMs: () => now });
    const ask = () => {
      const together = gathering(rpc, signal);
      return Promise.all(both.map((method) => together.call(named(method), [], signal)));
    };
    const lists: number[] = [];
    for (const ms of [0, noBatchMs - 1, noBatchMs]) {
      now = ms;
      assert.deepEqual(await ask(), ['of one', 'of two']);
      lists.push(own.exchanges.filter(({ length }) => length > 1).length);
    }
    assert.deepEqual(lists, isRemembered ? [1, 1, 2] : [1, 2, 3]);
    assert.equal(own.exchanges.length - (lists.at(-1) ?? 0), 6);
  });
}

test('at a snapshot the best block is its own, and a question of it is asked once, failures too', async (t) => {
  const asked: string[] = [];
  const own = await node(t, (question) => {
    const { method, params } = question as Question & { readonly params: unknown[] };
    asked.push(`${method} ${JSON.stringify(params)}`);
    return method === 'reverts' ? no(3, 'execution reverted') : result(question);
  });
  const signal = AbortSignal.timeout(60_000);
  const heads = { height: 7, hash: '0xabc', clock: 1 };
  const rpc = client(own);
  const call = (method: string, ...params: unknown[]) =>
    gathering(atLook(rpc, heads), signal).call(named(method), params, signal);
  const all = () =>
    Promise.allSettled([
      call('one', 'latest'),
      call('one', { blockHash: '0xabc' }),
      call('reverts', 'latest'),
      call('eth_getBlockByNumber', 'latest'),
      call('price'),
    ]);
  assert.deepEqual(
    [await all(), await all()].map((each) => each.map(({ status }) => status)),
    Array(2).fill(['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled']),
  );
  assert.equal(await call('one', 'latest'), 'of one');
  const atBlock = '[{"blockHash":"0xabc"}]';
  assert.deepEqual(asked, [
    `one ${atBlock}`,
    `reverts ${atBlock}`,
    'eth_getBlockByNumber ["latest"]',
    'price []',
    'eth_getBlockByNumber ["latest"]',
    'price []',
  ]);
  atLook(rpc, heads);
  const later = atLook(rpc, { ...heads });
  await later.call(named('one'), ['latest'], signal);
  assert.equal(asked.length, 7, 'another look asks anew');
});
