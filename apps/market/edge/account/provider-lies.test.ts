// A provider that lies, or that is broken: each is refused for its own reason, in bounded time, and
// nobody is signed in by it. verify/test/support/hostile-provider.ts says how each goes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint, Fault, Lie } from '@parley/verify/test/support/hostile-provider.ts';
import { comeBack, endOf, startProviderEdge } from '../testing/provider-edge.ts';

const { deps, hostile, reported, browser, begin, count } = await startProviderEdge();

/** Why each lie is refused; `sign-in` where it does not touch us. */
const lies: Readonly<Record<Exclude<Lie, 'wrong iss in discovery'>, [end: string, why: RegExp]>> = {
  'no iss in the response': ['problem=bad_proof', /response parameter "iss" \(issuer\) missing/],
  'other iss in the response': ['problem=bad_proof', /unexpected "iss" \(issuer\) response param/],
  'no state in the response': ['problem=ceremony_gone', /^$/],
  'other state in the response': ['problem=ceremony_gone', /^$/],
  'error in the response': ['problem=cancelled', /^$/],
  'wrong iss in the ID token': ['problem=bad_proof', /unexpected JWT "iss"/],
  'replayed nonce': ['problem=bad_proof', /unexpected ID Token "nonce" claim value/],
  'no nonce': ['problem=bad_proof', /JWT "nonce" \(nonce\) claim missing/],
  'alg none': ['problem=bad_proof', /unexpected JWT "alg" header/],
  'HS256 with the public key': ['problem=bad_proof', /unexpected JWT "alg" header/],
  'unknown key': ['problem=bad_proof', /no applicable keys found/],
  'swapped keys': ['problem=bad_proof', /signature verification failed/],
  'broken signature': ['problem=bad_proof', /signature verification failed/],
  'other audience': ['problem=bad_proof', /unexpected JWT "aud"/],
  'two audiences': ['problem=bad_proof', /additional untrusted audiences/],
  expired: ['problem=bad_proof', /"exp" .* is past current timestamp/],
  'issued in the future': ['problem=bad_proof', /from the future/],
  'no sub': ['problem=bad_proof', /JWT "sub" \(subject\) claim missing/],
  'empty sub': ['problem=bad_proof', /"sub" is not 1 to 255 characters/],
  'number as sub': ['problem=bad_proof', /unexpected JWT "sub" \(subject\) claim type/],
  'no ID token': ['problem=bad_proof', /"id_token" property/],
  'other sub at userinfo': ['done=sign-in', /^$/],
};

test('each lie is refused for its own reason, and nobody is signed in', async () => {
  for (const [lie, [end, why]] of Object.entries(lies)) {
    reported.length = 0;
    const one = browser();
    // The one before was given another nonce.
    await hostile.authorize(await begin(browser()));
    const before = [await count('sessions'), await count('logins')];
    const url = await begin(one);
    hostile.misbehave(lie as Lie);
    assert.equal(endOf(await comeBack(one, await hostile.authorize(url))), end, lie);
    assert.match(reported.join(), why, lie);
    hostile.misbehave();
    if (end.startsWith('done')) continue;
    assert.equal(one.session(), null, lie);
    assert.deepEqual([await count('sessions'), await count('logins')], before, lie);
  }
});

const hour = 3_600_000;
const asked = { provider: 'hostile', purpose: 'sign-in' };
const faults: Readonly<Record<Fault, RegExp>> = {
  'answers 500': /answers 500/,
  'answers 5 MB': /more than 262144 bytes/,
  'never ends': /no answer within (?:150|900) ms/,
  hangs: /no answer within (?:150|900) ms/,
  'redirects elsewhere': /answers with a redirect/,
  'answers no JSON': /is none|no set of keys|unexpected response content-type/,
};

/** For an answer that does not come. Before its keys a token comes, on a busy machine too. */
const hangMs = { discovery: 150, token: 150, jwks: 900 };

async function meets(endpoint: keyof typeof hangMs, fault: Fault): Promise<void> {
  const { chainTimeoutMs } = deps.settings;
  const what = `${endpoint} ${fault}` as const;
  const one = browser();
  // The published metadata is forgotten, keys too.
  deps.advance(hour);
  const back = endpoint === 'discovery' ? null : await hostile.authorize(await begin(one));
  const isSilent = fault === 'hangs' || fault === 'never ends';
  Object.assign(deps.settings, { chainTimeoutMs: isSilent ? hangMs[endpoint] : chainTimeoutMs });
  hostile.misbehave(what);
  if (back === null) {
    const { status, headers } = await one.post('/account/provider', asked);
    assert.deepEqual([status, headers['x-parley-error']], [503, 'provider_down'], what);
  } else {
    assert.equal(endOf(await comeBack(one, back)), 'problem=provider_down', what);
  }
  Object.assign(deps.settings, { chainTimeoutMs });
  hostile.misbehave();
  assert.equal(one.session(), null);
}

test('an endpoint that is broken in any way is a provider that is down, in bounded time', async () => {
  const before = await count('sessions');
  for (const endpoint of ['discovery', 'token', 'jwks'] as const satisfies Endpoint[]) {
    for (const [fault, why] of Object.entries(faults)) {
      if (endpoint === 'jwks' && fault === 'hangs') continue;
      reported.length = 0;
      await meets(endpoint, fault as Fault);
      assert.match(reported.join(), why, `${endpoint} ${fault}`);
    }
  }
  assert.equal(await count('sessions'), before);
  assert.deepEqual(hostile.reachedElsewhere, [], 'no redirect is followed');
});
