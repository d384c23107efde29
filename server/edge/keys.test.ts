// Keys by wallet signature: specification parts 4 and 5, decisions 4 and 7.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { TronWeb } from 'tronweb';
import { families } from '../../core/families.ts';
import type { TestEdge } from './testing/edge.ts';
import { startEdge } from './testing/edge.ts';
import {
  bitcoinWallet,
  evmWallet,
  solanaWallet,
  type TestWallet,
  tronWallet,
} from './testing/signers.ts';

let edge: TestEdge;
before(async () => {
  edge = await startEdge();
});
after(() => edge.close());

/** A mint of the message that `write` makes of a fresh nonce. */
async function mintOf(
  wallet: TestWallet,
  write: (nonce: string) => string,
  overrides: Record<string, unknown> = {},
) {
  const { nonce } = (await edge.call('GET', '/v1/keys/nonce')).body;
  const message = write(nonce);
  const signature = await wallet.sign(message);
  const { family: rail, address } = wallet;
  return edge.call('POST', '/v1/keys', {
    body: { rail, address, message, signature, ...overrides },
  });
}

const wallets = [
  ['an EVM wallet', () => evmWallet()],
  ['a TRON wallet', () => tronWallet()],
  ['a Solana wallet', () => solanaWallet()],
  ['a P2WPKH wallet', () => bitcoinWallet('p2wpkh')],
  ['a P2TR wallet', () => bitcoinWallet('p2tr')],
] as const;

for (const [name, make] of wallets) {
  test(`${name} mints a key that works, and shows its account`, async () => {
    const wallet = make();
    const minted = await edge.mint(wallet, ['Key name: desk 1', 'Scopes: maker, read']);
    assert.equal(minted.status, 200, JSON.stringify(minted.body));
    assert.match(minted.body.key, /^parley_test_[0-9A-Za-z]{43}$/);
    assert.equal(minted.body.prefix, minted.body.key.slice(0, 'parley_test_'.length + 6));
    assert.deepEqual(minted.body.scopes, ['read', 'maker']);
    assert.equal(minted.body.name, 'desk 1');
    assert.equal(minted.body.replaced, false);
    const days = (Date.parse(minted.body.expiresAt) - Date.now()) / 86_400_000;
    assert.ok(days > 89.99 && days <= 90.01, `${days} days`);
    const me = await edge.call('GET', '/v1/me', { key: minted.body.key });
    assert.equal(me.status, 200);
    assert.deepEqual(me.body.scopes, ['read', 'maker']);
    assert.deepEqual(Object.keys(me.body.wallets).sort(), [...families].sort());
    for (const family of families) {
      const login = family === wallet.family ? wallet.address : null;
      assert.deepEqual(me.body.wallets[family], { login, proven: [] });
    }
  });
}

test('only the hash of a key is stored', async () => {
  const { body } = await edge.mint(evmWallet());
  const rows = await edge.deps.db.rows<{ text: string }>({
    name: 'test_keys',
    text: 'select row_to_json(api_keys)::text as text from api_keys',
    values: [],
  });
  assert.ok(rows.length > 0);
  for (const { text } of rows) assert.ok(!text.includes(body.key.slice('parley_test_'.length)));
});

test('a second mint of a wallet replaces its key at once', async () => {
  const wallet = evmWallet();
  const first = await edge.mint(wallet);
  assert.equal((await edge.call('GET', '/v1/me', { key: first.body.key })).status, 200);
  const second = await edge.mint(wallet);
  assert.equal(second.body.replaced, true);
  assert.equal((await edge.call('GET', '/v1/me', { key: first.body.key })).status, 401);
  const me = await edge.call('GET', '/v1/me', { headers: { 'x-api-key': second.body.key } });
  assert.equal(me.status, 200);
});

test('the same wallet in another spelling is the same account', async () => {
  const wallet = evmWallet();
  const first = await edge.mint(wallet);
  const upper = { ...wallet, address: `0x${wallet.address.slice(2).toUpperCase()}` };
  const second = await edge.mint(upper);
  assert.equal(second.body.replaced, true);
  const bitcoin = bitcoinWallet();
  await edge.mint(bitcoin);
  const capitals = { ...bitcoin, address: bitcoin.address.toUpperCase() };
  assert.equal((await edge.mint(capitals)).body.replaced, true);
  assert.equal(first.body.replaced, false);
});

test('a TRON wallet is the same in base58 and in 41-hex, in the request and in the text', async () => {
  const wallet = tronWallet();
  const hex = TronWeb.address.toHex(wallet.address);
  const spellings = [wallet.address, hex, hex.toUpperCase()];
  const accounts = new Set<string>();
  for (const address of spellings) {
    for (const named of [...spellings, wallet.address.toLowerCase()]) {
      const minted = await mintOf(
        wallet,
        (nonce) => `Parley create an API key\nAddress: ${named}\nNonce: ${nonce}`,
        { address },
      );
      assert.equal(minted.status, 200, JSON.stringify(minted.body));
      const me = await edge.call('GET', '/v1/me', { key: minted.body.key });
      assert.equal(me.body.wallets.tron.login, wallet.address);
      accounts.add(me.body.userId);
    }
  }
  assert.equal(accounts.size, 1);
  const other = TronWeb.address.toHex(tronWallet().address);
  const unnamed = await mintOf(
    wallet,
    (nonce) => `Parley create an API key ${other}\nNonce: ${nonce}`,
  );
  assert.equal(unnamed.headers['x-parley-error'], 'bad_message');
});

test('an EVM signature is no TRON proof, though both addresses are of one key', async () => {
  const evm = evmWallet();
  const hash = evm.address.slice(2);
  const tron = TronWeb.address.fromHex(`41${hash}`);
  const nonce = (await edge.call('GET', '/v1/keys/nonce')).body.nonce;
  const message = `Parley create an API key\nAddress: ${tron}\nNonce: ${nonce}`;
  const signature = await evm.sign(message);
  const body = { rail: 'tron', address: tron, message, signature };
  const refused = await edge.call('POST', '/v1/keys', { body });
  assert.equal(refused.headers['x-parley-error'], 'bad_signature');
});

test('first mints of one wallet at once make one account with one live key', async () => {
  const wallet = evmWallet();
  const { db } = edge.deps;
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  // Nobody can add an account until all of them have looked for one.
  const holding = db.transaction(async (tx) => {
    const text = 'lock table accounts in exclusive mode';
    await tx.rows({ name: 'test_hold_accounts', text, values: [] });
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  const minting = Promise.all([1, 2, 3].map(() => edge.mint(wallet)));
  const text = 'select 1 as one from pg_locks where not granted';
  for (;;) {
    const waiting = await db.rows({ name: 'test_waiting', text, values: [] });
    if (waiting.length >= 3) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  release.resolve();
  await holding;
  const minted = await minting;
  assert.deepEqual(
    minted.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal(minted.filter(({ body }) => !body.replaced).length, 1);
  const live = await Promise.all(
    minted.map(({ body }) => edge.call('GET', '/v1/me', { key: body.key })),
  );
  assert.deepEqual(live.map(({ status }) => status).sort(), [200, 401, 401]);
});

test('an account signed up in the browser holds ten live keys, and an eleventh is refused', async () => {
  const wallet = evmWallet();
  const first = await edge.mint(wallet);
  const { userId } = (await edge.call('GET', '/v1/me', { key: first.body.key })).body;
  await edge.deps.db.rows({
    name: 'test_browser',
    text: `update accounts set kind = 'browser' where id = $1`,
    values: [userId],
  });
  for (let count = 2; count <= 10; count += 1) {
    const minted = await edge.mint(wallet);
    assert.equal(minted.status, 200);
    assert.equal(minted.body.replaced, false);
  }
  const refused = await edge.mint(wallet);
  assert.equal(refused.status, 400);
  assert.equal(refused.headers['x-parley-error'], 'too_many_keys');
  assert.equal((await edge.call('GET', '/v1/me', { key: first.body.key })).status, 200);
});

test('a key stops after 90 days', async () => {
  const own = await startEdge();
  try {
    const { body } = await own.mint(evmWallet());
    own.deps.advance(90 * 86_400_000 - 5_000);
    assert.equal((await own.call('GET', '/v1/me', { key: body.key })).status, 200);
    own.deps.advance(6_000);
    assert.equal((await own.call('GET', '/v1/me', { key: body.key })).status, 401);
  } finally {
    await own.close();
  }
});

describe('a nonce', () => {
  const text = (wallet: TestWallet) => (nonce: string) =>
    `Parley create an API key\nAddress: ${wallet.address}\nNonce: ${nonce}`;

  test('is 32 hex characters and works once', async () => {
    const wallet = evmWallet();
    const { nonce } = (await edge.call('GET', '/v1/keys/nonce')).body;
    assert.match(nonce, /^[0-9a-f]{32}$/);
    const again = () => mintOf(wallet, () => text(wallet)(nonce));
    assert.equal((await again()).status, 200);
    const second = await again();
    assert.equal(second.status, 400);
    assert.equal(second.headers['x-parley-error'], 'bad_nonce');
  });

  test('works for one of many at once', async () => {
    const wallet = evmWallet();
    const { nonce } = (await edge.call('GET', '/v1/keys/nonce')).body;
    const all = await Promise.all(
      Array.from({ length: 8 }, () => mintOf(wallet, () => text(wallet)(nonce))),
    );
    assert.equal(all.filter(({ status }) => status === 200).length, 1);
  });

  test('is used up by a signature that fails', async () => {
    const wallet = evmWallet();
    const { nonce } = (await edge.call('GET', '/v1/keys/nonce')).body;
    const signature = await evmWallet().sign(text(wallet)(nonce));
    const failed = await mintOf(wallet, () => text(wallet)(nonce), { signature });
    assert.equal(failed.headers['x-parley-error'], 'bad_signature');
    const after = await mintOf(wallet, () => text(wallet)(nonce));
    assert.equal(after.headers['x-parley-error'], 'bad_nonce');
  });

  test('of another pool, never issued or older than five minutes is refused', async () => {
    const wallet = evmWallet();
    const { body } = await edge.mint(wallet);
    const link = (await edge.call('GET', '/v1/wallets/nonce', { key: body.key })).body.nonce;
    const ofLink = await mintOf(wallet, () => text(wallet)(link));
    assert.equal(ofLink.headers['x-parley-error'], 'bad_nonce');
    const invented = await mintOf(wallet, () => text(wallet)('abc123'));
    assert.equal(invented.headers['x-parley-error'], 'bad_nonce');
    const own = await startEdge();
    try {
      const { nonce } = (await own.call('GET', '/v1/keys/nonce')).body;
      own.deps.advance(301_000);
      const message = text(wallet)(nonce);
      const signature = await wallet.sign(message);
      const old = await own.call('POST', '/v1/keys', {
        body: { rail: 'evm', address: wallet.address, message, signature },
      });
      assert.equal(old.headers['x-parley-error'], 'bad_nonce');
    } finally {
      await own.close();
    }
  });
});

describe('a mint is refused', () => {
  const wallet = evmWallet();
  const line = `Address: ${wallet.address}`;
  const cases: [string, (nonce: string) => string, string][] = [
    ['without the product', (n) => `create an API key\n${line}\nNonce: ${n}`, 'bad_message'],
    ['without the purpose', (n) => `Parley link this wallet\n${line}\nNonce: ${n}`, 'bad_message'],
    ['without the address', (n) => `Parley create an API key\nNonce: ${n}`, 'bad_message'],
    ['without a nonce', () => `Parley create an API key\n${line}`, 'bad_message'],
    [
      'with two nonces',
      (n) => `Parley create an API key\n${line}\nNonce: ${n}\nNonce: ${n}`,
      'bad_message',
    ],
    [
      'with empty scopes',
      (n) => `Parley create an API key\n${line}\nScopes:\nNonce: ${n}`,
      'bad_message',
    ],
    [
      'with an unknown scope',
      (n) => `Parley create an API key\n${line}\nScopes: admin\nNonce: ${n}`,
      'bad_message',
    ],
    [
      'with a name of 81 characters',
      (n) => `Parley create an API key\n${line}\nKey name: ${'n'.repeat(81)}\nNonce: ${n}`,
      'bad_message',
    ],
  ];
  for (const [name, write, code] of cases) {
    test(name, async () => {
      const refused = await mintOf(wallet, write);
      assert.equal(refused.status, 400);
      assert.equal(refused.headers['x-parley-error'], code);
      assert.deepEqual(Object.keys(refused.body), ['error']);
    });
  }

  test('for an address of another family', async () => {
    for (const rail of families) {
      for (const { family, address } of [
        evmWallet(),
        tronWallet(),
        solanaWallet(),
        bitcoinWallet(),
      ]) {
        if (family === rail) continue;
        const refused = await mintOf(wallet, (n) => n, { rail, address });
        assert.equal(refused.status, 400);
        assert.equal(refused.headers['x-parley-error'], 'bad_address', `${rail} ${address}`);
      }
    }
  });

  test('for an address of another network', async () => {
    const refused = await mintOf(bitcoinWallet(), (n) => n, {
      address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    });
    assert.equal(refused.status, 400);
    assert.equal(refused.headers['x-parley-error'], 'wrong_network');
  });

  const shapes: [string, unknown][] = [
    ['an unknown field', { rail: 'evm', address: 'a', message: 'm', signature: 's', scopes: [] }],
    ['a missing field', { rail: 'evm', address: 'a', message: 'm' }],
    ['a number where a string belongs', { rail: 'evm', address: 7, message: 'm', signature: 's' }],
    ['an unknown rail', { rail: 'doge', address: 'a', message: 'm', signature: 's' }],
    ['an array', []],
    ['null', null],
    ['a bare text', '"evm"'],
    ['broken JSON', '{"rail":'],
    ['nothing', undefined],
    ['a NUL', { rail: 'evm', address: 'a\0', message: 'm', signature: 's' }],
    ['a huge message', { rail: 'evm', address: 'a', message: 'm'.repeat(5_000), signature: 's' }],
  ];
  for (const [name, body] of shapes) {
    test(`with ${name} as its body`, async () => {
      const refused = await edge.call('POST', '/v1/keys', { body });
      assert.equal(refused.status, 400);
      assert.deepEqual(Object.keys(refused.body), ['error']);
    });
  }

  test('with a body of more than 64 KiB (413) or that is not JSON (415)', async () => {
    const huge = await edge.call('POST', '/v1/keys', { body: { message: 'm'.repeat(70_000) } });
    assert.equal(huge.status, 413);
    const form = await edge.call('POST', '/v1/keys', {
      body: 'a=b',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    assert.equal(form.status, 415);
    assert.ok(form.headers['ratelimit-limit']);
  });
});

test('the twenty-first mint of an hour from one address is refused, failed ones counted', async () => {
  const own = await startEdge({ settings: { mintLimit: 20 } });
  try {
    const attempt = (ip: string) => own.call('POST', '/v1/keys', { body: {}, ip });
    for (let count = 0; count < 20; count += 1) {
      assert.equal((await attempt('2001:db8:1:2::1')).status, 400);
    }
    const refused = await attempt('2001:db8:1:2:ffff::9');
    assert.equal(refused.status, 429);
    assert.equal(refused.headers['retry-after'], '3600');
    assert.equal((await attempt('2001:db8:1:3::1')).status, 429, 'of the same client network');
    assert.equal((await attempt('2001:db8:1:100::1')).status, 400);
    own.deps.advance(3_600_000);
    assert.equal((await attempt('2001:db8:1:2::1')).status, 400);
  } finally {
    await own.close();
  }
});
