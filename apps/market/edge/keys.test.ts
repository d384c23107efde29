// Keys by wallet signature over HTTP: specification parts 4, 5 and 8, decisions 4 and 7. The signed
// text by itself is in apps/market/market/messages.test.ts, nonces in apps/market/market/nonces.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { families } from '@parley/core/families.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { TronWeb } from 'tronweb';
import { readSettings } from '../settings/config.ts';
import { codeOf, refused, testEdge } from './testing/edge.ts';
import { account, link, mintOf, type Write } from './testing/hands.ts';
import {
  bitcoinWallet,
  evmWallet,
  spellings,
  type TestWallet,
  walletOf,
} from './testing/signers.ts';

const edge = await testEdge();
const me = (key: string) => edge.call('GET', '/v1/me', { key });
const works = async (key: string) => (await me(key)).status === 200;
const minting =
  ({ address }: TestWallet, product = 'Parley'): Write =>
  (nonce) =>
    `${product} - create an API key\n\nAddress: ${address}\nNonce: ${nonce}`;

test('a wallet of each family mints a key that works, and shows its account', async () => {
  const all = [...families.map((family) => walletOf[family]()), bitcoinWallet('p2tr')];
  for (const wallet of all) {
    const { status, body } = await edge.mint(wallet, ['Key name: desk 1', 'Scopes: maker, read']);
    assert.equal(status, 200, JSON.stringify(body));
    assert.match(body.key, /^parley_test_[0-9A-Za-z]{43}$/);
    assert.equal(body.prefix, body.key.slice(0, 'parley_test_'.length + 6));
    assert.deepEqual([body.scopes, body.name, body.replaced], [['read', 'maker'], 'desk 1', false]);
    const days = (Date.parse(body.expiresAt) - Date.now()) / 86_400_000;
    assert.ok(days > 89.99 && days <= 90.01, `${days} days`);
    const shown = await me(body.key);
    assert.deepEqual(shown.body.scopes, ['read', 'maker']);
    const expected = families.map((family) => {
      const login = family === wallet.family ? wallet.address : null;
      return [family, { login, proven: [] }];
    });
    assert.deepEqual(shown.body.wallets, Object.fromEntries(expected));
  }
});

test('only the hash of a key is stored', async () => {
  const { body } = await edge.mint(evmWallet());
  const rows = await edge.sql('select row_to_json(api_keys)::text as text from api_keys');
  assert.ok(rows.length > 0);
  for (const { text } of rows) assert.ok(!text.includes(body.key.slice('parley_test_'.length)));
});

test('any spelling of an address is the same account, whose key is replaced at once', async () => {
  for (const family of families) {
    const wallet = walletOf[family]();
    const first = await account(edge, wallet);
    let { key } = first;
    for (const address of spellings(wallet)) {
      const named = (nonce: string) => minting({ ...wallet, address })(nonce);
      const minted = await mintOf(edge, wallet, named, { address });
      assert.equal(minted.body.replaced, true, JSON.stringify(minted.body));
      assert.equal(await works(key), false);
      ({ key } = minted.body);
      const { body } = await me(key);
      assert.deepEqual([body.userId, body.wallets[family].login], [first.userId, wallet.address]);
    }
  }
});

test('an EVM signature is no TRON proof, though both addresses are of one key', async () => {
  const evm = evmWallet();
  const address = TronWeb.address.fromHex(`41${evm.address.slice(2)}`);
  const tron = { ...evm, family: 'tron', address } as const;
  refused(await mintOf(edge, tron, minting(tron)), '400 bad_signature');
});

test('first mints of one wallet at once make one account with one live key', async () => {
  const wallet = evmWallet();
  const { db } = edge.deps;
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  // The accounts cannot be added until all of them have asked for one.
  const holding = db.transaction(async (tx) => {
    const text = 'lock table accounts in exclusive mode';
    await tx.rows({ name: '', text, values: [] });
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  const mints = Promise.all([1, 2, 3].map(() => edge.mint(wallet)));
  const waiting = () => edge.sql('select 1 as one from pg_locks where not granted');
  await waitUntil(async () => (await waiting()).length >= 3);
  release.resolve();
  await holding;
  const minted = await mints;
  assert.deepEqual(minted.map(codeOf), Array(3).fill('200 ok'));
  assert.equal(minted.filter(({ body }) => !body.replaced).length, 1);
  const live = await Promise.all(minted.map(({ body }) => works(body.key)));
  assert.deepEqual(live.sort(), [false, false, true]);
});

// The counting itself: budgets.test.ts.
test('20 mints an hour of a client network, failed ones counted; 1 000 with dev chains', async () => {
  const chain = { chain: 'evm', family: 'evm', chainId: 1, rpcUrls: ['http://127.0.0.1:1'] };
  const served = { PARLEY_CHAINS: JSON.stringify([chain]), PARLEY_NETWORK: 'mainnet' };
  const limits = [readSettings({}), readSettings(served)].map(({ mintLimit }) => mintLimit);
  assert.deepEqual(limits, [1_000, 20]);
  const own = await testEdge({ settings: { mintLimit: 1 } });
  own.deps.freeze();
  const attempt = (ip: string) => own.call('POST', '/v1/keys', { body: {}, ip });
  assert.equal((await attempt('2001:db8:1:2::1')).status, 400);
  // The address is in the same client network.
  const over = await attempt('2001:db8:1:3::1');
  refused(over, '429 mint_rate_limited');
  assert.equal(over.headers['retry-after'], '3600');
});

test('a deployment names itself in keys, texts, headers and pages, and nobody else', async () => {
  const named = { PARLEY_PRODUCT_NAME: 'Acme Swaps', PARLEY_SHORT_NAME: 'acme' };
  const { productName, shortName } = readSettings(named);
  const own = await testEdge({ settings: { productName, shortName, network: 'mainnet' } });
  const wallet = evmWallet();
  const { body } = await mintOf(own, wallet, minting(wallet, 'Acme Swaps'));
  assert.match(body.key, /^acme_live_[0-9A-Za-z]{43}$/);
  assert.match(body.prefix, /^acme_live_/);
  const read = (key: string) => own.call('GET', '/v1/me', { key });
  assert.equal((await read(body.key)).status, 200);
  assert.equal((await read(body.key.replace('_live_', '_test_'))).status, 401);
  const other = await mintOf(own, wallet, minting(wallet));
  refused(other, '400 bad_message', /Acme Swaps/);
  refused(await link(own, body.key, evmWallet()), '400 bad_message', /Acme Swaps/);
  const { body: described } = await own.call('GET', '/v1/openapi.json');
  assert.equal(described.info.title, 'Acme Swaps API');
  assert.match(JSON.stringify(described), /x-acme-signature/);
  const page = await own.app.inject('/v1/docs');
  assert.match(page.body, /Acme Swaps/);
  for (const said of [other, await own.call('GET', '/v1/me'), described, page.body]) {
    assert.doesNotMatch(JSON.stringify(said), /parley/i);
  }
});
