// A browser that keeps nothing: the app opens and says so, and no swap begins whose keys are lost.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, test } from 'node:test';
import { linkWallet } from '@parley/sdk/keys.ts';
import { bitcoinWallet } from '@parley/sdk/wallets/bitcoin.ts';
import type { BrowserContext } from 'playwright-core';
import { waitUntil } from './support/waiting.ts';
import { type Person, sharedWeb, type Web } from './support/web.ts';

const opened = sharedWeb();
let web: Web;
let taker: Person;
let threadId: string;
before(async () => {
  web = await opened();
  const [one, maker] = await Promise.all([web.person(), web.person()]);
  taker = one;
  const privateKey = randomBytes(32).toString('hex');
  await linkWallet(maker.client, bitcoinWallet({ privateKey, network: 'regtest' }));
  const { assets } = await taker.client.assets({ limit: 100 });
  const idOf = (symbol: string) => assets.find((each) => each.symbol === symbol)?.id ?? '';
  const { id } = await taker.client.createRfq({
    direction: 'buy_base',
    baseAssetId: idOf('BTC'),
    baseAmount: '1000000',
    quoteAssetId: idOf('ETH'),
    ttlSeconds: 600,
  });
  threadId = (await maker.client.quote(id, `${10n ** 17n}`)).id;
});

const insecure = `new DOMException('The operation is insecure.', 'SecurityError')`;
/** A browser that keeps nothing, and why no swap can be accepted there. */
type Way = { readonly script: string; readonly why: string };
const ways: Readonly<Record<string, Way>> = {
  'refuses to be asked': {
    script: `for (const name of ['localStorage', 'sessionStorage', 'indexedDB']) {
      Object.defineProperty(window, name, { get() { throw ${insecure}; } });
    }`,
    why: 'this browser keeps IndexedDB from this page',
  },
  'has no room': {
    script: `const why = new DOMException('the disk is full', 'QuotaExceededError');
    const full = () => { throw why; };
    Storage.prototype.setItem = full;
    IDBObjectStore.prototype.put = full;`,
    why: 'the disk is full',
  },
};

const screens = ['/', '/book', '/orders', '/sign-in', '/settings', '/phrase', '/rescue', '/swaps'];

for (const [how, { script, why }] of Object.entries(ways)) {
  test(`a browser that ${how} opens the app, is told what is lost, and accepts nothing`, async (t) => {
    const context = await web.browser.newContext({ locale: 'en-GB', serviceWorkers: 'block' });
    t.after(() => context.close());
    const cookies = [...taker.cookies].map(([name, value]) => ({ name, value, url: web.url }));
    await context.addCookies(cookies);
    await context.addInitScript(script);
    const page = await context.newPage();
    const failed: string[] = [];
    page.on('pageerror', (error) => failed.push(String(error)));
    const told = page.getByText('This browser keeps nothing of this page');
    for (const path of [...screens, `/deals/${threadId}`]) {
      await page.goto(`${web.url}${path}`);
      await told.waitFor();
      await page.locator('#screen h1').first().waitFor();
    }
    await page.locator('.loading').first().waitFor({ state: 'detached' });
    await page.getByText(why).waitFor();
    assert.equal(await page.getByRole('button', { name: /accept/i }).count(), 0);
    assert.deepEqual(failed, []);
    const { status, takerAccepted } = await taker.client.thread(threadId);
    assert.deepEqual([status, takerAccepted], ['open', false]);
  });
}

test('a code that was mailed is typed there all the same, in full width and with what copying leaves', async (t) => {
  const refuses = ways['refuses to be asked']?.script;
  const prepare = (context: BrowserContext) => context.addInitScript(refuses ?? '');
  const page = await web.open(t, '/sign-in', { prepare });
  const address = `code-${randomBytes(6).toString('hex')}@example.test`;
  await page.getByLabel('E-mail address').fill(address);
  await page.getByRole('button', { name: 'Send a code' }).click();
  const digits = page.getByLabel('The digits of the code');
  await digits.waitFor();
  const code = await waitUntil(async () => {
    const mails = await fetch(`${web.market.ready.inbox}mails.json?to=${address}`);
    return /\b\d{6}\b/.exec(await mails.text())?.[0] ?? null;
  });
  const wide = code.replace(/\d/g, (each) => String.fromCharCode(each.charCodeAt(0) + 0xfee0));
  await digits.fill(`\u200e${wide.slice(0, 3)}\u3000${wide.slice(3)}\u200f`);
  await page.getByRole('button', { name: 'Go on' }).click();
  await digits.waitFor({ state: 'detached' });
  await page.getByText(address).first().waitFor();
});
