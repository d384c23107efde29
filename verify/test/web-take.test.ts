// From "I have this and want that" to a price, in a real Chromium on dev chains, against makers that
// run the SDK. Quotes are in web-deal.test.ts.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, type TestContext, test } from 'node:test';
import type { Person as Maker } from '@parley/dev/demo/people.ts';
import { walletScript } from '@parley/web/wallets/testing/script.ts';
import type { Page } from 'playwright-core';
import { makersOn, type Person, sharedWeb, type Web } from './support/web.ts';

const opened = sharedWeb();
let web: Web;
let taker: Person;
let one: Maker;
before(async () => {
  web = await opened();
  [taker, [one]] = await Promise.all([web.person(), makersOn(web, 'one')]);
});

/** Somewhere on the screen, whatever parts the sentence has. */
const shows = (page: Page, hasText: RegExp) => page.locator('main').filter({ hasText }).waitFor();
const says = (page: Page, sentence: RegExp | string) => page.getByText(sentence).first().waitFor();

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const given = (page: Page) => page.getByRole('textbox', { name: 'You give' });
const received = (page: Page) => page.getByRole('textbox', { name: 'You receive' });

/** By keyboard: the first asset that the search finds. */
async function choose(page: Page, side: string, typed: string): Promise<void> {
  await button(page, new RegExp(`^${side}: `)).press('Enter');
  const search = page.getByRole('searchbox', { name: 'Symbol or chain' });
  await search.fill(typed);
  await search.press('Enter');
  await search.waitFor({ state: 'detached' });
}

type Levels = Parameters<Maker['client']['publishLevels']>[0]['levels'];

async function publish(t: TestContext, symbols: readonly [string, string], levels: Levels) {
  const { assets } = await one.client.assets({ limit: 100 });
  const [base = '', quote = ''] = symbols.map(
    (symbol) => assets.find((each) => each.symbol === symbol)?.id,
  );
  await one.client.publishLevels({ baseAssetId: base, quoteAssetId: quote, levels });
  t.after(() => one.client.withdrawLevels());
}

const level = { direction: 'sell_base', validForSeconds: 600 } as const;

test('a fresh browser has quotes asked for in three steps: an amount, the button, the wallet', async (t) => {
  // 65 000 USDX for one bitcoin, of 0.001 to 0.5.
  const sizes = { baseAmount: '50000000', leastBaseAmount: '100000' };
  await publish(t, ['BTC', 'USDX'], [{ ...level, ...sizes, quoteAmount: '32500000000' }]);
  const { chains } = await web.dev.status();
  const evm = chains.find(({ family }) => family === 'evm');
  const chainId = evm?.chainId ?? 0;
  const privateKey = `0x${randomBytes(32).toString('hex')}`;
  const wallet = { family: 'evm', name: 'Fox', privateKey } as const;
  const content = await walletScript([{ ...wallet, chains: { [chainId]: evm?.rpcUrl ?? '' } }]);
  const page = await web.open(t, '/', { prepare: (context) => context.addInitScript({ content }) });
  await choose(page, 'You receive', 'USDX');
  await choose(page, 'You give', 'BTC');
  // The price of one stands there before anything is typed.
  await shows(page, /from 1 maker · 65.000 USDX per BTC/);
  await button(page, 'Get live quotes').click();
  await says(page, 'Type an amount');
  assert.equal(await given(page).evaluate((field) => field === document.activeElement), true);
  await given(page).fill('0.00000001');
  await says(page, /^At least [\d.]+.BTC: fees would eat less/);
  await given(page).fill('0.6');
  await says(page, /^The largest size of a maker is 0\.5.BTC now/);
  await given(page).fill('0.02');
  await page.waitForFunction(
    () => document.querySelector<HTMLInputElement>('#swap-get')?.value === '1\u202f300.00',
  );
  const connecting = page.getByRole('dialog', { name: 'Connect a wallet' });
  await button(page, 'Get live quotes').click();
  await connecting.getByRole('button', { name: 'Not now' }).click();
  assert.equal(await page.evaluate(() => sessionStorage.getItem('parley.asking')), null);
  await button(page, 'Get live quotes').click();
  // Twice at once makes one order.
  await connecting.getByRole('button', { name: /Fox/ }).dblclick();
  await page.waitForURL(/\/orders\//);
  await page.getByRole('heading', { name: /0\.02.BTC/ }).waitFor();
  const cookies = await page.context().cookies();
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const headers = { cookie, 'x-parley-request': '1' };
  const answer = await fetch(`${web.url}/v1/rfqs?own=true`, { headers });
  const { rfqs } = (await answer.json()) as { rfqs: { id: string; baseAmount: string }[] };
  assert.deepEqual(
    rfqs.map(({ baseAmount }) => baseAmount),
    ['2000000'],
  );
});

test('an exact amount to receive, an asking price, and a press before the session is known', async (t) => {
  const page = await web.open(t, '/', { as: taker });
  await choose(page, 'You give', 'ETH');
  await choose(page, 'You receive', 'BTC');
  await received(page).fill('0.012');
  await page.getByText('Options').click();
  await page.getByLabel(/^Offer a price of your own/).fill('0.25');
  const early = Promise.withResolvers<void>();
  await page.route('**/account/me', (request) => early.promise.then(() => request.continue()));
  await page.reload();
  assert.equal(await received(page).inputValue(), '0.012', 'as the tab had kept it');
  await button(page, 'Get live quotes').click();
  await page.locator('button[aria-busy=true]', { hasText: 'Get live quotes' }).waitFor();
  early.resolve();
  await page.waitForURL(/\/orders\//);
  const { rfqs } = await taker.client.rfqs({ own: true });
  const [newest] = rfqs;
  assert.deepEqual(
    [newest?.direction, newest?.baseAmount, newest?.askAmount],
    ['buy_base', '1200000', `${25n * 10n ** 16n}`],
  );
});

test('on a phone an asset of the other side’s chain moves the former one there', async (t) => {
  const page = await web.open(t, '/', { width: 360, height: 640 });
  await choose(page, 'You receive', 'USDX');
  await choose(page, 'You give', 'BTC');
  await button(page, /^You give: BTC/).click();
  const dialog = page.getByRole('dialog');
  const row = dialog.getByRole('listitem').filter({ has: page.getByText('ETH', { exact: true }) });
  await row
    .filter({ hasText: /You then receive BTC/ })
    .getByRole('button')
    .click();
  await button(page, /^You give: ETH/).waitFor();
  await button(page, /^You receive: BTC/).waitFor();
  const action = await button(page, 'Get live quotes').boundingBox();
  assert.ok(action !== null && action.y + action.height <= 640, 'inside the first view');
});
