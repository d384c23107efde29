// An operator's own names stand wherever the product speaks, and the default ones nowhere.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readSettings } from '../settings/config.ts';
import { startEdge, type TestEdge } from './testing/edge.ts';
import { evmWallet } from './testing/signers.ts';

const { productName, shortName } = readSettings({
  PARLEY_PRODUCT_NAME: 'Acme Swaps',
  PARLEY_SHORT_NAME: 'acme',
});

let edge: TestEdge;
before(async () => {
  edge = await startEdge({ settings: { productName, shortName } });
});
after(() => edge.close());

async function mint(marker: string) {
  const wallet = evmWallet();
  const { nonce } = (await edge.call('GET', '/v1/keys/nonce')).body;
  const { family: rail, address } = wallet;
  const message = `${marker} - create an API key\n\nAddress: ${address}\nNonce: ${nonce}`;
  const body = { rail, address, message, signature: await wallet.sign(message) };
  return edge.call('POST', '/v1/keys', { body });
}

test('a key is minted by a message in the product name, and carries the short name', async () => {
  const { status, body } = await mint('Acme Swaps');
  assert.equal(status, 200);
  assert.match(body.key, /^acme_test_[0-9A-Za-z]{43}$/);
  assert.match(body.prefix, /^acme_test_/);
  assert.equal((await edge.call('GET', '/v1/me', { key: body.key })).status, 200);
  const other = await mint('Parley');
  assert.equal(other.status, 400);
  assert.equal(other.headers['x-acme-error'], 'bad_message');
  assert.match(other.body.error, /Acme Swaps/);
  assert.doesNotMatch(JSON.stringify(other), /parley/i);
});

test('a wallet is linked under the product name', async () => {
  const { key } = (await mint('Acme Swaps')).body;
  for (const [marker, expected] of [
    ['Acme Swaps', 200],
    ['Parley', 400],
  ] as const) {
    const wallet = evmWallet();
    const { address } = wallet;
    const { nonce } = (await edge.call('GET', '/v1/wallets/nonce', { key })).body;
    const message = `${marker} - link this wallet\n\nAddress: ${address}\nNonce: ${nonce}`;
    const body = { address, message, signature: await wallet.sign(message) };
    const { status } = await edge.call('POST', '/v1/wallets/evm', { key, body });
    assert.equal(status, expected, marker);
  }
});

test('refusals, the API description and the reference page name nobody else', async () => {
  const refused = await edge.call('GET', '/v1/me');
  assert.equal(refused.headers['x-acme-error'], 'key_missing');
  const { body } = await edge.call('GET', '/v1/openapi.json');
  assert.equal(body.info.title, 'Acme Swaps API');
  assert.ok('x-acme-txid' in body.components.responses.Error504.headers);
  const text = JSON.stringify(body);
  assert.match(text, /x-acme-signature/);
  assert.doesNotMatch(text, /parley/i);
  const page = await edge.app.inject('/v1/docs');
  assert.match(page.body, /Acme Swaps/);
  assert.doesNotMatch(page.body, /parley/i);
});
