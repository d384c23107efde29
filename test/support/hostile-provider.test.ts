// That the hostile provider is a provider when it behaves, and that its lies are on the wire. Which
// of them openid-client refuses by itself is a list here, so that the market knows what it must
// look at besides.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import {
  type Lie,
  lies,
  type Misbehaviour,
  otherIssuer,
  startHostileProvider,
} from './hostile-provider.ts';

const provider = await startHostileProvider();
test.after(() => provider.stop());
test.beforeEach(() => {
  provider.misbehave();
  provider.claim({ sub: 'mallory' });
});

const redirectUri = 'http://127.0.0.1:9/account/provider/return';

const careful = [allowInsecureRequests, enableNonRepudiationChecks];

/** A whole sign-in, against a provider that misbehaves so. */
async function signIn(how: readonly Misbehaviour[] = [], execute = careful) {
  provider.misbehave(...how);
  const { issuer, clientId, clientSecret } = provider;
  const config = await discovery(new URL(issuer), clientId, clientSecret, undefined, { execute });
  const pkceCodeVerifier = randomPKCECodeVerifier();
  const [expectedState, expectedNonce] = [randomState(), randomNonce()];
  const url = buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid',
    state: expectedState,
    nonce: expectedNonce,
    code_challenge: await calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  const checks = { pkceCodeVerifier, expectedState, expectedNonce };
  const back = await provider.authorize(url);
  const tokens = await authorizationCodeGrant(config, back, checks);
  const sub = tokens.claims()?.sub ?? '';
  return { config, tokens, back, user: await fetchUserInfo(config, tokens.access_token, sub) };
}

function sent(): { header: Record<string, unknown>; claims: Record<string, unknown> } {
  const [header = '', claims = ''] = (provider.idTokens.at(-1) ?? '').split('.');
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  return { header: decode(header), claims: decode(claims) };
}

test('when it behaves it signs in with a careful client', async () => {
  provider.claim({ sub: 'alice', email: 'alice@example.test', email_verified: true });
  const { tokens, user, back } = await signIn();
  assert.deepEqual([tokens.claims()?.sub, user.sub], ['alice', 'alice']);
  assert.equal(tokens.claims()?.email, 'alice@example.test');
  assert.equal(back.searchParams.get('iss'), provider.issuer);
  const asked = provider.requests.find(({ path }) => path === '/authorize')?.parameters ?? {};
  assert.equal(asked.redirect_uri, redirectUri);
});

test('a code works once, with its verifier, its redirect_uri and the secret', async () => {
  const exchange = async (change: Record<string, string>, first: Record<string, string> = {}) => {
    const verifier = randomPKCECodeVerifier();
    const url = new URL(`${provider.issuer}/authorize`);
    url.search = `${new URLSearchParams({
      client_id: provider.clientId,
      redirect_uri: redirectUri,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...first,
    })}`;
    const code = (await provider.authorize(url)).searchParams.get('code') ?? '';
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: provider.clientId,
      client_secret: provider.clientSecret,
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      ...change,
    });
    const ask = async () =>
      (await fetch(`${provider.issuer}/token`, { method: 'POST', body })).status;
    return [await ask(), await ask()];
  };
  assert.deepEqual(await exchange({}), [200, 400]);
  assert.deepEqual(await exchange({ code_verifier: randomPKCECodeVerifier() }), [400, 400]);
  assert.deepEqual(await exchange({ redirect_uri: 'http://127.0.0.1:9/' }), [400, 400]);
  assert.deepEqual(await exchange({ client_secret: 'a guess' }), [401, 401]);
  assert.deepEqual(await exchange({}, { code_challenge_method: 'plain' }), [400, 400]);
});

test('lies are on the wire: algorithm, nonce, key, audience, times, subject', async () => {
  await signIn();
  const { claims: before } = sent();
  const lie = async (how: Lie) => {
    await signIn([how]).catch(() => undefined);
    return sent();
  };
  assert.equal((await lie('alg none')).header.alg, 'none');
  assert.match(provider.idTokens.at(-1) ?? '', /^[^.]+\.[^.]+\.$/);
  assert.equal((await lie('HS256 with the public key')).header.alg, 'HS256');
  await signIn();
  const last = sent().claims.nonce;
  assert.notEqual(last, before.nonce);
  assert.equal((await lie('replayed nonce')).claims.nonce, last);
  assert.equal('nonce' in (await lie('no nonce')).claims, false);
  assert.equal((await lie('wrong iss in the ID token')).claims.iss, otherIssuer);
  const { keys } = (await (await fetch(`${provider.issuer}/jwks`)).json()) as {
    keys: { kid: string }[];
  };
  const published = keys.map(({ kid }) => kid);
  assert.equal(published.includes(String((await lie('unknown key')).header.kid)), false);
  assert.equal(published.includes(String((await lie('swapped keys')).header.kid)), true);
  assert.equal((await lie('other audience')).claims.aud, 'another-client');
  assert.ok(Number((await lie('expired')).claims.exp) < Date.now() / 1_000 - 3_600);
  assert.ok(Number((await lie('issued in the future')).claims.iat) > Date.now() / 1_000 + 3_600);
  assert.equal('sub' in (await lie('no sub')).claims, false);
});

/** What openid-client takes: as it comes, and with `enableNonRepudiationChecks`. */
const taken: Readonly<Record<'as it comes' | 'with signatures checked', readonly Lie[]>> = {
  // A token that came from the token endpoint over TLS needs no signature (OpenID Connect Core
  // 3.1.3.7), which holds as long as nobody is between; on loopback without TLS somebody may be.
  'as it comes': ['unknown key', 'swapped keys', 'broken signature', 'issued in the future'],
  'with signatures checked': ['issued in the future'],
};

for (const [how, expected] of Object.entries(taken)) {
  test(`of all lies openid-client, ${how}, takes ${expected.join(', ')}`, async () => {
    const execute = how === 'as it comes' ? [allowInsecureRequests] : careful;
    const found: Lie[] = [];
    for (const lie of lies) {
      provider.misbehave();
      await signIn([lie], execute).then(
        () => found.push(lie),
        () => undefined,
      );
    }
    assert.deepEqual(found.sort(), [...expected].sort());
  });
}

test('faults of an endpoint: 500, 5 MB, no JSON, a redirect, silence and an answer without end', async () => {
  const token = `${provider.issuer}/token`;
  const ask = (signal = AbortSignal.timeout(5_000)) =>
    fetch(token, { method: 'POST', redirect: 'manual', signal });
  provider.misbehave('token answers 500');
  assert.equal((await ask()).status, 500);
  provider.misbehave('token answers 5 MB');
  assert.ok((await (await ask()).arrayBuffer()).byteLength > 5_000_000);
  provider.misbehave('token answers no JSON');
  await assert.rejects((await ask()).json());
  provider.misbehave('token redirects elsewhere');
  const { status, headers } = await ask();
  assert.deepEqual([status, headers.get('location')], [302, `${provider.elsewhere}/token`]);
  assert.deepEqual(provider.reachedElsewhere, []);
  await fetch(headers.get('location') ?? '');
  assert.deepEqual(provider.reachedElsewhere, ['/token']);
  provider.misbehave('token hangs');
  await assert.rejects(ask(AbortSignal.timeout(60)), { name: 'TimeoutError' });
  provider.misbehave('token never ends');
  const endless = await ask(AbortSignal.timeout(120));
  await assert.rejects(endless.text(), { name: 'TimeoutError' });
  assert.equal((await fetch(`${provider.issuer}/jwks`)).status, 200, 'of that endpoint alone');
});
