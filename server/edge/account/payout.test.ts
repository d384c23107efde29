// Where an account is paid, against whoever stole an e-mail login or a session.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Family } from '../../../core/families.ts';
import { formerChannelsOf } from '../../db/former-channels.ts';
import { passHolds } from '../../people/passing.ts';
import { browserOn, type TestBrowser } from '../testing/browser.ts';
import { refused } from '../testing/edge.ts';
import { byEmail, startPeople } from '../testing/people.ts';
import {
  bitcoinWallet,
  evmWallet,
  solanaWallet,
  type TestWallet,
  tronWallet,
} from '../testing/signers.ts';

const edge = await startPeople();
after(() => edge.close());
edge.deps.freeze();

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

/** Has `wallet` paid, or named as paid; `voucher` signs where it is asked for. */
const pay = async (
  browser: TestBrowser,
  wallet: TestWallet,
  voucher: TestWallet | null,
  paid = true,
) => {
  const { family, address } = wallet;
  const begun = await browser.post('/account/payout', { family, address, paid });
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
    paid,
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
  refused(await pay(thief, loot, null), '403 not_a_wallet_session');
  // Nor by way of a login wallet that the thief adds, and signs in with.
  assert.equal((await byWallet(thief, loot, 'add')).status, 200);
  assert.equal((await byWallet(thief, loot, 'renew')).status, 200);
  refused(await pay(thief, evmWallet(), null), '403 not_a_wallet_session');
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
  refused(await vouched(), '400 bad_authorization');
  // Nor by putting another wallet in the place of the one that is paid.
  const evmLoot = evmWallet();
  refused(await byWallet(thief, evmLoot, 'add'), '409 login_family_taken');
  edge.deps.advance(holdMs - 60_000);
  const { paid, receives } = await shown(await edge.person(address), 'solana');
  assert.deepEqual([paid, receives], [null, []]);
  edge.deps.advance(60_000);
  assert.equal((await shown(await edge.person(address), 'solana')).paid, loot.address);
  assert.equal((await vouched()).status, 200);
});

const remove = (browser: TestBrowser, { family, address }: TestWallet) =>
  browser.call('DELETE', `/account/logins/${family}:${address}`);
const stopAll = (browser: TestBrowser) => browser.post('/account/payout/stop-all', {});

test('a thief of the e-mail removes no wallet before its person could stop it', async () => {
  const [wallet, address] = [evmWallet(), fresh()];
  await owner(wallet, address);
  const thief = await edge.person(address);
  await byWallet(thief, solanaWallet(), 'add');
  const { status, body } = await remove(thief, wallet);
  assert.deepEqual([status, Date.parse(body.leavesAt)], [200, edge.deps.now() + holdMs]);
  // Asked again it does not begin anew.
  edge.deps.advance(60_000);
  assert.equal((await remove(thief, wallet)).body.leavesAt, body.leavesAt);
  edge.deps.advance(holdMs - 120_000);
  await passHolds(edge.deps);
  const own = browserOn(edge);
  assert.equal((await byWallet(own, wallet)).body.isNew, false);
  assert.equal((await shown(own, 'evm')).paid, wallet.address);
  assert.deepEqual((await stopAll(own)).status, 200);
  refused(await thief.get('/account/me'), '401 session_missing');
  edge.deps.advance(holdMs);
  await passHolds(edge.deps);
  assert.equal((await byWallet(own, wallet)).body.isNew, false);
  const after = (await own.get('/account/payout')).body.payouts as Shown[];
  const [evm, solana] = [after[0], after.find(({ family }) => family === 'solana')];
  assert.deepEqual([evm?.paid, solana?.paid, solana?.waiting], [wallet.address, null, []]);
  refused(await stopAll(own), '404 unknown_payout');
});

test('a wallet that was removed still vouches for the next one, and none is paid at once', async () => {
  const [wallet, address] = [evmWallet(), fresh()];
  const own = await owner(wallet, address);
  const second = solanaWallet();
  await byWallet(own, second, 'add');
  await byWallet(own, wallet, 'renew');
  await pay(own, second, wallet);
  await byWallet(own, second, 'renew');
  assert.equal((await remove(own, wallet)).status, 200);
  edge.deps.advance(holdMs);
  assert.equal(await passHolds(edge.deps), 1);
  assert.equal(await passHolds(edge.deps), 0);
  const later = browserOn(edge);
  await byWallet(later, second);
  assert.equal((await shown(later, 'evm')).paid, null);
  const { body } = await later.post('/account/payout', {
    family: 'evm',
    address: evmWallet().address,
    paid: true,
  });
  assert.equal(body.voucher.address, wallet.address);
  // Nor does a login wallet in its place count at once, and then it is paid.
  const next = evmWallet();
  assert.equal((await byWallet(later, next, 'add')).status, 200);
  assert.equal((await shown(later, 'evm')).paid, null);
  edge.deps.advance(holdMs);
  await byWallet(later, second);
  assert.equal((await shown(later, 'evm')).paid, next.address);
  // The first one makes an account of its own now.
  assert.equal((await byWallet(browserOn(edge), wallet)).body.isNew, true);
});

test('a wallet that is to leave stays where nothing else signs in by then', async () => {
  const [wallet, address] = [evmWallet(), fresh()];
  const own = await owner(wallet, address);
  const second = solanaWallet();
  await byWallet(own, second, 'add');
  await remove(own, wallet);
  const { logins } = (await own.get('/account/me')).body;
  const mail = logins.find((each: { way: string }) => each.way === 'email');
  assert.equal((await own.call('DELETE', `/account/logins/${mail.id}`)).status, 200);
  // The one that is left only signs in: it waits, and whoever stops it takes it away.
  const stop = { family: 'solana', address: second.address };
  refused(await remove(own, second), '409 last_login');
  assert.equal((await own.post('/account/payout/stop', stop)).status, 200);
  edge.deps.advance(holdMs);
  await passHolds(edge.deps);
  const back = browserOn(edge);
  assert.equal((await byWallet(back, wallet)).body.isNew, false);
  assert.equal((await back.get('/account/me')).body.logins[0].leavesAt, null);
});

test('whoever removes a channel first does not silence what comes next', async () => {
  const [wallet, address, loot] = [evmWallet(), fresh(), solanaWallet()];
  const own = await owner(wallet, address);
  const thief = browserOn(edge, { cookies: own.cookies });
  await byMail(thief, fresh(), 'add');
  const { logins } = (await thief.get('/account/me')).body;
  const { id } = logins.find(({ label }: { label: string }) => label === address);
  assert.equal((await thief.call('DELETE', `/account/logins/${id}`)).status, 200);
  const { accountId } = (await thief.get('/account/me')).body;
  const heard = async () => {
    const at = new Date(edge.deps.now());
    return (await formerChannelsOf(edge.deps.db, [accountId], at)).map(({ to }) => to);
  };
  assert.equal((await byWallet(thief, loot, 'add')).status, 200);
  assert.deepEqual(await heard(), [address]);
  edge.deps.advance(holdMs - 1);
  assert.deepEqual(await heard(), [address]);
  edge.deps.advance(1);
  assert.deepEqual(await heard(), []);
});

test('no key and no session removes the wallet that is paid, or is to be', async () => {
  const [wallet, address, paid, next] = [evmWallet(), fresh(), tronWallet(), tronWallet()];
  const own = await owner(wallet, address);
  const { key } = (await own.post('/account/keys', { scopes: ['read'] })).body;
  await byWallet(own, wallet, 'renew');
  assert.equal((await pay(own, paid, wallet)).status, 200);
  const thief = await edge.person(address);
  const path = (each: TestWallet) => `/v1/wallets/${each.address}`;
  refused(await thief.call('DELETE', path(paid)), '409 wallet_paid');
  refused(await edge.call('DELETE', path(paid), { key }), '409 wallet_paid');
  // What waits to be paid ends by a stop alone, of which its person is told.
  assert.equal((await pay(own, next, null)).status, 200);
  refused(await edge.call('DELETE', path(next), { key }), '409 wallet_paid');
  assert.equal((await shown(own, 'tron')).paid, paid.address);
  edge.deps.advance(holdMs);
  refused(await edge.call('DELETE', path(next), { key }), '409 wallet_paid');
  assert.equal((await edge.call('DELETE', path(paid), { key })).status, 200);
  const later = await edge.person(address);
  assert.equal((await shown(later, 'tron')).paid, next.address);
});

/** Has the login wallet vouch for another one in `/v1`. */
const authorise = async (browser: TestBrowser, login: TestWallet, linked: TestWallet) => {
  const { key } = (await browser.post('/account/keys', { scopes: ['read'] })).body;
  const words = `authorise this wallet ${linked.address}`;
  const [proof, authorization] = [
    await edge.proof(linked, key),
    await edge.proof(login, key, words),
  ];
  const body = { ...proof, authorization };
  assert.equal(
    (await edge.call('POST', `/v1/wallets/${linked.family}`, { key, body })).status,
    200,
  );
};

test('a wallet that receives already does not wait, whichever came first', async () => {
  const [wallet, first, second] = [evmWallet(), evmWallet(), solanaWallet()];
  const own = browserOn(edge);
  await byWallet(own, wallet);
  await authorise(own, wallet, first);
  const { status, body } = await pay(own, first, null, false);
  assert.deepEqual([status, Date.parse(body.fromAt)], [200, edge.deps.now()]);
  await pay(own, second, null, false);
  assert.equal((await shown(own, 'solana')).waiting.length, 1);
  await authorise(own, wallet, second);
  for (const family of ['evm', 'solana'] as const) {
    const { receives, waiting } = await shown(own, family);
    assert.deepEqual(waiting, []);
    assert.ok(receives.includes((family === 'evm' ? first : second).address));
  }
  // To be paid by itself it still waits, counts as one that does, and is stopped.
  const others = Array.from({ length: 9 }, () => bitcoinWallet());
  for (const each of others) assert.equal((await pay(own, each, null, false)).status, 200);
  assert.equal((await pay(own, first, null)).status, 200);
  refused(await pay(own, second, null), '409 too_many_wallets');
  assert.equal((await pay(own, others[0] as TestWallet, null, false)).status, 200);
  refused(await pay(own, bitcoinWallet(), null), '409 too_many_wallets');
  const stop = { family: 'evm', address: first.address };
  assert.equal((await own.post('/account/payout/stop', stop)).status, 200);
  assert.ok((await shown(own, 'evm')).receives.includes(first.address));
  assert.equal((await stopAll(own)).status, 200);
});

test('a bot sees in /v1/me where its account is paid', async () => {
  const [wallet, other, later] = [evmWallet(), evmWallet(), solanaWallet()];
  const browser = browserOn(edge);
  await byWallet(browser, wallet);
  const me = async () => (await browser.get('/v1/me')).body.wallets;
  assert.deepEqual((await me()).evm, { login: wallet.address, proven: [] });
  assert.equal((await pay(browser, other, wallet)).status, 200);
  assert.deepEqual((await me()).evm, { login: other.address, proven: [wallet.address] });
  await byWallet(browser, later, 'add');
  assert.deepEqual((await me()).solana, { login: null, proven: [later.address] });
});

test('who removes the only wallet adds another one no sooner', async () => {
  const [wallet, address] = [evmWallet(), fresh()];
  await owner(wallet, address);
  const thief = await edge.person(address);
  await remove(thief, wallet);
  edge.deps.advance(holdMs);
  await passHolds(edge.deps);
  const again = await edge.person(address);
  await byWallet(again, solanaWallet(), 'add');
  const { paid, waiting } = await shown(again, 'solana');
  assert.deepEqual([paid, waiting.length], [null, 1]);
});

test('the end of a wait is told once, by any number of looks at once', async () => {
  const [wallet, address] = [evmWallet(), fresh()];
  const own = await owner(wallet, address);
  await byWallet(own, wallet, 'renew');
  const [chosen, added] = [evmWallet(), solanaWallet()];
  await pay(own, chosen, null);
  await byWallet(own, added, 'add');
  const { accountId } = (await own.get('/account/me')).body;
  const events = async () => {
    const rows = await edge.deps.db.rows<{ payload: { address: string; paid: boolean } }>({
      name: '',
      text: `delete from outbox where account_id = $1 and topic = 'payout.changed'
        returning payload`,
      values: [accountId],
    });
    return rows.map(({ payload }) => [payload.address, payload.paid]).sort();
  };
  await events();
  edge.deps.advance(holdMs - 1);
  await passHolds(edge.deps);
  assert.deepEqual(await events(), []);
  edge.deps.advance(1);
  await Promise.all([passHolds(edge.deps), passHolds(edge.deps), passHolds(edge.deps)]);
  const told = [
    [chosen.address, true],
    [added.address, false],
  ].sort();
  assert.deepEqual(await events(), told);
});

test('a choice that changes nothing is not told, and few wallets wait at once', async () => {
  const wallet = evmWallet();
  const own = browserOn(edge);
  await byWallet(own, wallet);
  const { accountId } = (await own.get('/account/me')).body;
  const count = async () => {
    const rows = await edge.sql(
      `select 1 as one from outbox where account_id = $1 and topic like 'payout.%'`,
      accountId,
    );
    return rows.length;
  };
  const before = await count();
  await pay(own, wallet, null);
  await pay(own, wallet, null);
  assert.equal(await count(), before);
  for (let at = 0; at < 10; at += 1) {
    assert.equal((await pay(own, evmWallet(), null)).status, 200);
  }
  refused(await pay(own, evmWallet(), null), '409 too_many_wallets');
  assert.equal((await stopAll(own)).status, 200);
  assert.equal((await pay(own, evmWallet(), null)).status, 200);
});

test('30 are tried in an hour: nobody drowns in messages what matters', async () => {
  const [wallet, address] = [evmWallet(), fresh()];
  const thief = await owner(wallet, address);
  const bad = { family: 'solana', address: solanaWallet().address, paid: true, signature: '1' };
  for (let tried = 0; tried < 30; tried += 1) {
    const answer = await thief.post('/account/payout/proof', { ...bad, message: 'nonsense' });
    assert.equal(answer.status, 400);
  }
  const over = await thief.post('/account/payout/proof', { ...bad, message: 'nonsense' });
  refused(over, '429 change_rate_limited');
  assert.equal(over.headers['retry-after'], '3600');
  // The account's budget, not the browser's; what only takes away goes on.
  const own = browserOn(edge);
  await byWallet(own, wallet);
  refused(await pay(own, solanaWallet(), wallet), '429 change_rate_limited');
  assert.equal((await own.call('DELETE', '/account/sessions')).status, 200);
  edge.deps.advance(3_600_000);
  await byWallet(own, wallet, 'renew');
  assert.equal((await pay(own, solanaWallet(), wallet)).status, 200);
});

test('what waits is stopped from any session, and the thief is signed out', async () => {
  const [wallet, address] = [evmWallet(), fresh()];
  const own = await owner(wallet, address);
  const thief = await edge.person(address);
  const loot = solanaWallet();
  await byWallet(thief, loot, 'add');
  const stop = { family: 'solana', address: loot.address };
  // A cookie that somebody stole long ago stops nothing of its person's.
  edge.deps.advance(11 * 60_000);
  refused(await own.post('/account/payout/stop', stop), '403 session_stale');
  await byWallet(own, wallet, 'renew');
  assert.equal((await own.post('/account/payout/stop', stop)).status, 200);
  refused(await thief.get('/account/me'), '401 session_missing');
  assert.deepEqual((await shown(own, 'solana')).waiting, []);
  refused(await own.post('/account/payout/stop', stop), '404 unknown_payout');
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
  refused(await pay(stolen, evmWallet(), loot), '400 bad_signature');
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
  refused(await prove({ paid: true }), '400 bad_message');
  refused(await prove({ paid: false }), '409 ceremony_gone');
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
  refused(mixed, '400 bad_message');
  assert.equal((await shown(own, 'evm')).paid, wallet.address);
});

test('a wallet of another account is paid on none but its own', async () => {
  const [one, other] = [evmWallet(), evmWallet()];
  await byWallet(browserOn(edge), other);
  const own = browserOn(edge);
  await byWallet(own, one);
  refused(await pay(own, other, one), '409 wallet_taken');
});
