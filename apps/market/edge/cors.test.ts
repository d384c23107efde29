// Pages of other origins with API keys: those that the operator names, without cookies, below `/v1`
// alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refused, testEdge } from './testing/edge.ts';
import { signedIn, siteAt } from './testing/session.ts';
import { evmWallet } from './testing/signers.ts';

const site = 'https://market.example';
const partner = 'https://desk.example';

const edge = await testEdge({ settings: siteAt(site, { corsOrigins: [partner] }) });
const key: string = (await edge.mint(evmWallet())).body.key;
const browser = await signedIn(edge, { origin: site });

const preflight = { origin: partner, 'access-control-request-method': 'POST' };
const corsHeadersOf = (headers: Readonly<Record<string, unknown>>) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

test('a preflight is 204 with what may be sent, and spends a request of the client', async () => {
  const asked = { ...preflight, 'access-control-request-headers': 'authorization' };
  const { status, headers, body } = await edge.call('OPTIONS', '/v1/rfqs', { headers: asked });
  assert.deepEqual([status, body], [204, undefined]);
  const { headers: next } = await edge.call('OPTIONS', '/v1/rfqs', { headers: asked });
  assert.equal(Number(next['ratelimit-remaining']), Number(headers['ratelimit-remaining']) - 1);
  assert.equal(headers['access-control-allow-origin'], partner);
  assert.equal(headers['access-control-allow-methods'], 'GET, HEAD, POST, DELETE');
  assert.equal(
    headers['access-control-allow-headers'],
    'authorization, x-api-key, content-type, idempotency-key',
  );
  assert.equal(headers['access-control-max-age'], '7200');
  assert.equal(headers.vary, 'Origin');
  assert.equal(headers['access-control-allow-credentials'], undefined);
});

test('a preflight is refused with 429 where the budget of its client is out', async () => {
  const settings = { ...siteAt(site, { corsOrigins: [partner] }), rateLimit: 1 };
  const small = await testEdge({ settings });
  for (const status of [204, 429]) {
    assert.equal((await small.call('OPTIONS', '/v1/me', { headers: preflight })).status, status);
  }
});

test('a request that is no preflight from there is answered as without CORS', async () => {
  const named = ['access-control-allow-origin', 'access-control-expose-headers'];
  for (const [url, headers, expected] of [
    ['/v1/rfqs', {}, []],
    // That asks for no method.
    ['/v1/rfqs', { origin: partner }, named],
    ...['https://evil.example', site, `${partner}.ev`, 'null'].map(
      (origin) => ['/v1/rfqs', { ...preflight, origin }, []] as const,
    ),
    ['/account/keys', preflight, []],
  ] as const) {
    const answer = await edge.call('OPTIONS', url, { headers });
    refused(answer, '405 method_not_allowed');
    assert.deepEqual(corsHeadersOf(answer.headers), expected, JSON.stringify(headers));
  }
});

test('every answer to a page from there can be read by it', async () => {
  const cases: [number, string, string, { key?: string; body?: unknown; headers?: object }][] = [
    [200, 'GET', '/v1/openapi.json', {}],
    [302, 'GET', '/v1', {}],
    [401, 'GET', '/v1/me', { key: 'nonsense' }],
    [404, 'GET', '/v1/nothing', {}],
    [400, 'POST', '/v1/rfqs', { key, body: '{' }],
    [413, 'POST', '/v1/rfqs', { key, body: { a: 'x'.repeat(66_000) } }],
    [400, 'GET', '/v1/rfqs/%zz', {}],
    [417, 'GET', '/v1/me', { headers: { expect: 'cake' } }],
  ];
  for (const [status, method, url, options] of cases) {
    const headers = { origin: partner, ...options.headers };
    const answer = await edge.call(method, url, { ...options, headers });
    const said = answer.headers;
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    const vary = url === '/v1/openapi.json' ? 'Origin, accept-encoding' : 'Origin';
    assert.deepEqual([said['access-control-allow-origin'], said.vary], [partner, vary]);
    assert.equal(said['access-control-allow-credentials'], undefined);
    const exposed = String(said['access-control-expose-headers']).toLowerCase().split(', ');
    const ours = /^(x-)?ratelimit-|^x-parley-|^retry-after$|^idempotency-/;
    for (const name of Object.keys(said)) {
      if (ours.test(name)) assert.ok(exposed.includes(name), `${url} ${name}`);
    }
  }
});

test('a write is replayed there, and the header that says so can be read', async () => {
  const headers = { origin: partner, 'idempotency-key': 'from a page' };
  await edge.call('POST', '/v1/webhooks', { key, body: { url: 'no url' }, headers });
  const again = await edge.call('POST', '/v1/webhooks', { key, body: { url: 'no url' }, headers });
  assert.equal(again.headers['idempotency-replayed'], 'true');
  assert.match(String(again.headers['access-control-expose-headers']), /Idempotency-Replayed/);
});

test('an answer to anybody else says that it depends on the origin, and allows none', async () => {
  for (const headers of [{}, { origin: 'https://evil.example' }, { origin: site }]) {
    const answer = await edge.call('GET', '/v1/me', { key, headers });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.vary, 'Origin');
    assert.deepEqual(corsHeadersOf(answer.headers), []);
  }
});

test('a cookie from there never counts, whatever else is sent', async () => {
  const headers = {
    host: 'market.example',
    origin: partner,
    cookie: `__Host-parley_session=${browser.session()}`,
    'x-parley-request': '1',
  };
  for (const [method, url] of [
    ['GET', '/v1/me'],
    ['POST', '/v1/webhooks'],
    ['GET', '/account/keys'],
  ] as const) {
    const { status, headers: said } = await edge.call(method, url, { headers });
    assert.deepEqual([status, said['x-parley-error']], [403, 'cross_site'], url);
  }
  const withKey = await edge.call('GET', '/v1/me', { key, headers });
  assert.equal(withKey.status, 200);
  assert.notEqual(withKey.body.userId, browser.accountId);
});

test('accounts have no CORS: an answer there allows nobody', async () => {
  for (const url of ['/account/ways', '/account/openapi.json', '/account/keys', '/account/no']) {
    const { headers } = await edge.call('GET', url, { headers: { origin: partner } });
    assert.deepEqual(corsHeadersOf(headers), [], url);
    const vary = url === '/account/openapi.json' ? 'accept-encoding' : undefined;
    assert.equal(headers.vary, vary, url);
  }
});

test('where no origin is named there is no CORS at all', async () => {
  const none = await testEdge({ settings: siteAt(site) });
  const options = await none.call('OPTIONS', '/v1/rfqs', { headers: preflight });
  assert.equal(options.status, 405);
  const read = await none.call('GET', '/v1/keys/nonce', { headers: { origin: partner } });
  for (const { headers } of [options, read]) {
    assert.deepEqual([corsHeadersOf(headers), headers.vary], [[], undefined]);
  }
});
