// The limits of identity over HTTP, at both sides of each: specification part 8. The message's own
// (name, scopes, length) and the nonces' are in mint-message.test.ts and nonces.test.ts.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readSettings } from '../../settings/config.ts';
import { startEdge, type TestEdge } from '../testing/edge.ts';
import { agree, startExchange } from '../testing/exchange.ts';
import { account, codeOf, link } from '../testing/hands.ts';
import { bitcoinWallet, evmWallet, type TestWallet } from '../testing/signers.ts';

const { rateLimit } = readSettings({});
let edge: TestEdge;
before(async () => {
  edge = await startEdge();
});
after(() => edge.close());

/** An account as the browser would have made it: there is no such way to sign up yet. */
async function browserAccount(on: TestEdge) {
  const made = await account(on, evmWallet());
  await on.deps.db.rows({
    name: 'test_browser_account',
    text: `update accounts set kind = 'browser' where id = $1`,
    values: [made.userId],
  });
  return made;
}

const works = async (on: TestEdge, key: string) =>
  (await on.call('GET', '/v1/me', { key })).status === 200;

test('Requests a window: 300 in 60 s unless configured, told by every answer', async () => {
  assert.equal(rateLimit, 300);
  const own = await startEdge({ settings: { rateLimit } });
  try {
    own.deps.freeze();
    const minted = await own.mint(evmWallet());
    const me = () => own.call('GET', '/v1/me', { key: minted.body.key });
    for (let left = 299; left >= 0; left -= 1) {
      const { status, headers } = await me();
      assert.deepEqual([status, headers['ratelimit-remaining']], [200, String(left)]);
      assert.equal(headers['ratelimit-limit'], '300');
    }
    const refused = await me();
    assert.equal(codeOf(refused), '429 account_rate_limited');
    assert.match(refused.body.error, /too many requests for this account/);
    assert.equal(refused.headers['retry-after'], '60');
    own.deps.advance(59_999);
    assert.equal((await me()).status, 429);
    own.deps.advance(1);
    assert.equal((await me()).status, 200);
  } finally {
    await own.close();
  }
});

test('Open swaps: a party keeps them when its network is out, a stranger does not', async () => {
  const exchange = await startExchange({ rateLimit: 100, rateLimitPerNetwork: 100 });
  const { edge: own } = exchange;
  try {
    own.deps.freeze();
    const [giver, other] = [await account(own, bitcoinWallet()), await account(own, evmWallet())];
    const id = await agree(exchange, giver.key, other.key);
    const stranger = await account(own, evmWallet());
    while (await works(own, stranger.key));
    const swap = (key: string) => own.call('GET', `/v1/swaps/${id}`, { key });
    assert.equal(codeOf(await own.call('GET', '/v1/me', { key: giver.key })), '429 rate_limited');
    assert.equal((await swap(giver.key)).status, 200);
    assert.equal(codeOf(await swap(stranger.key)), '429 rate_limited');
  } finally {
    await own.close();
  }
});

test('Open swaps: a party keeps 60 requests a window on each, and as many broadcasts', async () => {
  const exchange = await startExchange({ rateLimit: 10 });
  const { edge: own } = exchange;
  const { call, deps } = own;
  try {
    deps.freeze();
    const [giver, other] = [await account(own, bitcoinWallet()), await account(own, evmWallet())];
    const stranger = await account(own, evmWallet());
    const id = await agree(exchange, giver.key, other.key);
    const swap = (key: string) => call('GET', `/v1/swaps/${id}`, { key });
    const send = (key: string) => call('POST', '/v1/tx/broadcast', { key, body: {} });
    /** Its budget is gone. */
    const quoteOn = async (key: string) => {
      while ((await call('GET', '/v1/me', { key })).status === 200);
    };
    for (const { key } of [giver, stranger]) await quoteOn(key);
    for (let count = 0; count < 60; count += 1) {
      const { status, headers } = await swap(giver.key);
      assert.deepEqual([status, headers['ratelimit-remaining']], [200, '0']);
      assert.equal(codeOf(await send(giver.key)), '400 bad_field');
    }
    for (const answer of [
      await swap(giver.key),
      await send(giver.key),
      await call('GET', '/v1/swaps', { key: giver.key }),
      await swap(stranger.key),
      await send(stranger.key),
    ]) {
      assert.equal(codeOf(answer), '429 account_rate_limited');
    }
    // Over, or expired with nothing at stake.
    for (const set of ["status = 'expired'", "status = 'agreed', done = true"]) {
      await deps.db.rows({ name: `test_${set}`, text: `update swaps set ${set}`, values: [] });
      deps.advance(60_000);
      await quoteOn(giver.key);
      assert.equal(codeOf(await swap(giver.key)), '429 account_rate_limited');
      assert.equal(codeOf(await send(giver.key)), '429 account_rate_limited');
    }
  } finally {
    await own.close();
  }
});

test('Scope of the budget: all keys of an account share one, another account has its own', async () => {
  const own = await startEdge({ settings: { rateLimit: 6 } });
  try {
    own.deps.freeze();
    const first = await browserAccount(own);
    own.deps.advance(60_000);
    const second = (await own.mint(first.wallet)).body.key;
    for (const key of [first.key, second, first.key, second, first.key, second]) {
      assert.ok(await works(own, key));
    }
    for (const key of [first.key, second]) {
      const refused = await own.call('GET', '/v1/me', { key });
      assert.equal(codeOf(refused), '429 account_rate_limited');
    }
    own.deps.advance(60_000);
    const stranger = await own.mint(evmWallet());
    for (let count = 0; count < 6; count += 1) assert.ok(await works(own, first.key));
    assert.ok(!(await works(own, second)));
    assert.ok(await works(own, stranger.body.key));
  } finally {
    await own.close();
  }
});

test('Key minting: 20 an hour of a client IP unless configured, 1 000 with dev chains', () => {
  const chain = { chain: 'evm', family: 'evm', chainId: 1, rpcUrls: ['http://127.0.0.1:1'] };
  assert.equal(readSettings({}).mintLimit, 1_000);
  const served = { PARLEY_CHAINS: JSON.stringify([chain]), PARLEY_NETWORK: 'mainnet' };
  assert.equal(readSettings(served).mintLimit, 20);
});

test('Live keys: one of a wallet-only account, whoever mints how many at once', async () => {
  const wallet = evmWallet();
  const { key } = await account(edge, wallet);
  const minted = await Promise.all(Array.from({ length: 8 }, () => edge.mint(wallet)));
  for (const { status, body } of minted) assert.deepEqual([status, body.replaced], [200, true]);
  const live = await Promise.all(minted.map(({ body }) => works(edge, body.key)));
  assert.equal(live.filter(Boolean).length, 1);
  assert.ok(!(await works(edge, key)));
});

test('Live keys: ten of a browser account, also of many mints at once', async () => {
  const { wallet, key } = await browserAccount(edge);
  const minted = await Promise.all(Array.from({ length: 14 }, () => edge.mint(wallet)));
  const codes = minted.map(codeOf).sort();
  assert.deepEqual(codes, [...Array(9).fill('200 ok'), ...Array(5).fill('400 too_many_keys')]);
  assert.ok(await works(edge, key));
});

test('Live keys: a revoked or an expired key of a browser account makes room for another', async () => {
  const own = await startEdge();
  try {
    const { wallet, userId } = await browserAccount(own);
    const fill = async () => {
      for (;;) {
        const minted = await own.mint(wallet as TestWallet);
        if (minted.status !== 200) return codeOf(minted);
      }
    };
    assert.equal(await fill(), '400 too_many_keys');
    await own.deps.db.rows({
      name: 'test_revoke_one',
      text: `update api_keys set revoked_at = now()
        where id = (select id from api_keys where account_id = $1 limit 1)`,
      values: [userId],
    });
    assert.equal((await own.mint(wallet)).body.replaced, false);
    assert.equal(await fill(), '400 too_many_keys');
    own.deps.advance(90 * 86_400_000);
    assert.equal((await own.mint(wallet)).status, 200);
  } finally {
    await own.close();
  }
});

test('Proofs of an account: 1 000, and the next is refused until one is removed', async () => {
  const { key, userId } = await account(edge, evmWallet());
  await edge.deps.db.rows({
    name: 'test_many_proofs',
    text: `insert into wallets (account_id, family, address, standing, proven_at)
      select $1, 'solana', 'many-' || at, 'proven', now() from generate_series(1, 999) at`,
    values: [userId],
  });
  const last = evmWallet();
  assert.equal((await link(edge, key, last)).status, 200);
  assert.equal(codeOf(await link(edge, key, evmWallet())), '409 too_many_wallets');
  assert.equal((await edge.call('DELETE', `/v1/wallets/${last.address}`, { key })).status, 200);
  assert.equal((await link(edge, key, evmWallet())).status, 200);
});

test('Proofs of an account: at the limit a wallet that is proven already may be proven again', async () => {
  const login = evmWallet();
  const { key, userId } = await account(edge, login);
  const wallet = evmWallet();
  assert.equal((await link(edge, key, wallet)).status, 200);
  await edge.deps.db.rows({
    name: 'test_more_proofs',
    text: `insert into wallets (account_id, family, address, standing, proven_at)
      select $1, 'solana', 'more-' || at, 'proven', now() from generate_series(1, 999) at`,
    values: [userId],
  });
  assert.equal((await link(edge, key, wallet)).status, 200);
  assert.equal((await link(edge, key, wallet, login)).body.authorised, true);
});
