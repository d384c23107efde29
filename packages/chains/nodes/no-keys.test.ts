// No failure of a node tells the node's address or its key: neither its words, nor its facts, nor
// what it was caused by, whatever the node answers and however the connection fails.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { messageOf } from '@parley/sdk/errors.ts';
import { coreCoins, esploraCoins } from '@parley/sdk/wallets/coins.ts';
import { evmWallet } from '@parley/sdk/wallets/evm.ts';
import { solanaWallet } from '@parley/sdk/wallets/solana.ts';
import { tronWallet } from '@parley/sdk/wallets/tron.ts';
import { esploraBackend } from '../bitcoin/esplora-backend.ts';
import { bitcoinNetworks } from '../bitcoin/networks.ts';
import { coreRpc } from '../bitcoin/rpc.ts';
import { nodeOf, type Reply, within } from '../testing/nodes.ts';
import { httpClient } from '../tron/http.ts';
import { rpcClient } from './rpc.ts';
import { exchangeWith as byFetch } from './transport-fetch.ts';
import { exchangeWith as byNode } from './transport-node.ts';

const key = '0123456789abcdefkey';
const login = 'somebody:hunter2pass';
const soon = () => AbortSignal.timeout(60_000);
const keyed = (origin: string) => `${origin.replace('//', `//${login}@`)}/v3/${key}?token=t${key}`;

/** Asks of every family, as adapters and wallets ask. */
const askings: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
  evm: (url) => rpcClient({ chain: 'evm', urls: [url] }).call('eth_chainId', [], soon()),
  'one EVM node': (url) =>
    rpcClient({ chain: 'evm', urls: [url] }).ask(0, 'eth_getCode', [], soon()),
  tron: (url) =>
    httpClient({ chain: 'tron', sources: [{ url }] }).call('wallet/getnowblock', {}, soon()),
  core: (url) => coreRpc({ url }).call('getblockchaininfo', [], soon()),
  esplora: (url) =>
    esploraBackend({ url, network: bitcoinNetworks.regtest, now: () => 0 } as never).send(
      '00',
      'ab'.repeat(32),
      soon(),
    ),
  'coins of Core': (url) => coreCoins(url).feeRateSatPerVbyte(soon()),
  'coins of Esplora': (url) => esploraCoins(url).feeRateSatPerVbyte(soon()),
  'an EVM wallet': (url) => {
    const wallet = evmWallet({ rpcUrl: url, chainId: 1, privateKey: `0x${'11'.repeat(32)}` });
    return wallet.sign(1, { to: wallet.address, data: '0x', value: '0x0' }, soon());
  },
  'a TRON wallet': (url) =>
    tronWallet({ chain: 'tron', sources: [{ url }], privateKey: '11'.repeat(32) }).outcome(
      { txid: '', raw: '' },
      soon(),
    ),
  'a Solana wallet': (url) =>
    solanaWallet({
      chain: 'solana',
      rpcUrls: [url],
      secretKey: new Uint8Array(32).fill(1),
    }).outcome({ txid: '', raw: '' }, soon()),
};

function mustBeSilent(error: unknown, how: string): void {
  const whole = `${messageOf(error)} ${JSON.stringify(error)} ${inspect(error, { depth: 9 })}`;
  for (const each of [key, 'hunter2pass', 'somebody', '/v3/', 'http://', 'https://']) {
    const said = whole.replaceAll(/file:\/\/\S+|node:internal\S*/g, '');
    assert.ok(!said.includes(each), `${how} tells ${each}: ${said}`);
  }
}

async function everyFailure(url: string, how: string): Promise<void> {
  const request = { url, method: 'POST', headers: {}, body: '{}' } as const;
  const exchanges = Object.entries({ byNode, byFetch }).map(([name, exchange]) => {
    return [name, exchange(request, { timeMs: 3_000, bytes: 10_000 }, soon())] as const;
  });
  const all = [...Object.entries(askings).map(([name, ask]) => [name, ask(url)] as const)];
  const failures = await Promise.all(
    [...all, ...exchanges].map(([name, asking]) =>
      asking.then(
        () => 0,
        (error: unknown) => {
          mustBeSilent(error, `${name}, ${how},`);
          return 1;
        },
      ),
    ),
  );
  const count = failures.reduce((sum: number, one) => sum + one, 0);
  assert.ok(
    count >= 7,
    `${how}: ${count} failures, since some take another family's no as an answer`,
  );
}

const says = (context: TestContext, reply: (url: string) => Reply & { location?: string }) => {
  const own = { url: '' };
  const making = nodeOf(async () => reply(own.url));
  return within(context, making).then((origin) => (own.url = keyed(origin)));
};

const quotes = (url: string) => `no such key: ${url} (${key}, hunter2pass)`;
const hex = (text: string) => Buffer.from(text).toString('hex');
for (const [how, reply] of [
  ['401 in plain words', (url) => ({ status: 401, text: quotes(url) })],
  ['401 as JSON-RPC', (url) => ({ status: 401, text: error(quotes(url)) })],
  ['200 as JSON-RPC', (url) => ({ text: error(quotes(url)) })],
  ['500 as JSON-RPC', (url) => ({ status: 500, text: error(quotes(url)) })],
  ['400 in plain words', (url) => ({ status: 400, text: quotes(url) })],
  ['a no of TRON', (url) => ({ text: JSON.stringify({ Error: quotes(url), error: quotes(url) }) })],
  [
    'a no of TRON in hex',
    (url) => ({ text: JSON.stringify({ Error: hex(`at ${url}`), error: 1 }) }),
  ],
  ['no JSON', (url) => ({ text: `<a href="${url}">${key}</a>` })],
] as const satisfies readonly (readonly [string, (url: string) => Reply])[]) {
  test(`a node that answers ${how} has its address and key told by no failure`, async (t) => {
    await everyFailure(await says(t, reply), how);
  });
}

function error(message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32_001, message } });
}

test('a connection that fails tells neither the address nor the key', async (t) => {
  const plain = await within(
    t,
    nodeOf(async () => ({ text: '{}' })),
  );
  await everyFailure(keyed('http://127.0.0.1:1'), 'refused');
  await everyFailure(keyed(plain.replace('http:', 'https:')), 'without TLS');
  await everyFailure(keyed('http://nowhere.invalid'), 'no such name');
  const moved = nodeOf(async () => ({ status: 302, text: '' }));
  await everyFailure(keyed(await within(t, moved)), 'a redirection');
});

test('an address that is none is not repeated', async () => {
  for (const url of [`ftp://${login}@node/v3/${key}`, `http://${login}@:bad/v3/${key}`, key]) {
    for (const exchange of [byNode, byFetch]) {
      const request = { url, method: 'GET', headers: {} } as const;
      const limits = { timeMs: 1_000, bytes: 10 };
      const failure = await exchange(request, limits, soon()).then(
        () => assert.fail('answered'),
        (reason: unknown) => reason,
      );
      mustBeSilent(failure, exchange.name);
    }
  }
});

test('an error that a library of the customer’s quotes is shown without the address', () => {
  const viem = new Error(`HTTP request failed.\n\nStatus: 401\nURL: ${keyed('https://node')}\n`);
  assert.equal(messageOf(viem), 'HTTP request failed.\n\nStatus: 401\nURL: an address\n');
});
