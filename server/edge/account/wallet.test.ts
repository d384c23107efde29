// Sign-in by wallets of all four families, over HTTP: POST /account/wallet and its proof.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { parseSiweMessage } from 'viem/siwe';
import { startAnvil, type TestChain } from '../../../chains/evm/testing/anvil.ts';
import { rpcClient } from '../../../chains/nodes/rpc.ts';
import { lyingNode, type TestNode } from '../../../chains/testing/nodes.ts';
import { families } from '../../../core/families.ts';
import { walletsOf } from '../../db/wallets.ts';
import { browserOn } from '../testing/browser.ts';
import { codeOf, startEdge, type TestEdge } from '../testing/edge.ts';
import { giveText, signInBy, textFor } from '../testing/sign-in.ts';
import { bitcoinWallet, evmWallet, solanaWallet, walletOf } from '../testing/signers.ts';

let edge: TestEdge;
before(async () => {
  edge = await startEdge();
});
after(() => edge.close());

/** Sessions as they are stored, newest last. */
const sessionsOf = (accountId: string) =>
  edge.deps.db.rows<{ by: string; family: string; address: string; ended: boolean }>({
    name: 'test_sessions',
    text: `select signed_in_by as by, wallet_family as family, wallet_address as address,
      revoked_at is not null as ended from sessions where account_id = $1 order by id`,
    values: [accountId],
  });

for (const family of families) {
  test(`a ${family} wallet signs in: first to an account of its own, then to the same`, async () => {
    const wallet = walletOf[family]();
    const browser = browserOn(edge);
    const first = await signInBy(browser, wallet);
    assert.deepEqual([first.status, first.body.isNew], [200, true], JSON.stringify(first.body));
    const token = browser.session();
    assert.match(token ?? '', /^parley_session_[0-9A-Za-z]{43}$/);
    const again = await signInBy(browserOn(edge), wallet);
    const { accountId } = first.body;
    assert.deepEqual(again.body, { accountId, isNew: false, outcome: 'signed_in' });
    const { address } = wallet;
    const stored = { by: 'wallet', family, address, ended: false };
    assert.deepEqual(await sessionsOf(first.body.accountId), [stored, stored]);
  });
}

test('the Bitcoin key is kept where the signature shows it, and P2TR wallets sign in too', async () => {
  for (const kind of ['p2wpkh', 'p2tr'] as const) {
    const wallet = bitcoinWallet(kind);
    const { accountId } = (await signInBy(browserOn(edge), wallet)).body;
    const [row] = await edge.deps.db.rows<{ pubkey: string | null }>({
      name: 'test_pubkey',
      text: 'select pubkey from wallets where account_id = $1',
      values: [accountId],
    });
    assert.equal(row?.pubkey, kind === 'p2wpkh' ? wallet.pubkey : null);
  }
});

test('a wallet that has an account by a minted key signs in to that account', async () => {
  const wallet = evmWallet();
  const { key } = (await edge.mint(wallet)).body;
  const { userId } = (await edge.call('GET', '/v1/me', { key })).body;
  const answer = await signInBy(browserOn(edge), wallet);
  assert.deepEqual(answer.body, { accountId: userId, isNew: false, outcome: 'signed_in' });
});

test('the text names site, purpose, chain, a nonce of 128 bits and ten minutes', async () => {
  const wallet = evmWallet();
  const browser = browserOn(edge);
  edge.deps.freeze();
  const at = new Date(edge.deps.now());
  const { family, address } = wallet;
  const spelt = address.toLowerCase();
  const body = { family, address: spelt, purpose: 'sign-in' };
  const asked = (await browser.post('/account/wallet', body)).body;
  const { nonce, ...fields } = parseSiweMessage(asked.message);
  assert.match(nonce ?? '', /^[0-9a-f]{32}$/);
  const expirationTime = new Date(at.getTime() + 600_000);
  assert.deepEqual(fields, {
    address,
    chainId: 31_337,
    domain: 'localhost:8080',
    expirationTime,
    issuedAt: at,
    statement: 'Sign in to Parley.',
    uri: 'http://localhost:8080',
    version: '1',
  });
  assert.deepEqual([asked.address, asked.expiresAt], [address, expirationTime.toISOString()]);
  const other = parseSiweMessage(await textFor(browser, wallet));
  assert.notEqual(other.nonce, nonce);
});

test('chain: what the wallet is on, where it is served; for others their own word', async () => {
  const browser = browserOn(edge);
  const ask = (family: 'evm' | 'tron' | 'solana' | 'bitcoin', chainId?: number) => {
    const body = { family, address: walletOf[family]().address, purpose: 'sign-in' };
    return browser.post('/account/wallet', chainId === undefined ? body : { ...body, chainId });
  };
  const lineOf = async (...of: Parameters<typeof ask>) =>
    /^Chain ID: (.*)$/m.exec((await ask(...of)).body.message)?.[1];
  assert.equal(await lineOf('evm', 31_337), '31337');
  assert.equal(await lineOf('tron'), 'dev');
  assert.equal(await lineOf('solana'), 'localnet');
  assert.equal(await lineOf('bitcoin'), 'regtest');
  const unserved = await ask('evm', 1);
  assert.equal(codeOf(unserved), '400 bad_field');
  assert.match(unserved.body.error, /"chainId" is 1; wallets sign in on 31337/);
  assert.equal(codeOf(await ask('solana', 31_337)), '400 bad_field');
});

test('a market of another name and site has these in its text', async () => {
  const people = { ...edge.deps.settings.people, publicUrl: 'https://desk.example' };
  const settings = { people, shortName: 'ud', sites: ['desk.example'] };
  const own = await startEdge({ settings: { ...settings, productName: 'Desk & Co' } });
  try {
    const browser = browserOn(own, { origin: 'https://desk.example', shortName: 'ud' });
    const wallet = evmWallet();
    const text = await textFor(browser, wallet);
    const lines = text.split('\n');
    assert.match(lines[0] ?? '', /^desk.example wants you to sign in/);
    assert.deepEqual([lines[3], lines[5]], ['Sign in to Desk & Co.', 'URI: https://desk.example']);
    assert.equal((await giveText(browser, wallet, text)).status, 200);
    assert.match(browser.cookies.get('__Host-ud_session') ?? '', /^ud_session_/);
  } finally {
    await own.close();
  }
});

test('a name that wallets do not show in such a text gives way to the name of the site', async () => {
  const own = await startEdge({ settings: { productName: 'Ünïon Desk' } });
  try {
    const browser = browserOn(own);
    const text = await textFor(browser, evmWallet());
    assert.equal(text.split('\n')[3], 'Sign in to localhost:8080.');
  } finally {
    await own.close();
  }
});

describe('a wallet of a signed-in account', () => {
  test('is added, one of a family, and then signs in to that account', async () => {
    const [login, other] = [evmWallet(), solanaWallet()];
    const browser = browserOn(edge);
    const { accountId } = (await signInBy(browser, login)).body;
    const token = browser.session();
    assert.match(
      await textFor(browser, other, 'add'),
      /\nAdd this wallet as a login of your Parley/,
    );
    const added = await signInBy(browser, other, 'add');
    assert.deepEqual(added.body, { accountId, isNew: false, outcome: 'added' });
    // The session stays what it was, under its token.
    assert.equal(browser.session(), token);
    // Asked for once more it is a sign-in alone, and says so.
    const again = await signInBy(browser, other, 'add');
    assert.deepEqual(again.body, { accountId, isNew: false, outcome: 'renewed' });
    const elsewhere = await signInBy(browserOn(edge), other);
    assert.deepEqual(elsewhere.body, { accountId, isNew: false, outcome: 'signed_in' });
    const second = await signInBy(browser, solanaWallet(), 'add');
    assert.equal(codeOf(second), '409 login_family_taken');
    const stored = await walletsOf(edge.deps.db, accountId);
    assert.deepEqual(
      stored.map(({ family, address, standing, waitsUntil }) => [
        family,
        address,
        standing,
        // Who stole the session could have added it: until it receives, it waits.
        waitsUntil !== null,
      ]),
      [
        ['evm', login.address, 'login', false],
        ['solana', other.address, 'login', true],
      ],
    );
  });

  test('that is the login of another account moves nothing of that one', async () => {
    const [mine, theirs] = [evmWallet(), solanaWallet()];
    const browser = browserOn(edge);
    const { accountId } = (await signInBy(browser, mine)).body;
    const owner = (await signInBy(browserOn(edge), theirs)).body.accountId;
    for (const purpose of ['add', 'renew'] as const) {
      const refused = await signInBy(browser, theirs, purpose);
      assert.equal(codeOf(refused), '409 login_taken');
      assert.match(refused.body.error, /belongs to another account; sign in there/);
    }
    assert.equal((await walletsOf(edge.deps.db, accountId)).length, 1);
    assert.equal((await signInBy(browserOn(edge), theirs)).body.accountId, owner);
  });

  test('renews the session under another token; one that is no login does not', async () => {
    const wallet = walletOf.tron();
    const browser = browserOn(edge);
    const { accountId } = (await signInBy(browser, wallet)).body;
    const token = browser.session();
    edge.deps.advance(11 * 60_000);
    // Before anything is signed in vain.
    const { family, address } = solanaWallet();
    const stale = await browser.post('/account/wallet', { family, address, purpose: 'add' });
    assert.equal(codeOf(stale), '403 session_stale');
    assert.equal(codeOf(await signInBy(browser, evmWallet(), 'renew')), '404 unknown_login');
    assert.match(
      await textFor(browser, wallet, 'renew'),
      /\nSign in to your Parley account again.\n/,
    );
    assert.equal((await signInBy(browser, wallet, 'renew')).status, 200);
    assert.notEqual(browser.session(), token);
    assert.equal((await signInBy(browser, solanaWallet(), 'add')).body.accountId, accountId);
    const thief = browserOn(edge, { cookies: new Map([['parley_session', token ?? '']]) });
    const body = { family: 'evm', address: evmWallet().address, purpose: 'add' };
    const path = '/account/wallet';
    assert.equal(codeOf(await thief.post(path, body)), '409 other_account');
    const ofNobody = await thief.call('POST', path, body, { 'x-parley-account': null });
    assert.equal(codeOf(ofNobody), '409 session_ended');
  });

  test('nobody is signed in: nothing is added or renewed', async () => {
    const { family, address } = evmWallet();
    for (const purpose of ['add', 'renew']) {
      const body = { family, address, purpose };
      const answer = await browserOn(edge).post('/account/wallet', body);
      assert.equal(codeOf(answer), '409 session_ended');
    }
  });

  test('a text that was begun in one session is good for no other of the browser', async () => {
    const browser = browserOn(edge);
    await signInBy(browser, evmWallet());
    const added = solanaWallet();
    const text = await textFor(browser, added, 'add');
    await signInBy(browser, evmWallet());
    assert.equal(codeOf(await giveText(browser, added, text)), '409 session_ended');
  });
});

describe('a contract wallet', () => {
  let chain: TestChain;
  let node: TestNode;
  let hangs = false;
  let own: TestEdge;
  before(async () => {
    chain = await startAnvil({ deploy: false });
    node = await lyingNode(chain.rpcUrl, (_, forward) => (hangs ? undefined : forward()));
    const evmNodes = [rpcClient({ chain: 'evm-dev', urls: [node.url] })];
    own = await startEdge({ evmNodes });
  });
  after(async () => {
    await own.close();
    await node.stop();
    await chain.stop();
  });

  // Answers every call with the magic word of EIP-1271, or with another word.
  const accepting = `0x7f1626ba7e${'0'.repeat(56)}60005260206000f3` as const;
  const refusing = `0x7fffffffff${'0'.repeat(56)}60005260206000f3` as const;
  const contract = async (bytecode: `0x${string}`) => {
    const wallet = evmWallet();
    await chain.client.setCode({ address: wallet.address as '0x', bytecode });
    return { ...wallet, sign: async () => '0x1234' };
  };

  test('signs in by EIP-1271, and not where its contract refuses', async () => {
    const wallet = await contract(accepting);
    const first = await signInBy(browserOn(own), wallet);
    assert.deepEqual([first.status, first.body.isNew], [200, true], JSON.stringify(first.body));
    assert.equal((await signInBy(browserOn(own), wallet)).body.accountId, first.body.accountId);
    const refused = await signInBy(browserOn(own), await contract(refusing));
    assert.equal(codeOf(refused), '400 bad_signature');
  });

  test('its node does not answer: 504, and the same signature is good when it does', async () => {
    const wallet = await contract(accepting);
    const browser = browserOn(own);
    const text = await textFor(browser, wallet);
    const { settings } = own.deps;
    hangs = true;
    Object.assign(settings, { chainTimeoutMs: 100 });
    assert.equal(codeOf(await giveText(browser, wallet, text)), '504 chain_timeout');
    hangs = false;
    Object.assign(settings, { chainTimeoutMs: 5_000 });
    assert.equal((await giveText(browser, wallet, text)).status, 200);
    assert.equal(codeOf(await giveText(browser, wallet, text)), '409 ceremony_gone');
  });
});
