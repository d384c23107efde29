// An attack suite against sessions in the browser: the attacks of a page of another site, a name
// that points at this server, a thief of a cookie and a confused client. Each attack is named, is
// tried against accounts and against `/v1`, and leaves nothing behind.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { insertTrader, someAddress } from '@parley/verify/test/support/trading.ts';
import { revokeSession } from '../../db/sessions.ts';
import { buildApp } from '../app.ts';
import { caller, codeOf, refused, testEdge } from '../testing/edge.ts';
import { renewed, type SignedIn, signedIn, siteAt } from '../testing/session.ts';
import { anyBrowser } from './declare.ts';
import { ok } from './schemas.ts';

const site = 'https://market.example';
const cookieName = '__Host-parley_session';

const edge = await testEdge({ settings: siteAt(site) }, (app, deps) => {
  // As every way in ends: the session's cookie is set.
  anyBrowser({ app, deps, tag: 'test' }, 'POST /account/test-in', 'testIn', {
    about: 'test',
    replies: { 200: ok },
    handle: async () => ({ body: { ok: true }, token: 'a token' }),
  });
});
const other = await buildApp(edge.deps);
after(() => other.close());
const victim = await signedIn(edge, { origin: site });

type Headers = Readonly<Record<string, string | null>>;
const hook = { url: 'https://receiver.example/hook' };
const writes: readonly [string, object | undefined][] = [
  ['/account/feed-ticket', undefined],
  ['/account/keys', { scopes: ['read'] }],
  ['/v1/webhooks', hook],
];
const reads = ['/account/keys', '/v1/me'];
const get = (url: string, headers: Headers) => victim.call('GET', url, undefined, headers);

/** Rows that a write would leave. */
async function written(): Promise<number> {
  const [row] = await edge.sql(`select (select count(*) from feed_tickets)
    + (select count(*) from webhooks) + (select count(*) from api_keys) as count`);
  return row.count;
}

const cross = { 'sec-fetch-site': 'cross-site' };
const evil = { origin: 'https://evil.example' };
const bare = { 'x-parley-request': null };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

const attacks: [string, Headers][] = [
  ['a form of another site', { ...evil, ...cross, ...bare, 'content-type': 'text/plain' }],
  [
    'the same, from a browser that says less',
    { ...evil, ...bare, ...form, 'sec-fetch-site': null },
  ],
  ['fetch with no-cors', { ...evil, ...cross, ...bare, 'sec-fetch-mode': 'no-cors' }],
  ['a script of another site that sends our header too', { ...evil, ...cross }],
  ['a script of another site, by Origin alone', evil],
  ['the same, by Sec-Fetch-Site alone', cross],
  ['a subdomain', { origin: 'https://blog.market.example', 'sec-fetch-site': 'same-site' }],
  ['a subdomain, by Sec-Fetch-Site alone', { 'sec-fetch-site': 'same-site' }],
  ['our name without TLS', { origin: 'http://market.example' }],
  ['our name at another port', { origin: 'https://market.example:8443' }],
  ['a name that begins with ours', { origin: `${site}.evil.example` }],
  ['a frame in a sandbox', { origin: 'null' }],
  ['no Origin', { origin: null }],
  ['an empty Origin', { origin: '' }],
  ['no Origin and nothing of Sec-Fetch', { origin: null, 'sec-fetch-site': null }],
  ['typed into the address bar', { 'sec-fetch-site': 'none' }],
  ['nonsense in Sec-Fetch-Site', { 'sec-fetch-site': 'same-origin, none' }],
  ['our header left out', bare],
  ['our header with another value', { 'x-parley-request': 'true' }],
];
const rebound = { host: 'rebound.example', origin: 'https://rebound.example' };
const wrongNames: [string, Headers][] = [
  ['a name that somebody points at this server', rebound],
  ['the same, under our Origin', { host: 'rebound.example' }],
  ['our address instead of our name', { host: '127.0.0.1:8080' }],
  ['our name at another port', { host: 'market.example:8443' }],
  ['our name with a dot behind it', { host: 'market.example.' }],
];

describe('a write with the cookie gets nothing:', () => {
  for (const [code, each] of [
    ['403 cross_site', attacks],
    ['403 wrong_site', wrongNames],
  ] as const) {
    for (const [name, headers] of each) {
      test(name, async () => {
        for (const [url, body] of writes) {
          refused(await victim.call('POST', url, body, headers), code);
        }
        assert.equal(await written(), 0);
      });
    }
  }

  // The suite attacks what works.
  test('and from the page itself it writes', async () => {
    for (const [url, body] of writes) assert.equal(codeOf(await victim.post(url, body)), '201 ok');
    for (const url of reads) assert.equal(codeOf(await victim.get(url)), '200 ok', url);
  });
});

test('a read with the cookie gets nothing, and no answer lets another origin read it', async () => {
  for (const [headers, code] of [
    [evil, '403 cross_site'],
    [{ ...cross, 'sec-fetch-mode': 'no-cors' }, '403 cross_site'],
    [{ 'sec-fetch-site': 'same-site' }, '403 cross_site'],
    [{ host: 'rebound.example' }, '403 wrong_site'],
  ] as const) {
    for (const url of reads) refused(await get(url, headers), code);
  }
  // A browser that says nothing of Sec-Fetch, of /v1: our header is missing.
  refused(await get('/v1/me', { ...bare, 'sec-fetch-site': null }), '403 cross_site');
  for (const url of reads) {
    const names = Object.keys((await victim.get(url)).headers);
    assert.ok(!names.some((name) => name.startsWith('access-control-')));
  }
});

test('no frame shows a page, an answer or a refusal', async () => {
  for (const url of ['/account/keys', '/v1/me', '/v1/docs', '/v1/nothing', '/account/nothing']) {
    const { headers } = await edge.app.inject({ url });
    assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/, url);
    assert.equal(headers['x-frame-options'], 'DENY', url);
    assert.equal(headers['x-content-type-options'], 'nosniff', url);
  }
});

test('one credential is not another', async () => {
  const wallets = [{ family: 'evm', address: someAddress('evm') }] as const;
  const trader = await insertTrader(edge.deps, ['read'], wallets);
  const token = victim.session();
  const shown = (key: string) => [{ authorization: `Bearer ${key}` }, { 'x-api-key': key }];
  // With a key the cookie does not count, whoever it is of; nor with one that is invalid.
  for (const headers of shown(trader.key)) {
    const { body } = await get('/v1/me', headers);
    assert.deepEqual([body.userId, body.scopes], [trader.accountId, ['read']]);
  }
  const wrong = `parley_test_${'a'.repeat(43)}`;
  // `bearer` arrives so by HTTP, which ends a value at its last character.
  for (const headers of [...shown(wrong), ...shown(''), { authorization: 'bearer' }]) {
    refused(await get('/v1/me', headers), '401 key_invalid');
  }
  for (const headers of shown(token)) {
    refused(await edge.call('GET', '/v1/me', { headers }), '401 key_invalid');
  }
  victim.cookies.set(cookieName, trader.key);
  for (const url of reads) refused(await victim.get(url), '401 session_missing');
  victim.cookies.set(cookieName, token);
  const headers = { host: 'market.example', origin: site, 'x-parley-request': '1' };
  for (const [url, body] of writes.slice(0, 2)) {
    const answer = await edge.call('POST', url, { key: trader.key, headers, body });
    refused(answer, '401 session_missing');
  }
});

test('a cookie that is not exactly one of ours is none', async () => {
  const token = victim.session();
  const madeUp = `parley_session_${'a'.repeat(43)}`;
  for (const cookie of [
    `${cookieName}=${token}; ${cookieName}=${token}`,
    `${cookieName}=${madeUp}; ${cookieName}=${token}`,
    ...['parley_session', '__host-parley_session', `x${cookieName}`, ''].map(
      (name) => `${name}=${token}`,
    ),
    ...[`"${token}"`, token.slice(0, -1), `${token}a`, token.toUpperCase(), '', madeUp].map(
      (value) => `${cookieName}=${value}`,
    ),
    `${cookieName}=${token}${'a'.repeat(8_000)}`,
    cookieName,
  ]) {
    refused(await get('/account/keys', { cookie }), '401 session_missing');
    assert.equal((await get('/v1/me', { cookie })).status, 401, cookie.slice(0, 80));
  }
});

async function end({ stored: { accountId, id } }: SignedIn): Promise<void> {
  await revokeSession(edge.deps.db, accountId, id, new Date(edge.deps.now()));
  await edge.app.edge.keys.revoked(accountId);
}

test('a stolen cookie is worth nothing after a sign-out, in no process, nor after a new sign-in', async () => {
  const browser = await signedIn(edge, { origin: site });
  const thief = await signedIn({ call: caller(other), deps: edge.deps }, { origin: site });
  const steal = () => thief.cookies.set(cookieName, browser.cookies.get(cookieName) ?? '');
  steal();
  for (const url of reads) assert.equal(codeOf(await thief.get(url)), '200 ok');
  const token = await renewed(edge.deps, browser);
  await edge.app.edge.keys.revoked(browser.accountId);
  refused(await thief.get('/v1/me'), '401 session_missing');
  browser.cookies.set(cookieName, token);
  assert.equal(codeOf(await browser.get('/v1/me')), '200 ok');
  steal();
  assert.equal(codeOf(await thief.get('/v1/me')), '200 ok');
  await end(browser);
  // From here on the person may be answered.
  for (const url of reads) {
    refused(await thief.get(url), '401 session_missing');
    refused(await browser.get(url), '401 session_missing');
  }
});

test('cookies on https have __Host-, Secure, HttpOnly, SameSite=Lax and no domain', async () => {
  const { headers } = await victim.call('POST', '/account/test-in', undefined, { cookie: null });
  const [browser = '', session] = [headers['set-cookie'] ?? ''].flat();
  const attributes = (age: number) => `Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax; Secure`;
  assert.match(browser, /^__Host-parley_browser=[0-9A-Za-z]{43}; /);
  assert.equal(browser.replace(/^\S+ /, ''), attributes(31_536_000));
  assert.equal(session, `${cookieName}=a token; ${attributes(7_776_000)}`);
});

test('cookies on loopback over http have another name, which https does not take', async () => {
  const own = await signedIn(await testEdge());
  const { headers } = await own.call('GET', '/account/ways', undefined, { cookie: null });
  assert.match(
    String(headers['set-cookie']),
    /^parley_browser=[0-9A-Za-z]{43}; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax$/,
  );
  assert.equal(codeOf(await own.get('/account/keys')), '200 ok');
  for (const host of ['192.168.1.7:8080', 'localhost.evil.example', 'market.example']) {
    const there = { host, origin: `http://${host}` };
    refused(await own.call('GET', '/account/keys', undefined, there), '403 wrong_site');
  }
});
