// An operator's source of prices in a currency: its prices end after ten minutes, and an answer that is
// not understood changes nothing.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { type TestEdge, testEdge } from '../edge/testing/edge.ts';
import { readSettings } from '../settings/config.ts';
import { seedAssets } from './assets.ts';
import { createFiat, staleMs } from './fiat.ts';

let answer: { status?: number; body: string; headers?: object } = { body: '' };
const source = createServer((_, response) => {
  response.writeHead(answer.status ?? 200, { ...answer.headers }).end(answer.body);
});
await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
after(() => source.close());
const host = `127.0.0.1:${(source.address() as AddressInfo).port}`;

const token = '0x00000000000000000000000000000000000000d0';
let told: ReturnType<typeof createFiat> | undefined;
const edge: TestEdge = await testEdge({ fiat: () => told?.prices() ?? null });
const fiat = createFiat(edge.deps, `http://${host}/prices`);
told = fiat;
const [btc, usd] = await seedAssets(edge.deps.db, edge.deps, [
  { chain: 'bitcoin', symbol: 'BTC', address: null, decimals: 8 },
  { chain: 'evm-dev', symbol: 'USD', address: token, decimals: 6 },
]);
const ask = (body: unknown, more: object = {}) => {
  answer = { body: typeof body === 'string' ? body : JSON.stringify(body), ...more };
  return fiat.ask(new AbortController().signal);
};
const shown = async () => (await edge.call('GET', '/market/fiat')).body;
const good = {
  currency: 'USD',
  prices: { 'bitcoin:native': '65120.12', [`evm-dev:${token.replace('d', 'D')}`]: '1', 'x:y': '2' },
};
const nothing = { currency: null, source: null, at: null, prices: [] };

test('prices are those of open assets that are known, with their source, for ten minutes', async () => {
  edge.deps.freeze();
  assert.deepEqual(await shown(), nothing);
  await ask(good);
  const prices = [
    { assetId: btc!.id, price: '65120.12' },
    { assetId: usd!.id, price: '1' },
  ];
  const at = new Date(edge.deps.now()).toISOString();
  assert.deepEqual(await shown(), { currency: 'USD', source: host, at, prices });
  edge.deps.advance(staleMs);
  assert.equal((await shown()).at, at);
  edge.deps.advance(1);
  assert.deepEqual(await shown(), nothing);
});

const refused: readonly (readonly [what: string, body: unknown, says: RegExp, more?: object])[] = [
  ['a fault', good, /status 500/, { status: 500 }],
  ['a redirect', good, /status 302/, { status: 302, headers: { location: '/elsewhere' } }],
  ['no JSON', '<html>', /no JSON/],
  ['too much', ' '.repeat(262_145), /more than 262144 bytes/],
  ['a currency of its own', { ...good, currency: '<b>' }, /currency/],
  ['a number', { ...good, prices: { 'bitcoin:native': 65_120.12 } }, /bitcoin:native/],
  ['less than nothing', { ...good, prices: { 'bitcoin:native': '-1' } }, /bitcoin:native/],
  ['no asset', { ...good, prices: { bitcoin: '1' } }, /bitcoin/],
  ['nothing', null, /object/],
];

for (const [what, body, says, more] of refused) {
  test(`an answer with ${what} changes nothing, and is named without its text`, async () => {
    await ask(good);
    await assert.rejects(ask(body, more), says);
    assert.equal((await shown()).currency, 'USD');
  });
}

test('a source is asked over https, or on this machine', () => {
  const read = (PARLEY_FIAT_URL: string) => readSettings({ PARLEY_FIAT_URL }).fiatUrl;
  const own = 'https://prices.market.example/now?of=all';
  assert.deepEqual([read(''), read(own)], [null, own]);
  for (const url of ['http://prices.market.example', 'https://me:it@market.example', 'prices']) {
    assert.throws(() => read(url), /PARLEY_FIAT_URL must be an https URL/);
  }
});
