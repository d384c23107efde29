// Where an account may be paid and refunded, by the standing of its wallets, over HTTP:
// specification part 4, "Payout address rule" and "authorization".

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  agree,
  bitcoin,
  type Exchange,
  evm,
  must,
  setAddress,
  startExchange,
} from '../testing/exchange.ts';
import { account, codeOf, link } from '../testing/hands.ts';
import { bitcoinWallet, evmWallet, type TestWallet, tronWallet } from '../testing/signers.ts';

let exchange: Exchange;
before(async () => {
  exchange = await startExchange();
});
after(() => exchange.edge.close());

/** An account that signs in with `login` and has proven the others. */
async function holder(login: TestWallet, ...proven: TestWallet[]) {
  const made = await account(exchange.edge, login);
  for (const wallet of proven) must(await link(exchange.edge, made.key, wallet));
  return made;
}

/** As a wallet session on the web would leave it: there is no such session to go through yet. */
async function provenOnTheWeb(wallet: TestWallet): Promise<void> {
  await exchange.edge.deps.db.rows({
    name: 'test_web',
    text: 'update wallets set web = true where address = $1',
    values: [wallet.address],
  });
}

/** Tries the wallet's address in the swap: Bitcoin by its key. */
async function attempt(key: string, swapId: string, wallet: TestWallet): Promise<string> {
  const [chain, address] =
    wallet.pubkey === null ? [evm, wallet.address] : [bitcoin, wallet.pubkey];
  return codeOf(await setAddress(exchange, key, swapId, { chain, address }));
}

const legs = async (key: string, swapId: string) =>
  must(await exchange.edge.call('GET', `/v1/swaps/${swapId}`, { key })).legs;

/**
 * An account with a wallet of the family that may only give, in a swap where that family's address
 * of it is `kind`. Leg `b` is of bitcoin, given by whoever asked.
 */
const cases: [string, 'refund' | 'payout', () => TestWallet, () => TestWallet, 'a' | 'b'][] = [
  ['a Bitcoin payout address', 'payout', bitcoinWallet, evmWallet, 'b'],
  ['a Bitcoin refund address', 'refund', bitcoinWallet, evmWallet, 'b'],
  ['an EVM payout address', 'payout', evmWallet, bitcoinWallet, 'a'],
];

for (const [name, kind, make, makeLogin, leg] of cases) {
  describe(name, () => {
    /** A swap of an account that signs in on the other chain and holds `wallets` here. */
    const agreed = async (login: TestWallet, ...wallets: TestWallet[]) => {
      const mine = await holder(login, ...wallets);
      const other = await holder(bitcoinWallet(), evmWallet());
      const gives = (leg === 'b') === (kind === 'refund');
      const swapId = gives
        ? await agree(exchange, mine.key, other.key)
        : await agree(exchange, other.key, mine.key);
      return { ...mine, swapId };
    };

    test('may be a wallet the account signed in with, which fills it in by itself', async () => {
      const login = make();
      const { key, swapId } = await agreed(login, makeLogin());
      const filled = (await legs(key, swapId))[leg];
      assert.equal(filled[`${kind}Address`], login.address);
      assert.equal(await attempt(key, swapId, login), '200 ok');
    });

    test('may not be a wallet that is only proven by key', async () => {
      const wallet = make();
      const { key, swapId } = await agreed(makeLogin(), wallet);
      assert.equal((await legs(key, swapId))[leg][`${kind}Address`], null);
      assert.equal(await attempt(key, swapId, wallet), '403 not_payable');
    });

    test('may be a wallet that the login wallet authorised, from then on', async () => {
      const wallet = make();
      const login = makeLogin();
      const { key, swapId } = await agreed(login, wallet);
      assert.equal(await attempt(key, swapId, wallet), '403 not_payable');
      const body = must(await link(exchange.edge, key, wallet, login));
      assert.deepEqual([body.proven, body.authorised], [true, true]);
      assert.equal(await attempt(key, swapId, wallet), '200 ok');
      assert.equal((await legs(key, swapId))[leg][`${kind}Address`], wallet.address);
    });

    test('stays one when the wallet is proven again without an authorization', async () => {
      const wallet = make();
      const login = makeLogin();
      const { key, swapId } = await agreed(login, wallet);
      must(await link(exchange.edge, key, wallet, login));
      assert.equal(must(await link(exchange.edge, key, wallet)).authorised, true);
      assert.equal(await attempt(key, swapId, wallet), '200 ok');
    });

    test('is none any more when its proof was removed, nor when proven again alone', async () => {
      const wallet = make();
      const login = makeLogin();
      const { key, swapId } = await agreed(login, wallet, make());
      must(await link(exchange.edge, key, wallet, login));
      must(await exchange.edge.call('DELETE', `/v1/wallets/${wallet.address}`, { key }));
      assert.equal(await attempt(key, swapId, wallet), '403 not_payable');
      assert.equal(must(await link(exchange.edge, key, wallet)).authorised, false);
      assert.equal(await attempt(key, swapId, wallet), '403 not_payable');
    });

    test('may be a wallet proven in a web session', async () => {
      const wallet = make();
      const { key, swapId } = await agreed(makeLogin(), wallet);
      await provenOnTheWeb(wallet);
      assert.equal(await attempt(key, swapId, wallet), '200 ok');
      const again = must(await link(exchange.edge, key, wallet));
      assert.equal(again.authorised, true);
    });

    test('may not be a wallet of nobody, nor a login or authorised one of another', async () => {
      const { key, swapId } = await agreed(makeLogin(), make());
      assert.equal(await attempt(key, swapId, make()), '403 not_payable');
      const stranger = await account(exchange.edge, make());
      assert.equal(await attempt(key, swapId, stranger.wallet), '403 not_payable');
      const login = makeLogin();
      const other = await account(exchange.edge, login);
      const theirs = make();
      must(await link(exchange.edge, other.key, theirs, login));
      assert.equal(await attempt(key, swapId, theirs), '403 not_payable');
    });

    test('authorised does not become the login: what is filled in stays empty', async () => {
      const login = makeLogin();
      const mine = await holder(login);
      const wallet = make();
      must(await link(exchange.edge, mine.key, wallet, login));
      const other = await holder(bitcoinWallet(), evmWallet());
      const gives = (leg === 'b') === (kind === 'refund');
      const swapId = gives
        ? await agree(exchange, mine.key, other.key)
        : await agree(exchange, other.key, mine.key);
      assert.equal((await legs(mine.key, swapId))[leg][`${kind}Address`], null);
      const me = await exchange.edge.call('GET', '/v1/me', { key: mine.key });
      assert.deepEqual(me.body.wallets[wallet.family], { login: null, proven: [wallet.address] });
    });
  });
}

test('an EVM refund address only names the funder: any valid address', async () => {
  const giver = await holder(bitcoinWallet());
  const funder = await holder(bitcoinWallet(), evmWallet());
  const swapId = await agree(exchange, giver.key, funder.key);
  const { address } = evmWallet();
  for (const spelt of [address, address.toLowerCase(), address.toUpperCase().replace('X', 'x')]) {
    const body = { chain: evm, address: spelt };
    const answer = must(await setAddress(exchange, funder.key, swapId, body));
    assert.equal(answer.swap.legs.a.refundAddress, address);
  }
  for (const bad of ['0x12', tronWallet().address, `0x${'g'.repeat(40)}`, '']) {
    const answer = await setAddress(exchange, funder.key, swapId, { chain: evm, address: bad });
    assert.equal(answer.status, 400, bad);
  }
});
