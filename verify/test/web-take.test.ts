// From "I have this and want that" to a price, in a real Chromium on dev chains, against makers that
// run the SDK. The acceptance is in web-swap.test.ts.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type Person as Maker, newPerson } from '@parley/dev/demo/people.ts';
import { placeOf } from '@parley/dev/demo/place.ts';
import type { Page } from 'playwright-core';
import { type Person, sharedWeb, type Web } from './support/web.ts';

const opened = sharedWeb();
let web: Web;
let taker: Person;
let one: Maker;
let other: Maker;
before(async () => {
  web = await opened();
  const status = await web.dev.status();
  const brand = { productName: 'Parley', shortName: 'parley' };
  const now = () => Math.floor(Date.now() / 1_000) + status.clockOffsetSeconds;
  const market = { url: web.url, brand, dev: web.dev, now };
  const [own, ...others] = await Promise.all([
    web.person(),
    ...['one', 'other'].map((name) => newPerson(name, 'evm', placeOf(status), market)),
  ]);
  taker = own;
  [one, other] = others as [Maker, Maker];
});

/** Somewhere on the screen, whatever parts the sentence has. */
const shows = (page: Page, hasText: RegExp) => page.locator('main').filter({ hasText }).waitFor();
const says = (page: Page, sentence: RegExp | string) => page.getByText(sentence).first().waitFor();

/** By keyboard: one of the assets that the list finds. */
async function choose(page: Page, side: string, typed: string): Promise<void> {
  const field = page.getByRole('group', { name: side }).getByRole('combobox', { name: 'Asset' });
  await field.fill(typed);
  const list = page.getByRole('listbox');
  await list.getByRole('option').first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await list.waitFor({ state: 'detached' });
}

test('signed out all is filled in with its costs, and the sign-in leads back to it', async (t) => {
  const { assets } = await one.client.assets({ limit: 100 });
  const idOf = (symbol: string) => assets.find((each) => each.symbol === symbol)?.id ?? '';
  const level = { direction: 'sell_base', validForSeconds: 600 } as const;
  await one.client.publishLevels({
    baseAssetId: idOf('ETH'),
    quoteAssetId: idOf('BTC'),
    levels: [{ ...level, baseAmount: `${10n ** 18n}`, quoteAmount: '5000000' }],
  });
  t.after(() => one.client.withdrawLevels());
  const page = await web.open(t, '/');
  await choose(page, 'You give', 'ETH');
  await choose(page, 'You get', 'BTC');
  await page.getByLabel('Amount (ETH)').fill('0.25');
  await page.getByLabel('Amount (BTC)').fill('0.012');
  await says(page, 'At worst your ETH is locked for');
  await says(page, /^A maker indicates about 0\.0125.BTC for 0\.25.ETH/);
  await shows(page, /To collect what you get, on [\w-]+about [\d.]+.BTC taken out of the amount/);
  await page.getByRole('button', { name: 'Sign in and ask for quotes' }).click();
  await page.waitForURL(/\/sign-in\?/);
  const cookies = [...taker.cookies].map(([name, value]) => ({ name, value, url: web.url }));
  await page.context().addCookies(cookies);
  const early = Promise.withResolvers<void>();
  await page.route('**/account/me', (request) => early.promise.then(() => request.continue()));
  await page.goto(`${web.url}/`);
  await page.getByRole('button', { name: 'Ask for quotes' }).click();
  // The press came before the page knew the session, and holds.
  await page.locator('button[aria-busy=true]', { hasText: 'Ask for quotes' }).waitFor();
  early.resolve();
  // By what the tab had kept.
  await page.getByRole('heading', { name: '0.25 ETH for BTC' }).waitFor();
  await says(page, 'You ask for 0.012 BTC.');
});

const rowsOf = (page: Page) => page.getByRole('row').filter({ hasText: 'Look and accept' });

test('quotes arrive live, the best first; counter prices go to and fro; a cancelled order ends', async (t) => {
  const { assets } = await taker.client.assets({ limit: 100 });
  const idOf = (symbol: string) => assets.find((each) => each.symbol === symbol)?.id ?? '';
  const { id } = await taker.client.createRfq({
    direction: 'sell_base',
    baseAssetId: idOf('ETH'),
    baseAmount: `${10n ** 17n}`,
    quoteAssetId: idOf('BTC'),
    ttlSeconds: 600,
    visibility: 'private',
  });
  const page = await web.open(t, `/orders/${id}`, { as: taker });
  await says(page, 'No quote yet. Send the link to who shall quote.');
  await one.client.quote(id, '400000');
  await rowsOf(page).first().waitFor();
  const { id: threadId } = await other.client.quote(id, '410000');
  await says(page, 'Best');
  await rowsOf(page)
    .first()
    .filter({ hasText: /0\.0041.BTC/ })
    .waitFor();
  await rowsOf(page).first().getByRole('link').click();
  await page.getByRole('heading', { name: /0\.1.ETH for 0\.0041.BTC/ }).waitFor();
  await says(page, 'They offer this price.');
  await page.getByLabel('You would get (BTC)').fill('much');
  await says(page, /^Type digits only/);
  assert.equal(await page.getByText(/^Type digits only/).count(), 1, 'at the field alone');
  await page.getByLabel('You would get (BTC)').fill('0.0042');
  await page.keyboard.press('Enter');
  await says(page, 'You named this price.');
  assert.equal((await other.client.thread(threadId)).quoteAmount, '420000');
  await other.client.propose(threadId, '415000');
  await page.getByRole('heading', { name: /for 0\.00415.BTC/ }).waitFor();
  await shows(page, /They: 0\.00415.BTC.*You: 0\.0042.BTC/);
  await page.getByRole('link', { name: 'All quotes of this order' }).click();
  await page.getByRole('button', { name: 'Cancel the order' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the order' }).click();
  await says(page, 'This order was cancelled.');
  assert.equal((await taker.client.rfq(id)).status, 'cancelled');
});
