// The payments that a faucet signs, and those it does not: it signs nothing on a network that
// nobody has seen to be its own, and nothing whose fee is a gift of its own.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { nodeOf, within } from '@parley/chains/testing/nodes.ts';
import type { ChainSettings } from '@parley/market/settings/chains.ts';
import { tronPayment } from '@parley/trader/paying/tron.ts';
import { openPayers } from './payers.ts';

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const said = (result: unknown) =>
  result instanceof Error
    ? { error: { code: 3, message: result.message } }
    : { result, error: null };

/** A node of answers by method, and what it was asked. */
async function stage(t: TestContext, answers: Record<string, unknown>) {
  const asked: string[] = [];
  const url = await within(
    t,
    nodeOf(async (body, { url = '' }) => {
      const call = JSON.parse(body);
      const all = [call].flat().map(({ id, method = url, params }) => {
        asked.push(method);
        const held = answers[method];
        const result = typeof held === 'function' ? held(params) : held;
        if (result === undefined || method === url) return result;
        return { jsonrpc: '2.0', id, ...said(result) };
      });
      if (all.includes(undefined)) return { status: 503, text: '' };
      return { text: JSON.stringify(Array.isArray(call) ? all : all[0]) };
    }),
  );
  const dir = mkdtempSync(join(tmpdir(), 'parley-payers-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const keyFile = join(dir, 'key');
  writeFileSync(keyFile, '11'.repeat(32), { mode: 0o600 });
  const open = async (of: object, amount: bigint, token: string | null = null) => {
    const gift = { token, symbol: 'COIN', decimals: 8, amount, dailyCap: amount };
    const chain = of as ChainSettings;
    const chains = [{ of: chain, keyFile, gifts: [{ ...gift, chain: chain.chain }] }];
    const [payer] = await openPayers(
      chains,
      { chainTimeoutMs: 5_000 },
      { now: Date.now, log: quiet },
    );
    assert.ok(payer);
    t.after(() => payer.close());
    const pay = { token, decimals: 8, amount };
    const sign = (to: string) => payer.sign({ ...pay, to }, AbortSignal.timeout(60_000));
    return { payer, sign };
  };
  return { url, asked, answers, open };
}

const signet = (rpcUrl: string) => ({
  family: 'bitcoin',
  chain: 'signet',
  network: 'signet',
  rpcUrl,
});
const sepolia = (rpcUrl: string) => {
  return { family: 'evm', chain: 'sepolia', chainId: 11_155_111, rpcUrls: [rpcUrl] };
};
const other = '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238';
const somebody = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';

/** A node's answer about a base fee; tips are none. */
const feesAt = (base: bigint, number = 1_000) => {
  const baseFeePerGas = `0x${base.toString(16)}`;
  return {
    eth_getBlockByNumber: { ...block(number), baseFeePerGas },
    eth_feeHistory: { baseFeePerGas: [baseFeePerGas], reward: [] },
    eth_getBalance: `0x${(10n ** 18n).toString(16)}`,
  };
};
const block = (number: number) => {
  const at = { number: `0x${number.toString(16)}`, timestamp: '0x1' };
  return { ...at, hash: '0x', parentHash: '0x', transactions: [] };
};

test('a node that was silent at the start is asked again what it is before anything is signed', async (t) => {
  const { url, asked, answers, open } = await stage(t, {});
  const { sign } = await open(signet(url), 100_000n);
  answers.getblockchaininfo = { chain: 'main' };
  await assert.rejects(sign(somebody), { name: 'WrongNodeError' });
  assert.ok(!asked.includes('scantxoutset'), 'no coin of that network was looked for');
});

test('no gift is signed whose fee nobody meant to give', async (t) => {
  const txid = 'ab'.repeat(32);
  const { url, answers, open } = await stage(t, {
    getblockchaininfo: { chain: 'signet' },
    estimatesmartfee: { feerate: 0.002_000_01 },
    scantxoutset: { unspents: [{ txid, vout: 0, amount: 1 }] },
    gettxout: { value: 1, confirmations: 1 },
  });
  const { payer, sign } = await open(signet(url), 1_000_000n);
  await assert.rejects(sign(somebody), /fees of signet are too high: 200.001 sat\/vB, above 200/);
  answers.estimatesmartfee = { feerate: 0.002 };
  const dear = await sign(somebody);
  assert.match(dear.raw, /^02/);
  await assert.rejects(sign(somebody), /has 0 sats in confirmed coins/);
  payer.forget?.(dear);
  assert.match((await sign(somebody)).raw, /^02/);
  const gwei = 10n ** 9n;
  const {
    url: evm,
    answers: says,
    open: openEvm,
  } = await stage(t, {
    eth_chainId: '0xaa36a7',
    eth_getTransactionCount: '0x0',
    eth_estimateGas: '0x5208',
    ...feesAt(400n * gwei),
  });
  const { sign: signs } = await openEvm(sepolia(evm), 10n ** 16n);
  const tokens = await openEvm(sepolia(evm), 1n, other);
  const tooDear = /up to 13125000000000000 wei for a gift, above 10{16}$/;
  await assert.rejects(signs(other), tooDear);
  await assert.rejects(tokens.sign(other), tooDear, 'a token has no coins to be measured by');
  Object.assign(says, feesAt(gwei));
  assert.match((await signs(other)).raw, /^0x02/);
  says.eth_estimateGas = new Error('execution reverted');
  await assert.rejects(signs(other), { code: 'bad_address', message: /takes no coins/ });
});

test('no TRX are signed for a contract, which nodes refuse, and tokens are', async (t) => {
  const { url, asked } = await stage(t, { '/wallet/getcontractinfo': { runtimecode: '60' } });
  const from = 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf';
  const to = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
  const nile = { chain: 'nile', sources: [{ url }] };
  const sign = (token: string | null) => {
    const pay = { to, token, decimals: 6, amount: 1n };
    return tronPayment(nile, from, pay, AbortSignal.timeout(60_000));
  };
  await assert.rejects(sign(null), { code: 'bad_address', message: /is a contract/ });
  assert.deepEqual(asked, ['/wallet/getcontractinfo']);
  // This node has no blocks.
  await assert.rejects(sign(from), { code: 'chain_unavailable' });
});
