// Several providers as one: the first that knows a number wins, and who fails is named.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { marketNumbers } from '../../settings/listing.ts';
import { combined } from './combine.ts';
import { type ChainIdentity, type Provider, ProviderFailure, type Told } from './facts.ts';
import { openMarketData } from './open.ts';
import { recorded, startProvider } from './testing/server.ts';

const never = new AbortController().signal;
const chains = new Map<string, ChainIdentity>([['ethereum', { family: 'evm', chainId: 1 }]]);

type Asked = { readonly name: string; readonly wanted: readonly string[] };

function provider(name: string, told: Told | ProviderFailure, asked: Asked[] = []): Provider {
  return {
    name,
    chainOf: (chain) => (chain.family === 'evm' ? 'eth' : null),
    look: async (_chain, _address, wanted) => {
      asked.push({ name, wanted: [...wanted] });
      if (told instanceof ProviderFailure) throw told;
      return told;
    },
  };
}

const look = (...providers: Provider[]) =>
  combined(providers, chains, () => {}).look('ethereum', '0x1', never);

test('the first that knows a number wins, and the next is asked only for the rest', async () => {
  const asked: Asked[] = [];
  const facts = await look(
    provider('a', { capUsd: 5, holders: null }, asked),
    provider('b', { capUsd: 6, holders: 0, honeypot: false }, asked),
    provider('c', { honeypot: true, volume24hUsd: 1 }, asked),
  );
  assert.deepEqual(facts.capUsd, { value: 5, source: 'a' });
  assert.deepEqual(facts.holders, { value: 0, source: 'b' }, 'none is known, too');
  assert.deepEqual(facts.honeypot, { value: false, source: 'b' });
  assert.deepEqual([facts.ageSeconds, facts.asked, facts.unavailable], [null, ['a', 'b', 'c'], []]);
  assert.deepEqual(asked[1]?.wanted, [...marketNumbers.filter((n) => n !== 'capUsd'), 'honeypot']);
  assert.ok(!asked[2]?.wanted.includes('honeypot') && !asked[2]?.wanted.includes('holders'));
});

test('a provider that fails is named, and the next is asked instead', async () => {
  const failures: string[] = [];
  const broken = provider('a', new ProviderFailure('unreachable', 'a is down'));
  const data = combined([broken, provider('b', { capUsd: 7 })], chains, (name, { message }) =>
    failures.push(`${name}: ${message}`),
  );
  const facts = await data.look('ethereum', '0x1', never);
  assert.deepEqual([facts.capUsd, facts.unavailable], [{ value: 7, source: 'b' }, ['a']]);
  assert.deepEqual(failures, ['a: a is down']);
});

test('liquidity of more than ten times the capitalisation is believed of neither', async () => {
  const edge = await look(provider('a', { capUsd: 100, liquidityUsd: 1_000 }));
  assert.deepEqual([edge.capUsd?.value, edge.liquidityUsd?.value], [100, 1_000]);
  const over = await look(
    provider('a', { capUsd: 100, volume24hUsd: 3 }),
    provider('b', { liquidityUsd: 1_001 }),
  );
  assert.deepEqual([over.capUsd, over.liquidityUsd], [null, null]);
  assert.deepEqual([over.unavailable, over.volume24hUsd?.value], [['a', 'b'], 3]);
});

test('providers of the settings are asked in their order, each by its key, and no key is logged', async (t) => {
  const gecko = await startProvider(t);
  const goplus = await startProvider(t);
  gecko.answer(({ url = '' }, response) => {
    const body = recorded(url.includes('/info') ? 'gecko-info' : 'gecko-token');
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  goplus.answer((_request, response) => response.writeHead(403).end('f00d'));
  const logged: unknown[] = [];
  const log = { warn: (...line: unknown[]) => logged.push(line) };
  const usdt = '0xdac17f958d2ee523a2206206994597c13d831ec7';
  const data = openMarketData(
    [
      { provider: 'goplus', url: goplus.base },
      { provider: 'coingecko', key: 'f00d', plan: 'demo', url: `${gecko.base}/onchain` },
    ],
    [{ chain: 'main', family: 'evm', chainId: 1 }],
    log,
  );
  const facts = await data?.look('main', usdt, never);
  assert.deepEqual(facts?.holders, { value: 7_041_203, source: 'coingecko' });
  assert.deepEqual(facts?.unavailable, ['goplus']);
  assert.equal(gecko.headers[0]?.['x-cg-demo-api-key'], 'f00d');
  assert.match(gecko.asked[0] ?? '', /^\/onchain\/networks\/eth\/tokens\/0xdac17/);
  assert.doesNotMatch(JSON.stringify([logged, facts]), /f00d/);
  assert.equal(logged.length, 1);
  assert.equal(openMarketData([], [], log), null);
});
