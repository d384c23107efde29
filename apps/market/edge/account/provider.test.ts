// Sign-in through identity providers: a real one (oidc-provider), and a hostile one that behaves.
// The effects on state, browsers and sessions are here; the attacks of a provider are in
// provider-lies.test.ts.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { TestBrowser } from '../testing/browser.ts';
import { comeBack, endOf, startProviderEdge, whoIs } from '../testing/provider-edge.ts';

const { edge, real, hostile, reported, browser, begin, atProvider, through, count } =
  await startProviderEdge();

async function loginsOf(accountId: string | null): Promise<string[]> {
  const text = 'select label from logins where account_id = $1 order by added_at, id';
  return (await edge.sql(text, accountId)).map(({ label }) => label);
}

const setsSession = ({ headers }: Awaited<ReturnType<typeof comeBack>>) =>
  JSON.stringify(headers['set-cookie'] ?? '').includes('parley_session=');
/** The way back of a browser that begins at the hostile one. */
const asked = async (one: TestBrowser) => hostile.authorize(await begin(one));
const back = async (one: TestBrowser, url: URL) => endOf(await comeBack(one, url));
const gone = 'problem=ceremony_gone';

/** Signed in at the hostile one under a name of its own. */
async function signedIn(sub: string): Promise<TestBrowser> {
  const one = browser();
  hostile.claim({ sub, name: sub });
  assert.equal(await through(one), 'done=sign-in');
  return one;
}

test('a person of a real provider signs in and comes back, whatever keys are rotated meanwhile', async () => {
  const one = browser();
  const other = browser();
  assert.equal(await through(one, 'real'), 'done=sign-in');
  const accountId = await whoIs(one);
  assert.deepEqual(await loginsOf(accountId), ['alice@example.test']);
  const url = await atProvider(await begin(other, 'real'));
  await real.rotateKeys();
  assert.equal(await back(other, url), 'done=sign-in');
  assert.deepEqual([await whoIs(other), reported], [accountId, []]);
  // The same address at another provider is another account.
  const third = browser();
  hostile.claim({ sub: 'eve', email: 'alice@example.test', email_verified: true });
  assert.equal(await through(third), 'done=sign-in');
  assert.deepEqual(await loginsOf(await whoIs(third)), ['alice@example.test']);
  assert.notEqual(await whoIs(third), accountId);
});

test('the request has PKCE, state, nonce, scopes and an address of this provider alone', async () => {
  const one = browser();
  const url = await begin(one);
  assert.equal(url.origin + url.pathname, `${hostile.issuer}/authorize`);
  const { state, nonce, code_challenge: challenge, ...rest } = Object.fromEntries(url.searchParams);
  assert.deepEqual(rest, {
    response_type: 'code',
    client_id: 'parley',
    redirect_uri: 'http://localhost:8080/account/provider/return/hostile',
    scope: 'openid email profile',
    code_challenge_method: 'S256',
  });
  const again = (await begin(browser())).searchParams;
  for (const name of ['state', 'nonce', 'code_challenge']) {
    assert.match(url.searchParams.get(name) ?? '', /^[\w-]{43}$/, name);
    assert.notEqual(again.get(name), url.searchParams.get(name), name);
  }
  assert.equal(await back(one, await hostile.authorize(url)), 'done=sign-in');
  const request = hostile.requests.findLast(({ path }) => path === '/token')?.parameters ?? {};
  assert.equal(request.client_secret, undefined, 'the secret is in a header');
  const verifier = String(request.code_verifier);
  assert.equal(createHash('sha256').update(verifier).digest('base64url'), challenge);
  const rows = await edge.sql('select row_to_json(c)::text as row from ceremonies c');
  const kept = rows.map(({ row }) => row).join('\n');
  assert.ok(kept.includes(nonce ?? ''));
  assert.ok(!kept.includes(state ?? '') && !kept.includes(verifier), 'hashed and encrypted');
});

test('a person who cancels hears so, and nothing is wrong', async () => {
  const one = browser();
  const url = await atProvider(await begin(one, 'real'), null);
  assert.equal(url.searchParams.get('error'), 'access_denied');
  assert.equal(await back(one, url), 'problem=cancelled');
  assert.equal(await back(one, url), gone, 'once');
  assert.deepEqual([one.session(), reported], [null, []]);
});

test('an answer that was used asks nobody and opens nothing', async () => {
  const one = browser();
  const url = await asked(one);
  const done = await comeBack(one, url);
  assert.deepEqual([endOf(done), setsSession(done)], ['done=sign-in', true]);
  const before = [await count('sessions'), hostile.requests.length];
  const again = await comeBack(one, url);
  assert.deepEqual([endOf(again), setsSession(again)], [gone, false]);
  assert.deepEqual([await count('sessions'), hostile.requests.length], before);
  assert.equal(await back(browser(), await asked(one)), gone, 'no cookie at all');
});

test('an answer at the address of another provider is a mix-up, and proves nothing', async () => {
  const one = browser();
  const url = await asked(one);
  url.pathname = url.pathname.replace('hostile', 'real');
  assert.equal(await back(one, url), 'problem=bad_proof');
  assert.deepEqual(reported, ['the answer is at the address of another one']);
  url.pathname = url.pathname.replace('real', 'hostile');
  assert.equal(await back(one, url), gone, 'it was used up');
  const shown = hostile.requests.filter(({ path }) => path === '/token');
  const code = url.searchParams.get('code');
  assert.ok(!shown.some(({ parameters }) => parameters.code === code), 'no code is shown');
});

test('a login is added by a person who is there: asked for anew, and no sign-in by that', async () => {
  const one = await signedIn('Grace');
  const url = await begin(one, 'real', 'add');
  // oidc-provider names no prompts.
  const [age, prompt] = ['max_age', 'prompt'].map((name) => url.searchParams.get(name));
  assert.deepEqual([age, prompt], ['60', null]);
  const added = await comeBack(one, await atProvider(url, 'grace'));
  assert.deepEqual([endOf(added), setsSession(added)], ['done=add', false]);
  assert.deepEqual(await loginsOf(await whoIs(one)), ['Grace', 'grace@example.test']);
  assert.equal(await through(one, 'hostile', 'add'), 'done=already');
  const nobodys = await atProvider(await begin(one, 'real', 'renew'), 'nobody');
  assert.equal(await back(one, nobodys), 'problem=unknown_login');
});

test('only a page that the person sees comes back: no frame, script, HEAD or other host', async () => {
  const one = browser();
  const url = await asked(one);
  for (const headers of [
    { 'sec-fetch-dest': 'iframe' },
    { 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors' },
    { 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors' },
    { host: 'rebound.example:8080' },
  ] as const) {
    assert.equal((await comeBack(one, url, headers)).status, 403, JSON.stringify(headers));
  }
  assert.equal((await one.call('HEAD', url.pathname + url.search)).status, 405);
  assert.equal(await back(one, url), 'done=sign-in', 'none of them used it up');
});
