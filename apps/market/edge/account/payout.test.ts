// Where an account is paid, against whoever stole an e-mail login or a session.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passHolds } from '../../people/passing.ts';
import { browserOn, type TestBrowser } from '../testing/browser.ts';
import { refused } from '../testing/edge.ts';
import { link } from '../testing/hands.ts';
import { freshAddress, testPeople } from '../testing/people.ts';
import { signInBy } from '../testing/sign-in.ts';
import { bitcoinWallet, evmWallet, solanaWallet, tronWallet } from '../testing/signers.ts';

const edge = await testPeople();
edge.deps.freeze();
const holdMs = 72 * 3_600_000;
const minute = 60_000;
type Wallet = ReturnType<typeof evmWallet>;

/** Has `wallet` paid, or named as paid; `voucher` signs where it is asked for. */
async function pay(browser: TestBrowser, wallet: Wallet, voucher: Wallet | null, paid = true) {
  const { family, address } = wallet;
  const begun = await browser.post('/account/payout', { family, address, paid });
  if (begun.status !== 200) return begun;
  const { message, voucher: asked } = begun.body;
  const vouched = asked !== null && voucher !== null;
  return browser.post('/account/payout/proof', {
    family,
    address,
    paid,
    message,
    signature: await wallet.sign(message),
    ...(vouched && {
      voucher: { message: asked.message, signature: await voucher.sign(asked.message) },
    }),
  });
}

type Shown = { paid: string | null; receives: string[]; waiting: unknown[] };
async function shown(browser: TestBrowser, family: Wallet['family']): Promise<Shown> {
  const { payouts } = (await browser.get('/account/payout')).body;
  return payouts.find((each: Wallet) => each.family === family);
}

async function bySigning(wallet: Wallet): Promise<TestBrowser> {
  const browser = browserOn(edge);
  assert.equal((await signInBy(browser, wallet)).status, 200);
  return browser;
}

/** An account of a wallet that has an e-mail login too, and a thief of that login. */
async function robbed(wallet = evmWallet()) {
  const address = freshAddress();
  const own = await bySigning(wallet);
  edge.deps.advance(1);
  assert.equal((await edge.byEmail(own, address, 'add')).status, 200);
  return { wallet, address, own, thief: await edge.person(address) };
}

const loginsOf = async (browser: TestBrowser) => (await browser.get('/account/me')).body.logins;
const remove = (browser: TestBrowser, { family, address }: Wallet) =>
  browser.call('DELETE', `/account/logins/${family}:${address}`);
const stopAll = (browser: TestBrowser) => browser.post('/account/payout/stop-all', {});
const stop = (browser: TestBrowser, { family, address }: Wallet) =>
  browser.post('/account/payout/stop', { family, address });
/** Time passes, and what has waited comes about. */
const pass = (ms: number) => {
  edge.deps.advance(ms);
  return passHolds(edge.deps);
};
const keyOf = async (browser: TestBrowser): Promise<string> =>
  (await browser.post('/account/keys', { scopes: ['read'] })).body.key;

/** Has the login wallet vouch in `/v1` for another one. */
const vouched = (key: string, login: Wallet, linked: Wallet) => link(edge, key, linked, login);

test('a thief of the e-mail changes nothing of where one is paid for 72 hours', async () => {
  const { own, thief, address } = await robbed();
  const loot = solanaWallet();
  refused(await pay(thief, loot, null), '403 not_a_wallet_session');
  // Nor by way of a login wallet that the thief adds, and signs in with.
  for (const purpose of ['add', 'renew'] as const) {
    assert.equal((await signInBy(thief, loot, purpose)).status, 200);
  }
  refused(await pay(thief, evmWallet(), null), '403 not_a_wallet_session');
  const held = await shown(own, 'solana');
  assert.deepEqual([held.paid, held.receives, held.waiting.length], [null, [], 1]);
  // Nor by way of what that wallet vouches for.
  const { key } = (await edge.mint(loot)).body;
  refused(await vouched(key, loot, bitcoinWallet()), '400 bad_authorization');
  // Nor by putting another wallet in the place of the one that is paid.
  refused(await signInBy(thief, evmWallet(), 'add'), '409 login_family_taken');
  edge.deps.advance(holdMs - minute);
  const { paid, receives } = await shown(await edge.person(address), 'solana');
  assert.deepEqual([paid, receives], [null, []]);
  edge.deps.advance(minute);
  assert.equal((await shown(await edge.person(address), 'solana')).paid, loot.address);
  assert.equal((await vouched(key, loot, bitcoinWallet())).status, 200);
});

test('a thief of the e-mail removes no wallet before its person could stop it', async () => {
  const { wallet, thief } = await robbed();
  await signInBy(thief, solanaWallet(), 'add');
  const { body } = await remove(thief, wallet);
  assert.equal(Date.parse(body.leavesAt), edge.deps.now() + holdMs);
  // Asked again it does not begin anew.
  edge.deps.advance(minute);
  assert.equal((await remove(thief, wallet)).body.leavesAt, body.leavesAt);
  await pass(holdMs - 2 * minute);
  const own = await bySigning(wallet);
  assert.equal((await shown(own, 'evm')).paid, wallet.address);
  assert.equal((await stopAll(own)).status, 200);
  refused(await thief.get('/account/me'), '401 session_missing');
  await pass(holdMs);
  assert.equal((await signInBy(own, wallet)).body.isNew, false);
  const solana = await shown(own, 'solana');
  assert.equal((await shown(own, 'evm')).paid, wallet.address);
  assert.deepEqual([solana.paid, solana.waiting], [null, []]);
  refused(await stopAll(own), '404 unknown_payout');
});

test('a wallet that was removed still vouches for the next one, and none is paid at once', async () => {
  const { wallet, own } = await robbed();
  const second = solanaWallet();
  const next = evmWallet();
  await signInBy(own, second, 'add');
  await signInBy(own, wallet, 'renew');
  await pay(own, second, wallet);
  await signInBy(own, second, 'renew');
  assert.equal((await remove(own, wallet)).status, 200);
  assert.deepEqual([await pass(holdMs), await pass(0)], [1, 0]);
  const later = await bySigning(second);
  assert.equal((await shown(later, 'evm')).paid, null);
  const asked = { family: 'evm', address: evmWallet().address, paid: true };
  const { body } = await later.post('/account/payout', asked);
  assert.equal(body.voucher.address, wallet.address);
  // Nor does a login wallet in its place count at once, and then it is paid.
  assert.equal((await signInBy(later, next, 'add')).status, 200);
  assert.equal((await shown(later, 'evm')).paid, null);
  edge.deps.advance(holdMs);
  await signInBy(later, second);
  assert.equal((await shown(later, 'evm')).paid, next.address);
  // The first one makes an account of its own now.
  assert.equal((await signInBy(browserOn(edge), wallet)).body.isNew, true);
});

test('a wallet that is to leave stays where nothing else signs in by then', async () => {
  const { wallet, own } = await robbed();
  const second = solanaWallet();
  await signInBy(own, second, 'add');
  await remove(own, wallet);
  const mail = (await loginsOf(own)).find((each: { way: string }) => each.way === 'email');
  assert.equal((await own.call('DELETE', `/account/logins/${mail.id}`)).status, 200);
  // The one that is left only signs in: it waits, and whoever stops it takes it away.
  refused(await remove(own, second), '409 last_login');
  assert.equal((await stop(own, second)).status, 200);
  await pass(holdMs);
  const back = browserOn(edge);
  assert.equal((await signInBy(back, wallet)).body.isNew, false);
  assert.equal((await loginsOf(back))[0].leavesAt, null);
});

test('no key and no session removes the wallet that is paid, or is to be', async () => {
  const { wallet, own, address } = await robbed();
  const paid = tronWallet();
  const next = tronWallet();
  const key = await keyOf(own);
  const removed = (each: Wallet, by = own) => by.call('DELETE', `/v1/wallets/${each.address}`);
  const byKey = (each: Wallet) => edge.call('DELETE', `/v1/wallets/${each.address}`, { key });
  await signInBy(own, wallet, 'renew');
  assert.equal((await pay(own, paid, wallet)).status, 200);
  refused(await removed(paid, await edge.person(address)), '409 wallet_paid');
  refused(await byKey(paid), '409 wallet_paid');
  // A waiting payment ends by a stop alone, which its person hears of.
  assert.equal((await pay(own, next, null)).status, 200);
  refused(await byKey(next), '409 wallet_paid');
  assert.equal((await shown(own, 'tron')).paid, paid.address);
  edge.deps.advance(holdMs);
  refused(await byKey(next), '409 wallet_paid');
  assert.equal((await byKey(paid)).status, 200);
  assert.equal((await shown(await edge.person(address), 'tron')).paid, next.address);
});

test('a wallet that receives already does not wait, whichever came first; ten wait at once', async () => {
  const wallet = evmWallet();
  const first = evmWallet();
  const second = solanaWallet();
  const own = await bySigning(wallet);
  const authorised = async (linked: Wallet) =>
    assert.equal((await vouched(await keyOf(own), wallet, linked)).status, 200);
  await authorised(first);
  const { body } = await pay(own, first, null, false);
  assert.equal(Date.parse(body.fromAt), edge.deps.now());
  await pay(own, second, null, false);
  assert.equal((await shown(own, 'solana')).waiting.length, 1);
  await authorised(second);
  for (const each of [first, second]) {
    const { receives, waiting } = await shown(own, each.family);
    assert.deepEqual([waiting, receives.includes(each.address)], [[], true]);
  }
  // To be paid by itself it still waits, counts as one that does, and is stopped.
  const others = Array.from({ length: 9 }, () => bitcoinWallet());
  for (const each of others) assert.equal((await pay(own, each, null, false)).status, 200);
  assert.equal((await pay(own, first, null)).status, 200);
  refused(await pay(own, second, null), '409 too_many_wallets');
  assert.equal((await pay(own, others[0]!, null, false)).status, 200);
  assert.equal((await stop(own, first)).status, 200);
  assert.ok((await shown(own, 'evm')).receives.includes(first.address));
  assert.equal((await stopAll(own)).status, 200);
  assert.equal((await pay(own, second, null)).status, 200);
});

test('30 are tried in an hour: nobody drowns in messages what matters', async () => {
  const { wallet, own: thief } = await robbed();
  const { family, address } = solanaWallet();
  const bad = { family, address, paid: true, signature: '1', message: 'nonsense' };
  const tried = () => thief.post('/account/payout/proof', bad);
  for (let tries = 0; tries < 30; tries += 1) assert.equal((await tried()).status, 400);
  const over = await tried();
  refused(over, '429 change_rate_limited');
  assert.equal(over.headers['retry-after'], '3600');
  // The account's budget, not the browser's; an act that only takes away goes on.
  const own = await bySigning(wallet);
  refused(await pay(own, solanaWallet(), wallet), '429 change_rate_limited');
  assert.equal((await own.call('DELETE', '/account/sessions')).status, 200);
  edge.deps.advance(3_600_000);
  await signInBy(own, wallet, 'renew');
  assert.equal((await pay(own, solanaWallet(), wallet)).status, 200);
});

test('a waiting change is stopped from any fresh session, and the thief is signed out', async () => {
  const { wallet, own, thief } = await robbed();
  const loot = solanaWallet();
  await signInBy(thief, loot, 'add');
  // A cookie that somebody stole long ago stops nothing of its person's.
  edge.deps.advance(11 * minute);
  refused(await stop(own, loot), '403 session_stale');
  await signInBy(own, wallet, 'renew');
  assert.equal((await stop(own, loot)).status, 200);
  refused(await thief.get('/account/me'), '401 session_missing');
  assert.deepEqual((await shown(own, 'solana')).waiting, []);
  refused(await stop(own, loot), '404 unknown_payout');
  edge.deps.advance(holdMs);
  assert.equal((await shown(own, 'solana')).paid, null);
});

test('a stolen wallet session changes nothing at once without the wallet', async () => {
  const wallet = evmWallet();
  const own = await bySigning(wallet);
  const stolen = browserOn(edge, { cookies: own.cookies });
  const loot = evmWallet();
  for (const each of [loot, bitcoinWallet()]) {
    const { body } = await pay(stolen, each, null);
    assert.equal(Date.parse(body.fromAt), edge.deps.now() + holdMs);
  }
  assert.equal((await shown(own, 'evm')).paid, wallet.address);
  assert.deepEqual((await shown(own, 'bitcoin')).receives, []);
  // A signature of the thief's own wallet is no voucher.
  refused(await pay(stolen, evmWallet(), loot), '400 bad_signature');
  // Nor does a login wallet that is added so count at once.
  assert.equal((await signInBy(stolen, solanaWallet(), 'add')).status, 200);
  assert.equal((await shown(own, 'solana')).paid, null);
});

test('with the signature of the wallet of before another one is paid at once, as a bot sees', async () => {
  const wallet = evmWallet();
  const later = evmWallet();
  const last = evmWallet();
  const own = await bySigning(wallet);
  const me = async () => (await own.get('/v1/me')).body.wallets.evm;
  assert.deepEqual(await me(), { login: wallet.address, proven: [] });
  await pay(own, last, null);
  const { body } = await pay(own, later, wallet);
  assert.equal(Date.parse(body.fromAt), edge.deps.now());
  const now = await shown(own, 'evm');
  assert.equal(now.paid, later.address);
  assert.deepEqual(now.receives.sort(), [wallet.address, later.address].sort());
  assert.deepEqual([(await me()).login, (await me()).proven.length], [later.address, 2]);
  // A change that waited before does not come after it.
  edge.deps.advance(holdMs);
  await signInBy(own, wallet);
  assert.equal((await shown(own, 'evm')).paid, later.address);
});

test('the first wallet of an account without any is paid at once', async () => {
  const browser = await edge.person(freshAddress());
  const wallet = bitcoinWallet();
  const second = evmWallet();
  assert.equal((await signInBy(browser, wallet, 'add')).status, 200);
  assert.equal((await shown(browser, 'bitcoin')).paid, wallet.address);
  assert.equal((await signInBy(browser, second, 'add')).status, 200);
  assert.equal((await shown(browser, 'evm')).paid, null);
  const { wallets } = (await browser.get('/v1/me')).body;
  assert.deepEqual(wallets.evm, { login: null, proven: [second.address] });
  // Until the first one vouches for it.
  assert.equal((await signInBy(browser, wallet, 'renew')).status, 200);
  assert.equal((await pay(browser, second, wallet)).status, 200);
  assert.equal((await shown(browser, 'evm')).paid, second.address);
});

test('a text for one choice is good for no other, and once; another’s wallet is never paid', async () => {
  const wallet = evmWallet();
  const other = evmWallet();
  const theirs = evmWallet();
  const own = await bySigning(wallet);
  const { family, address } = other;
  const begin = async (paid: boolean) =>
    (await own.post('/account/payout', { family, address, paid })).body;
  const prove = async (text: { message: string }, more: object) => {
    const signature = await other.sign(text.message);
    const { message } = text;
    return own.post('/account/payout/proof', { family, address, message, signature, ...more });
  };
  const text = await begin(false);
  refused(await prove(text, { paid: true }), '400 bad_message');
  refused(await prove(text, { paid: false }), '409 ceremony_gone');
  const { message } = text.voucher;
  const voucher = { message, signature: await wallet.sign(message) };
  refused(await prove(await begin(true), { paid: true, voucher }), '400 bad_message');
  assert.equal((await shown(own, 'evm')).paid, wallet.address);
  await bySigning(theirs);
  refused(await pay(own, theirs, wallet), '409 wallet_taken');
});
