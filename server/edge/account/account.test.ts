// The account that is signed in: logins, sessions, and its end.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { passHolds } from '../../people/passing.ts';
import { openSession } from '../../people/sessions.ts';
import { buildApp } from '../app.ts';
import { browserOn, type TestBrowser } from '../testing/browser.ts';
import { caller, refused } from '../testing/edge.ts';
import { byEmail, startPeople } from '../testing/people.ts';
import { signInBy } from '../testing/sign-in.ts';
import { bitcoinWallet, evmWallet } from '../testing/signers.ts';

const edge = await startPeople();
after(() => edge.close());

let count = 0;
const fresh = () => `owner${++count}@example.test`;
const add = (browser: TestBrowser, address: string) =>
  byEmail(browser, address, () => edge.codeOf(address), 'add');
const loginsOf = async (browser: TestBrowser) =>
  (await browser.get('/account/me')).body.logins as { id: string; label: string }[];
const labelsOf = async (browser: TestBrowser) =>
  (await loginsOf(browser)).map(({ label }) => label);
const topicsOf = async (browser: TestBrowser) => {
  const { accountId } = (await browser.get('/account/me')).body;
  const rows = await edge.sql(
    'select topic from outbox where account_id = $1 order by id',
    accountId,
  );
  return rows.map(({ topic }) => topic);
};
/** A browser that the account's wallet signed in from. */
const signedInByWallet = async (accountId: string, address: string) => {
  const browser = browserOn(edge);
  await browser.get('/account/me');
  const { token } = await openSession(edge.deps.db, edge.deps, {
    accountId,
    means: { by: 'wallet', wallet: { family: 'evm', address } },
    browser: { hash: randomBytes(32), device: 'a test', place: '127.0.0.1' },
    isNew: false,
  });
  browser.cookies.set('parley_session', token);
  return browser;
};
const minutes = (number: number) => number * 60_000;

test('a login is added by its proof in a fresh session, and moves nothing of another account', async () => {
  const [one, other] = [fresh(), fresh()];
  const browser = await edge.person(one);
  const elsewhere = await edge.person(other);
  refused(await add(browser, other), '409 login_taken');
  assert.deepEqual([await labelsOf(browser), await labelsOf(elsewhere)], [[one], [other]]);
  const further = fresh();
  const before = browser.session();
  assert.equal((await add(browser, further)).status, 200);
  assert.deepEqual(await labelsOf(browser), [one, further]);
  assert.equal(browser.session(), before);
  assert.deepEqual(await topicsOf(browser), ['login.added']);
  edge.deps.advance(minutes(10) + 1);
  refused(await add(browser, fresh()), '403 session_stale');
  const renewed = await byEmail(browser, one, () => edge.codeOf(one), 'renew');
  assert.equal(renewed.status, 200);
  assert.equal((await add(browser, fresh())).status, 200);
});

test('a write names the account that its page shows: another one is left alone', async () => {
  const [address, stale] = [fresh(), await edge.person(fresh())];
  const browser = await edge.person(address);
  const { accountId } = (await stale.get('/account/me')).body;
  const hook = { url: 'https://receiver.example/hook' };
  const writes: [string, string, unknown][] = [
    ['DELETE', '/account/me', undefined],
    ['POST', '/account/keys', { scopes: ['read'] }],
    ['POST', '/account/sign-out', undefined],
    ['POST', '/account/email', { address: fresh(), purpose: 'add' }],
    ['POST', '/account/email', { address, purpose: 'renew' }],
    ['POST', '/v1/webhooks', hook],
  ];
  for (const shown of [null, '', accountId]) {
    const headers = { 'x-parley-account': shown };
    for (const [method, url, body] of writes) {
      const answer = await browser.call(method, url, body, headers);
      refused(answer, '409 other_account');
    }
    const read = await browser.call('GET', '/v1/me', undefined, headers);
    assert.equal(read.status, shown === null ? 200 : 409);
  }
  // Whoever signs in shows nobody yet.
  const body = { address, purpose: 'sign-in' };
  const asked = await browser.call('POST', '/account/email', body, { 'x-parley-account': null });
  assert.equal(asked.status, 200);
  assert.equal((await browser.post('/v1/webhooks', hook)).status, 201);
});

test('a session is renewed by a login of its own account alone, under another token', async () => {
  const address = fresh();
  const browser = await edge.person(address);
  const stolen = browserOn(edge, { cookies: browser.cookies });
  const stranger = fresh();
  const tried = await byEmail(browser, stranger, () => edge.codeOf(stranger), 'renew');
  refused(tried, '404 unknown_login');
  const before = browser.session();
  await byEmail(browser, address, () => edge.codeOf(address), 'renew');
  assert.notEqual(browser.session(), before);
  assert.equal((await browser.get('/account/me')).status, 200);
  refused(await stolen.get('/account/me'), '401 session_missing');
});

test('signing in anew in a browser ends the session it had: none is fixed on', async () => {
  const victim = fresh();
  const attacker = await edge.person(fresh());
  const shared = browserOn(edge, { cookies: attacker.cookies });
  await byEmail(shared, victim, () => edge.codeOf(victim));
  assert.deepEqual(await labelsOf(shared), [victim]);
  refused(await attacker.get('/account/me'), '401 session_missing');
});

test('the last login stays; removing another ends every other session', async () => {
  const [one, other] = [fresh(), fresh()];
  const browser = await edge.person(one);
  const [only] = await loginsOf(browser);
  const remove = (id = '') => browser.call('DELETE', `/account/logins/${id}`);
  refused(await remove(only?.id), '409 last_login');
  await add(browser, other);
  const thief = await edge.person(one);
  assert.equal((await remove(only?.id)).status, 200);
  assert.deepEqual(await labelsOf(browser), [other]);
  refused(await thief.get('/account/me'), '401 session_missing');
  refused(await remove(only?.id), '404 unknown_login');
  const strangers = await edge.person(fresh());
  const [theirs] = await loginsOf(strangers);
  refused(await remove(theirs?.id), '404 unknown_login');
});

test('a wallet account that gains an e-mail login holds ten keys, and never one again', async () => {
  const wallet = evmWallet();
  const { key } = (await edge.mint(wallet)).body;
  const { userId: accountId } = (await edge.call('GET', '/v1/me', { key })).body;
  const browser = await signedInByWallet(accountId, wallet.address);
  const kind = async () => (await browser.get('/account/me')).body.kind;
  assert.equal(await kind(), 'wallet');
  const address = fresh();
  assert.equal((await add(browser, address)).status, 200);
  assert.equal(await kind(), 'browser');
  for (let held = 1; held < 10; held += 1) {
    const { replaced } = (await edge.mint(wallet)).body;
    assert.equal(replaced, false);
  }
  const eleventh = await edge.mint(wallet);
  refused(eleventh, '400 too_many_keys');
  const login = (await loginsOf(browser)).find(({ label }) => label === address);
  assert.equal((await browser.call('DELETE', `/account/logins/${login?.id}`)).status, 200);
  assert.equal(await kind(), 'browser');
});

test('a new browser is told of, and the same one again is not', async () => {
  const address = fresh();
  const first = await edge.person(address);
  assert.deepEqual(await topicsOf(first), []);
  const second = await edge.person(address);
  await byEmail(second, address, () => edge.codeOf(address));
  assert.deepEqual(await topicsOf(second), ['session.created']);
});

test('one or all other sessions end at once, in another process as well', async (t) => {
  const address = fresh();
  const browser = await edge.person(address);
  const phone = await edge.person(address);
  const tablet = await edge.person(address);
  const app = await buildApp(edge.deps);
  t.after(() => app.close());
  const there = (from: TestBrowser) => browserOn({ call: caller(app) }, { cookies: from.cookies });
  for (const each of [phone, tablet]) {
    assert.equal((await there(each).get('/v1/me')).status, 200);
  }
  const { sessions } = (await browser.get('/account/sessions')).body;
  assert.equal(sessions.length, 3);
  assert.equal(sessions.filter((each: { current: boolean }) => each.current).length, 1);
  const [mine] = (await phone.get('/account/sessions')).body.sessions.filter(
    (each: { current: boolean }) => each.current,
  );
  assert.equal((await browser.call('DELETE', `/account/sessions/${mine.id}`)).status, 200);
  refused(await there(phone).get('/v1/me'), '401 session_missing');
  assert.equal((await there(tablet).get('/v1/me')).status, 200);
  assert.equal((await browser.call('DELETE', '/account/sessions')).status, 200);
  assert.equal((await there(tablet).get('/v1/me')).status, 401);
  assert.equal((await browser.get('/account/me')).status, 200);
  const stolen = browserOn(edge, { cookies: browser.cookies });
  assert.equal((await browser.post('/account/sign-out')).status, 200);
  assert.equal(browser.session(), null);
  assert.equal((await stolen.get('/account/me')).status, 401);
});

test('a session ends 30 days after its last use', async () => {
  const browser = await edge.person(fresh());
  edge.deps.advance(30 * 86_400_000 - 1_000);
  assert.equal((await browser.get('/account/me')).status, 200);
  edge.deps.advance(31 * 86_400_000);
  assert.equal((await browser.get('/account/me')).status, 401);
});

test('an account is deleted with all that is personal, unless something of it is open', async () => {
  const address = fresh();
  const browser = await edge.person(address);
  const { accountId } = (await browser.get('/account/me')).body;
  await edge.sql(
    `with one as (
        insert into assets (id, chain, symbol, decimals, verified, source, created_at)
        values (gen_random_uuid(), 'somewhere', 'X', 8, true, 'curated', now()) returning id
      )
      insert into rfqs (id, creator_id, direction, base_asset_id, base_amount, quote_asset_id,
        visibility, status, created_at, expires_at, updated_at)
      select gen_random_uuid(), $1, 'sell_base', id, 1, id, 'public', 'open', now(),
        now() + interval '1 year', now() from one`,
    accountId,
  );
  const held = await browser.call('DELETE', '/account/me');
  refused(held, '409 account_in_use', /0 swaps and 1 orders/);
  await edge.sql(`update rfqs set status = 'cancelled' where creator_id = $1`, accountId);
  const stolen = browserOn(edge, { cookies: browser.cookies });
  assert.equal((await browser.call('DELETE', '/account/me')).status, 200);
  assert.equal((await stolen.get('/v1/me')).status, 401);
  const anew = await byEmail(browserOn(edge), address, () => edge.codeOf(address));
  assert.equal(anew.body.isNew, true);
  assert.notEqual(anew.body.accountId, accountId);
});

test('a wallet that leaves ends the sessions that it signed in to, and no other', async () => {
  const wallet = evmWallet();
  const asking = await edge.person(fresh());
  assert.equal((await signInBy(asking, wallet, 'add')).status, 200);
  const path = `/account/logins/evm:${wallet.address}`;
  assert.equal((await asking.call('DELETE', path)).status, 200);
  edge.deps.advance(minutes(72 * 60 - 1));
  const byIt = browserOn(edge);
  await signInBy(byIt, wallet);
  edge.deps.advance(minutes(1));
  await passHolds(edge.deps);
  const heard = async () => (await byIt.get('/account/me')).status;
  for (let look = 0; look < 100 && (await heard()) !== 401; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  refused(await byIt.get('/account/me'), '401 session_missing');
  assert.equal((await asking.get('/account/me')).body.logins.length, 1);
});

test('a session that is old changes no webhook and no wallet', async () => {
  const wallet = evmWallet();
  const own = browserOn(edge);
  await signInBy(own, wallet);
  const made = await own.post('/v1/webhooks', { url: 'https://receiver.example/hook' });
  edge.deps.advance(minutes(11));
  const linked = bitcoinWallet();
  const { nonce } = (await own.get('/v1/wallets/nonce')).body;
  const message = ['Parley - link this wallet', linked.address, `Nonce: ${nonce}`].join('\n');
  const proof = { address: linked.address, message, signature: await linked.sign(message) };
  const path = `/v1/webhooks/${made.body.webhook.id}`;
  refused(await own.call('DELETE', path), '403 session_stale');
  refused(await own.post('/v1/wallets/bitcoin', proof), '403 session_stale');
  await signInBy(own, wallet, 'renew');
  assert.equal((await own.call('DELETE', path)).status, 200);
  const given = await own.post('/v1/wallets/bitcoin', proof);
  assert.equal(given.status, 200, given.body.error);
});
