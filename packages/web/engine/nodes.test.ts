// The nodes that a person names: tried, kept, and told why not.

import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import type { AppChain } from '@parley/core/app-chain.ts';
import { memoryKept } from './keeping.ts';
import { openNodes } from './nodes.ts';

const now = 1_800_000_000;
const chains: readonly AppChain[] = [
  { family: 'bitcoin', chain: 'btc', nodes: ['https://market.example/btc'], bitcoin: 'mainnet' },
  { family: 'evm', chain: 'eth', nodes: [], chainId: 1 },
  { family: 'evm', chain: 'sepolia', nodes: [], chainId: 11_155_111 },
];
const opened = (changed: string[] = [], kept = memoryKept(), isServed = true) =>
  openNodes({
    chains,
    kept,
    isServed,
    network: 'mainnet',
    now: () => now,
    atStake: new Set(),
    onChange: (chain) => changed.push(chain),
  });

type Answer = (path: string) => string;

const servers: Server[] = [];
after(() => {
  for (const each of servers) each.close();
});

async function serving(answer: Answer): Promise<string> {
  const server = createServer(({ url = '' }, response) => response.end(answer(url)));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const genesis = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f';
const esplora = (first: string, mediantime: number) =>
  serving((path) => {
    if (path === '/block-height/0') return first;
    const id = 'aa'.repeat(32);
    if (path === '/blocks/tip/hash') return id;
    return JSON.stringify({ id, height: 900_000, mediantime });
  });
const gone = 'http://127.0.0.1:1';
const hour = 3_600;

test('a node that this page may not ask, or that is not of the chain, is told for what it is', async () => {
  const nodes = await opened();
  for (const [chain, url, sentence] of [
    ['btc', 'my node', /no address of a node/],
    ['btc', 'wss://node.example', /by https or http, not by wss:/],
    // The content policy names the number alone.
    ['btc', 'http://localhost:1', /by http at 127\.0\.0\.1/],
    ['btc', `https://${'a'.repeat(300)}.example`, /no address/],
    ['btc', await esplora('ff'.repeat(32), now), /not of Bitcoin mainnet/],
    ['btc', await esplora(genesis, now - 3 * hour - 60), /900000, is 181 minutes old/],
    ['eth', gone, /CORS/],
    ['sepolia', gone, /of the network "testnet"/],
    ['none', gone, /names no such chain/],
  ] as const) {
    const found = await nodes.check(chain, url);
    assert.ok(!found.ok, url);
    assert.match(found.sentence, sentence);
  }
  const good = await nodes.check('btc', await esplora(genesis, now - 3 * hour));
  assert.ok(good.ok && good.height === 900_000);
  const plain = await opened([], memoryKept(), false);
  const asked = await plain.check('btc', 'http://localhost.invalid');
  assert.ok(!asked.ok && /CORS/.test(asked.sentence), 'a saved copy may ask by http');
});

test('own nodes are kept when all are good, used from then on, and given back', async () => {
  const changed: string[] = [];
  const kept = memoryKept();
  const nodes = await opened(changed, kept);
  const one = await esplora(genesis, now);
  const other = await esplora(genesis, now);
  const third = await esplora(genesis, now);
  const named = (of = nodes) => of.chains.now().find(({ chain }) => chain === 'btc');
  const mixed = await nodes.keep('btc', [one, gone]);
  assert.deepEqual(
    mixed.map(({ ok }) => ok),
    [true, false],
  );
  // A third one would never be asked.
  await nodes.keep('btc', [one, other, third]);
  assert.deepEqual([named()?.isOwn, named()?.nodes], [false, ['https://market.example/btc']]);
  assert.deepEqual(changed, []);
  const before = await nodes.source('btc');
  await nodes.keep('btc', [` ${one} `, one, '', other]);
  assert.deepEqual([named()?.isOwn, named()?.nodes], [true, [one, other]]);
  const after = await nodes.source('btc');
  assert.ok(after !== before && after === (await nodes.source('btc')));
  const reloaded = await opened([], kept);
  assert.deepEqual(named(reloaded)?.nodes, [one, other]);
  assert.deepEqual(await nodes.keep('btc', []), []);
  assert.equal(named()?.isOwn, false);
  assert.deepEqual(changed, ['btc', 'btc']);
  await Promise.all([nodes.close(), reloaded.close()]);
});

test('a file that anybody may have made teaches no chain for good, and none that is known', async () => {
  const kept = memoryKept();
  const nodes = await opened([], kept);
  const base = (contract: string): AppChain => {
    return { family: 'evm', chain: 'base', nodes: [], chainId: 8_453, contract };
  };
  const forged = { family: 'evm', chain: 'eth', nodes: [gone], chainId: 10 } as const;
  await nodes.guess([base('0xforged'), forged]);
  assert.deepEqual([nodes.of('base'), nodes.of('eth')], [base('0xforged'), chains[1]]);
  await nodes.guess([base('0xown')]);
  assert.deepEqual(nodes.of('base'), base('0xown'));
  assert.equal((await opened([], kept)).of('base'), null);
  await nodes.learn([base('0xown')]);
  await nodes.guess([base('0xforged')]);
  for (const each of [nodes, await opened([], kept)]) {
    assert.deepEqual(each.of('base'), base('0xown'));
  }
});
