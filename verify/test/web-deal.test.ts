// Quotes as they arrive and the page of an acceptance, in a real Chromium on dev chains, against
// makers that run the SDK. A whole swap is in web-swap.test.ts.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Person as Maker } from '@parley/dev/demo/people.ts';
import { walletScript } from '@parley/web/wallets/testing/script.ts';
import type { BrowserContext, Page } from 'playwright-core';
import { makersOn, type Person, sharedWeb, type Web } from './support/web.ts';

const opened = sharedWeb();
let web: Web;
let taker: Person;
let one: Maker;
let other: Maker;
before(async () => {
  web = await opened();
  [taker, [one, other]] = await Promise.all([web.person(), makersOn(web, 'one', 'other')]);
});

const says = (page: Page, sentence: RegExp | string) => page.getByText(sentence).first().waitFor();

async function idOf(symbol: string): Promise<string> {
  const { assets } = await taker.client.assets({ limit: 100 });
  return assets.find((each) => each.symbol === symbol)?.id ?? assert.fail(`no ${symbol}`);
}

type Asked = { give: string; get: string; amount: bigint; by?: Person['client'] };

/** Answers its id. */
async function asked({ give, get, amount, by = taker.client }: Asked): Promise<string> {
  const { id } = await by.createRfq({
    direction: 'sell_base',
    baseAssetId: await idOf(give),
    baseAmount: amount.toString(),
    quoteAssetId: await idOf(get),
    ttlSeconds: 600,
    visibility: 'private',
  });
  return id;
}

/** A page that asks for nothing again by a clock: what it shows, the market has told. */
function withoutPolls(context: BrowserContext): Promise<unknown> {
  return context.addInitScript(() => {
    const own = window.setInterval.bind(window);
    const slow = (work: TimerHandler, ms = 0) => (ms < 2_000 ? own(work, ms) : 0);
    window.setInterval = slow as typeof window.setInterval;
  });
}

const best = (page: Page) => page.getByRole('article');

test('quotes arrive by the feed, the best one large; one that is taken back stays with its reason', async (t) => {
  const id = await asked({ give: 'ETH', get: 'BTC', amount: 10n ** 17n });
  const page = await web.open(t, `/orders/${id}`, { as: taker, prepare: withoutPolls });
  await page.getByRole('heading', { name: 'Waiting for the first quote' }).waitFor();
  await page.getByRole('button', { name: 'Share' }).first().waitFor();
  await one.client.quote(id, '400000');
  await best(page)
    .getByRole('link', { name: /^Accept 0\.004.BTC/ })
    .waitFor();
  await other.client.quote(id, '410000');
  await best(page)
    .getByRole('link', { name: /^Accept 0\.0041.BTC/ })
    .waitFor();
  await says(page, 'Best of 2 quotes');
  await says(page, /0\.041 BTC per ETH/);
  const [thread] = (await other.client.quotes()).threads;
  await other.client.withdrawQuote(thread?.id ?? '');
  await says(page, 'The maker took this price back. A new one may follow.');
  await best(page)
    .getByRole('link', { name: /^Accept 0\.004.BTC/ })
    .waitFor();
});

test('counter prices go to and fro, and an order that is cancelled ends', async (t) => {
  const id = await asked({ give: 'ETH', get: 'BTC', amount: 10n ** 17n });
  const { id: threadId } = await other.client.quote(id, '410000');
  const page = await web.open(t, `/orders/${id}`, { as: taker });
  await best(page).getByRole('link').click();
  await page.getByRole('heading', { name: /0\.1.ETH for 0\.0041.BTC/ }).waitFor();
  await page.getByText('Name another price').click();
  await page.getByLabel('You would get (BTC)').fill('much');
  await says(page, /^Type digits only/);
  assert.equal(await page.getByText(/^Type digits only/).count(), 1, 'at the field alone');
  await page.getByLabel('You would get (BTC)').fill('0.0042');
  await page.keyboard.press('Enter');
  await says(page, /^You named this price/);
  assert.equal((await other.client.thread(threadId)).quoteAmount, '420000');
  await other.client.propose(threadId, '415000');
  await page.getByRole('heading', { name: /for 0\.00415.BTC/ }).waitFor();
  await page.getByText('Prices so far').click();
  await says(page, /^They: 0\.00415.BTC/);
  await says(page, /^You: 0\.0042.BTC/);
  await page.getByRole('link', { name: 'All quotes of this order' }).click();
  await page.getByText('The request in full').click();
  await page.getByRole('button', { name: 'Cancel the order' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the order' }).click();
  await says(page, 'This order was cancelled.');
  assert.equal((await taker.client.rfq(id)).status, 'cancelled');
});

test('on a phone the one button of an acceptance is in view and leads to what is missing; a huge amount fits', async (t) => {
  const id = await asked({ give: 'USDX', get: 'BTC', amount: 10n ** 6n });
  const { id: threadId } = await one.client.quote(id, '2099999999999999');
  const page = await web.open(t, `/orders/${id}`, { as: taker, width: 390, height: 700 });
  const fits = () =>
    page.evaluate(
      () => document.documentElement.scrollWidth <= document.documentElement.clientWidth,
    );
  await best(page)
    .getByRole('link', { name: /^Accept/ })
    .waitFor();
  assert.ok(await fits(), 'the order is no wider than the view');
  await best(page)
    .getByRole('link', { name: /^Accept/ })
    .click();
  await page.waitForURL(`**/deals/${threadId}`);
  const next = page.getByRole('button', { name: 'Next: keep your rescue phrase' });
  await next.waitFor();
  assert.ok(await fits(), 'nor is the acceptance');
  const box = (await next.boundingBox()) ?? assert.fail('it is not drawn');
  assert.ok(box.y >= 0 && box.y + box.height <= 700, `from ${box.y}, ${box.height} high`);
  assert.ok(box.height >= 44);
  await next.click();
  await page.waitForFunction(() => document.activeElement?.closest('#deal-first') !== null);
});

/** The ways to keep the phrase stand on the page itself. */
async function writesPhrase(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Write it down' }).click();
  const shown = page.locator('.phrase-words strong');
  await shown.first().waitFor();
  const words = await shown.allTextContents();
  for (const field of await page.getByLabel(/^Word \d+$/).all()) {
    const label = await field.evaluate((each: HTMLInputElement) => each.labels?.[0]?.textContent);
    await field.fill(words[Number(label?.slice(5)) - 1] ?? '');
  }
  await page.getByRole('button', { name: 'Check', exact: true }).click();
}

test('an acceptance: phrase, one signature, an address, and a price that moves under it is read anew', async (t) => {
  const id = await asked({ give: 'ETH', get: 'BTC', amount: 10n ** 17n });
  const { id: threadId } = await one.client.quote(id, '410000');
  const { chains } = await web.dev.status();
  const evm = chains.find(({ family }) => family === 'evm');
  const wallet = { family: 'evm', name: 'Fox', privateKey: taker.evmKey } as const;
  const nodes = { [evm?.chainId ?? 0]: evm?.rpcUrl ?? '' };
  const content = await walletScript([{ ...wallet, chains: nodes }]);
  const prepare = (context: BrowserContext) => context.addInitScript({ content });
  const page = await web.open(t, `/deals/${threadId}`, { as: taker, prepare });
  await writesPhrase(page);
  await says(page, 'Your rescue phrase is kept');
  await page.getByRole('button', { name: /Fox/ }).click();
  await says(page, 'Your Bitcoin key is authorized');
  const address = page.getByRole('textbox', { name: /^You are paid on/ });
  await address.fill('hello');
  await says(page, /^This is no Bitcoin address/);
  await page.getByRole('button', { name: 'Next: name your address' }).click();
  await page.getByRole('button', { name: 'Use an address of this dev network' }).click();
  const tick = page.getByRole('button', { name: 'Next: tick every sentence' });
  const accept = page.getByRole('button', { name: 'Accept and lock the price' });
  await tick.waitFor();
  assert.equal(await accept.count(), 0);
  // What is a choice is folded away, and is none of the sentences to confirm.
  const sentences = page.getByRole('region', { name: 'Please confirm' }).getByRole('checkbox');
  assert.equal(await sentences.count(), 1);
  await sentences.check();
  await accept.waitFor();
  await one.client.propose(threadId, '405000');
  await says(page, /^The terms have changed. The price is now 0\.00405.BTC/);
  assert.equal(await accept.count(), 0, 'nobody accepts what was not read');
  // The button that accepts takes its place: the second click is none of that.
  await page.getByRole('button', { name: 'I have seen the new terms' }).dblclick();
  // The price has nothing to compare it with: a tick for another one says nothing of it.
  await tick.waitFor();
  await sentences.check();
  await accept.and(page.locator(':not([aria-disabled=true])')).click();
  await page.getByRole('heading', { name: 'You accepted. Now it is their turn' }).waitFor();
  assert.equal((await one.client.thread(threadId)).takerAccepted, true);
});

test('another tab shows the acceptance of the first, and goes on to the swap when both have', async (t) => {
  const id = await asked({ give: 'ETH', get: 'BTC', amount: 10n ** 17n });
  const { id: threadId } = await one.client.quote(id, '400000');
  const page = await web.open(t, `/deals/${threadId}`, { as: taker });
  await says(page, /^If they stop/);
  await taker.client.accept(threadId, { quoteAmount: '400000' });
  await page.getByRole('heading', { name: 'You accepted. Now it is their turn' }).waitFor();
  await one.client.accept(threadId, {
    quoteAmount: '400000',
    hashlock: 'ab'.repeat(32),
  });
  await page.waitForURL(/\/swaps\//);
});

test('a maker whose price lost the race is told at once that nothing is lost', async (t) => {
  const id = await asked({ give: 'BTC', get: 'ETH', amount: 1_000_000n, by: one.client });
  const { id: threadId } = await taker.client.quote(id, `${10n ** 17n}`);
  const page = await web.open(t, `/deals/${threadId}`, { as: taker, prepare: withoutPolls });
  await says(page, /^If they stop/);
  await one.client.cancelRfq(id);
  await page.getByRole('heading', { name: 'The request was cancelled' }).waitFor();
  await says(page, 'No coins were locked and no coins are lost.');
});
