// Providers that differ from the others: Apple answers by a form and wants a secret that is signed,
// Microsoft has an issuer for each tenant.

import assert from 'node:assert/strict';
import { verify } from 'node:crypto';
import { test } from 'node:test';
import { formAtProvider } from '@parley/dev/devnet/people/testing/browser.ts';
import type { TestBrowser } from '../testing/browser.ts';
import { refused } from '../testing/edge.ts';
import {
  apple,
  applePublicKey,
  comeBack,
  endOf,
  startProviderEdge,
  whoIs,
} from '../testing/provider-edge.ts';

const { edge, hostile, reported, browser, begin, through } = await startProviderEdge();

/** As a browser sends it: from a page of another site, so without a cookie. */
const post = (path: string, form: string, headers: Readonly<Record<string, string>> = {}) =>
  edge.call('POST', path, {
    body: form,
    headers: {
      host: 'localhost:8080',
      origin: 'null',
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
      ...headers,
    },
  });
const path = '/account/provider/return/form';
const formOf = async (one: TestBrowser, name: string | null = 'alice') =>
  formAtProvider(await begin(one, 'form'), name);

test('an answer by a form leads to the same one by GET, where the cookie is, and signs in', async () => {
  const one = browser();
  const { url, form } = await formOf(one);
  assert.deepEqual([url.pathname, form.has('code')], [path, true]);
  const answer = await post(url.pathname, `${form}&user=%7B%22name%22%3A1%7D&other=1`);
  assert.deepEqual([answer.status, answer.headers['set-cookie']], [303, undefined]);
  const next = new URL(answer.headers.location ?? '', 'http://localhost:8080');
  assert.deepEqual(
    [next.pathname, [...next.searchParams.keys()]],
    [path, ['code', 'state', 'iss']],
  );
  // In another browser it is worth nothing, and in its own once.
  assert.equal(endOf(await comeBack(browser(), next)), 'problem=ceremony_gone');
  assert.equal(endOf(await comeBack(one, next)), 'done=sign-in');
  assert.equal(endOf(await comeBack(one, next)), 'problem=ceremony_gone');
  const again = browser();
  assert.equal(await through(again, 'real'), 'done=sign-in');
  assert.equal(await whoIs(again), await whoIs(one), 'a form makes no other person');
});

test('a form is taken on its own path alone, of its own media type, and not too long', async () => {
  const location = async (form: string, at = path) => (await post(at, form)).headers.location;
  assert.equal(await location(''), `${path}?`);
  assert.equal(await location('code=a%0d%0ab&x=1'), `${path}?code=a%0D%0Ab`);
  const long = await location(`code=${'a'.repeat(5_000)}`);
  assert.equal(long?.length, `${path}?code=`.length + 4_096);
  refused(await post(path, `code=${'a'.repeat(33_000)}`), '413 body_too_large');
  refused(await post(path, '{}', { 'content-type': 'application/json' }), '415 not_json');
  refused(await post(path, 'code=a', { 'sec-fetch-dest': 'iframe' }), '403 cross_site');
  refused(await post(path, 'code=a', { host: 'evil.example' }), '403 wrong_site');
  refused(await post('/account/sign-out', 'a=1'), '403 cross_site');
  assert.equal(
    await location('code=a', '/account/provider/return/%2F%2Fevil'),
    '/account/provider/return/none?code=a',
  );
});

test('a client secret is signed for each sign-in, as Apple reads it', async () => {
  const seen: object[] = [];
  hostile.takeSecret((secret) => {
    const [header = '', claims = '', signature = ''] = secret.split('.');
    const of = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
    const key = { key: applePublicKey, dsaEncoding: 'ieee-p1363' } as const;
    const signed = Buffer.from(`${header}.${claims}`);
    seen.push({ ...of(header), ...of(claims) });
    return verify('sha256', signed, key, Buffer.from(signature, 'base64url'));
  });
  hostile.claim({
    sub: '001234.abcd',
    email: 'x7@privaterelay.appleid.com',
    is_private_email: 'true',
  });
  const one = browser();
  const asked = await begin(one, 'apple');
  assert.equal(asked.searchParams.get('response_mode'), 'form_post');
  const back = await hostile.authorize(asked);
  const { headers } = await post(back.pathname, back.search.slice(1));
  const next = new URL(headers.location ?? '', 'http://localhost:8080');
  assert.equal(endOf(await comeBack(one, next)), 'done=sign-in');
  const [{ iat, exp, ...rest }] = seen as [{ iat: number; exp: number }];
  assert.deepEqual(rest, {
    alg: 'ES256',
    kid: apple.keyId,
    typ: 'JWT',
    iss: apple.teamId,
    aud: hostile.issuer,
    sub: 'parley',
  });
  assert.deepEqual([exp - iat, Math.abs(iat - Date.now() / 1_000) < 60], [300, true]);
  const { logins } = (await one.get('/account/me')).body;
  assert.equal(logins[0].label, 'x7@privaterelay.appleid.com');
});

const tenant = '9188040d-6c67-4c5b-b112-36a304b66dad';
const other = '72f988bf-86f1-41af-91ab-2d7cd011db47';
const issuerOf = (tid: string) => `${hostile.issuer}/${tid}/v2.0`;
async function byTenant(claims: object, keyIssuer: string | null = null): Promise<string> {
  hostile.claim({ sub: 'pairwise', ...claims });
  hostile.keysAreOf(keyIssuer);
  // Those of before are remembered for five minutes.
  edge.deps.advance(300_000);
  hostile.misbehave('no iss in the response');
  return through(browser(), 'microsoft');
}

test('people of any tenant sign in, and the same sub of another tenant is somebody else', async () => {
  const label = 'preferred_username';
  for (const tid of [tenant, other]) {
    const claims = { iss: issuerOf(tid), tid, [label]: `ann@${tid}` };
    assert.equal(await byTenant(claims, `${hostile.issuer}/{tenantid}/v2.0`), 'done=sign-in');
  }
  const rows = await edge.sql(
    `select issuer from logins where subject = 'pairwise' order by issuer desc`,
  );
  assert.deepEqual(rows, [{ issuer: issuerOf(tenant) }, { issuer: issuerOf(other) }]);
  // An e-mail address that a tenant made up links nothing.
  const mail = { email: 'alice@example.test', xms_edov: true };
  const one = browser();
  assert.equal(await through(one, 'real'), 'done=sign-in');
  hostile.claim({ sub: 'thief', iss: issuerOf(other), tid: other, ...mail });
  const thief = browser();
  assert.equal(await through(thief, 'microsoft'), 'done=sign-in');
  assert.notEqual(await whoIs(thief), await whoIs(one));
});

test('a token whose tenant, issuer and key disagree proves nothing', async () => {
  const good = { iss: issuerOf(tenant), tid: tenant };
  for (const [claims, reason, keyIssuer] of [
    [{ ...good, tid: other }, /unexpected JWT "iss"/],
    [{ ...good, iss: hostile.issuer }, /unexpected JWT "iss"/],
    [{ ...good, tid: undefined }, /unexpected JWT "iss"|names no tenant/],
    [{ iss: issuerOf('../evil'), tid: '../evil' }, /names no tenant/],
    [{ iss: issuerOf('{tenantid}'), tid: '{tenantid}' }, /names no tenant/],
    [good, /another tenant than its issuer or its key/, issuerOf(other)],
  ] as const) {
    reported.length = 0;
    assert.equal(await byTenant(claims, keyIssuer), 'problem=bad_proof', JSON.stringify(claims));
    assert.match(reported.join(), reason);
  }
  assert.equal(await byTenant(good, issuerOf(tenant)), 'done=sign-in');
});
