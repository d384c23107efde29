// The identity provider as a client of its protocol, a browser and a stranger meet it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  randomPKCECodeVerifier,
} from 'openid-client';
import { ask, recorder } from '../testing/start.ts';
import { startIdentityProvider, telegramId } from './identity-provider.ts';
import { browserOf, signInAtProvider } from './testing/browser.ts';

const { log, lines } = recorder();
const noise: unknown[] = [];
for (const level of ['log', 'info', 'warn', 'error', 'debug'] as const) {
  test.mock.method(console, level, (...words: unknown[]) => noise.push(words));
}
const market = 'http://127.0.0.1:8080/account/provider/return/dev';
const provider = await startIdentityProvider({ log });
test.after(() => provider.stop());

function clientOf(secret = provider.client.secret): Promise<Configuration> {
  return discovery(new URL(provider.issuer), provider.client.id, secret, undefined, {
    execute: [allowInsecureRequests, enableNonRepudiationChecks],
  });
}

const client = await clientOf();

type Asked = { scope?: string; redirectUri?: string; more?: Record<string, string> };

async function authorization({ scope = 'openid', redirectUri = market, more = {} }: Asked = {}) {
  const pkceCodeVerifier = randomPKCECodeVerifier();
  const url = buildAuthorizationUrl(client, {
    redirect_uri: redirectUri,
    scope,
    state: 'the-state',
    nonce: 'the-nonce',
    code_challenge: await calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    ...more,
  });
  return {
    url,
    checks: { pkceCodeVerifier, expectedState: 'the-state', expectedNonce: 'the-nonce' },
  };
}

async function signedIn(name: string, asked: Asked = {}) {
  const { url, checks } = await authorization(asked);
  return authorizationCodeGrant(client, await signInAtProvider(url, name), checks);
}

/** The first page a browser sees. */
async function firstPage(asked: Asked, left: readonly string[] = []) {
  const { url } = await authorization(asked);
  for (const name of left) url.searchParams.delete(name);
  return browserOf(provider.issuer).open(url);
}

const profile = (name: string) => ({ name, preferred_username: name });
const proven = { email: 'alice@example.test', email_verified: true };

for (const [name, scope, claims] of [
  ['alice', 'openid', {}],
  ['alice', 'openid email profile', { ...profile('alice'), ...proven }],
  ['bob', 'openid profile', profile('bob')],
  // The profile that Telegram gives: a number for the scope profile alone, and no e-mail.
  ['bob', 'openid profile email telegram:bot_access', { ...profile('bob'), id: telegramId('bob') }],
  ['bob', 'openid telegram:bot_access', {}],
] as const) {
  test(`${name} is an account; for ${scope} the ID token has ${Object.keys(claims)}`, async () => {
    const all = (await signedIn(name, { scope })).claims();
    const { iss, aud, sub, nonce, iat, exp, ...rest } = all ?? {};
    assert.deepEqual([iss, aud, sub, nonce], [provider.issuer, 'parley', name, 'the-nonce']);
    assert.deepEqual(rest, claims);
  });
}

test('PKCE is demanded, with S256 alone, and so is the secret', async () => {
  for (const [asked, left] of [
    [{}, ['code_challenge', 'code_challenge_method']],
    [{ more: { code_challenge_method: 'plain' } }, []],
  ] as const) {
    const { left: back } = await firstPage(asked, left);
    assert.equal(back?.searchParams.get('error'), 'invalid_request', JSON.stringify(asked));
  }
  const { url, checks } = await authorization();
  const back = await signInAtProvider(url, 'alice');
  const other = { ...checks, pkceCodeVerifier: randomPKCECodeVerifier() };
  await assert.rejects(authorizationCodeGrant(client, back, other), { error: 'invalid_grant' });
  const thief = await clientOf('a guess');
  const next = await authorization();
  const code = await signInAtProvider(next.url, 'alice');
  await assert.rejects(authorizationCodeGrant(thief, code, next.checks), {
    error: 'invalid_client',
  });
  assert.ok((await authorizationCodeGrant(client, code, next.checks)).id_token);
});

test('it leads back to a market on loopback at any port, and nowhere else', async () => {
  for (const redirectUri of [
    'http://localhost:5173/account/provider/return/dev',
    'http://127.0.0.1:1/account/provider/return/other-1',
  ]) {
    const { url } = await authorization({ redirectUri });
    assert.ok((await signInAtProvider(url, 'alice')).href.startsWith(`${redirectUri}?code=`));
  }
  const back = '/account/provider/return';
  const refused = [
    ...['', '/', '/dev/more', '/Dev', '/dev?next=evil'].map(
      (end) => `http://127.0.0.1:8080${back}${end}`,
    ),
    ...['127.0.0.1:8080@evil.example', 'evil.example', '127.0.0.1.evil.example:80'].map(
      (host) => `http://${host}${back}/dev`,
    ),
    'https://later.example/return',
  ];
  for (const redirectUri of refused) {
    const { status, text, left } = await firstPage({ redirectUri });
    assert.deepEqual([status, left], [400, undefined], redirectUri);
    assert.match(text, /This sign-in cannot go on.*invalid_redirect_uri/s);
  }
});

test('each sign-in asks for a name, and one that is no name is asked again', async () => {
  const browser = browserOf(provider.issuer);
  for (const name of ['alice', 'bob']) {
    const { url, checks } = await authorization();
    const page = await browser.open(url);
    assert.equal(page.status, 200, 'nobody is remembered');
    const again = await browser.open(page.url, { name: '"><script>' });
    assert.equal(again.status, 400);
    assert.match(again.text, /&#34;&#62;&#60;script&#62;/);
    const { left } = await browser.open(page.url, { name });
    const tokens = await authorizationCodeGrant(client, left ?? page.url, checks);
    assert.equal(tokens.claims()?.sub, name);
  }
});

test('a form from another page, another sign-in or another host is refused', async () => {
  const { url: start } = await authorization();
  const page = await browserOf(provider.issuer).open(start);
  const statusOf = async (headers: Record<string, string>, path: string, method = 'POST') => {
    const body = method === 'POST' ? { body: 'name=alice' } : {};
    return (await ask(`${provider.issuer}${path}`, { headers, method, ...body })).status;
  };
  const cookie = async () => {
    const { headers } = await fetch((await authorization()).url, { redirect: 'manual' });
    const path = new URL(headers.get('location') ?? '', provider.issuer).pathname;
    const all = headers.getSetCookie().map((each) => each.split(';')[0]);
    return { path, cookie: all.join('; ') };
  };
  const one = await cookie();
  const origin = provider.issuer;
  assert.equal(
    await statusOf({ cookie: one.cookie, origin: 'http://127.0.0.1:8080' }, one.path),
    403,
  );
  assert.equal(await statusOf({ cookie: one.cookie }, one.path), 403);
  assert.equal(await statusOf({ origin }, one.path), 400, 'no cookie');
  assert.equal(
    await statusOf({ cookie: one.cookie, origin }, page.url.pathname),
    400,
    'of another',
  );
  assert.equal(await statusOf({ host: 'rebound.example' }, '/', 'GET'), 403);
  assert.equal(await statusOf({ cookie: one.cookie, origin }, one.path), 303);
});

test('after a rotation another key signs, codes under way stay good, and two keys are published', async () => {
  const keys = async (): Promise<string[]> => {
    const answer = await fetch(`${provider.issuer}/jwks`);
    const { keys: all } = (await answer.json()) as { keys: { kid: string; d?: string }[] };
    assert.ok(all.every(({ d }) => d === undefined));
    return all.map(({ kid }) => kid);
  };
  const kidOf = ({ id_token: token = '' }) =>
    JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
  const first = kidOf(await signedIn('alice'));
  const { url, checks } = await authorization();
  const back = await signInAtProvider(url, 'alice');
  await provider.rotateKeys();
  const fresh = await clientOf();
  const second = kidOf(await authorizationCodeGrant(fresh, back, checks));
  assert.notEqual(second, first);
  assert.deepEqual(await keys(), [second, first]);
  await provider.rotateKeys();
  const [third, ...rest] = await keys();
  assert.deepEqual([rest, [first, second].includes(third ?? '')], [[second], false]);
});

test('the console and the log stay empty', () => {
  assert.deepEqual([lines, noise], [[], []]);
});
