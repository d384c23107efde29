// Which answers of a JSON-RPC node end a call, and which are worth asking another node.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { nodeOf, within } from '../testing/nodes.ts';
import { AnswerTooLong } from './exchange.ts';
import { RpcError, refusalIn, rpcClient } from './rpc.ts';

const soon = () => AbortSignal.timeout(20_000);

type Says = { readonly status?: number; readonly body: object | string };
type Node = { readonly url: string; asked: number };

async function node(context: TestContext, { status = 200, body }: Says): Promise<Node> {
  const text = typeof body === 'string' ? body : JSON.stringify({ jsonrpc: '2.0', ...body });
  const answering = nodeOf(async () => {
    own.asked += 1;
    return { status, text };
  });
  const own = { url: await within(context, answering), asked: 0 };
  return own;
}

const says = (code: number, message: string, data?: unknown) => ({
  error: { code, message, data },
});
const yes = { body: { result: '0x1' } };

/** The outcome of a question to two nodes, the first of which says this. */
async function both(context: TestContext, first: Says, second: Says = yes) {
  const [one, two] = await Promise.all([node(context, first), node(context, second)]);
  const rpc = rpcClient({ chain: 'evm-dev', urls: [one.url, two.url] });
  return { one, two, rpc, answer: rpc.call('eth_call', [], soon()) };
}

/** Refusals about a key, an account, a quota or a machine, with any body. */
const ofProviders: readonly Says[] = [
  ...[401, 402, 403, 404, 429, 500, 502, 503].map((status) => ({
    status,
    body: says(-32_000, 'this key may not'),
  })),
  { status: 401, body: 'Unauthorized' },
  { status: 500, body: says(3, 'execution reverted', '0x08c379a0') },
  { body: says(-32_001, 'resource not found') },
  { body: says(-32_005, 'daily request count exceeded') },
  { body: says(-32_601, 'the method is not available') },
  { body: says(-32_603, 'internal error') },
  { body: says(-32_000, 'missing trie node') },
  { body: says(-32_000, 'project ID is disabled') },
];

test('a provider that fails in JSON is left for one that answers', async (context) => {
  for (const first of ofProviders) {
    const { one, two, rpc, answer } = await both(context, first);
    assert.equal(await answer, '0x1', JSON.stringify(first));
    assert.deepEqual([one.asked, two.asked], [1, 1]);
    // The node that answered is asked first from now on.
    await rpc.call('eth_call', [], soon());
    assert.deepEqual([one.asked, two.asked], [1, 2]);
  }
});

test("a contract's answer is the same at every node", async (context) => {
  for (const body of [
    says(3, 'execution reverted', '0x08c379a0'),
    says(-32_000, 'execution reverted'),
    says(-32_015, 'VM execution error', 'Reverted 0x'),
    says(-32_603, 'Error: VM Exception', { data: '0x08c379a0' }),
    says(-32_000, 'out of gas'),
    says(-32_000, 'invalid opcode: INVALID'),
  ]) {
    const { two, answer } = await both(context, { body });
    await assert.rejects(answer, { name: 'RpcError', message: body.error.message });
    assert.equal(two.asked, 0, body.error.message);
  }
});

test('a node’s own words are thrown where no other answers, with their revert data', async (context) => {
  for (const status of [200, 400, 404, 500]) {
    for (const second of [{ status: 502, body: '<html>' }, { body: says(-32_601, 'none') }]) {
      const reverted = says(status === 200 ? -32_000 : 3, 'too many results', '0x08c379a0');
      const first = status === 200 ? says(-32_000, 'too many results') : reverted;
      const { answer } = await both(context, { status, body: first }, second);
      await assert.rejects(answer, (error: RpcError) => {
        assert.equal(error.name, 'RpcError');
        assert.equal(error.message, 'too many results');
        assert.equal(error.data, status === 200 ? null : '0x08c379a0');
        return true;
      });
    }
  }
});

test('where every gateway keeps a method from us its words are thrown', async (context) => {
  for (const status of [401, 403]) {
    const first = { status, body: says(-32_000, 'this key may not') };
    const { answer } = await both(context, first, first);
    await assert.rejects(answer, { name: 'RpcError', message: 'this key may not', status });
  }
  const bare = { status: 401, body: 'Unauthorized' };
  const { answer } = await both(context, bare, bare);
  const unavailable = { code: 'chain_unavailable', message: /eth_call now: HTTP 401$/ };
  await assert.rejects(answer, unavailable);
});

test('a node that is busy, or a gateway that limits, has said no to nothing', async (context) => {
  const limit = { message: '50/second request limit reached' };
  for (const says of [
    { status: 429, body: { error: { code: -32_000, ...limit } } },
    { status: 503, body: { error: { code: -32_000, ...limit } } },
    { body: { error: { code: -32_007, ...limit } } },
    // Without an envelope, or with nothing but the text.
    { body: { code: -32_007, ...limit } },
    { body: { error: limit.message } },
  ]) {
    const { answer } = await both(context, says, says);
    const code = 'chain_unavailable';
    await assert.rejects(answer, { code, message: /eth_call now: .*request limit reached$/ });
  }
});

test('only a node’s own no to bytes is their refusal', () => {
  const said = (code: number, status: number, options?: ErrorOptions) =>
    new RpcError(code, 'no', null, { ...options, status });
  for (const [code, status] of [
    [-32_000, 200],
    [-32_000, 400],
    [-32_603, 500],
  ] as const) {
    assert.equal(refusalIn(said(code, status)).code, code);
  }
  const nobodyLooked = [said(-32_005, 200), said(429, 429), said(-32_000, 401), said(0, 403)];
  // A gateway without a node behind it says such as {"message":"no Route matched"}.
  const noNode = [404, 405, 410].map((status) => said(0, status));
  for (const error of [...nobodyLooked, ...noNode]) {
    assert.throws(() => refusalIn(error), { name: 'TurnedAway', message: /: no$/ });
  }
  assert.throws(() => refusalIn(said(-32_000, 502)), { name: 'NotNow', message: 'no' });
  const unclear = [said(0, 200, { cause: new AnswerTooLong(5) }), new Error('socket hang up')];
  for (const error of unclear) {
    assert.throws(
      () => refusalIn(error),
      (thrown: unknown) => thrown === error,
    );
  }
});

test('an answer without end is one node’s, too', async (context) => {
  const long = { body: { result: `0x${'0'.repeat(100_000)}` } };
  const [one, two] = await Promise.all([node(context, long), node(context, yes)]);
  const rpc = rpcClient({ chain: 'evm-dev', urls: [one.url, two.url], mostBytes: 10_000 });
  assert.equal(await rpc.call('eth_call', [], soon()), '0x1');
  const alone = rpcClient({ chain: 'evm-dev', urls: [one.url], mostBytes: 10_000 });
  const refused = { name: 'RpcError', message: 'an answer of more than 10000 bytes' };
  await assert.rejects(alone.call('eth_call', [], soon()), refused);
});
