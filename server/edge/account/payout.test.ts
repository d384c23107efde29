// Where an account is paid, against whoever stole an e-mail login or a session.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Family } from '../../../core/families.ts';
import { browserOn, type TestBrowser } from '../testing/browser.ts';
import { byEmail, type PeopleEdge, startPeople } from '../testing/people.ts';
import { bitcoinWallet, evmWallet, solanaWallet, type TestWallet } from '../testing/signers.ts';

let edge: PeopleEdge;
before(async () => {
  edge = await startPeople();
  edge.deps.freeze();
});
after(() => edge.close());

type Answered = { status: number; headers: Readonly<Record<string, string>> };
const told = ({ status, headers }: Answered) => [status, headers['x-parley-error']];
let count = 0;
const fresh = () => `paid${++count}@example.test`;
const holdMs = 72 * 3_600_000;

const byWallet = async (browser: TestBrowser, wallet: TestWallet, purpose = 'sign-in') => {
  const { family, address } = wallet;
  const asked = await browser.post('/account/wallet', { family, address, purpose });
  assert.equal(asked.status, 200, asked.body.error);
  const { message } = asked.body;
  const signature = await wallet.sign(message);
  return browser.post('/account/wallet/proof', { family, address, message, signature });
};
const byMail = (browser: TestBrowser, address: string, purpose: 'sign-in' | 'add' | 'renew') =>
  byEmail(browser, address, () => edge.codeOf(address), purpose);

/** Has `wallet` paid; `voucher` signs where it is asked for. */
const pay = async (browser: TestBrowser, wallet: TestWallet, voucher: TestWallet | null) => {
  const { family, address } = wallet;
  const begun = await browser.post('/account/payout', { family, address, paid: true });
  if (begun.status !== 200) return begun;
  const { message, voucher: asked } = begun.body;
  const signed = { message, signature: await wallet.sign(message) };
  const other =
    asked === null || voucher === null
      ? {}
      : { voucher: { message: asked.message, signature: await voucher.sign(asked.message) } };
  return browser.post('/account/payout/proof', {
    family,
    address,
    paid: true,
    ...signed,
    ...other,
  });
};
type Shown = { family: Family; paid: string | null; receives: string[]; waiting: unknown[] };
const shown = async (browser: TestBrowser, family: Family) => {
  const { payouts } = (await browser.get('/account/payout')).body as { payouts: Shown[] };
  return payouts.find((each) => each.family === family) as Shown;
};
/** An account of a wallet that has an e-mail login too. */
const owner = async (wallet: TestWallet, address: string) => {
  const browser = browserOn(edge);
  assert.equal((await byWallet(browser, wallet)).status, 200);
  assert.equal((await byMail(browser, address, 'add')).status, 200);
  return browser;
};

test('a thief of the e-mail changes nothing of where one is paid for 72 hours', async () => {
  const [wallet, address] = [evmWallet(), fresh()];
  const own = await owner(wallet, address);
  const thief = await edge.person(address);
  const loot = solanaWallet();
  assert.deepEqual(told(await pay(thief, loot, null)), [403, 'not_a_wallet_session']);
  // Nor by way of a login wallet that the thief adds, and signs in with.
  assert.equal((await byWallet(thief, loot, 'add')).status, 200);
  assert.equal((await byWallet(thief, loot, 'renew')).status, 200);
  assert.deepEqual(told(await pay(thief, evmWallet(), null)), [403, 'not_a_wallet_session']);
  const held = await shown(own, 'solana');
  assert.deepEqual([held.paid, held.receives, held.waiting.length], [null, [], 1]);
  // Nor by way of what that wallet vouches for.
  const { key } = (await edge.mint(loot)).body;
  const vouched = async () => {
    const linked = bitcoinWallet();
    const words = `authorise this wallet ${linked.address}`;
    const [proof, authorization] = [
      await edge.proof(linked, key),
      await edge.proof(loot, key, words),
    ];
    return edge.call('POST', '/v1/wallets/bitcoin', { key, body: { ...proof, authorization } });
  };
  assert.deepEqual(told(await vouched()), [400, 'bad_authorization']);
  // Nor by putting another wallet in the place of the one that is paid.
  const evmLoot = evmWallet();
  assert.deepEqual(told(await byWallet(thief, evmLoot, 'add')), [409, 'login_family_taken']);
  const removed = await thief.call('DELETE', `/account/logins/evm:${wallet.address}`);
  assert.equal(removed.status, 200);
  assert.equal((await byWallet(thief, evmLoot, 'add')).status, 200);
  const later = () => byMail(thief, address, 'sign-in');
  edge.deps.advance(holdMs - 60_000);
  await later();
  for (const family of ['evm', 'solana'] as const) {
    const { paid, receives } = await shown(thief, family);
    assert.deepEqual([paid, receives], [null, []]);
  }
  edge.deps.advance(60_000);
  assert.equal((await shown(thief, 'solana')).paid, loot.address);
  assert.equal((await vouched()).status, 200);
});

test('what waits is stopped from any session, and the thief is signed out', async () => {
  const [wallet, address] = [evmWallet(), fresh()];
  const own = await owner(wallet, address);
  const thief = await edge.person(address);
  const loot = solanaWallet();
  await byWallet(thief, loot, 'add');
  const stop = { family: 'solana', address: loot.address };
  assert.equal((await own.post('/account/payout/stop', stop)).status, 200);
  assert.deepEqual(told(await thief.get('/account/me')), [401, 'session_missing']);
  assert.deepEqual((await shown(own, 'solana')).waiting, []);
  assert.deepEqual(told(await own.post('/account/payout/stop', stop)), [404, 'unknown_payout']);
  edge.deps.advance(holdMs);
  assert.equal((await shown(own, 'solana')).paid, null);
});

test('a stolen wallet session changes nothing at once without the wallet', async () => {
  const wallet = evmWallet();
  const own = browserOn(edge);
  await byWallet(own, wallet);
  const stolen = browserOn(edge, { cookies: own.cookies });
  const loot = evmWallet();
  const [same, other] = [await pay(stolen, loot, null), await pay(stolen, bitcoinWallet(), null)];
  for (const { status, body } of [same, other]) {
    assert.equal(status, 200);
    assert.equal(Date.parse(body.fromAt), edge.deps.now() + holdMs);
  }
  assert.equal((await shown(own, 'evm')).paid, wallet.address);
  assert.deepEqual((await shown(own, 'bitcoin')).receives, []);
  // A signature of the thief's own wallet is no voucher.
  assert.deepEqual(told(await pay(stolen, evmWallet(), loot)), [400, 'bad_signature']);
  // Nor does a login wallet that is added so count at once.
  const added = solanaWallet();
  assert.equal((await byWallet(stolen, added, 'add')).status, 200);
  assert.equal((await shown(own, 'solana')).paid, null);
});

test('with the signature of the wallet of before another one is paid at once', async () => {
  const [wallet, later, last] = [evmWallet(), evmWallet(), evmWallet()];
  const own = browserOn(edge);
  await byWallet(own, wallet);
  await pay(own, last, null);
  const { status, body } = await pay(own, later, wallet);
  assert.deepEqual([status, Date.parse(body.fromAt)], [200, edge.deps.now()]);
  const now = await shown(own, 'evm');
  assert.equal(now.paid, later.address);
  assert.deepEqual(now.receives.sort(), [wallet.address, later.address].sort());
  // What waited before does not come after it.
  edge.deps.advance(holdMs);
  await byWallet(own, wallet);
  assert.equal((await shown(own, 'evm')).paid, later.address);
});

test('the first wallet of an account without any is paid at once', async () => {
  const browser = await edge.person(fresh());
  const wallet = bitcoinWallet();
  assert.equal((await byWallet(browser, wallet, 'add')).status, 200);
  assert.equal((await shown(browser, 'bitcoin')).paid, wallet.address);
  const second = evmWallet();
  assert.equal((await byWallet(browser, second, 'add')).status, 200);
  assert.equal((await shown(browser, 'evm')).paid, null);
  // Until the first one vouches for it.
  assert.equal((await byWallet(browser, wallet, 'renew')).status, 200);
  assert.equal((await pay(browser, second, wallet)).status, 200);
  assert.equal((await shown(browser, 'evm')).paid, second.address);
});

test('a text for one choice is good for no other, and once', async () => {
  const wallet = evmWallet();
  const own = browserOn(edge);
  await byWallet(own, wallet);
  const other = evmWallet();
  const { family, address } = other;
  const begin = async (paid: boolean) =>
    (await own.post('/account/payout', { family, address, paid })).body;
  const text = await begin(false);
  const signature = await other.sign(text.message);
  const prove = (more: object) =>
    own.post('/account/payout/proof', {
      family,
      address,
      message: text.message,
      signature,
      ...more,
    });
  assert.deepEqual(told(await prove({ paid: true })), [400, 'bad_message']);
  assert.deepEqual(told(await prove({ paid: false })), [409, 'ceremony_gone']);
  const again = await begin(true);
  const voucher = {
    message: text.voucher.message,
    signature: await wallet.sign(text.voucher.message),
  };
  const body = { family, address, paid: true, voucher };
  const mixed = await own.post('/account/payout/proof', {
    ...body,
    message: again.message,
    signature: await other.sign(again.message),
  });
  assert.deepEqual(told(mixed), [400, 'bad_message']);
  assert.equal((await shown(own, 'evm')).paid, wallet.address);
});

test('a wallet of another account is paid on none but its own', async () => {
  const [one, other] = [evmWallet(), evmWallet()];
  await byWallet(browserOn(edge), other);
  const own = browserOn(edge);
  await byWallet(own, one);
  assert.deepEqual(told(await pay(own, other, one)), [409, 'wallet_taken']);
});
