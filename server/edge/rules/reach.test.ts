// Trading reach over HTTP: an order that gives an asset needs a wallet on that asset's chain,
// signed in with or proven. Specification part 5, decisions 1 and 2.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ask, type Exchange, must, quote, startExchange } from '../testing/exchange.ts';
import { account, codeOf, link } from '../testing/hands.ts';
import {
  bitcoinWallet,
  evmWallet,
  solanaWallet,
  type TestWallet,
  tronWallet,
} from '../testing/signers.ts';

let exchange: Exchange;
before(async () => {
  exchange = await startExchange();
});
after(() => exchange.edge.close());

const makers = { BTC: bitcoinWallet, ETH: evmWallet } as const;
type Symbol = keyof typeof makers;
const others = { BTC: 'ETH', ETH: 'BTC' } as const;
/** Wallets of every family but the asset's: none of them gives it reach. */
const elsewhere = {
  BTC: [evmWallet, tronWallet, solanaWallet],
  ETH: [bitcoinWallet, tronWallet, solanaWallet],
};

async function holder(login: TestWallet, ...proven: TestWallet[]): Promise<string> {
  const { key } = await account(exchange.edge, login);
  for (const wallet of proven) must(await link(exchange.edge, key, wallet));
  return key;
}

for (const base of ['BTC', 'ETH'] as const) {
  for (const direction of ['sell_base', 'buy_base'] as const) {
    const asked: Symbol = direction === 'sell_base' ? base : others[base];
    const quoted: Symbol = others[asked];

    describe(`an RFQ with base ${base} to ${direction}: its creator gives ${asked}`, () => {
      const post = (key: string) => ask(exchange, key, direction, base);

      test('is refused (403) without a wallet there, whatever else is held', async () => {
        const [login, ...proven] = elsewhere[asked].map((make) => make());
        const key = await holder(login as TestWallet, ...proven);
        const answer = await post(key);
        assert.equal(codeOf(answer), '403 no_wallet');
        assert.match(answer.body.error, new RegExp(`giving ${asked} needs a wallet on`));
      });

      test('is taken with a login wallet there', async () => {
        assert.equal(codeOf(await post(await holder(makers[asked]()))), '201 ok');
      });

      test('is taken with a proven wallet there, and no more once it is removed', async () => {
        const wallet = makers[asked]();
        const key = await holder(solanaWallet(), wallet);
        assert.equal(codeOf(await post(key)), '201 ok');
        must(await exchange.edge.call('DELETE', `/v1/wallets/${wallet.address}`, { key }));
        assert.equal(codeOf(await post(key)), '403 no_wallet');
      });
    });

    describe(`a quote for base ${base} to ${direction}: its maker gives ${quoted}`, () => {
      let rfq: { id: string; quoteAssetId: string };
      before(async () => {
        ({ rfq } = must(await ask(exchange, await holder(makers[asked]()), direction, base)));
      });

      test('is refused (403) without a wallet there, whatever else is held', async () => {
        const [login, ...proven] = elsewhere[quoted].map((make) => make());
        const key = await holder(login as TestWallet, ...proven);
        const answer = await quote(exchange, key, rfq);
        assert.equal(codeOf(answer), '403 no_wallet');
        assert.match(answer.body.error, new RegExp(`giving ${quoted} needs a wallet on`));
      });

      test('is taken with a login wallet there', async () => {
        const key = await holder(makers[quoted]());
        assert.equal(codeOf(await quote(exchange, key, rfq)), '201 ok');
      });

      test('is taken with a proven wallet there, and moved no more once it is removed', async () => {
        const wallet = makers[quoted]();
        const key = await holder(solanaWallet(), wallet);
        assert.equal(codeOf(await quote(exchange, key, rfq)), '201 ok');
        must(await exchange.edge.call('DELETE', `/v1/wallets/${wallet.address}`, { key }));
        assert.equal(codeOf(await quote(exchange, key, rfq)), '403 no_wallet');
      });
    });
  }
}
