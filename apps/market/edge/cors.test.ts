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
    'authorization, x-api-key, content-type, idempotency-key, if-none-match, traceparent',
  );
  assert.equal(headers['access-control-max-age'], '7200');
  assert.equal(headers.vary, 'Origin');
  assert.equal(headers['access-control-allow-credentials'], undefined);
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
    [200, 'GET', '/v1/rfqs', { key }],
    [401, 'GET', '/v1/me', { key: 'nonsense' }],
    [404, 'GET', '/v1/nothing', {}],
    [400, 'POST', '/v1/rfqs', { key, body: '{' }],
    [413, 'POST', '/v1/rfqs', { key, body: { a: 'x'.repeat(66_000) } }],
    [400, 'GET', '/v1/rfqs/%zz', {}],
  ];
  for (const [status, method, url, options] of cases) {
    const headers = { origin: partner, ...options.headers };
    const answer = await edge.call(method, url, { ...options, headers });
    const said = answer.headers;
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    assert.deepEqual([said['access-control-allow-origin'], said.vary], [partner, 'Origin']);
    assert.equal(said['access-control-allow-credentials'], undefined);
    const exposed = String(said['access-control-expose-headers']).toLowerCase().split(', ');
    const ours = /^etag$|^(x-)?ratelimit-|^x-parley-|^retry-after$|^idempotency-/;
    for (const name of Object.keys(said)) {
      if (ours.test(name)) assert.ok(exposed.includes(name), `${url} ${name}`);
    }
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
