// Wallet proofs and authorizations: specification part 4, decisions 4 and 7.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { TronWeb } from 'tronweb';
import { families } from '../../core/families.ts';
import { startEdge, type TestEdge } from './testing/edge.ts';
import { bitcoinWallet, evmWallet, type TestWallet, walletOf } from './testing/signers.ts';

let edge: TestEdge;
before(async () => {
  edge = await startEdge();
});
after(() => edge.close());

async function account(wallet: TestWallet = evmWallet()) {
  const key: string = (await edge.mint(wallet)).body.key;
  return { wallet, key };
}

function link(wallet: TestWallet, key: string, body: unknown) {
  return edge.call('POST', `/v1/wallets/${wallet.family}`, { key, body });
}

async function vouch(login: TestWallet, linked: TestWallet, key: string, extra = '') {
  const { nonce } = (await edge.call('GET', '/v1/wallets/nonce?purpose=authorize', { key })).body;
  const message = [
    `Parley - authorise this wallet${extra}`,
    `Address: ${linked.address}`,
    `Login: ${login.address}`,
    `Nonce: ${nonce}`,
  ].join('\n');
  return { address: login.address, message, signature: await login.sign(message) };
}

/** Every way to write the address of a wallet. */
function spellings({ family, address }: TestWallet): string[] {
  switch (family) {
    case 'evm':
      return [address, address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`];
    case 'tron': {
      const hex = TronWeb.address.toHex(address);
      return [address, hex, hex.toUpperCase()];
    }
    case 'bitcoin':
      return [address, address.toUpperCase()];
    case 'solana':
      return [address];
  }
}

test('a proven wallet is shown, counts for giving only, and can be removed once', async () => {
  const { key } = await account();
  const made = families.map((family) => walletOf[family]());
  for (const wallet of [...made, bitcoinWallet('p2tr')]) {
    const proven = await link(wallet, key, await edge.proof(wallet, key));
    assert.equal(proven.status, 200, JSON.stringify(proven.body));
    const { address, family } = wallet;
    assert.deepEqual(proven.body, { address, family, proven: true, authorised: false });
    const again = await link(wallet, key, await edge.proof(wallet, key));
    assert.deepEqual(again.body, proven.body);
    const me = await edge.call('GET', '/v1/me', { key });
    assert.ok(me.body.wallets[family].proven.includes(address));
    const removed = await edge.call('DELETE', `/v1/wallets/${address}`, { key });
    assert.deepEqual(removed.body, { address, family, proven: false });
    const gone = await edge.call('GET', '/v1/me', { key });
    assert.ok(!gone.body.wallets[family].proven.includes(address));
    const twice = await edge.call('DELETE', `/v1/wallets/${address}`, { key });
    assert.equal(twice.status, 404);
    assert.equal(twice.headers['x-parley-error'], 'unknown_wallet');
  }
});

for (const family of families) {
  test(`${family}: any spelling of an address proves and removes the one wallet`, async () => {
    const { key } = await account();
    const wallet = walletOf[family]();
    const { address } = wallet;
    for (const text of spellings(wallet)) {
      const body = { ...(await edge.proof(wallet, key)), address: text };
      const proven = await link(wallet, key, body);
      assert.deepEqual(proven.body, { address, family, proven: true, authorised: false });
      const me = await edge.call('GET', '/v1/me', { key });
      assert.deepEqual(me.body.wallets[family].proven, [address]);
      const removed = await edge.call('DELETE', `/v1/wallets/${text}`, { key });
      assert.deepEqual(removed.body, { address, family, proven: false });
    }
  });

  test(`${family}: a login address is no proof: it cannot be removed, proving it is 200`, async () => {
    const { wallet, key } = await account(walletOf[family]());
    const { address } = wallet;
    const again = await link(wallet, key, await edge.proof(wallet, key));
    assert.deepEqual(again.body, { address, family, proven: true, authorised: true });
    for (const text of spellings(wallet)) {
      assert.equal((await edge.call('DELETE', `/v1/wallets/${text}`, { key })).status, 404);
    }
    const me = await edge.call('GET', '/v1/me', { key });
    assert.deepEqual(me.body.wallets[family], { login: address, proven: [] });
  });

  test(`${family}: another account's login or proof is 409`, async () => {
    const one = await account(walletOf[family]());
    const two = await account();
    const login = await link(one.wallet, two.key, await edge.proof(one.wallet, two.key));
    assert.equal(login.status, 409);
    assert.equal(login.headers['x-parley-error'], 'wallet_taken');
    const shared = walletOf[family]();
    assert.equal((await link(shared, one.key, await edge.proof(shared, one.key))).status, 200);
    assert.equal((await link(shared, two.key, await edge.proof(shared, two.key))).status, 409);
  });

  test(`${family}: a proof by another wallet of the family is refused`, async () => {
    const { key } = await account();
    const [wallet, other] = [walletOf[family](), walletOf[family]()];
    const body = { ...(await edge.proof(wallet, key)) };
    const refused = await link(wallet, key, {
      ...body,
      signature: await other.sign(body.message!),
    });
    assert.equal(refused.status, 400);
    assert.equal(refused.headers['x-parley-error'], 'bad_signature');
  });

  for (const linkedFamily of families) {
    test(`a login wallet of ${family} vouches for a wallet of ${linkedFamily}, for good`, async () => {
      const { wallet: login, key } = await account(walletOf[family]());
      const linked = walletOf[linkedFamily]();
      const plain = await link(linked, key, await edge.proof(linked, key));
      assert.equal(plain.body.authorised, false);
      const authorization = await vouch(login, linked, key);
      const body = { ...(await edge.proof(linked, key)), authorization };
      const authorised = await link(linked, key, body);
      const { address } = linked;
      const expected = { address, family: linkedFamily, proven: true, authorised: true };
      assert.deepEqual(authorised.body, expected);
      const later = await link(linked, key, await edge.proof(linked, key));
      assert.deepEqual(later.body, expected);
      const me = await edge.call('GET', '/v1/me', { key });
      assert.deepEqual(me.body.wallets[linkedFamily].proven, [address]);
      assert.equal(me.body.wallets[family].login, login.address);
    });
  }
}

test('an authorization may spell either TRON wallet in 41-hex', async () => {
  const { wallet: login, key } = await account(walletOf.tron());
  const linked = walletOf.tron();
  const inHex = (wallet: TestWallet) => ({
    ...wallet,
    address: TronWeb.address.toHex(wallet.address),
  });
  const authorization = await vouch(inHex(login), inHex(linked), key);
  const body = { ...(await edge.proof(linked, key)), authorization };
  assert.equal((await link(linked, key, body)).body.authorised, true);
});

describe('an authorization is refused', () => {
  const cases: [
    string,
    (login: TestWallet, linked: TestWallet, key: string) => Promise<Record<string, string>>,
  ][] = [
    ['by a stranger', (_login, linked, key) => vouch(evmWallet(), linked, key)],
    ['for another wallet', (login, _linked, key) => vouch(login, evmWallet(), key)],
    [
      'with a link nonce',
      async (login, linked, key) => {
        const { nonce } = (await edge.call('GET', '/v1/wallets/nonce', { key })).body;
        const message = `Parley authorise this wallet\n${linked.address}\n${login.address}\nNonce: ${nonce}`;
        return { address: login.address, message, signature: await login.sign(message) };
      },
    ],
    [
      'signed by another key',
      async (login, linked, key) => ({
        ...(await vouch(login, linked, key)),
        signature: await evmWallet().sign('x'),
      }),
    ],
    ['with a second nonce', (login, linked, key) => vouch(login, linked, key, '\nNonce: 1')],
  ];
  for (const [name, make] of cases) {
    test(name, async () => {
      const { wallet: login, key } = await account();
      const linked = bitcoinWallet();
      const authorization = await make(login, linked, key);
      const refused = await link(linked, key, {
        ...(await edge.proof(linked, key)),
        authorization,
      });
      assert.equal(refused.status, 400);
      const me = await edge.call('GET', '/v1/me', { key });
      assert.deepEqual(me.body.wallets.bitcoin.proven, []);
    });
  }
});

test('of two accounts that prove one wallet at once, one gets it', async () => {
  const [one, two] = await Promise.all([account(), account()]);
  const shared = evmWallet();
  const bodies = await Promise.all([one, two].map(({ key }) => edge.proof(shared, key)));
  const answers = await Promise.all([
    link(shared, one.key, bodies[0]),
    link(shared, two.key, bodies[1]),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
});

test('a wallet proven on another account that mints signs in to its own', async () => {
  const { key } = await account();
  const shared = evmWallet();
  await link(shared, key, await edge.proof(shared, key));
  const own = await edge.mint(shared);
  const first = await edge.call('GET', '/v1/me', { key });
  const second = await edge.call('GET', '/v1/me', { key: own.body.key });
  assert.notEqual(first.body.userId, second.body.userId);
  assert.deepEqual(first.body.wallets.evm.proven, [shared.address]);
});

test('a proof replays under its Idempotency-Key, and its nonce is not asked for twice', async () => {
  const { key } = await account();
  const wallet = evmWallet();
  const body = await edge.proof(wallet, key);
  const headers = { 'idempotency-key': 'prove-1' };
  const first = await edge.call('POST', '/v1/wallets/evm', { key, body, headers });
  const second = await edge.call('POST', '/v1/wallets/evm', { key, body, headers });
  assert.equal(first.status, 200);
  assert.deepEqual(second.body, first.body);
  assert.equal(second.headers['idempotency-replayed'], 'true');
});

describe('a proof is refused', () => {
  test('when it is for minting, for authorising, unsigned or used', async () => {
    const { key } = await account();
    const wallet = evmWallet();
    const wrong = [
      await edge.proof(wallet, key, 'create an API key'),
      await edge.proof(wallet, key, 'authorise this wallet'),
      { ...(await edge.proof(wallet, key)), signature: '0x00' },
    ];
    for (const body of wrong) assert.equal((await link(wallet, key, body)).status, 400);
    const good = await edge.proof(wallet, key);
    assert.equal((await link(wallet, key, good)).status, 200);
    const spent = await link(wallet, key, good);
    assert.equal(spent.headers['x-parley-error'], 'bad_nonce');
  });

  const shapes: [string, unknown][] = [
    ['an unknown field', { address: 'a', message: 'm', signature: 's', family: 'evm' }],
    ['a number', { address: 1, message: 'm', signature: 's' }],
    [
      'an authorization that is a text',
      { address: 'a', message: 'm', signature: 's', authorization: 'x' },
    ],
    [
      'an unknown field inside the authorization',
      {
        address: 'a',
        message: 'm',
        signature: 's',
        authorization: { address: 'a', message: 'm', signature: 's', nonce: 'n' },
      },
    ],
    ['nothing', undefined],
  ];
  for (const [name, body] of shapes) {
    test(`with ${name}`, async () => {
      const { key } = await account();
      for (const family of families) {
        const refused = await edge.call('POST', `/v1/wallets/${family}`, { key, body });
        assert.equal(refused.status, 400);
        assert.equal(refused.headers['x-parley-error'], 'bad_field');
      }
    });
  }

  test('without a key (401), and a purpose that is none (400)', async () => {
    assert.equal((await edge.call('GET', '/v1/wallets/nonce')).status, 401);
    assert.equal((await edge.call('POST', '/v1/wallets/evm', { body: {} })).status, 401);
    const { key } = await account();
    assert.equal((await edge.call('GET', '/v1/wallets/nonce?purpose=x', { key })).status, 400);
    assert.equal((await edge.call('DELETE', '/v1/wallets/%00', { key })).status, 400);
    assert.equal(
      (await edge.call('DELETE', `/v1/wallets/${'a'.repeat(300)}`, { key })).status,
      404,
    );
  });
});
