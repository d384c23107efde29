// Sign-in by wallets of all four families over HTTP: POST /account/wallet and its proof. The lines
// of the text: apps/market/people/sign-in-text.test.ts. Contract wallets: in wallets.test.ts.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { families } from '@parley/core/families.ts';
import { walletsOf } from '../../db/wallets.ts';
import { browserOn, type TestBrowser } from '../testing/browser.ts';
import { codeOf, refused, testEdge } from '../testing/edge.ts';
import { account, mintNonce, prove, signed, vouch, walletNonce } from '../testing/hands.ts';
import { giveText, signInBy, textFor } from '../testing/sign-in.ts';
import {
  bitcoinWallet,
  evmWallet,
  solanaWallet,
  tronWallet,
  walletOf,
} from '../testing/signers.ts';

const edge = await testEdge();
const gone = '409 ceremony_gone';
const path = '/account/wallet';

for (const [name, make] of [
  ...families.map((family) => [family, walletOf[family]] as const),
  ['P2TR', () => bitcoinWallet('p2tr')] as const,
]) {
  test(`a ${name} wallet signs in: first to an account of its own, then to the same`, async () => {
    const wallet = make();
    const { family, address } = wallet;
    const browser = browserOn(edge);
    const { accountId, isNew } = (await signInBy(browser, wallet)).body;
    assert.equal(isNew, true);
    assert.match(browser.session() ?? '', /^parley_session_[0-9A-Za-z]{43}$/);
    const again = await signInBy(browserOn(edge), wallet);
    assert.deepEqual(again.body, { accountId, isNew: false, outcome: 'signed_in' });
    const stored = await edge.sql(
      `select signed_in_by as by, wallet_family as family, wallet_address as address, pubkey
        from sessions s join wallets w using (account_id) where account_id = $1`,
      accountId,
    );
    // The Bitcoin key is kept where the signature shows it.
    const pubkey = name === 'P2TR' ? null : wallet.pubkey;
    assert.deepEqual(stored, Array(2).fill({ by: 'wallet', family, address, pubkey }));
  });
}

test('a wallet that has an account by a minted key signs in to that account', async () => {
  const { wallet, userId: accountId } = await account(edge, evmWallet());
  const answer = await signInBy(browserOn(edge), wallet);
  assert.deepEqual(answer.body, { accountId, isNew: false, outcome: 'signed_in' });
});

describe('a text that the wallet itself signed', () => {
  const wallet = evmWallet();

  test('is refused where it is not the text that was asked for, and is used up', async () => {
    const browser = browserOn(edge);
    const text = await textFor(browser, wallet);
    // Another layout is read as no text of ours, and costs the person nothing.
    refused(await giveText(browser, wallet, `${text}\n`), '400 bad_message');
    const other = text.replace('URI: http:', 'URI: https:');
    refused(await giveText(browser, wallet, other), '400 bad_message');
    refused(await giveText(browser, wallet, text), gone);
    const forged = await textFor(browser, wallet);
    const signature = await evmWallet().sign(forged);
    refused(await giveText(browser, wallet, forged, { signature }), '400 bad_signature');
    refused(await giveText(browser, wallet, forged), gone);
    for (const wrong of [evmWallet(), bitcoinWallet(), solanaWallet()]) {
      const answer = await giveText(browser, wrong, await textFor(browser, wallet));
      refused(answer, '400 bad_message', /the request names/);
    }
    assert.equal(browser.session(), null);
    await signInBy(browser, wallet);
    // Begun for one purpose, whatever sentence is signed.
    const adding = 'Add this wallet as a login of your Parley account.';
    for (const [purpose, statement] of [
      ['sign-in', adding],
      ['add', 'Sign in to Parley.'],
      ['renew', 'Sign in to Parley.'],
    ] as const) {
      const asked = await textFor(browser, wallet, purpose);
      const answer = await giveText(browser, wallet, asked.replace(/(?<=\n\n).*\./, statement));
      refused(answer, '400 bad_message', /line 4 must be/);
    }
  });
});

describe('a text of one purpose is taken at its own door and at no other:', () => {
  const wallet = evmWallet();
  const linked = solanaWallet();
  const { family, address } = wallet;
  const says = (words: string, nonce: string) =>
    `Parley - ${words}\n\nAddress: ${address}\nNonce: ${nonce}`;

  /** Each makes a text that is good where it is meant. */
  const purposes: Record<string, (browser: TestBrowser, key: string) => Promise<string>> = {
    'sign-in': (browser) => textFor(browser, wallet),
    add: (browser) => textFor(browser, wallet, 'add'),
    renew: (browser) => textFor(browser, wallet, 'renew'),
    payout: async (browser) =>
      (await browser.post('/account/payout', { family, address, paid: true })).body.message,
    mint: async () => says('create an API key', await mintNonce(edge)),
    link: async (_, key) => says('link this wallet', await walletNonce(edge, key, 'link')),
    authorise: async (_, key) => (await vouch(edge, key, wallet, linked)).message,
  };
  type Door = (text: string, browser: TestBrowser, key: string) => ReturnType<TestBrowser['call']>;
  const doors: Record<string, Door> = {
    session: (text, browser) => giveText(browser, wallet, text),
    payout: async (text, browser) => {
      const body = { family, paid: true, ...(await signed(wallet, text)) };
      return browser.post('/account/payout/proof', body);
    },
    link: async (text, _, key) => prove(edge, key, wallet, await signed(wallet, text)),
    authorise: async (text, _, key) => {
      const nonce = await walletNonce(edge, key, 'link');
      const words = `Parley link this wallet ${linked.address}\nNonce: ${nonce}`;
      const authorization = await signed(wallet, text);
      return prove(edge, key, linked, { ...(await signed(linked, words)), authorization });
    },
    // Last, as it revokes the key.
    mint: async (text) => {
      const body = { rail: family, ...(await signed(wallet, text)) };
      return edge.call('POST', '/v1/keys', { body });
    },
  };

  for (const [purpose, write] of Object.entries(purposes)) {
    test(purpose, async () => {
      const browser = browserOn(edge);
      await signInBy(browser, wallet);
      const { key } = await account(edge, wallet);
      const own = purpose in doors ? purpose : 'session';
      for (const [door, give] of Object.entries(doors)) {
        const code = codeOf(await give(await write(browser, key), browser, key));
        assert.equal(code.startsWith('200'), door === own, `${door}: ${code}`);
      }
    });
  }

  test('not even with the nonce of the other pool in it', async () => {
    const browser = browserOn(edge);
    const text = await textFor(browser, wallet);
    const changed = text.replace(/(?<=Nonce: ).*/, await mintNonce(edge));
    refused(await giveText(browser, wallet, changed), gone);
    const minting = says('create an API key', /Nonce: (.*)/.exec(text)![1]!);
    const body = { rail: 'evm', ...(await signed(wallet, minting)) };
    refused(await edge.call('POST', '/v1/keys', { body }), '400 bad_nonce');
  });
});

test('an account has one login wallet of a family, and what is there already is a sign-in alone', async () => {
  const login = evmWallet();
  const other = solanaWallet();
  const browser = browserOn(edge);
  const { accountId } = (await signInBy(browser, login)).body;
  for (const outcome of ['added', 'renewed']) {
    const { body } = await signInBy(browser, other, 'add');
    assert.deepEqual(body, { accountId, isNew: false, outcome });
  }
  refused(await signInBy(browser, solanaWallet(), 'add'), '409 login_family_taken');
  refused(await signInBy(browser, tronWallet(), 'renew'), '404 unknown_login');
  const stored = (await walletsOf(edge.deps.db, accountId)).map((each) => [
    each.address,
    each.standing,
    // A thief of the session could have added it: until it receives, it waits.
    each.waitsUntil !== null,
  ]);
  assert.deepEqual(stored, [
    [login.address, 'login', false],
    [other.address, 'login', true],
  ]);
  // A stale request is refused before anything is signed in vain, and so is one that names nobody.
  const thief = browserOn(edge, { cookies: browser.cookies });
  edge.deps.advance(11 * 60_000);
  await signInBy(browser, login, 'renew');
  const body = { family: 'tron', address: tronWallet().address, purpose: 'add' };
  refused(await thief.post(path, body), '409 other_account');
  const ofNobody = await thief.call('POST', path, body, { 'x-parley-account': null });
  refused(ofNobody, '409 session_ended');
});
