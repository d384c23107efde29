// The app in a real Chromium, on loopback: script of the first screen, time until one can type on a
// slow processor, growth of a tab that is left open.

import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import { type Opened, startWeb, type Web, watch } from '@parley/verify/test/support/web.ts';
import { webBuild } from '@parley/web/vite.config.ts';
import type { CDPSession, Page } from 'playwright-core';
import { build, type Rolldown } from 'vite';
import { atMost, median, type Row } from './report.ts';

/** The screen, and its words in one language. */
const firstLoaded = ['screens/swap-box/swap-box.tsx', 'texts/en/first.json'];
const mostScriptBytes = 150 * 1_024;
const slowdown = 4;
const mostInteractiveMs = 1_500;
/** The RFQs of the book: 30 a page of a phone, and a few screens of rows. */
const openRfqs = 100;
/** The book is asked for every 3 s: an hour. */
const looks = 1_200;
const lookMs = 3_000;
/** Until everything that is kept for good is kept. */
const warmUpLooks = 300;
const mostGrowth = 1.1;

export async function benchWeb({ rounds }: { readonly rounds: number }): Promise<Row[]> {
  const script = await firstScript();
  const web = await startWeb({ PARLEY_RATE_LIMIT: '1000000' });
  try {
    const times: number[] = [];
    // One more: the first warms the server up and is not counted.
    for (let round = -1; round < rounds; round += 1) {
      const ms = await interactive(web);
      if (round >= 0) times.push(ms);
    }
    const { heap, nodes } = await growth(web);
    const most = `${mostInteractiveMs} ms at ${slowdown} times slower`;
    return [
      weight('script of the first screen', script, mostScriptBytes),
      atMost(
        'web: until one can type',
        { value: median(times), unit: 'ms', limit: mostInteractiveMs, bar: 1 },
        most,
      ),
      atMost('web: heap after an hour of the book', heap, 'after its first minutes'),
      atMost('web: nodes after an hour of the book', nodes, 'after its first minutes'),
    ];
  } finally {
    await web.close();
  }
}

function weight(row: string, value: number, limit: number): Row {
  return atMost(`web: ${row}`, { value, unit: 'B', limit, bar: 1 }, '150 KiB, brotli');
}

/** Bytes, packed, of all that has to be there before the first screen is. */
async function firstScript(): Promise<number> {
  const how = webBuild('unused');
  const { output } = (await build({
    ...how,
    build: { ...how.build, write: false },
  })) as Rolldown.RolldownOutput;
  const chunks = output.filter((each) => each.type === 'chunk');
  const wanted = chunks.filter(
    ({ name, facadeModuleId: of }) =>
      name === 'index' || firstLoaded.some((file) => of?.endsWith(file)),
  );
  if (wanted.length !== 3) throw new Error(`the build has no chunk of ${firstLoaded.join(', ')}`);
  const needed = new Set(wanted);
  for (const each of needed) {
    for (const name of each.imports) {
      const found = chunks.find(({ fileName }) => fileName === name);
      if (found !== undefined) needed.add(found);
    }
  }
  const sizes = [...needed].map(async ({ code }) => (await promisify(brotliCompress)(code)).length);
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

/** Milliseconds until the heading stands and no long task follows. */
async function interactive(web: Web): Promise<number> {
  const slow = async (page: Page) => {
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
    await page.addInitScript(() => {
      const times = { shown: 0, lastTask: 0 };
      Object.assign(window, { times });
      new PerformanceObserver((list) => {
        for (const each of list.getEntries()) times.lastTask = each.startTime + each.duration;
      }).observe({ type: 'longtask', buffered: true });
      new MutationObserver(() => {
        const isThere = document.querySelector('#screen h1 ~ *, #screen input') !== null;
        if (isThere && times.shown === 0) setTimeout(() => (times.shown = performance.now()), 0);
      }).observe(document, { childList: true, subtree: true });
    });
  };
  const { page, close } = await opened(web, '/', {}, slow);
  await page.locator('#screen h1').waitFor();
  await page.waitForTimeout(2_000);
  const ms = await page.evaluate(() => {
    const { shown, lastTask } = (window as unknown as { times: Record<string, number> }).times;
    return Math.max(shown ?? 0, lastTask ?? 0);
  });
  await close();
  return ms;
}

async function growth(web: Web) {
  const maker = await web.person();
  const { assets } = await maker.client.assets({ limit: 100 });
  const idOf = (symbol: string) => assets.find((each) => each.symbol === symbol)?.id ?? '';
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
    bar: mostGrowth,
  });
  return {
    heap: grown(after.heap / 1_024, before.heap / 1_024, 'KiB'),
    nodes: grown(after.nodes, before.nodes, 'nodes'),
  };
}

/** Time goes by for the page, and each look at the market is answered before the next. */
async function look(page: Page, times: number): Promise<void> {
  for (let at = 0; at < times; at += 1) {
    const answered = page.waitForResponse((each) => each.url().includes('/v1/rfqs'));
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
