import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeOf, within } from '../testing/nodes.ts';
import { coreBackend } from './core-backend.ts';
import { bitcoinNetworks } from './networks.ts';
import { coreRpc } from './rpc.ts';

const soon = () => AbortSignal.timeout(10_000);

type Call = { readonly id: number; readonly params: readonly [number] };

test('a batch too large for a gateway is asked in smaller ones, in order', async (context) => {
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
  assert.deepEqual(await rpc.batch(calls, soon()), heights);
  assert.deepEqual(asked, [100, 1, ...Array.from({ length: 9 }, () => 12), 11]);
});

test('a Core node that knows no near target gives the rate of a later one', async (context) => {
  const answered = (rates: Readonly<Record<number, number>>) =>
    nodeOf(async (body) => {
      const calls = JSON.parse(body) as (Call & { readonly method: string })[];
      const answers = calls.map(({ id, method, params: [blocks] }) => {
        const pool = { mempoolminfee: 0.000_01, incrementalrelayfee: 0.000_01 };
        const rate = rates[blocks];
        const smart = rate === undefined ? { errors: ['none found'] } : { feerate: rate };
        return { id, error: null, result: method === 'getmempoolinfo' ? pool : smart };
      });
      return { text: JSON.stringify(answers) };
    });
  const asked = async (rates: Readonly<Record<number, number>>) => {
    const url = await within(context, answered(rates));
    return coreBackend({ url, network: bitcoinNetworks.regtest, now: () => 0 }).feeEstimate(
      0,
      soon(),
    );
  };
  const pool = { least: 1, increment: 1, at: 0 };
  const paces = { fast: 20, medium: 20, slow: 20 };
  assert.deepEqual(await asked({ 3: 0.000_2, 6: 0.000_2 }), { ...paces, ...pool });
  assert.deepEqual(await asked({ 144: 0.000_2 }), { ...paces, ...pool });
  assert.deepEqual(await asked({}), { fast: null, ...pool });
});
