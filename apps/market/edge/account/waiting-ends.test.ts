// The end of an account and of its logins, against whoever stole one login or a session: it waits
// as payouts do, its person hears of it, and stops it with all that the thief made.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passHolds } from '../../people/passing.ts';
import { browserOn, type TestBrowser } from '../testing/browser.ts';
import { refused } from '../testing/edge.ts';
import { freshAddress, testPeople } from '../testing/people.ts';
import { signInBy } from '../testing/sign-in.ts';
import { evmWallet, solanaWallet, type TestWallet } from '../testing/signers.ts';

const edge = await testPeople();
edge.deps.freeze();
const holdMs = 72 * 3_600_000;
const missing = '401 session_missing';

const bySigning = async (wallet: TestWallet): Promise<TestBrowser> => {
  const browser = browserOn(edge);
  assert.equal((await signInBy(browser, wallet)).status, 200);
  return browser;
};
const meOf = async (browser: TestBrowser) => (await browser.get('/account/me')).body;
const idOf = async (browser: TestBrowser, label: string): Promise<string> =>
  (await meOf(browser)).logins.find((each: { label: string }) => each.label === label).id;
const remove = async (browser: TestBrowser, label: string) =>
  browser.call('DELETE', `/account/logins/${await idOf(browser, label)}`);
const keep = async (browser: TestBrowser, label: string) =>
  browser.post(`/account/logins/${await idOf(browser, label)}/stay`);
const end = (browser: TestBrowser) => browser.call('DELETE', '/account/me');
const keyOf = async (browser: TestBrowser): Promise<string> =>
  (await browser.post('/account/keys', { scopes: ['read'] })).body.key;
const statusOf = async (key: string) => (await edge.call('GET', '/v1/me', { key })).status;
const told = async (browser: TestBrowser, topic: string) =>
  (await edge.events(browser, topic)).map(({ payload }) => payload as Record<string, unknown>);
const pass = (ms: number) => {
  edge.deps.advance(ms);
  return passHolds(edge.deps);
};
const inHold = () => new Date(edge.deps.now() + holdMs).toISOString();

/** An account of a wallet that has an e-mail login too, and a thief of that login. */
async function robbed() {
  const wallet = evmWallet();
  const address = freshAddress();
  const own = await bySigning(wallet);
  edge.deps.advance(1);
  assert.equal((await edge.byEmail(own, address, 'add')).status, 200);
  return { wallet, address, own, thief: await edge.person(address) };
}

test('a thief of the e-mail deletes nothing before its person could stop it', async () => {
  const { own, thief } = await robbed();
  const key = await keyOf(own);
  const { body } = await end(thief);
  assert.deepEqual(body, { ok: true, leavesAt: inHold() });
  assert.deepEqual(await told(own, 'account.deleted'), [{ leavesAt: body.leavesAt }]);
  // Asked again it does not begin anew, and the account goes on meanwhile.
  edge.deps.advance(60_000);
  assert.equal((await end(thief)).body.leavesAt, body.leavesAt);
  assert.deepEqual([(await meOf(own)).leavesAt, await statusOf(key)], [body.leavesAt, 200]);
  assert.equal((await own.post('/account/me/stay')).status, 200);
  assert.deepEqual(await told(own, 'payout.stopped'), [{ account: true }]);
  refused(await thief.get('/account/me'), missing);
  refused(await own.post('/account/me/stay'), '404 unknown_payout');
  await pass(holdMs);
  assert.deepEqual([(await meOf(own)).leavesAt, await statusOf(key)], [null, 200]);
});

test('an account that nobody stopped is deleted when its time has come, and not before', async () => {
  const { own, wallet } = await robbed();
  const key = await keyOf(own);
  await end(own);
  assert.equal(await pass(holdMs - 1), 0);
  assert.equal(await statusOf(key), 200);
  assert.equal(await pass(1), 1);
  assert.equal((await signInBy(browserOn(edge), wallet)).body.isNew, true);
  assert.equal(await pass(0), 0);
});

test('a session that did not sign in with a login removes it after the hold, unless it is stopped', async () => {
  const { own, address, wallet } = await robbed();
  await pass(holdMs);
  const other = await bySigning(wallet);
  const { body } = await remove(other, address);
  assert.equal(body.leavesAt, inHold());
  assert.deepEqual(await told(own, 'login.removed'), [
    { way: 'email', what: address, leavesAt: body.leavesAt },
  ]);
  const person = await edge.person(address);
  assert.equal((await keep(person, address)).status, 200);
  assert.deepEqual(await told(person, 'payout.stopped'), [
    { way: 'email', what: address, stays: true },
  ]);
  refused(await other.get('/account/me'), missing);
  refused(await keep(person, address), '404 unknown_payout');
  const again = await bySigning(wallet);
  await remove(again, address);
  await pass(holdMs - 1);
  const last = await edge.person(address);
  await pass(1);
  refused(await last.get('/account/me'), missing);
  assert.equal((await edge.byEmail(browserOn(edge), address)).body.isNew, true);
});

test('an account removes the login of its session at once where an older one stays', async () => {
  const { address, thief } = await robbed();
  assert.equal((await remove(thief, address)).body.leavesAt, null);
});

test('a thief who adds a login of its own cannot put it in the place of the stolen one', async () => {
  const address = freshAddress();
  const loot = freshAddress();
  await edge.person(address);
  const thief = await edge.person(address);
  edge.deps.advance(1);
  assert.equal((await edge.byEmail(thief, loot, 'add')).status, 200);
  for (const browser of [thief, await edge.person(loot)]) {
    assert.equal((await remove(browser, address)).body.leavesAt, inHold());
  }
  const person = await edge.person(address);
  assert.equal((await keep(person, address)).status, 200);
  // And is thrown out at once itself, while it is new.
  assert.equal((await remove(person, loot)).body.leavesAt, null);
  assert.equal((await edge.byEmail(browserOn(edge), address)).body.isNew, false);
});

test('stopping ends the keys that the ended sessions made, and those of a wallet that waited', async () => {
  const { own, thief } = await robbed();
  const loot = solanaWallet();
  assert.equal((await signInBy(thief, loot, 'add')).status, 200);
  const mine = await keyOf(own);
  const theirs = await keyOf(thief);
  const minted = (await edge.mint(loot)).body.key;
  const gone = browserOn(edge);
  await signInBy(gone, loot);
  const hidden = await keyOf(gone);
  assert.equal((await gone.post('/account/sign-out')).status, 200);
  const keys = [mine, theirs, minted, hidden];
  assert.deepEqual(await Promise.all(keys.map(statusOf)), [200, 200, 200, 200]);
  assert.equal((await own.post('/account/payout/stop-all')).status, 200);
  assert.deepEqual(await Promise.all(keys.map(statusOf)), [200, 401, 401, 401]);
  assert.equal((await told(own, 'key.revoked')).length, 3);
});
