// Start-up against real nodes: one of another chain, or without the pinned contracts, refuses to
// start; one that does not answer does not.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { type Regtest, startRegtest } from '@parley/chains/bitcoin/testing/regtest.ts';
import { evmChains } from '@parley/chains/evm/policy.ts';
import { startAnvil, type TestChain } from '@parley/chains/evm/testing/anvil.ts';
import { deployment } from '@parley/contracts/escrows/artifacts/abi.ts';
import { shardOf } from '@parley/contracts/escrows/ids.ts';
import { stubAdapter } from '@parley/verify/test/support/adapter.ts';
import type { ChainSettings } from '../settings/chains.ts';
import { readSettings } from '../settings/config.ts';
import { brokenPolicies, openAdapters } from './chains.ts';

const dead = 'http://127.0.0.1:1';
const settings = readSettings({});

let anvil: TestChain;
let regtest: Regtest;
before(async () => {
  [anvil, regtest] = await Promise.all([startAnvil({ deploy: false }), startRegtest()]);
});
after(() => Promise.all([anvil?.stop(), regtest?.stop()]));

function evm(rest: object = {}): ChainSettings {
  return { family: 'evm', chain: 'evm', chainId: 31_337, rpcUrls: [anvil.rpcUrl], ...rest };
}

function bitcoin(rest: object = {}): ChainSettings {
  return { family: 'bitcoin', chain: 'btc', network: 'regtest', rpcUrl: regtest.rpcUrl, ...rest };
}

/** Opens these chains; gives back the warnings. */
async function open(...chains: ChainSettings[]): Promise<object[]> {
  const warnings: object[] = [];
  const log = { info: () => {}, warn: (facts: object) => void warnings.push(facts) };
  const all = await openAdapters(settings, chains, { now: Date.now, log });
  await Promise.all([...all.values()].map((adapter) => adapter.close()));
  return warnings;
}

test('an EVM node of another chain id, without the contract, or with other code refuses to start', async () => {
  const { address } = deployment;
  await assert.rejects(open(evm({ chainId: 31_338 })), /"evm" .* is of chain id 31337, not 31338/);
  await assert.rejects(open(evm()), new RegExp(`no escrow contract at ${address}`));
  const shard = evm({ contract: shardOf(2).address });
  await assert.rejects(open(shard), /deploy it with npm run deploy -- --shard 2/);
  await anvil.client.setCode({ address, bytecode: '0x6001' });
  await assert.rejects(open(evm()), /deployed under another chain id than 31337/);
  await anvil.client.setCode({ address, bytecode: '0x' });
});

test('with the contract it starts; each further node is checked as well', async () => {
  const ready = await startAnvil();
  try {
    assert.deepEqual(await open(evm({ rpcUrls: [ready.rpcUrl] })), []);
    const second = evm({ rpcUrls: [ready.rpcUrl, anvil.rpcUrl] });
    await assert.rejects(open(second), /node 2 shows no escrow contract/);
  } finally {
    await ready.stop();
  }
});

test('a Bitcoin node of another network refuses to start, as first or second source', async () => {
  assert.deepEqual(await open(bitcoin()), []);
  for (const network of ['mainnet', 'testnet', 'signet'] as const) {
    const expected = new RegExp(`"btc" .* is of Bitcoin regtest, not ${network} as configured`);
    await assert.rejects(open(bitcoin({ network })), expected);
  }
  const second = { rpcUrl: regtest.rpcUrl };
  await assert.rejects(
    open(bitcoin({ network: 'mainnet', rpcUrl: dead, second })),
    /node 2 is of Bitcoin regtest, not mainnet/,
  );
});

test('an Esplora server is known by its first block', async () => {
  const signet = '00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6';
  const server = createServer((_request, reply) => reply.end(signet)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const esploraUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const at = (network: string) => bitcoin({ rpcUrl: undefined, esploraUrl, network });
    assert.deepEqual(await open(at('signet')), []);
    await assert.rejects(open(at('testnet')), /is of Bitcoin signet, not testnet/);
    await assert.rejects(open(at('regtest')), /is of Bitcoin signet, not regtest/);
  } finally {
    server.close();
  }
});

test('nodes that do not answer are waited for, and their addresses are not logged', async () => {
  const down = evm({ rpcUrls: ['http://127.0.0.1:1/v3/apikey'] });
  const warnings = await open(down, bitcoin({ rpcUrl: 'http://user:hidden@127.0.0.1:1' }));
  assert.equal(warnings.length, 2);
  assert.doesNotMatch(JSON.stringify(warnings), /apikey|hidden/);
});

test('policies that break an inequality in any pair refuse to start, with the numbers', async () => {
  const { policy } = evmChains['evm-dev'];
  const slow = { ...policy, normal: { ...policy.normal, settleSeconds: 30 * 86_400 } };
  const adapters = new Map(
    [stubAdapter('a', 'evm', { policy }), stubAdapter('b', 'evm', { policy: slow })].map(
      (each) => [each.chain, each] as const,
    ),
  );
  const broken = brokenPolicies(adapters);
  assert.match(broken.join('\n'), /a \(short\) with b \(long\): .* more than 2592000 s ahead/);
  // Room for a clock that stops: only one choice breaks, and depths may make it.
  const outageSeconds = 15 * 86_400;
  const stops = { ...policy, high: { ...policy.high, outageSeconds }, windowSeconds: null };
  const stopping = stubAdapter('b', 'evm', { policy: stops });
  const [sentence, ...more] = brokenPolicies(adapters.set('b', stopping));
  assert.match(String(sentence), /^b \(short\) with a \(long\): .* 2\d{6} s is more than 2592000/);
  assert.ok(more.every((each) => each.startsWith('b (short) with a (long)')));
  const own = evm({ policy: { normal: { settleSeconds: 29 * 86_400 }, floorSeconds: 10 } });
  await assert.rejects(open(own), /refused: /);
});
