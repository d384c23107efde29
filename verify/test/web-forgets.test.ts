// A browser that keeps nothing: no swap begins whose keys would be lost.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, test } from 'node:test';
import { linkWallet } from '@parley/sdk/keys.ts';
import { bitcoinWallet } from '@parley/sdk/wallets/bitcoin.ts';
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

for (const [how, { script, why }] of Object.entries(ways)) {
  test(`a browser that ${how} opens the app, and accepts nothing`, async (t) => {
    const context = await web.browser.newContext({ locale: 'en-GB', serviceWorkers: 'block' });
    t.after(() => context.close());
    const cookies = [...taker.cookies].map(([name, value]) => ({ name, value, url: web.url }));
    await context.addCookies(cookies);
    await context.addInitScript(script);
    const page = await context.newPage();
    const failed: string[] = [];
    page.on('pageerror', (error) => failed.push(String(error)));
    await page.goto(`${web.url}/deals/${threadId}`);
    await page.getByText(why).waitFor();
    assert.equal(await page.getByRole('button', { name: /accept/i }).count(), 0);
    assert.deepEqual(failed, []);
    const { status, takerAccepted } = await taker.client.thread(threadId);
    assert.deepEqual([status, takerAccepted], ['open', false]);
  });
}
