// `npm run -s node -- verify/test/web-soak/pictures.ts`: redraws docs/pictures/app, every screen of
// the app at three widths, light and dark, by people who trade for real on a dev network. The week of
// prices in them is made up, since swaps that settle would take a week.

import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { sleep } from '@parley/chains/nodes/turn.ts';
import type { Asset } from '@parley/sdk/types.ts';
import type { BrowserContext } from 'playwright-core';
import { startWeb } from '../support/web.ts';
import { newMaker, takesPart } from './maker.ts';
import { mustEnd, tradeOf } from './scenario.ts';
import { accepts, keepsPhrase, says } from './screens.ts';
import { settles } from './settles.ts';
import { sheetsIn } from './sheets.ts';
import { funded, groundOf, newTrader } from './trader.ts';

const folder = fileURLToPath(new URL('../../../docs/pictures/app', import.meta.url));
const only = new RegExp(process.argv[2] ?? '');
const calmMs = 700;
/** Hundreds of dollars for a coin, over a week. */
const steps = [639, 641, 640, 644, 647, 645, 648, 653, 651, 656, 652, 655, 660, 666, 663, 664];
const days = 7;

await mkdir(folder, { recursive: true });
const sheets = sheetsIn(folder);
const web = await startWeb();
const over = new AbortController();
try {
  await draw();
} finally {
  over.abort();
  await web.close();
}

async function draw(): Promise<void> {
  const { clockOffsetSeconds } = await web.dev.status();
  const clock = {
    now: () => Math.floor(Date.now() / 1_000) + clockOffsetSeconds,
    move: async () => {},
  };
  const ground = await groundOf(web);
  const maker = await newMaker(ground, clock);
  const { assets } = await maker.client.assets({ limit: 100 });
  const trade = tradeOf(ground, 'BTC', 'EVM dollar');
  const assetOf = ({ chain, token }: typeof trade.give): Asset => {
    const found = assets.find((each) => each.chain === chain && each.address === token);
    if (found === undefined) throw new Error(`no asset on ${chain}`);
    return found;
  };
  const btc = assetOf(trade.give);
  const usd = assetOf(trade.get);
  await levels(maker.client, btc, usd);
  const alice = await newTrader(ground, 'Alice');
  await funded(ground, alice);
  const { page, context, goto } = alice;
  await madeUpWeek(context, btc, usd);
  const take = async (name: string) => {
    if (!only.test(name)) return;
    await page.waitForTimeout(calmMs);
    await sheets.take(page, name);
    console.log(name);
  };
  const screen = async (path: string, name: string) => {
    if (!only.test(name)) return;
    await goto(path);
    await page.locator('h1').first().waitFor();
    await take(name);
  };

  for (const name of ['sign-in', 'status', 'help', 'settings', 'rescue', 'markets', 'missing']) {
    await screen(`/${name}`, name);
  }
  await screen('/activity', 'activity-signed-out');
  await screen(`/markets/${btc.id}/${usd.id}`, 'market-pair');
  await screen('/', 'swap-empty');
  await goto('/');
  await page.locator('#swap-give-asset').click();
  await page.getByRole('dialog').waitFor();
  await take('swap-picker');
  await page.keyboard.press('Escape');
  await page.getByRole('textbox', { name: 'You give' }).fill('0.00000001');
  await take('swap-too-little');
  await page.getByRole('textbox', { name: 'You give' }).fill('0.01');
  await take('swap');
  await page.getByRole('button', { name: 'Get live quotes' }).click();
  await page.getByRole('dialog').getByRole('button', { name: /Fox/ }).waitFor();
  await take('connect');
  await page.getByRole('dialog').getByRole('button', { name: /Fox/ }).click();
  await page.waitForURL(/\/orders\//);
  await take('order-waiting');
  const rfqId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const other = await newMaker(ground, clock);
  await other.client.quote(rfqId, `${trade.getAmount - 2_000_000n}`);
  const { id } = await maker.client.quote(rfqId, `${trade.getAmount}`);
  const accept = page.getByRole('article').getByRole('link', { name: /^Accept/ });
  await says(page, 'Best of 2 quotes');
  await take('order-quotes');
  const part = takesPart(maker, id, clock, { signal: over.signal });
  part.catch(() => {});
  await accept.click();
  await page.getByRole('button', { name: /^Write it down/ }).waitFor();
  await take('accept-phrase');
  await keepsPhrase(alice);
  await page.getByRole('button', { name: 'Sign with Fox' }).waitFor();
  await take('accept-steps');
  await accepts(alice, () => take('accept-ready'));
  await page.waitForURL(/\/swaps\//);
  await settles(ground, alice, { until: /^Pay/ });
  await take('swap-pay');
  await settles(ground, alice, { until: /on its way$|are locked$/ });
  await take('swap-paid');
  await mustEnd(ground, alice, /^Done\. You received/);
  await take('swap-done');
  await (await part).ends;
  await screen('/activity', 'activity');
  const account = ['account', 'wallets', 'notifications', 'keys', 'webhooks', 'assets', 'phrase'];
  for (const name of account) await screen(`/${name}`, name);
  for (const amount of [2_000_000n, 350_000n, 12_000_000n]) {
    await maker.client.createRfq({
      direction: 'sell_base',
      baseAssetId: btc.id,
      baseAmount: `${amount}`,
      quoteAssetId: usd.id,
      ttlSeconds: 3_600,
    });
  }
  await screen('/book', 'book');
  await goto('/console');
  await page.getByRole('button', { name: /^0\.02\sBTC/ }).click();
  await take('console');
  await context.setOffline(true);
  await take('offline');
  await alice.close();
}

/** Prices around 65,120 in both directions. */
async function levels(
  client: Awaited<ReturnType<typeof newMaker>>['client'],
  base: Asset,
  quote: Asset,
): Promise<void> {
  const size = 40_000_000n;
  const perCoin = [65_120n, 65_050n, 64_900n, 65_180n, 65_260n];
  await client.publishLevels({
    baseAssetId: base.id,
    quoteAssetId: quote.id,
    levels: perCoin.map((price, at) => ({
      direction: at < 3 ? 'sell_base' : 'buy_base',
      baseAmount: `${size}`,
      leastBaseAmount: '500000',
      quoteAmount: `${(price * 10n ** BigInt(quote.decimals) * size) / 10n ** 8n}`,
      validForSeconds: 3_600,
    })),
  });
  await sleep(calmMs);
}

async function madeUpWeek(context: BrowserContext, base: Asset, quote: Asset): Promise<void> {
  const bucketSeconds = (days * 86_400) / steps.length;
  const since = Date.now() - days * 86_400_000;
  const amounts = (price: number) => ({
    baseAmount: '100000000',
    quoteAmount: `${price * 100}${'0'.repeat(quote.decimals)}`,
  });
  const points = steps.map((price, at) => ({
    at: new Date(since + at * bucketSeconds * 1_000).toISOString(),
    ...amounts(price),
    low: amounts(price - 2),
    high: amounts(price + 2),
    count: 3,
  }));
  const ids = { baseAssetId: base.id, quoteAssetId: quote.id };
  await context.route('**/market/pairs/history?**', (route) =>
    route.fulfill({ json: { ...ids, days, bucketSeconds, points } }),
  );
  const agreed = points
    .slice(-8)
    .reverse()
    .map(({ at, baseAmount, quoteAmount }) => ({
      direction: 'sell_base',
      baseAmount,
      quoteAmount,
      agreedAt: at,
    }));
  await context.route('**/market/pairs/price?**', (route) => {
    const { searchParams } = new URL(route.request().url());
    const isSame = searchParams.get('baseAssetId') === base.id;
    const isPair = isSame && searchParams.get('quoteAssetId') === quote.id;
    const found = { agreements: isPair ? agreed : [], median: isPair ? agreed[0] : null };
    const asked = Object.fromEntries(searchParams);
    return route.fulfill({ json: { ...asked, ...found, windowSeconds: 86_400 } });
  });
}
