// The makers' console in a real Chromium, by keys alone: an order that arrives live, a quote, the
// taker's counter, and its acceptance that waits for the maker's. What lacks before a quote, and a
// price far from recent swaps. Then levels.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { linkWallet } from '@parley/sdk/keys.ts';
import { phraseKeys } from '@parley/sdk/rescue/derive.ts';
import { newPhrase } from '@parley/sdk/rescue/phrase.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { bitcoinWallet } from '@parley/sdk/wallets/bitcoin.ts';
import { evmWallet } from '@parley/sdk/wallets/evm.ts';
import type { Page } from 'playwright-core';
import { type Person, saysAt, sharedWeb, type Web } from './support/web.ts';

const opened = sharedWeb();
let web: Web;
before(async () => {
  web = await opened();
});

type Maker = Person & { readonly phrase: string };

/** A maker whose login wallet has authorized the Bitcoin key of its phrase. */
async function newMaker(): Promise<Maker> {
  const maker = await web.person();
  const evm = web.market.ready.chains.find(({ family }) => family === 'evm');
  const { chainId = 0, rpcUrl = '' } = evm ?? {};
  const login = evmWallet({ privateKey: maker.evmKey, chainId, rpcUrl });
  const phrase = newPhrase();
  const { privateKey } = (await phraseKeys(phrase, 'dev')).bitcoinKey(0);
  await linkWallet(maker.client, bitcoinWallet({ privateKey, network: 'regtest' }), login);
  return { ...maker, phrase };
}

async function bitcoinAndEther({ client }: Person): Promise<readonly [btc: Asset, eth: Asset]> {
  const { assets } = await client.assets({ limit: 100 });
  const coin = (symbol: string) =>
    assets.find((each) => each.symbol === symbol && each.address === null) ?? assert.fail(symbol);
  return [coin('BTC'), coin('ETH')];
}

const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement: found } = document;
    return found?.getAttribute('name') ?? (found?.textContent ?? '').replace(/\s+/g, ' ');
  });

const order = (page: Page, name: RegExp) => page.getByRole('button', { name });

/** On the screen of the phrase, or where a step asks for it. */
async function restorePhrase(page: Page, phrase: string): Promise<void> {
  await page.getByText('I have a phrase').click();
  await page.getByLabel('The twelve words').fill(phrase);
  await page.getByRole('button', { name: 'Take this phrase' }).click();
}

const oneEther = 10n ** 18n;

test('an order is quoted by keys while it is fresh; a counter appears, and an acceptance waits', async (t) => {
  const [maker, taker] = await Promise.all([newMaker(), web.person()]);
  const [btc, eth] = await bitcoinAndEther(taker);
  const ask = (wei: bigint) =>
    taker.client.createRfq({
      direction: 'sell_base',
      baseAssetId: eth.id,
      baseAmount: wei.toString(),
      quoteAssetId: btc.id,
      ttlSeconds: 600,
    });
  const page = await web.open(t, '/phrase', { as: maker });
  await restorePhrase(page, maker.phrase);
  await page.getByText('Your phrase is checked').waitFor();
  await page.goto(`${web.url}/console`);
  await page.getByRole('region', { name: 'Feed' }).getByText('Live').waitFor();
  await ask(oneEther);
  await order(page, /^1\sETH/).waitFor();
  const second = await ask(2n * oneEther);
  await order(page, /^2\sETH/).waitFor();
  // The newest is first.
  await page.keyboard.press('j');
  assert.match(await focused(page), /^2\sETH/);
  await page.keyboard.press('Enter');
  assert.equal(await focused(page), 'desk-price');
  const ticket = page.getByRole('region', { name: 'Chosen order' });
  await page.keyboard.type('0.0625');
  await ticket.getByText('First the steps above').waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await ticket.getByText('Your price: it is their move').waitFor();
  assert.match(await focused(page), /^2\sETH/, 'the row has the focus again');
  const [thread] = (await maker.client.quotes()).threads;
  assert.deepEqual([thread?.rfqId, thread?.quoteAmount], [second.id, '6250000']);

  const id = thread?.id ?? '';
  await taker.client.propose(id, '6500000');
  const threads = page.getByRole('region', { name: 'Your quotes' });
  await threads.getByText('They named another price').waitFor();
  await threads.getByText(/^You give 0.065\sBTC/).waitFor();
  await taker.client.accept(id, { quoteAmount: '6500000' });
  await threads.getByText('They accepted: your acceptance makes the swap').waitFor();
  const link = threads.getByRole('link', { name: 'Look and accept' });
  assert.equal(await link.getAttribute('href'), `/deals/${id}`);
  await page.getByRole('region', { name: 'Exposure' }).getByText('0.065').first().waitFor();

  // A letter that is typed is no key: the quote stands.
  await page.keyboard.press('/');
  await page.keyboard.type('we');
  assert.equal(await page.getByLabel('Coin or chain').inputValue(), 'we');
  await page.getByLabel('Coin or chain').fill('');
  // Taken back, it binds nobody any more.
  await page.keyboard.press('Escape');
  await order(page, /^2\sETH/).focus();
  await page.keyboard.press('w');
  assert.equal(await focused(page), 'Take the quote back', 'one key takes nothing back');
  await page.keyboard.press('Enter');
  await threads.getByText('You have no open quotes.').waitFor();
  assert.notEqual((await maker.client.thread(id)).withdrawnAt, null);
});

test('a maker is prepared before it quotes, and a price far from recent swaps is confirmed', async (t) => {
  const [maker, taker] = await Promise.all([newMaker(), web.person()]);
  const [btc, eth] = await bitcoinAndEther(taker);
  const ids = { baseAssetId: eth.id, quoteAssetId: btc.id };
  await taker.client.createRfq({
    ...ids,
    direction: 'sell_base',
    baseAmount: `${3n * oneEther}`,
    ttlSeconds: 600,
  });
  const median = { direction: 'sell_base', baseAmount: `${oneEther}`, quoteAmount: '3000000' };
  const page = await web.open(t, '/console', {
    as: maker,
    // Swaps that settled would take minutes.
    prepare: (context) =>
      saysAt(context, '/market/pairs/price', { median, agreements: [], windowSeconds: 86_400 }),
  });
  const ticket = page.getByRole('region', { name: 'Chosen order' });
  await order(page, /^3\sETH/).click();
  await ticket.getByText('First the steps above').waitFor();
  await restorePhrase(page, maker.phrase);
  await ticket.getByText('First the steps above').waitFor({ state: 'detached' });
  const price = ticket.getByLabel('You give (BTC)');
  await price.fill('0.09');
  await ticket.getByText('±0 bps').waitFor();
  await price.press('Shift+ArrowDown');
  assert.equal(await price.inputValue(), '0.08991');
  await ticket.getByText('+10 bps').waitFor();
  await price.fill('0.9');
  await price.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Is this price right?' });
  await dialog.getByText(/^It is 900\s?% worse for you/).waitFor();
  await page.keyboard.press('Escape');
  assert.deepEqual((await maker.client.quotes()).threads, []);
  await price.press('Enter');
  await dialog.getByRole('button', { name: 'Send it all the same' }).click();
  await ticket.getByText('Your price: it is their move').waitFor();
  await ticket.getByRole('button', { name: 'Take the quote back' }).click();
  await page.getByText('You have no open quotes.').waitFor();
  const { threads } = await maker.client.quotes();
  assert.deepEqual(threads, []);
});

test('levels are published by hand for a pair, shown in its ladder, and taken back', async (t) => {
  const maker = await newMaker();
  const [btc, eth] = await bitcoinAndEther(maker);
  const page = await web.open(t, '/console', { as: maker });
  const levels = page.getByRole('region', { name: 'Levels', exact: true });
  await levels.getByLabel('You buy or sell').selectOption(eth.id);
  await levels.getByLabel('Priced in').selectOption(btc.id);
  const form = page.getByRole('form', { name: 'Your levels' });
  await form.getByLabel('Up to (ETH)').fill('2');
  await form.getByLabel(/^You pay/).fill('0.06');
  await form.getByLabel(/^You take/).fill('0.07');
  await page.keyboard.press('Enter');
  await form.getByText('Published: 2.').waitFor();
  await levels.getByRole('list', { name: 'Makers buy' }).getByText('0.03').first().waitFor();
  await levels.getByRole('list', { name: 'Makers sell' }).getByText('0.035').first().waitFor();
  const published = async () => {
    const of = { baseAssetId: eth.id, quoteAssetId: btc.id, makerId: maker.accountId };
    const found = [];
    for (const direction of ['sell_base', 'buy_base'] as const) {
      found.push(...(await maker.client.levels({ ...of, direction })).levels);
    }
    return found.map(({ baseAmount, quoteAmount }) => [baseAmount, quoteAmount]);
  };
  const size = `${2n * oneEther}`;
  assert.deepEqual(await published(), [
    [size, '6000000'],
    [size, '7000000'],
  ]);
  // The fields show the levels that stand: one press renews them. A slow renewal undoes no withdrawal.
  const pressed = Promise.withResolvers<void>();
  const publishing = '**/v1/levels';
  await page.route(publishing, (each) => pressed.promise.then(() => each.continue()), { times: 1 });
  const renewed = page.waitForResponse(publishing);
  await form.getByRole('button', { name: 'Publish again' }).click();
  await form.getByRole('button', { name: 'Take back this pair' }).click();
  pressed.resolve();
  await renewed;
  await form.getByText('You have no levels on this pair now.').waitFor();
  assert.deepEqual(await published(), []);
});
