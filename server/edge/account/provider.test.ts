// Sign-in through identity providers: a real one (oidc-provider), and a hostile one that behaves.
// What is done to state, browsers and sessions; what a provider can do is in provider-lies.test.ts.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { telegramId } from '../../../devnet/people/identity-provider.ts';
import { hashOf } from '../../people/sessions.ts';
import { buildApp } from '../app.ts';
import { browserOn, type TestBrowser } from '../testing/browser.ts';
import { caller, refused } from '../testing/edge.ts';
import { comeBack, endOf, startProviderEdge, whoIs } from '../testing/provider-edge.ts';

const { edge, deps, real, hostile, told, browser, begin, atProvider, through, count } =
  await startProviderEdge();

async function loginsOf(accountId: string | null): Promise<string[]> {
  const rows = await edge.sql(
    'select label from logins where account_id = $1 order by added_at, id',
    accountId,
  );
  return rows.map(({ label }) => label);
}

/** Whether the token opens anything, in a browser that has it alone. */
async function opens(token: string | null): Promise<boolean> {
  const cookies = new Map([['parley_session', token ?? '']]);
  return (await whoIs(browserOn(edge, { cookies }))) !== null;
}

function setsSession({ headers }: Awaited<ReturnType<typeof comeBack>>): boolean {
  return JSON.stringify(headers['set-cookie'] ?? '').includes('parley_session=');
}

test('a person of a real provider signs in, has an account, and comes back to it', async () => {
  const [one, other] = [browser(), browser()];
  assert.equal(await through(one, 'real'), 'done=sign-in');
  const accountId = await whoIs(one);
  assert.deepEqual(await loginsOf(accountId), ['alice@example.test']);
  assert.equal(await through(other, 'real'), 'done=sign-in');
  assert.deepEqual([await whoIs(other), told], [accountId, []]);
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
  assert.equal(endOf(await comeBack(one, await hostile.authorize(url))), 'done=sign-in');
  const asked = hostile.requests.findLast(({ path }) => path === '/token')?.parameters ?? {};
  assert.equal(asked.client_secret, undefined, 'the secret is in a header');
  const verifier = String(asked.code_verifier);
  assert.equal(createHash('sha256').update(verifier).digest('base64url'), challenge);
  const kept = await ceremonies();
  assert.ok(kept.includes(nonce ?? ''));
  assert.ok(!kept.includes(state ?? '') && !kept.includes(verifier), 'hashed and encrypted');
});

async function ceremonies(): Promise<string> {
  const rows = await edge.sql('select row_to_json(c)::text as row from ceremonies c');
  return rows.map(({ row }) => row).join('\n');
}

test('Telegram lets the bot write where its scope was granted, to the number of the person', async () => {
  const chats = async (label: string) => {
    const rows = await edge.sql('select chat_id as chat from logins where label = $1', label);
    return rows.map(({ chat }) => chat);
  };
  const one = browser();
  const back = await atProvider(await begin(one, 'telegram'), 'bob');
  assert.equal(endOf(await comeBack(one, back)), 'done=sign-in');
  assert.deepEqual(await chats('bob'), [String(telegramId('bob'))]);
  assert.equal(await through(browser(), 'real'), 'done=sign-in');
  assert.deepEqual(await chats('alice@example.test'), [null]);
});

test('who gives no nonce back is asked for none, and one in its token is a fault', async () => {
  const one = browser();
  const url = await begin(one, 'bare');
  assert.equal(url.searchParams.get('nonce'), null);
  assert.equal(endOf(await comeBack(one, await hostile.authorize(url))), 'done=sign-in');
  hostile.claim({ sub: 'mallory', nonce: 'of-another' });
  assert.equal(await through(browser(), 'bare'), 'problem=bad_proof');
  assert.deepEqual(told, ['unexpected ID Token "nonce" claim value']);
});

test('the same e-mail address at another provider is another account', async () => {
  const [one, other] = [browser(), browser()];
  hostile.claim({ sub: 'eve', email: 'alice@example.test', email_verified: true });
  assert.equal(await through(one), 'done=sign-in');
  assert.equal(await through(other, 'real'), 'done=sign-in');
  assert.deepEqual(await loginsOf(await whoIs(one)), ['alice@example.test']);
  assert.notEqual(await whoIs(one), await whoIs(other));
});

test('a person who cancels is told so, and nothing is wrong', async () => {
  const one = browser();
  const back = await atProvider(await begin(one, 'real'), null);
  assert.equal(back.searchParams.get('error'), 'access_denied');
  assert.equal(endOf(await comeBack(one, back)), 'problem=cancelled');
  assert.equal(endOf(await comeBack(one, back)), 'problem=ceremony_gone', 'once');
  assert.deepEqual([one.session(), told], [null, []]);
});

test('an answer counts once: the same address again does nothing', async () => {
  const one = browser();
  const back = await hostile.authorize(await begin(one));
  const signedIn = await comeBack(one, back);
  assert.equal(endOf(signedIn), 'done=sign-in');
  const [before, requests] = [await count('sessions'), hostile.requests.length];
  const again = await comeBack(one, back);
  assert.equal(endOf(again), 'problem=ceremony_gone');
  assert.deepEqual([setsSession(signedIn), setsSession(again)], [true, false]);
  assert.deepEqual([await count('sessions'), hostile.requests.length], [before, requests]);
  const third = browser();
  const both = await hostile.authorize(await begin(third));
  const ends = await Promise.all([comeBack(third, both), comeBack(third, both)]);
  assert.deepEqual(ends.map(endOf).sort(), ['done=sign-in', 'problem=ceremony_gone']);
});

test('an answer counts in the browser that began alone, and for 10 minutes', async () => {
  const [victim, thief, nobody] = [browser(), browser(), browser()];
  await victim.get('/account/ways');
  const back = await hostile.authorize(await begin(thief));
  assert.equal(endOf(await comeBack(victim, back)), 'problem=ceremony_gone');
  assert.equal(endOf(await comeBack(nobody, back)), 'problem=ceremony_gone', 'no cookie at all');
  assert.deepEqual([victim.session(), nobody.session()], [null, null]);
  assert.equal(endOf(await comeBack(thief, back)), 'done=sign-in', 'it was not used up by others');
  const late = await hostile.authorize(await begin(thief));
  deps.advance(600_000);
  assert.equal(endOf(await comeBack(thief, late)), 'problem=ceremony_gone');
});

test('an answer at the address of another provider is a mix-up, and proves nothing', async () => {
  const one = browser();
  const back = await hostile.authorize(await begin(one));
  back.pathname = back.pathname.replace('hostile', 'real');
  assert.equal(endOf(await comeBack(one, back)), 'problem=bad_proof');
  assert.deepEqual(told, ['the answer is at the address of another one']);
  back.pathname = back.pathname.replace('real', 'hostile');
  assert.equal(endOf(await comeBack(one, back)), 'problem=ceremony_gone', 'it was used up');
  const codes = hostile.requests
    .filter(({ path }) => path === '/token')
    .map((each) => each.parameters);
  assert.ok(
    codes.every(({ code }) => code !== back.searchParams.get('code')),
    'no code is shown',
  );
});

test('two tabs at once both sign in, and the session of the second is the one that lasts', async () => {
  const one = browser();
  const urls = [await begin(one, 'real'), await begin(one)];
  const [first, second] = await Promise.all(urls.map((url) => atProvider(url)));
  assert.equal(endOf(await comeBack(one, first as URL)), 'done=sign-in');
  const former = one.session();
  assert.equal(endOf(await comeBack(one, second as URL)), 'done=sign-in');
  assert.deepEqual([await opens(former), await opens(one.session())], [false, true]);
});

test('two browsers at once with a login that nobody had make one account', async () => {
  hostile.claim({ sub: 'twice' });
  const before = await count('accounts');
  const browsers = [browser(), browser(), browser()];
  const backs = await Promise.all(
    browsers.map(async (each) => hostile.authorize(await begin(each))),
  );
  const ends = await Promise.all(browsers.map((each, at) => comeBack(each, backs[at] as URL)));
  assert.deepEqual(ends.map(endOf), Array(3).fill('done=sign-in'));
  assert.equal(await count('accounts'), before + 1);
});

test('a session that was planted in a browser is not the one that is signed in', async () => {
  const planted = browser();
  await through(planted);
  const token = planted.session();
  const victim = browserOn(edge, { cookies: new Map([['parley_session', token ?? '']]) });
  hostile.claim({ sub: 'victim' });
  assert.equal(await through(victim), 'done=sign-in');
  assert.notEqual(victim.session(), token);
  assert.deepEqual([await opens(token), await opens(victim.session())], [false, true]);
});

test('keys that are rotated between the page of the provider and the way back do no harm', async () => {
  const one = browser();
  assert.equal(await through(one, 'real'), 'done=sign-in');
  const back = await atProvider(await begin(one, 'real'));
  await real.rotateKeys();
  assert.equal(endOf(await comeBack(one, back)), 'done=sign-in');
  assert.deepEqual(told, []);
});

async function facts({ cookies }: TestBrowser) {
  const [row] = await edge.sql(
    'select id, account_id, signed_in_at, signed_in_by from sessions where hash = $1',
    hashOf(cookies.get('parley_session') ?? ''),
  );
  return row ?? {};
}

test('a login is added to the account that is signed in, by a person who is there', async () => {
  hostile.claim({ sub: 'grace', name: 'Grace' });
  const one = browser();
  assert.equal(await through(one), 'done=sign-in');
  const [accountId, before] = [await whoIs(one), await facts(one)];
  const url = await begin(one, 'real', 'add');
  assert.deepEqual(
    [url.searchParams.get('max_age'), url.searchParams.get('prompt')],
    ['60', null],
    'oidc-provider names no prompts',
  );
  const back = await atProvider(url, 'grace');
  const added = await comeBack(one, back);
  assert.deepEqual([endOf(added), setsSession(added)], ['done=add', false]);
  assert.deepEqual(await loginsOf(accountId), ['Grace', 'grace@example.test']);
  assert.deepEqual(await facts(one), before, 'adding a login is no sign-in');
  const other = browser();
  const again = await atProvider(await begin(other, 'real'), 'grace');
  assert.equal(endOf(await comeBack(other, again)), 'done=sign-in');
  assert.equal(await whoIs(other), accountId);
});

test('a login of another account is not added, and moves nothing', async () => {
  const [owner, thief] = [browser(), browser()];
  hostile.claim({ sub: 'owner' });
  await through(owner);
  hostile.claim({ sub: 'thief' });
  await through(thief);
  const before = [await facts(owner), await facts(thief), await count('logins')];
  hostile.claim({ sub: 'owner' });
  assert.equal(await through(thief, 'hostile', 'add'), 'problem=login_taken');
  assert.deepEqual([await facts(owner), await facts(thief), await count('logins')], before);
});

test('a session is fresh again by a login of its account, under another token', async () => {
  hostile.claim({ sub: 'henry' });
  const one = browser();
  await through(one);
  deps.advance(11 * 60_000);
  const stale = await one.post('/account/provider', { provider: 'hostile', purpose: 'add' });
  refused(stale, '403 session_stale');
  const [token, before] = [one.session(), await facts(one)];
  const nobodys = await atProvider(await begin(one, 'real', 'renew'), 'nobody');
  assert.equal(endOf(await comeBack(one, nobodys)), 'problem=unknown_login');
  assert.equal(one.session(), token);
  assert.equal(await through(one, 'hostile', 'renew'), 'done=renew');
  const after = await facts(one);
  assert.equal(after.id, before.id);
  assert.ok((after.signed_in_at as Date) > (before.signed_in_at as Date));
  assert.deepEqual([await opens(token), await opens(one.session())], [false, true]);
});

test('who says that the person signed in long ago renews and adds nothing', async () => {
  hostile.claim({ sub: 'irene' });
  const one = browser();
  await through(one);
  const ago = (seconds: number) => Math.floor(Date.now() / 1_000) - seconds;
  for (const purpose of ['add', 'renew'] as const) {
    hostile.claim({ sub: 'irene', auth_time: ago(300) });
    assert.equal(await through(one, 'hostile', purpose), 'problem=bad_proof');
    assert.deepEqual(told.splice(0), ['the person did not sign in anew']);
    hostile.claim({ sub: 'irene', auth_time: ago(100) });
    // It was a login of the account before: nothing is added.
    const done = purpose === 'add' ? 'done=already' : 'done=renew';
    assert.equal(await through(one, 'hostile', purpose), done);
  }
});

test('what was begun in a session ends with it', async () => {
  hostile.claim({ sub: 'judy' });
  const one = browser();
  await through(one);
  const back = await hostile.authorize(await begin(one, 'hostile', 'add'));
  await edge.sql(
    'update sessions set revoked_at = now() where hash = $1',
    hashOf(one.session() ?? ''),
  );
  assert.equal(endOf(await comeBack(one, back)), 'problem=session_ended');
  const { status } = await browser().post('/account/provider', {
    provider: 'hostile',
    purpose: 'renew',
  });
  assert.equal(status, 409);
});

test('only a page that the person sees comes back: no frame, script, HEAD or other host', async () => {
  const one = browser();
  const back = await hostile.authorize(await begin(one));
  for (const headers of [
    { 'sec-fetch-dest': 'iframe' },
    { 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors' },
    { 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors' },
  ] as const) {
    const { status } = await comeBack(one, back, headers);
    assert.equal(status, 403, JSON.stringify(headers));
  }
  assert.equal((await comeBack(one, back, { host: 'rebound.example:8080' })).status, 403);
  const { pathname, search } = back;
  assert.equal((await one.call('HEAD', pathname + search)).status, 405);
  assert.equal(endOf(await comeBack(one, back)), 'done=sign-in', 'none of them used it up');
});

test('beginning counts against the sign-ins of a network, coming back against its requests', async () => {
  const app = await buildApp({ ...deps, settings: { ...deps.settings, signInLimit: 2 } });
  const one = browserOn({ call: caller(app) });
  const asked = { provider: 'hostile', purpose: 'sign-in' };
  const back = await hostile.authorize(await begin(one));
  await begin(one);
  const over = await one.post('/account/provider', asked);
  refused(over, '429 sign_in_rate_limited');
  const left = [];
  for (const end of ['done=sign-in', 'problem=ceremony_gone']) {
    const answer = await comeBack(one, back);
    assert.equal(endOf(answer), end);
    left.push(Number(answer.headers['ratelimit-remaining']));
  }
  assert.equal((left[0] ?? 0) - (left[1] ?? 0), 1);
  await app.close();
});

test('sign-ins are counted, by outcome', async () => {
  const counted = async (outcome: string) => {
    const { values } = await deps.metrics.signIns.get();
    return (
      values.find(({ labels }) => labels.way === 'provider' && labels.outcome === outcome)?.value ??
      0
    );
  };
  const now = () => Promise.all(['made', 'signed_in', 'refused', 'added', 'renewed'].map(counted));
  const before = await now();
  hostile.claim({ sub: 'kate' });
  await through(browser());
  await through(browser());
  const one = browser();
  hostile.claim({ sub: 'lena' });
  await through(one);
  hostile.claim({ sub: 'lena elsewhere' });
  await through(one, 'hostile', 'add');
  await through(one, 'hostile', 'renew');
  hostile.misbehave('expired');
  await through(browser());
  hostile.misbehave('error in the response');
  await through(browser());
  const after = await now();
  assert.deepEqual(
    after.map((each, at) => each - (before[at] ?? 0)),
    [2, 1, 1, 1, 1],
  );
  const { status } = await browser().post('/account/provider', {
    provider: 'none',
    purpose: 'sign-in',
  });
  assert.equal(status, 404);
});

test('the ways in are those that are configured', async () => {
  const { body } = await browser().get('/account/ways');
  assert.deepEqual(body, {
    email: false,
    mailIsDown: false,
    providers: ['real', 'hostile', 'telegram', 'bare'].map((id) => ({
      id,
      label: `the ${id} provider`,
      messages: id === 'telegram',
    })),
    passkeys: true,
    wallets: ['evm', 'tron', 'bitcoin', 'solana'],
  });
  const byNumber = browserOn(edge, { origin: 'http://127.0.0.1:8080' });
  assert.equal((await byNumber.get('/account/ways')).body.passkeys, false);
});
