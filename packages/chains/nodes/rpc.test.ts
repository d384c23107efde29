// Which answers of a JSON-RPC node end a call, and which are worth asking another node.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { nodeOf, within } from '../testing/nodes.ts';
import { AnswerTooLong } from './exchange.ts';
import { RpcError, refusalIn, rpcClient } from './rpc.ts';

const soon = () => AbortSignal.timeout(60_000);

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

/** The result for a question of two nodes, the first of which says this. */
async function both(context: TestContext, first: Says, second: Says = yes) {
  const [one, two] = await Promise.all([node(context, first), node(context, second)]);
  const rpc = rpcClient({ chain: 'evm-dev', urls: [one.url, two.url] });
  return { one, two, rpc, answer: rpc.call('eth_call', [], soon()) };
}

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
