import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeOf, within } from '../testing/nodes.ts';
import { coreRpc } from './rpc.ts';

type Call = { readonly id: number; readonly params: readonly [number] };

test('what a gateway finds too large a batch is asked in smaller ones, in order', async (context) => {
  const asked: number[] = [];
  const gateway = nodeOf(async (body) => {
    const calls = JSON.parse(body) as Call[];
    asked.push(calls.length);
    if (calls.length > 20) return { status: 413, text: 'Request Entity Too Large' };
    const answers = calls.map(({ id, params: [height] }) => ({ id, result: height, error: null }));
    return { text: JSON.stringify(answers) };
  });
  const rpc = coreRpc({ url: await within(context, gateway) });
  const heights = Array.from({ length: 120 }, (_, at) => at);
  const calls = heights.map((height) => ({ method: 'getblockhash', params: [height] }) as const);
  assert.deepEqual(await rpc.batch(calls, AbortSignal.timeout(10_000)), heights);
  assert.deepEqual(asked, [100, 1, ...Array.from({ length: 9 }, () => 12), 11]);
});
