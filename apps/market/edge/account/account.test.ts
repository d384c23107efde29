// The account that is signed in: logins, sessions, and its end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { passHolds } from '../../people/passing.ts';
import { buildApp } from '../app.ts';
import { browserOn, type TestBrowser } from '../testing/browser.ts';
import { caller, refused } from '../testing/edge.ts';
import { freshAddress, testPeople } from '../testing/people.ts';
import { signInBy } from '../testing/sign-in.ts';
import { bitcoinWallet, evmWallet } from '../testing/signers.ts';

const edge = await testPeople();
const minute = 60_000;
const ended = '401 session_missing';
const hook = { url: 'https://receiver.example/hook' };
const meOf = async (browser: TestBrowser) => (await browser.get('/account/me')).body;
const labelsOf = async (browser: TestBrowser) =>
  (await meOf(browser)).logins.map(({ label }: { label: string }) => label);
const removed = (browser: TestBrowser, id: string) =>
  browser.call('DELETE', `/account/logins/${id}`);

test('a write names the account that its page shows: another one is left alone', async () => {
  const address = freshAddress();
  const stale = await edge.person(freshAddress());
  const browser = await edge.person(address);
  const { accountId } = await meOf(stale);
  for (const shown of [null, '', accountId]) {
    const headers = { 'x-parley-account': shown };
    for (const [method, url, body] of [
      ['DELETE', '/account/me', undefined],
      ['POST', '/account/keys', { scopes: ['read'] }],
      ['POST', '/account/sign-out', undefined],
      ['POST', '/account/email', { address: freshAddress(), purpose: 'add' }],
      ['POST', '/account/email', { address, purpose: 'renew' }],
      ['POST', '/v1/webhooks', hook],
    ] as const) {
      refused(await browser.call(method, url, body, headers), '409 other_account');
    }
    const read = await browser.call('GET', '/v1/me', undefined, headers);
    assert.equal(read.status, shown === null ? 200 : 409);
  }
  // A browser that signs in shows no account yet.
  const body = { address, purpose: 'sign-in' };
  const asked = await browser.call('POST', '/account/email', body, { 'x-parley-account': null });
  assert.equal(asked.status, 200);
  assert.equal((await browser.post('/v1/webhooks', hook)).status, 201);
});

test('the last login stays; removing another ends every other session', async () => {
  const one = freshAddress();
  const other = freshAddress();
  const browser = await edge.person(one);
  const [first] = (await meOf(browser)).logins;
  refused(await removed(browser, first.id), '409 last_login');
  await edge.byEmail(browser, other, 'add');
  const thief = await edge.person(other);
  const { id } = (await meOf(browser)).logins[1];
  assert.deepEqual((await removed(browser, id)).body, { ok: true, leavesAt: null });
  assert.deepEqual(await labelsOf(browser), [one]);
  refused(await thief.get('/account/me'), ended);
  const [theirs] = (await meOf(await edge.person(freshAddress()))).logins;
  for (const none of [id, theirs.id]) refused(await removed(browser, none), '404 unknown_login');
});

test('one or all other sessions end at once, in another process as well', async (t) => {
  const address = freshAddress();
  const browser = await edge.person(address);
  const phone = await edge.person(address);
  const tablet = await edge.person(address);
  const app = await buildApp(edge.deps);
  t.after(() => app.close());
  const there = ({ cookies }: TestBrowser) =>
    browserOn({ call: caller(app) }, { cookies }).get('/v1/me');
  for (const each of [phone, tablet]) assert.equal((await there(each)).status, 200);
  const { sessions } = (await browser.get('/account/sessions')).body;
  const isCurrent = ({ current }: { current: boolean }) => current;
  assert.deepEqual([sessions.length, sessions.filter(isCurrent).length], [3, 1]);
  const mine = (await phone.get('/account/sessions')).body.sessions.find(isCurrent);
  assert.equal((await browser.call('DELETE', `/account/sessions/${mine.id}`)).status, 200);
  refused(await there(phone), ended);
  assert.equal((await there(tablet)).status, 200);
  assert.equal((await browser.call('DELETE', '/account/sessions')).status, 200);
  refused(await there(tablet), ended);
  const stolen = browserOn(edge, { cookies: browser.cookies });
  assert.equal((await browser.post('/account/sign-out')).status, 200);
  assert.equal(browser.session(), null);
  refused(await stolen.get('/account/me'), ended);
});

test('a wallet that leaves ends the sessions that it signed in to, and no other', async () => {
  const wallet = evmWallet();
  const asking = await edge.person(freshAddress());
  assert.equal((await signInBy(asking, wallet, 'add')).status, 200);
  assert.equal((await removed(asking, `evm:${wallet.address}`)).status, 200);
  edge.deps.advance(72 * 60 * minute - minute);
  const byIt = browserOn(edge);
  await signInBy(byIt, wallet);
  edge.deps.advance(minute);
  await passHolds(edge.deps);
  await waitUntil(async () => (await byIt.get('/account/me')).status === 401);
  refused(await byIt.get('/account/me'), ended);
  assert.equal((await meOf(asking)).logins.length, 1);
});

test('a session that is old changes no webhook and removes no wallet, and a key may', async () => {
  const wallet = evmWallet();
  const own = browserOn(edge);
  await signInBy(own, wallet);
  const { key } = (await own.post('/account/keys', { scopes: ['read'] })).body;
  const { id } = (await own.post('/v1/webhooks', hook)).body.webhook;
  edge.deps.advance(11 * minute);
  const linked = bitcoinWallet();
  const { nonce } = (await own.get('/v1/wallets/nonce')).body;
  const message = `Parley - link this wallet\n${linked.address}\nNonce: ${nonce}`;
  const proof = { address: linked.address, message, signature: await linked.sign(message) };
  const linking = () => own.post('/v1/wallets/bitcoin', proof);
  const unlinking = () => own.call('DELETE', `/v1/wallets/${linked.address}`);
  const unhooking = () => own.call('DELETE', `/v1/webhooks/${id}`);
  const hooking = () => own.post('/v1/webhooks', hook);
  // It counts for giving alone.
  const { status, body } = await linking();
  assert.deepEqual([status, body.authorised], [200, false]);
  for (const act of [unlinking, unhooking, hooking]) {
    refused(await act(), '403 session_stale');
  }
  assert.equal((await edge.call('POST', '/v1/webhooks', { key, body: hook })).status, 201);
  await signInBy(own, wallet, 'renew');
  for (const [act, status] of [
    [unlinking, 200],
    [unhooking, 200],
    [hooking, 201],
  ] as const) {
    assert.equal((await act()).status, status);
  }
});
