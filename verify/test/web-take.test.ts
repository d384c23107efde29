// From "I have this and want that" to an agreed price, in a real Chromium on dev chains, against
// makers that run the SDK.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type Person as Maker, newPerson } from '@parley/dev/demo/people.ts';
import { placeOf } from '@parley/dev/demo/place.ts';
import { accept } from '@parley/sdk/agree.ts';
import type { PinnedAsset } from '@parley/sdk/trade.ts';
import type { Thread } from '@parley/sdk/types.ts';
import type { Page } from 'playwright-core';
import { privateKeyToAccount } from 'viem/accounts';
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
  const then = new URL(page.url()).searchParams.get('then') ?? '';
  const signedIn = await web.open(t, then, { as: taker });
  await signedIn.getByRole('button', { name: 'Ask for quotes' }).click();
  // By what the address of the sign-in had kept.
  await signedIn.getByRole('heading', { name: '0.25 ETH for BTC' }).waitFor();
  await says(signedIn, 'You ask for 0.012 BTC.');
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
  await page.getByLabel('You would get (BTC)').fill('0.0042');
  await page.keyboard.press('Enter');
  await says(page, 'You named this price.');
  assert.equal((await other.client.thread(threadId)).quoteAmount, '420000');
  await other.client.propose(threadId, '415000');
  await page.getByRole('heading', { name: /for 0\.00415.BTC/ }).waitFor();
  await shows(page, /They: 0\.00415.BTC.*You: 0\.0042.BTC/);
  // A page of the market has a hundred of them; here it has one.
  await page.route(`**/v1/rfqs/${id}/threads?*`, async (route) => {
    const url = new URL(route.request().url());
    const isFirst = !url.searchParams.has('cursor');
    url.searchParams.delete('cursor');
    // The page asks until it is closed, and takes the answer with it.
    const asked = route.fetch({ url: url.href }).then((found) => found.json());
    const answer = await asked.catch(() => null);
    if (answer === null) return route.abort();
    const { threads } = answer;
    const page = isFirst ? threads.slice(0, 1) : threads.slice(1);
    await route.fulfill({ json: { threads: page, nextCursor: isFirst ? 'rest' : null } });
  });
  await page.getByRole('link', { name: 'All quotes of this order' }).click();
  await says(page, 'More quotes came than are compared here');
  assert.equal(await rowsOf(page).count(), 1);
  await page.getByRole('button', { name: 'Compare more' }).click();
  await rowsOf(page).nth(1).waitFor();
  await page.getByRole('button', { name: 'Cancel the order' }).click();
  await page.getByRole('button', { name: 'Cancel it' }).click();
  await says(page, 'This order was cancelled.');
  assert.equal((await taker.client.rfq(id)).status, 'cancelled');
});

test('whom a private order is not for is told so in plain words, and no quote is sent', async (t) => {
  const { assets } = await one.client.assets({ limit: 100 });
  const idOf = (symbol: string) => assets.find((each) => each.symbol === symbol)?.id ?? '';
  const { id } = await one.client.createRfq({
    direction: 'sell_base',
    baseAssetId: idOf('ETH'),
    baseAmount: `${10n ** 17n}`,
    quoteAssetId: idOf('BTC'),
    ttlSeconds: 600,
    visibility: 'private',
    targetAddress: `0x${'11'.repeat(20)}`,
  });
  t.after(() => one.client.cancelRfq(id));
  const page = await web.open(t, `/orders/${id}`, { as: taker });
  await page.getByLabel('You give (BTC)').fill('0.004');
  await page.getByRole('button', { name: 'Send the quote' }).click();
  await says(page, 'This private order is for another account');
  assert.doesNotMatch((await page.locator('main').textContent()) ?? '', /RFQ/);
});

/** The terms that a maker accepts. */
async function termsFor(maker: Maker, { id, rfq, quoteAmount }: Thread) {
  const { assets } = await maker.client.assets({ limit: 100 });
  const pinned = (assetId: string): PinnedAsset => {
    const { chain, address: token, decimals } = assets.find((each) => each.id === assetId)!;
    return { id: assetId, chain, token, decimals, highValueFrom: null };
  };
  return {
    ...({ party: 'maker', rfqId: rfq.id, direction: rfq.direction, threadId: id } as const),
    baseAmount: BigInt(rfq.baseAmount),
    quoteAmount: BigInt(quoteAmount),
    base: pinned(rfq.baseAssetId),
    quote: pinned(rfq.quoteAssetId),
    now: () => Math.floor(Date.now() / 1_000),
  };
}

/** As a person with paper: the words are read, and three of them typed back. */
async function phraseMade(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Make a phrase' }).click();
  await page.getByRole('button', { name: 'Show the words' }).click();
  const words = page.getByRole('list', { name: 'The twelve words' }).locator('strong');
  await words.first().waitFor();
  const all = await words.allTextContents();
  await page.getByRole('button', { name: 'I have written them down' }).click();
  const fields = page.getByLabel(/^Word \d+$/);
  await fields.first().waitFor();
  for (const field of await fields.all()) {
    const label = await field.evaluate((each: HTMLInputElement) => each.labels?.[0]?.textContent);
    const at = Number(label?.replace('Word ', ''));
    await field.fill(all[at - 1] ?? '');
  }
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await page.getByRole('link', { name: 'Go on' }).click();
}

test('accepted with a phrase, a vouched key and every check: the swap begins when both have', async (t) => {
  const { assets } = await taker.client.assets({ limit: 100 });
  const idOf = (symbol: string) => assets.find((each) => each.symbol === symbol)?.id ?? '';
  const { id } = await taker.client.createRfq({
    direction: 'sell_base',
    baseAssetId: idOf('ETH'),
    baseAmount: `${10n ** 17n}`,
    quoteAssetId: idOf('BTC'),
    askAmount: '500000',
    ttlSeconds: 600,
  });
  const { id: threadId } = await one.client.quote(id, '400000');
  const page = await web.open(t, `/deals/${threadId}`, { as: taker });
  await page.getByRole('link', { name: 'To the phrase' }).click();
  await phraseMade(page);
  // A newcomer has no address of a dev chain.
  await page.getByRole('button', { name: 'Use an address of this dev network' }).click();
  assert.match(await page.getByLabel(/^You are paid on/).inputValue(), /^bcrt1q[a-z0-9]{38}$/);
  await page.getByRole('button', { name: 'Sign with the login wallet' }).click();
  const message = await page.getByRole('textbox', { name: /text/i }).inputValue();
  const account = privateKeyToAccount(taker.evmKey);
  await page.getByLabel(/^Signature/).fill(await account.signMessage({ message }));
  await page.getByRole('button', { name: 'Go on' }).click();
  const ahead = page.waitForRequest(/\/settlement-[^/]*\.js$/);
  await page.getByRole('button', { name: 'Check and accept' }).click();
  // While the person reads, the screen of the swap is loaded.
  await ahead;
  const yes = page.getByRole('button', { name: 'Accept, bindingly' });
  await says(page, 'Tick every sentence first');
  await yes.click({ force: true });
  assert.equal((await one.client.thread(threadId)).takerAccepted, false);
  await page
    .getByLabel(/I get 20% less than I asked for: 0\.004.BTC instead of 0\.005.BTC/)
    .check();
  await yes.click();
  await says(page, 'You accepted. They have until');
  const thread = await one.client.thread(threadId);
  assert.equal(thread.takerAccepted, true);
  await accept({ ...one, ...(await termsFor(one, thread)) });
  await page.waitForURL(/\/swaps\//);
});
