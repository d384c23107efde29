import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import { type Hex, keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { ReadTransaction } from '../interface/sending.ts';
import { refuses } from '../testing/refusals.ts';
import type { EvmAdapter } from './adapter.ts';
import { chainIdOfRaw, readRaw } from './broadcast.ts';
import { claimCall, evmDeployment } from './plan.ts';
import { fund, newLeg, receiver } from './testing/swap.ts';
import { evmWorld } from './testing/world.ts';

const { chain, urlOf, signal, ...world } = await evmWorld();
const rpc = { attemptTimeoutMs: 1_000, rounds: 1 };
const adapterOf = (...rpcUrls: string[]): EvmAdapter => world.adapterOf({ rpcUrls, rpc });
const refusal = (message: string) => ({ error: { code: -32_000, message } });
const refusing = (message: string): Promise<string> =>
  urlOf(({ method }, forward) =>
    method === 'eth_sendRawTransaction' ? refusal(message) : forward(),
  );

async function claimOf(adapter: EvmAdapter): Promise<ReadTransaction> {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  adapter.watch([leg.escrow]);
  const { to, data } = claimCall(leg.terms, evmDeployment(31_337), leg.secret);
  const raw = await receiver.signTransaction({
    to: to as Hex,
    data: data as Hex,
    chainId: 31_337,
    nonce: await chain.client.getTransactionCount({ address: receiver.address }),
    gas: 300_000n,
    maxFeePerGas: 10n ** 10n,
  });
  return adapter.readSigned(raw, signal());
}

async function isMined(txid: string): Promise<boolean> {
  await chain.client.mine({ blocks: 1 });
  const receipt = await chain.client.getTransactionReceipt({ hash: txid as Hex }).catch(() => null);
  return receipt?.status === 'success';
}

test('a transaction that one node has already is sent, whatever the others say of it', async () => {
  const low = await refusing('nonce too low');
  const blind = await urlOf(({ method }, forward) => {
    if (method === 'eth_sendRawTransaction') return refusal('nonce too low');
    return method === 'eth_getTransactionByHash' ? { result: null } : forward();
  });
  const read = await claimOf(adapterOf(chain.rpcUrl));
  await adapterOf(chain.rpcUrl).broadcast(read, signal());
  assert.equal(await isMined(read.txid), true);
  for (const other of [low, await refusing('already known')]) {
    assert.equal(await adapterOf(blind, other).broadcast(read, signal()), read.txid);
  }
  await assert.rejects(adapterOf(blind).broadcast(read, signal()), { code: 'refused_by_node' });
});

/** An honest node that refuses what it is sent, and is gone from then on. */
async function dyingNode(context: TestContext): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { id, method } = JSON.parse(body);
    if (method === 'eth_sendRawTransaction') {
      server.close();
      // Every other question needs another connection.
      response.setHeader('connection', 'close');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...refusal('nonce too low') }));
      return;
    }
    const headers = { 'content-type': 'application/json' };
    const real = await fetch(chain.rpcUrl, { method: 'POST', headers, body });
    response.end(await real.text());
  });
  context.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a node that refuses it and dies before it is asked whether it has it may have it', async (context) => {
  const read = await claimOf(adapterOf(chain.rpcUrl));
  const late = { code: 'chain_timeout', message: /may have it$/ };
  const alone = adapterOf(await dyingNode(context));
  await assert.rejects(alone.broadcast(read, signal()), late);
  const poor = await refusing('insufficient funds for gas');
  const both = adapterOf(await dyingNode(context), poor);
  const words = /may have it; .*insufficient funds for gas$/;
  await assert.rejects(both.broadcast(read, signal()), { ...late, message: words });
});

const isNone = (words: RegExp) => refuses('bad_transaction', words);

// the worked example of EIP-155
const example = {
  raw:
    '0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a7640000' +
    '8025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f76' +
    '1aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83',
  from: '0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F',
  to: '0x3535353535353535353535353535353535353535',
};

const account = privateKeyToAccount(`0x${'46'.repeat(32)}`);

const to = account.address;

test('the example of EIP-155 reads back', async () => {
  const read = await readRaw(example.raw);
  assert.deepEqual([read.chainId, read.from, read.to], [1, example.from, example.to]);
  assert.equal(read.txid, keccak256(example.raw as Hex));
  assert.equal(chainIdOfRaw(example.raw.slice(2).toUpperCase()), 1);
});

test('legacy, EIP-2930 and EIP-1559 transactions are read; blobs and delegations are not', async () => {
  const common = { to, chainId: 5, gas: 21_000n, nonce: 1, data: '0x1234' } as const;
  const fees = { maxFeePerGas: 9n, maxPriorityFeePerGas: 1n };
  const served = [
    await account.signTransaction({ ...common, type: 'legacy', gasPrice: 9n }),
    await account.signTransaction({ ...common, type: 'eip2930', gasPrice: 9n }),
    await account.signTransaction({ ...common, type: 'eip1559', ...fees }),
  ];
  for (const raw of served) {
    const { chainId, data, from } = await readRaw(raw);
    assert.deepEqual([chainId, data, from], [5, '0x1234', account.address]);
  }
  const authorization = await account.signAuthorization({ address: to, chainId: 5, nonce: 0 });
  const delegation = await account.signTransaction({
    ...common,
    ...fees,
    type: 'eip7702',
    authorizationList: [authorization],
  });
  await assert.rejects(readRaw(delegation), isNone(/type 4 is not served/));
  await assert.rejects(readRaw(`0x03${served[2]?.slice(4)}`), isNone(/type 3 is not served/));
  await assert.rejects(readRaw('0x05c0'), isNone(/type 5 is unknown/));
});

test('a transaction without chain id, and one without signature, are refused', async () => {
  // Signed before EIP-155: v is 27.
  const old = await account.signTransaction({ to, gasPrice: 9n, gas: 21_000n, type: 'legacy' });
  await assert.rejects(readRaw(old), isNone(/names no chain id/));
  assert.throws(() => chainIdOfRaw(old), isNone(/names no chain id/));
  const unsigned =
    '0xec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080';
  await assert.rejects(readRaw(unsigned), isNone(/signed|signature/));
});

test('no bytes end in anything but a transaction or bad_transaction', async () => {
  await assert.rejects(readRaw({ psbtBase64: '', signaturesHex: [] }), isNone(/raw transaction/));
  await assert.rejects(readRaw(`0x${'00'.repeat(131_073)}`), isNone(/131072 bytes/));
  const bytes = (raw: Uint8Array) => `0x${Buffer.from(raw).toString('hex')}`;
  const mangled = fc
    .tuple(fc.nat(example.raw.length / 2 - 2), fc.nat(255), fc.constantFrom('02', '01', ''))
    .map(([at, byte, type]) => {
      const raw = Buffer.from(example.raw.slice(2), 'hex');
      raw[at] = byte;
      return `0x${type}${raw.toString('hex')}`;
    });
  const texts = fc.oneof(fc.string(), fc.uint8Array({ maxLength: 200 }).map(bytes), mangled);
  const property = fc.asyncProperty(texts, async (text) => {
    try {
      await readRaw(text);
    } catch (error) {
      assert.ok(error instanceof ParleyError && error.code === 'bad_transaction', String(error));
    }
  });
  await fc.assert(property, { numRuns: runs(500) });
});
