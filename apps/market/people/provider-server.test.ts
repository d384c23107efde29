// The accepted parts of a discovery document.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { ProviderSettings } from '../settings/people.ts';
import { ProviderFault } from './provider-fetch.ts';
import { openProviders } from './provider-server.ts';

let document: Readonly<Record<string, unknown>> | Buffer = {};
let headers: Readonly<Record<string, string>> = {};
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(Buffer.isBuffer(document) ? document : JSON.stringify(document));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
test.after(() => server.close());
const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const good = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  response_types_supported: ['code'],
  id_token_signing_alg_values_supported: ['RS256'],
  code_challenge_methods_supported: ['S256'],
};
const acme: ProviderSettings = {
  id: 'acme',
  label: 'Acme',
  issuer,
  clientId: 'parley',
  clientSecret: 'secret',
  scopes: ['openid'],
  messages: false,
  nonce: true,
};
test.beforeEach(() => {
  [document, headers] = [good, {}];
});

/** The algorithms that are taken, or why there is none. */
async function found(given: typeof document, provider = acme): Promise<unknown> {
  document = given;
  const providers = openProviders({ now: Date.now, settings: { chainTimeoutMs: 5_000 } });
  try {
    const config = await providers.configurationOf(provider);
    return config.serverMetadata().id_token_signing_alg_values_supported;
  } catch (error) {
    if (error instanceof ProviderFault) return error.message;
    throw error;
  }
}

test('algorithms that need no private key are taken from nobody', async () => {
  const signing = (list: unknown) =>
    found({ ...good, id_token_signing_alg_values_supported: list });
  assert.deepEqual(await signing(['none', 'HS256', 'RS256', 'ES256K', 'EdDSA']), [
    'RS256',
    'EdDSA',
  ]);
  assert.deepEqual(await signing(undefined), ['RS256']);
  assert.match(String(await signing(['none', 'HS256'])), /names no algorithm that is allowed/);
  assert.match(String(await signing('RS256')), /names no algorithm that is allowed/);
});

test('the issuer is the one that is configured, to the letter', async () => {
  for (const other of [
    `${issuer}/`,
    issuer.replace('127.0.0.1', 'localhost'),
    'https://a.example',
  ]) {
    assert.match(String(await found({ ...good, issuer: other })), /names another issuer/, other);
  }
});

test('endpoints that are missing, or not https, make it useless', async () => {
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri']) {
    for (const url of [undefined, 7, '', '/token', 'http://evil.example/', 'javascript:alert(1)']) {
      assert.match(String(await found({ ...good, [name]: url })), RegExp(`has no https ${name}`));
    }
  }
  assert.deepEqual(await found({ ...good, token_endpoint: 'https://other.example/token' }), [
    'RS256',
  ]);
});

test('the secret is shown in a header or in the form, and in no other way', async () => {
  const shown = (methods: unknown) =>
    found({ ...good, token_endpoint_auth_methods_supported: methods });
  for (const methods of [undefined, ['client_secret_basic'], ['client_secret_post']]) {
    assert.deepEqual(await shown(methods), ['RS256'], JSON.stringify(methods));
  }
  assert.match(String(await shown(['private_key_jwt'])), /no way to show the client secret/);
});

test('without a nonce the provider must name PKCE with S256', async () => {
  const bare = { ...acme, nonce: false };
  assert.deepEqual(await found(good, bare), ['RS256']);
  for (const challenges of [undefined, ['plain']]) {
    const document = { ...good, code_challenge_methods_supported: challenges };
    assert.match(String(await found(document, bare)), /does not name PKCE with S256/);
    assert.deepEqual(await found(document), ['RS256'], 'the nonce does it');
  }
});

test('an answer of 256 KiB is read, and of a byte more is not, packed or not', async () => {
  const text = (size: number) => {
    const empty = JSON.stringify({ ...good, more: '' }).length;
    return Buffer.from(JSON.stringify({ ...good, more: 'x'.repeat(size - empty) }));
  };
  assert.deepEqual(await found(text(262_144)), ['RS256']);
  assert.match(String(await found(text(262_145))), /more than 262144 bytes/);
  headers = { 'content-encoding': 'gzip' };
  assert.deepEqual(await found(gzipSync(text(262_144))), ['RS256']);
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  assert.ok(bomb.length < 100_000);
  assert.match(String(await found(bomb)), /more than 262144 bytes/);
});
