// An attack suite against sessions in the browser: what a page of another site, a name that points
// at this server, a thief of a cookie and a confused client may try. Each attack is named, is tried
// against accounts and against `/v1`, and leaves nothing behind.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { insertTrader, someAddress } from '../../../test/support/trading.ts';
import { revokeSession } from '../../db/sessions.ts';
import { buildApp } from '../app.ts';
import { type Answer, caller, startEdge, type TestEdge } from '../testing/edge.ts';
import { renewed, type SignedIn, signedIn, siteAt } from '../testing/session.ts';
import { anyBrowser } from './declare.ts';
import { ok } from './schemas.ts';

const site = 'https://market.example';
const cookieName = '__Host-parley_session';
let edge: TestEdge;
let victim: SignedIn;

before(async () => {
  edge = await startEdge({ settings: siteAt(site) }, (app, deps) => {
    // As every way in ends: the session's cookie is set.
    anyBrowser({ app, deps, tag: 'test' }, 'POST /account/test-in', 'testIn', {
      about: 'test',
      replies: { 200: ok },
      handle: async () => ({ body: { ok: true }, token: 'a token' }),
    });
  });
  victim = await signedIn(edge, { origin: site });
});
after(() => edge.close());

const codeOf = ({ status, headers }: Answer) => `${status} ${headers['x-parley-error'] ?? 'ok'}`;
const hook = { url: 'https://receiver.example/hook' };

/** Rows that a write would leave. */
async function written(): Promise<number> {
  const [row] = await edge.deps.db.rows<{ count: number }>({
    name: 'test_written',
    text: `select (select count(*) from feed_tickets) + (select count(*) from webhooks)
      + (select count(*) from api_keys) as count`,
    values: [],
  });
  return row?.count ?? 0;
}

type Headers = Readonly<Record<string, string | null>>;

const writes: readonly [string, object | undefined][] = [
  ['/account/feed-ticket', undefined],
  ['/account/keys', { scopes: ['read'] }],
  ['/v1/webhooks', hook],
];
const reads = ['/account/keys', '/v1/me'];

test('the page itself writes and reads: the suite attacks what works', async () => {
  for (const [url, body] of writes) {
    assert.equal(codeOf(await victim.post(url, body)), '201 ok', url);
  }
  for (const url of reads) assert.equal(codeOf(await victim.get(url)), '200 ok', url);
});

describe('a write with the cookie gets nothing', () => {
  const attacks: [string, Headers, string][] = [
    [
      'a form of another site',
      {
        origin: 'https://evil.example',
        'sec-fetch-site': 'cross-site',
        'content-type': 'text/plain',
        'x-parley-request': null,
      },
      '403 cross_site',
    ],
    [
      'a form of another site, from a browser that says less',
      {
        origin: 'https://evil.example',
        'sec-fetch-site': null,
        'content-type': 'application/x-www-form-urlencoded',
        'x-parley-request': null,
      },
      '403 cross_site',
    ],
    [
      'fetch with no-cors',
      {
        origin: 'https://evil.example',
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'no-cors',
        'x-parley-request': null,
      },
      '403 cross_site',
    ],
    [
      'a script of another site that sends our header too',
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      '403 cross_site',
    ],
    [
      'a script of another site, by Origin alone',
      { origin: 'https://evil.example' },
      '403 cross_site',
    ],
    ['the same, by Sec-Fetch-Site alone', { 'sec-fetch-site': 'cross-site' }, '403 cross_site'],
    [
      'a subdomain',
      { origin: 'https://blog.market.example', 'sec-fetch-site': 'same-site' },
      '403 cross_site',
    ],
    ['a subdomain, by Sec-Fetch-Site alone', { 'sec-fetch-site': 'same-site' }, '403 cross_site'],
    ['our name without TLS', { origin: 'http://market.example' }, '403 cross_site'],
    ['our name at another port', { origin: 'https://market.example:8443' }, '403 cross_site'],
    ['a name that begins with ours', { origin: `${site}.evil.example` }, '403 cross_site'],
    ['a frame in a sandbox', { origin: 'null' }, '403 cross_site'],
    ['no Origin', { origin: null }, '403 cross_site'],
    ['an empty Origin', { origin: '' }, '403 cross_site'],
    [
      'no Origin and nothing of Sec-Fetch',
      { origin: null, 'sec-fetch-site': null },
      '403 cross_site',
    ],
    ['typed into the address bar', { 'sec-fetch-site': 'none' }, '403 cross_site'],
    ['nonsense in Sec-Fetch-Site', { 'sec-fetch-site': 'same-origin, none' }, '403 cross_site'],
    ['our header left out', { 'x-parley-request': null }, '403 cross_site'],
    ['our header with another value', { 'x-parley-request': 'true' }, '403 cross_site'],
    [
      'a name that somebody points at this server',
      { host: 'rebound.example', origin: 'https://rebound.example' },
      '403 wrong_site',
    ],
    ['the same, under our Origin', { host: 'rebound.example' }, '403 wrong_site'],
    ['our address instead of our name', { host: '127.0.0.1:8080' }, '403 wrong_site'],
    ['our name at another port', { host: 'market.example:8443' }, '403 wrong_site'],
    ['our name with a dot behind it', { host: 'market.example.' }, '403 wrong_site'],
  ];
  for (const [name, headers, expected] of attacks) {
    test(name, async () => {
      const before = await written();
      for (const [url, body] of writes) {
        assert.equal(codeOf(await victim.call('POST', url, body, headers)), expected, url);
      }
      assert.equal(await written(), before);
    });
  }
});

describe('a read with the cookie gets nothing', () => {
  const attacks: [string, Headers, string][] = [
    ['from a script of another site', { origin: 'https://evil.example' }, '403 cross_site'],
    [
      'as an image, script or link of another site',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
      '403 cross_site',
    ],
    ['from a subdomain', { 'sec-fetch-site': 'same-site' }, '403 cross_site'],
    ['under a name that is not ours', { host: 'rebound.example' }, '403 wrong_site'],
  ];
  for (const [name, headers, expected] of attacks) {
    test(name, async () => {
      for (const url of reads) {
        assert.equal(codeOf(await victim.call('GET', url, undefined, headers)), expected, url);
      }
    });
  }

  test('from a browser that says nothing of Sec-Fetch, of /v1: our header is missing', async () => {
    const headers = { 'sec-fetch-site': null, 'x-parley-request': null };
    const answer = await victim.call('GET', '/v1/me', undefined, headers);
    assert.equal(codeOf(answer), '403 cross_site');
  });

  test('and no answer of accounts lets a script of another origin read it', async () => {
    for (const url of reads) {
      const { headers } = await victim.get(url);
      assert.equal(headers['access-control-allow-origin'], undefined);
      assert.equal(headers['access-control-allow-credentials'], undefined);
    }
  });
});

test('nothing is shown in a frame: pages, answers and refusals', async () => {
  const urls = ['/account/keys', '/v1/me', '/v1/docs', '/v1/nothing', '/account/nothing'];
  for (const url of urls) {
    const { headers } = await edge.app.inject({ url });
    assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/, url);
    assert.equal(headers['x-frame-options'], 'DENY', url);
    assert.equal(headers['x-content-type-options'], 'nosniff', url);
  }
});

describe('one credential is not another:', () => {
  let traderKey: string;
  let traderId: string;
  before(async () => {
    const wallets = [{ family: 'evm', address: someAddress('evm') }] as const;
    const trader = await insertTrader(edge.deps, ['read'], wallets);
    traderKey = trader.key;
    traderId = trader.accountId;
  });

  test('with a key the cookie does not count, whoever it is of', async () => {
    for (const headers of [{ authorization: `Bearer ${traderKey}` }, { 'x-api-key': traderKey }]) {
      const { body } = await victim.call('GET', '/v1/me', undefined, headers);
      assert.equal(body.userId, traderId);
      assert.deepEqual(body.scopes, ['read']);
    }
  });

  test('nor with one that is invalid: the request is 401', async () => {
    const wrong = `parley_test_${'a'.repeat(43)}`;
    for (const headers of [
      { authorization: `Bearer ${wrong}` },
      { 'x-api-key': wrong },
      { authorization: 'Bearer ' },
      // As it arrives by HTTP, which ends a value at its last character.
      { authorization: 'bearer' },
      { 'x-api-key': '' },
    ]) {
      const answer = await victim.call('GET', '/v1/me', undefined, headers);
      assert.equal(codeOf(answer), '401 key_invalid', JSON.stringify(headers));
    }
  });

  test('the token of a session is no key', async () => {
    const token = victim.session();
    for (const headers of [{ authorization: `Bearer ${token}` }, { 'x-api-key': token }]) {
      assert.equal(codeOf(await edge.call('GET', '/v1/me', { headers })), '401 key_invalid');
    }
  });

  test('a key in the place of the token is no session', async () => {
    const thief = { ...victim, cookies: victim.cookies };
    thief.cookies.set(cookieName, traderKey);
    for (const url of reads) assert.equal(codeOf(await thief.get(url)), '401 session_missing', url);
    thief.cookies.set(cookieName, victim.session());
  });

  test('a key opens nothing of accounts', async () => {
    const headers = { host: 'market.example', origin: site, 'x-parley-request': '1' };
    for (const [url, body] of writes.slice(0, 2)) {
      const answer = await edge.call('POST', url, { key: traderKey, headers, body });
      assert.equal(codeOf(answer), '401 session_missing', url);
    }
  });
});

describe('a cookie that is not exactly one of ours is none:', () => {
  const cases: [string, (token: string) => string][] = [
    ['two of the name', (token) => `${cookieName}=${token}; ${cookieName}=${token}`],
    [
      'one that a subdomain set beside it',
      (token) => `${cookieName}=parley_session_${'a'.repeat(43)}; ${cookieName}=${token}`,
    ],
    ['under the name of loopback', (token) => `parley_session=${token}`],
    ['under a name in other letters', (token) => `__host-parley_session=${token}`],
    ['under a name that ends alike', (token) => `x${cookieName}=${token}`],
    ['in quotes', (token) => `${cookieName}="${token}"`],
    ['a character short', (token) => `${cookieName}=${token.slice(0, -1)}`],
    ['a character long', (token) => `${cookieName}=${token}a`],
    ['its name in another case', (token) => `${cookieName}=${token.toUpperCase()}`],
    ['of 8 000 characters', (token) => `${cookieName}=${token}${'a'.repeat(8_000)}`],
    ['of no value', () => `${cookieName}=`],
    ['of no name', (token) => `=${token}`],
    ['of nothing', () => cookieName],
    ['a made-up one', () => `${cookieName}=parley_session_${'a'.repeat(43)}`],
  ];
  for (const [name, cookie] of cases) {
    test(name, async () => {
      const answer = await victim.call('GET', '/account/keys', undefined, {
        cookie: cookie(victim.session()),
      });
      assert.equal(codeOf(answer), '401 session_missing');
      const api = await victim.call('GET', '/v1/me', undefined, {
        cookie: cookie(victim.session()),
      });
      assert.equal(api.status, 401, codeOf(api));
    });
  }
});

test('a cookie that was stolen before a sign-out is worth nothing after it, in no process', async () => {
  const other = await buildApp(edge.deps);
  const there = caller(other);
  const browser = await signedIn(edge, { origin: site });
  const thief = await signedIn({ call: there, deps: edge.deps }, { origin: site });
  thief.cookies.set(cookieName, browser.session());
  for (const url of reads) assert.equal(codeOf(await thief.get(url)), '200 ok');
  const { accountId, id } = browser.stored;
  await revokeSession(edge.deps.db, accountId, id, id, new Date(edge.deps.now()));
  await edge.app.edge.keys.revoked(accountId, id);
  // From here on the person may be told.
  for (const url of reads) {
    assert.equal(codeOf(await thief.get(url)), '401 session_missing');
    assert.equal(codeOf(await browser.get(url)), '401 session_missing');
  }
  await other.close();
});

test('nor after its person signed in again: the token is another', async () => {
  const browser = await signedIn(edge, { origin: site });
  const thief = await signedIn(edge, { origin: site });
  thief.cookies.set(cookieName, browser.session());
  assert.equal(codeOf(await thief.get('/v1/me')), '200 ok');
  const token = await renewed(edge.deps, browser);
  await edge.app.edge.keys.revoked(browser.accountId, browser.stored.id);
  assert.equal(codeOf(await thief.get('/v1/me')), '401 session_missing');
  browser.cookies.set(cookieName, token);
  assert.equal(codeOf(await browser.get('/v1/me')), '200 ok');
});

test('a session that ends while a request arrives does nothing any more', async () => {
  await edge.app.listen({ host: '127.0.0.1', port: 0 });
  const browser = await signedIn(edge, { origin: site });
  const { accountId, id } = browser.stored;
  const { port } = edge.app.server.address() as AddressInfo;
  const sent = request({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/v1/webhooks',
    headers: {
      host: 'market.example',
      origin: site,
      'x-parley-request': '1',
      'x-parley-account': accountId,
      cookie: `${cookieName}=${browser.session()}`,
      'content-type': 'application/json',
    },
  });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  sent.write('{"url":');
  // Its head has passed the gate when another request of its socket's process is answered.
  await browser.get('/v1/me');
  await new Promise((resolve) => setTimeout(resolve, 50));
  await revokeSession(edge.deps.db, accountId, id, id, new Date(edge.deps.now()));
  await edge.app.edge.keys.revoked(accountId, id);
  sent.end('"https://receiver.example/hook"}');
  const [answer] = await answered;
  answer.resume();
  assert.deepEqual([answer.statusCode, answer.headers['x-parley-error']], [401, 'session_missing']);
});

describe('cookies', () => {
  test('on https have __Host-, Secure, HttpOnly, SameSite=Lax and no domain', async () => {
    const { headers } = await victim.call('POST', '/account/test-in', undefined, { cookie: null });
    const [browser, session] = [headers['set-cookie'] ?? ''].flat();
    assert.match(browser ?? '', /^__Host-parley_browser=[0-9A-Za-z]{43}; /);
    const attributes = 'Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax; Secure';
    assert.equal(browser?.replace(/^\S+ /, ''), attributes);
    assert.equal(
      session,
      `${cookieName}=a token; Path=/; Max-Age=7776000; HttpOnly; SameSite=Lax; Secure`,
    );
  });

  test('on loopback over http have another name, which https does not take', async () => {
    const local = await startEdge();
    const own = await signedIn(local);
    const { headers } = await own.call('GET', '/account/ways', undefined, { cookie: null });
    assert.match(
      String(headers['set-cookie']),
      /^parley_browser=[0-9A-Za-z]{43}; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax$/,
    );
    assert.equal(codeOf(await own.get('/account/keys')), '200 ok');
    for (const host of ['192.168.1.7:8080', 'localhost.evil.example', 'market.example']) {
      const there = { host, origin: `http://${host}` };
      const answer = await own.call('GET', '/account/keys', undefined, there);
      assert.equal(codeOf(answer), '403 wrong_site', host);
    }
    await local.close();
  });
});

test('a market on mainnet that has no public name has no accounts, and keys work', async () => {
  const nameless = await startEdge({ settings: { ...siteAt(null), network: 'mainnet' } });
  const browser = await signedIn(nameless, { origin: site });
  for (const url of ['/account/ways', '/account/keys', '/v1/me']) {
    assert.equal(codeOf(await browser.get(url)), '503 accounts_off', url);
  }
  assert.equal(codeOf(await browser.post('/account/feed-ticket')), '503 accounts_off');
  assert.equal(codeOf(await nameless.call('GET', '/v1/me')), '401 key_missing');
  await nameless.close();
});

describe('a session is a key of its account:', () => {
  let small: TestEdge;
  before(async () => {
    small = await startEdge({ settings: { ...siteAt(site), rateLimit: 8 } });
  });
  after(() => small.close());

  async function both(): Promise<{ browser: SignedIn; key: string }> {
    const wallets = [{ family: 'evm', address: someAddress('evm') }] as const;
    const { key, accountId } = await insertTrader(small.deps, ['read'], wallets);
    const proven = { way: 'wallet', ...wallets[0], pubkey: null } as const;
    const browser = await signedIn(small, { origin: site, proven });
    assert.equal(browser.accountId, accountId);
    return { browser, key };
  }

  test('of all scopes, and it spends the budget of the account', async () => {
    const { browser, key } = await both();
    const { body } = await browser.get('/v1/me');
    assert.deepEqual(body.scopes, ['read', 'taker', 'maker']);
    for (let count = 0; count < 3; count += 1) await browser.get('/account/keys');
    for (let count = 0; count < 4; count += 1) await small.call('GET', '/v1/me', { key });
    for (const answer of [
      await small.call('GET', '/v1/me', { key }),
      await browser.get('/v1/me'),
      await browser.get('/account/keys'),
    ]) {
      assert.equal(codeOf(answer), '429 account_rate_limited');
    }
  });

  test('and shares its Idempotency-Keys', async () => {
    const { browser, key } = await both();
    const headers = { 'idempotency-key': 'once' };
    const first = await browser.call('POST', '/v1/webhooks', hook, headers);
    assert.equal(codeOf(first), '201 ok');
    const again = await small.call('POST', '/v1/webhooks', { key, body: hook, headers });
    assert.deepEqual(again.body, first.body);
    assert.equal(again.headers['idempotency-replayed'], 'true');
  });
});

test('who attacks pays for it: refusals spend the budget of the client', async () => {
  const headers = { origin: 'https://evil.example' };
  const left = async () =>
    Number(
      (await victim.call('POST', '/account/feed-ticket', undefined, headers)).headers[
        'ratelimit-remaining'
      ],
    );
  assert.equal((await left()) - (await left()), 1);
});
