// The makers' console in a real Chromium, by keys alone: a request that arrives live, a quote, the
// taker's counter, and its acceptance that waits for the maker's. Then indicative prices.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, test } from 'node:test';
import { linkWallet } from '@parley/sdk/keys.ts';
import { bitcoinWallet } from '@parley/sdk/wallets/bitcoin.ts';
import { evmWallet } from '@parley/sdk/wallets/evm.ts';
import type { Page } from 'playwright-core';
import { type Person, sharedWeb, type Web } from './support/web.ts';

const opened = sharedWeb();
let web: Web;
before(async () => {
  web = await opened();
});

/** A maker that may give bitcoin. */
async function newMaker(): Promise<Person> {
  const maker = await web.person();
  const evm = web.market.ready.chains.find(({ family }) => family === 'evm');
  const { chainId = 0, rpcUrl = '' } = evm ?? {};
  const login = evmWallet({ privateKey: maker.evmKey, chainId, rpcUrl });
  const privateKey = randomBytes(32).toString('hex');
  const own = bitcoinWallet({ privateKey, network: 'regtest' });
  await linkWallet(maker.client, own, login);
  return maker;
}

const focused = (page: Page) =>
  page.evaluate(() => (document.activeElement?.textContent ?? '').replace(/\s+/g, ' '));

/** By Tab, until a control of this name has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    if (name.test(await focused(page))) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not lead to ${name}`);
}

test('a request is quoted by keys while it is fresh; a counter appears, and an acceptance waits', async (t) => {
  const [maker, taker] = await Promise.all([newMaker(), web.person()]);
  const { assets } = await taker.client.assets({ limit: 100 });
  const assetOf = (chain: string, symbol: RegExp) => {
    const found = assets.find((each) => each.chain === chain && symbol.test(each.symbol));
    return found ?? assert.fail(`no ${symbol} on ${chain}`);
  };
  const [bitcoin] = web.market.ready.chains.filter(({ family }) => family === 'bitcoin');
  const [evm] = web.market.ready.chains.filter(({ family }) => family === 'evm');
  const btc = assetOf(bitcoin?.chain ?? '', /BTC/);
  const eth = assetOf(evm?.chain ?? '', /^ETH$/);
  const ask = (wei: bigint) =>
    taker.client.createRfq({
      direction: 'sell_base',
      baseAssetId: eth.id,
      baseAmount: wei.toString(),
      quoteAssetId: btc.id,
      ttlSeconds: 600,
    });
  const page = await web.open(t, '/console', { as: maker });
  await page.getByText('The book is live').waitFor();
  await ask(10n ** 18n);
  await page.getByRole('row', { name: /1.ETH/ }).waitFor();
  const second = await ask(2n * 10n ** 18n);
  await page.getByRole('row', { name: /2.ETH/ }).waitFor();
  // The newest is first.
  await tabTo(page, /^Quote$/);
  await page.keyboard.press('Enter');
  await page.getByText(/get 2.ETH/).waitFor();
  await page.keyboard.type('0.0625');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  assert.equal(await focused(page), 'Quote', 'the row has the focus again');
  const [thread] = (await maker.client.quotes()).threads;
  assert.deepEqual([thread?.rfqId, thread?.quoteAmount], [second.id, '6250000']);
  const threads = page.getByRole('region', { name: 'Negotiations' });
  await threads.getByText('Your price: it is their move').waitFor();

  const id = thread?.id ?? '';
  await taker.client.propose(id, '6500000');
  await threads.getByText('They named another price').waitFor();
  await threads.getByText(/^You give 0.065 BTC/).waitFor();
  await taker.client.accept(id, { quoteAmount: '6500000' });
  await threads.getByText('They accepted: your acceptance makes the swap').waitFor();
  const link = threads.getByRole('link', { name: 'Look and accept' });
  assert.equal(await link.getAttribute('href'), `/deals/${id}`);
  await page.getByText(/requests left/).waitFor();

  // Taken back, it binds nobody any more.
  await tabTo(page, /^Take the quote back$/);
  await threads.getByRole('button', { name: /^Take the quote back: you give 0.065 BTC/ }).waitFor();
  await page.keyboard.press('Enter');
  await threads.getByText('You have no open quotes.').waitFor();
  assert.notEqual((await maker.client.thread(id)).withdrawnAt, null);
});

test('indicative prices are published by hand for a pair, and taken back', async (t) => {
  const maker = await newMaker();
  const { assets } = await maker.client.assets({ limit: 100 });
  const [btc, eth] = ['BTC', 'ETH'].map((symbol) => assets.find((each) => each.symbol === symbol));
  const page = await web.open(t, '/console', { as: maker });
  const form = page.getByRole('form', { name: 'Indicative prices' });
  await form.getByLabel('You buy or sell').selectOption(eth?.id ?? '');
  await form.getByLabel('Priced in').selectOption(btc?.id ?? '');
  await form.getByLabel('Up to (ETH)').fill('2');
  await form.getByLabel(/^You would pay/).fill('0.06');
  await form.getByLabel(/^You would take/).fill('0.07');
  await page.keyboard.press('Enter');
  await form.getByText('Prices that are published: 2.').waitFor();
  const published = async () => {
    const of = { baseAssetId: eth?.id ?? '', quoteAssetId: btc?.id ?? '' };
    const levels = [];
    for (const direction of ['sell_base', 'buy_base'] as const) {
      const makerId = maker.accountId;
      levels.push(...(await maker.client.levels({ ...of, direction, makerId })).levels);
    }
    return levels.map(({ baseAmount, quoteAmount }) => [baseAmount, quoteAmount]);
  };
  const size = `${2n * 10n ** 18n}`;
  assert.deepEqual(await published(), [
    [size, '6000000'],
    [size, '7000000'],
  ]);
  await form.getByRole('button', { name: 'Take all of them back' }).click();
  await form.getByText('Prices that were taken back: 2.').waitFor();
  assert.deepEqual(await published(), []);
});
