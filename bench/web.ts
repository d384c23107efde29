// The app in a real Chromium, on loopback: script of the first screen, time until one can type on a
// slow processor, growth of a tab that is left open.

import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { pageLimitMs } from '@parley/verify/test/support/chromium.ts';
import {
  makersOn,
  type Opened,
  type Person,
  startWeb,
  type Web,
  watch,
} from '@parley/verify/test/support/web.ts';
import type { CDPSession, Page } from 'playwright-core';
import { bars } from './bars.ts';
import { usually } from './miniature.ts';
import { atMost, type Effort, inRounds, median, type Row } from './report.ts';

const slowdown = 4;
/** Prices that come closer are taken together, twice a second; the feed has answered by then too. */
const apartMs = usually(1_000, 1);
/** The RFQs of the book: 30 a page of a phone, and a few screens of rows. */
const openRfqs = usually(100, 2);
/** The head of each screen asks how the market is, every 30 s: an hour. */
const looks = usually(120, 1);
const lookMs = 30_000;
const packing = { params: { [constants.BROTLI_PARAM_QUALITY]: usually(11, 1) } };
/** Until everything that is kept for good is kept. */
const warmUpLooks = usually(30, 1);

export async function benchWeb(effort: Pick<Effort, 'rounds'>): Promise<Row[]> {
  const web = await startWeb({ PARLEY_RATE_LIMIT: '1000000' });
  try {
    return await benchWebOn(web, effort);
  } finally {
    await web.close();
  }
}

export async function benchWebOn(web: Web, { rounds }: Pick<Effort, 'rounds'>): Promise<Row[]> {
  // One more: the first warms the server up and is not counted.
  const [, ...starts] = await inRounds(rounds + 1, () => firstSeconds(web));
  const of = (name: keyof Start) => median(starts.map((each) => each[name]));
  const quotes = await quoteTimes(web, rounds);
  const { heap, nodes } = await growth(web);
  const slow = `at ${slowdown} times slower`;
  const ms = (value: number, limit: number) => ({ value, limit, unit: 'ms', bar: 1 });
  const script = { value: of('script'), limit: bars.web.scriptBytes, unit: 'B', bar: 1 };
  const shift = { value: of('shift'), limit: bars.web.shift, unit: '', bar: 1 };
  return [
    atMost('web: script of the first screen', script, '150 KiB, brotli'),
    atMost('web: first paint', ms(of('paint'), bars.web.paintMs), slow),
    atMost('web: until one can type', ms(of('interactive'), bars.web.interactiveMs), slow),
    atMost('web: layout shift', shift, 'of the first seconds'),
    atMost('web: quote to screen', ms(median(quotes), bars.web.quoteMs), 'after its commit'),
    atMost('web: heap after an hour of the book', heap, 'after its first minutes'),
    atMost('web: nodes after an hour of the book', nodes, 'after its first minutes'),
  ];
}

/** Bytes, packed, of the scripts that a page had loaded: the market packs none for this machine. */
async function packed(scripts: readonly string[]): Promise<number> {
  const sizes = scripts.map(async (url) => {
    const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
    return (await promisify(brotliCompress)(bytes, packing)).length;
  });
  return (await Promise.all(sizes)).reduce((sum, each) => sum + each, 0);
}

/** A page of the bench: an error in it fails the bench. */
async function opened(web: Web, path: string, how: Opened, before: (page: Page) => unknown) {
  const context = await web.browser.newContext({ serviceWorkers: 'block', locale: 'en-GB' });
  if (how.as !== undefined) {
    const cookies = [...how.as.cookies].map(([name, value]) => ({ name, value, url: web.url }));
    await context.addCookies(cookies);
  }
  const page = await context.newPage();
  page.setDefaultTimeout(pageLimitMs);
  const wrong = await watch(page, new Set([web.url]));
  await before(page);
  await page.goto(`${web.url}${path}`);
  return {
    page,
    cdp: await context.newCDPSession(page),
    close: async () => {
      await context.close();
      if (wrong.length > 0) throw new Error(wrong.join('\n'));
    },
  };
}

type Start = {
  /** Bytes of script that the first screen needs. */
  readonly script: number;
  /** Milliseconds until something is painted. */
  readonly paint: number;
  /** Milliseconds until the heading stands and no long task follows. */
  readonly interactive: number;
  readonly shift: number;
};

async function firstSeconds(web: Web): Promise<Start> {
  const slow = async (page: Page) => {
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
    await page.addInitScript(() => {
      const times = { shown: 0, lastTask: 0, shift: 0 };
      Object.assign(window, { times });
      new PerformanceObserver((list) => {
        for (const each of list.getEntries()) times.lastTask = each.startTime + each.duration;
      }).observe({ type: 'longtask', buffered: true });
      new PerformanceObserver((list) => {
        for (const each of list.getEntries())
          times.shift += (each as { value?: number }).value ?? 0;
      }).observe({ type: 'layout-shift', buffered: true });
      new MutationObserver(() => {
        const isThere = document.querySelector('#screen h1 ~ *, #screen input') !== null;
        if (isThere && times.shown === 0) setTimeout(() => (times.shown = performance.now()), 0);
      }).observe(document, { childList: true, subtree: true });
    });
  };
  const { page, close } = await opened(web, '/', {}, slow);
  await page.locator('#screen h1').waitFor();
  await page.waitForTimeout(usually(2_000, 100));
  const found = await page.evaluate(() => {
    const { times } = window as unknown as { times: Record<string, number> };
    const { shown = 0, lastTask = 0, shift = 0 } = times;
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    const interactive = Math.max(shown, lastTask);
    const files = performance.getEntriesByType('resource').filter((each) => each.startTime < shown);
    const scripts = files.map(({ name }) => name).filter((name) => name.endsWith('.js'));
    return { paint: paint?.startTime ?? Number.POSITIVE_INFINITY, interactive, shift, scripts };
  });
  await close();
  const { scripts, ...start } = found;
  return { ...start, script: await packed(scripts) };
}

/** From the answer that a maker's quote is stored until the taker's page shows its amount. */
async function quoteTimes(web: Web, rounds: number): Promise<number[]> {
  const [maker] = await makersOn(web, 'maker');
  const taker = await web.person();
  const idOf = await assetIds(taker);
  const { id } = await taker.client.createRfq({
    direction: 'sell_base',
    baseAssetId: idOf('ETH'),
    baseAmount: String(10n ** 18n),
    quoteAssetId: idOf('BTC'),
    ttlSeconds: 3_600,
  });
  const { page, close } = await opened(web, `/orders/${id}`, { as: taker }, () => {});
  await page.locator('#screen h1').waitFor();
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const amount = 1_000_001 + round;
    await page.waitForTimeout(apartMs);
    await maker.client.quote(id, String(amount));
    const committedAt = performance.now();
    // In whole coins, as the page has it.
    await page.getByText(`0.0${amount}`).first().waitFor();
    times.push(performance.now() - committedAt);
  }
  await close();
  return times;
}

async function assetIds({ client }: Person): Promise<(symbol: string) => string> {
  const { assets } = await client.assets({ limit: 100 });
  return (symbol) => assets.find((each) => each.symbol === symbol)?.id ?? '';
}

async function growth(web: Web) {
  const maker = await web.person();
  const idOf = await assetIds(maker);
  for (let at = 0; at < openRfqs; at += 1) {
    await maker.client.createRfq({
      direction: 'buy_base',
      baseAssetId: idOf('BTC'),
      baseAmount: String(1_000_000 + at),
      quoteAssetId: idOf('ETH'),
      ttlSeconds: 86_400,
      askAmount: '1000000000000000000',
    });
  }
  const own = (page: Page) => page.clock.install();
  const { page, cdp, close } = await opened(web, '/book', { as: await web.person() }, own);
  await page
    .locator('tbody tr')
    .nth(openRfqs - 1)
    .waitFor();
  await look(page, warmUpLooks);
  const before = await used(cdp);
  await look(page, looks);
  const after = await used(cdp);
  await close();
  const grown = (value: number, limit: number, unit: string) => ({
    value,
    limit,
    unit,
    bar: bars.web.growth,
  });
  return {
    heap: grown(after.heap / 1_024, before.heap / 1_024, 'KiB'),
    nodes: grown(after.nodes, before.nodes, 'nodes'),
  };
}

/** Time goes by for the page, and each look at the market is answered before the next. */
async function look(page: Page, times: number): Promise<void> {
  for (let at = 0; at < times; at += 1) {
    const answered = page.waitForResponse((each) => each.url().includes('/market/status'));
    await page.clock.runFor(lookMs);
    await answered;
  }
}

async function used(cdp: CDPSession): Promise<{ heap: number; nodes: number }> {
  // Twice: the second lets go of objects that only a finaliser holds.
  for (let time = 0; time < 2; time += 1) await cdp.send('HeapProfiler.collectGarbage');
  const { usedSize } = await cdp.send('Runtime.getHeapUsage');
  const { nodes } = await cdp.send('Memory.getDOMCounters');
  return { heap: usedSize, nodes };
}
