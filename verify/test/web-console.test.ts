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
  await page.getByText('No request fits now').waitFor();
  await ask(10n ** 18n);
  await page.getByRole('button', { name: /^Quote: you get 1 ETH/ }).waitFor();
  await tabTo(page, /^Quote: you get 1 ETH/);

  // A request that comes while somebody is in the list waits to be let in.
  const second = await ask(2n * 10n ** 18n);
  await page.getByRole('button', { name: 'Show 1 new (N)' }).waitFor();
  assert.equal(await page.locator('.request-open').count(), 1);
  await page.keyboard.press('n');
  await page.locator('.request-open').nth(1).waitFor();
  assert.match(await focused(page), /get 1 ETH/);
  await page.keyboard.press('ArrowUp');
  assert.match(await focused(page), /get 2 ETH/);

  await page.keyboard.press('Enter');
  await page.keyboard.type('0.0625');
  const facts = page.locator('.facts');
  await facts.getByText(/^0.0625 BTC/).waitFor();
  await facts.getByText(/^2 ETH/).waitFor();
  await facts.getByText('Locked at most').waitFor();
  await page.getByText('You lock first if both accept').waitFor();
  await page.keyboard.press('Enter');
  const threads = page.getByRole('region', { name: 'Negotiations' });
  await threads.getByText('Your price: it is their move').waitFor();
  assert.match(await focused(page), /get 2 ETH/);
  const [thread] = (await maker.client.quotes()).threads;
  assert.deepEqual([thread?.rfqId, thread?.quoteAmount], [second.id, '6250000']);
  const row = page.getByRole('row', { name: /2 ETH/ });
  await row.getByText('32 ETH per BTC').waitFor();

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

  const levels = page.getByRole('region', { name: 'Indicative prices' });
  await levels.getByLabel('You buy or sell').selectOption(eth.id);
  await levels.getByLabel('Priced in').selectOption(btc.id);
  await levels.getByLabel('Up to (ETH)').fill('2');
  await levels.getByLabel('You would pay for all of it (BTC)').fill('0.06');
  await levels.getByLabel('You would take for all of it (BTC)').fill('0.06');
  await levels.getByText('The price you pay must be less than the price you take.').waitFor();
  await levels.getByLabel('You would take for all of it (BTC)').fill('');
  await levels.getByRole('button', { name: 'Publish' }).click();
  await levels.getByText(/^You buy up to 2.ETH for 0\.06.BTC$/).waitFor();
  const pair = { baseAssetId: eth.id, quoteAssetId: btc.id, makerId: thread?.makerId ?? '' };
  const bids = { direction: 'sell_base', ...pair } as const;
  const shown = async () =>
    (await taker.client.levels(bids)).levels.map((each) => each.quoteAmount);
  assert.deepEqual(await shown(), ['6000000']);
  await levels.getByRole('button', { name: /^Take all of them back/ }).click();
  await levels.getByText('You have published no price of this pair.').waitFor();
  assert.deepEqual(await shown(), []);

  // The button is on the thread too.
  await maker.client.quote(second.id, '6400000');
  await page.goto(new URL(`/deals/${id}`, page.url()).href);
  await page.getByRole('button', { name: 'Take the quote back' }).click();
  await page.getByText('The maker took its price back').waitFor();
  assert.notEqual((await maker.client.thread(id)).withdrawnAt, null);
});
