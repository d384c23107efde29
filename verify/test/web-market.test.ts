// The market's pages in a browser, for a person without an account: levels that makers published, a
// chart that the content policy lets be drawn, and the way into the box.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { before, test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { saysAt, sharedWeb, type Web } from './support/web.ts';

const opened = sharedWeb();
let web: Web;
before(async () => {
  web = await opened();
});

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

async function axeFindings(page: Page): Promise<unknown> {
  await page.evaluate(axe);
  return page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))');
}

/** 100 of the dollar for one of the coin, now and an hour before at 95. */
function answers(base: string, quote: string) {
  const of = (quoteAmount: string) => ({ baseAmount: '1000000000', quoteAmount });
  const at = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
  const median = { direction: 'sell_base', ...of('100000000'), agreedAt: at(0) };
  const pair = { baseAssetId: base, quoteAssetId: quote };
  const point = (hours: number, units: string) => ({
    at: at(hours),
    ...of(units),
    low: of(units),
    high: of(units),
    count: 3,
  });
  const points = [point(2, '95000000'), point(1, '100000000')];
  return {
    price: { ...pair, median, agreements: [median, median, median], windowSeconds: 86_400 },
    history: { ...pair, days: 7, bucketSeconds: 3_600, points },
  };
}

test('a stranger finds a pair, its chart and its levels, and takes one into the box', async (t) => {
  const { client } = await web.person();
  const { assets } = await client.assets({ limit: 100 });
  const idOf = (symbol: string, chain: string) =>
    assets.find((each) => each.symbol === symbol && each.chain === chain)?.id ?? assert.fail();
  const baseAssetId = idOf('SOL', 'solana-dev');
  const quoteAssetId = idOf('USDD', 'evm-dev');
  const level = (baseAmount: string, quoteAmount: string) => ({
    direction: 'sell_base' as const,
    baseAmount,
    quoteAmount,
    validForSeconds: 600,
  });
  const levels = [level('1000000000', '99000000'), level('2000000000', '300000000')];
  await client.publishLevels({ baseAssetId, quoteAssetId, levels });
  t.after(() => client.withdrawLevels());
  const { price, history } = answers(baseAssetId, quoteAssetId);
  // Swaps of a week are not to be had: what the market would say of them.
  const prepare = async (context: BrowserContext) => {
    await saysAt(context, '/market/pairs/price', price);
    await saysAt(context, '/market/pairs/history', history);
  };
  const page = await web.open(t, '/', { width: 390, prepare });
  await page.getByRole('link', { name: 'Market', exact: true }).click();
  await page.getByRole('link', { name: 'SOL / USDD' }).click();
  await page.getByRole('heading', { level: 1, name: 'SOL / USDD' }).waitFor();
  const said = '1 SOL was 95 USDD at first and 100 USDD at last, between 95 USDD and 100 USDD';
  await page.getByRole('img', { name: said }).locator('canvas').waitFor();
  await page.getByText('+5.26%').waitFor();
  const side = page.getByRole('region', { name: 'They pay for SOL' });
  const rows = side.getByRole('row').filter({ has: page.getByRole('link') });
  await rows.first().getByText('99 USDD').waitFor();
  // Half as much again as recent swaps costs its maker nothing to say.
  await rows.last().getByText('150 USDD').waitFor();
  await rows.last().getByText('far from recent swaps').waitFor();
  assert.deepEqual(await axeFindings(page), []);
  await rows.first().getByRole('link').click();
  await page.waitForURL(({ pathname }) => pathname === '/');
  await page.locator('input').first().waitFor();
  assert.equal(await page.locator('input').first().inputValue(), '1');
});
