// The page whole, on a real PostgreSQL: every figure is the metrics' or the doctor's own, somebody
// else's words stay words, a browser finds nothing to object to, and the public port has no page.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { examine } from '@parley/market/doctor/examine.ts';
import type { Finding } from '@parley/market/doctor/findings.ts';
import { agreedSwaps } from '@parley/market/doctor/testing/agreed.ts';
import { testEdge } from '@parley/market/edge/testing/edge.ts';
import { mostSwaps } from '@parley/market/operator/checkup.ts';
import { operatorPages } from '@parley/market/operator/serve.ts';
import { serveMetrics } from '@parley/market/ports/metrics-server.ts';
import { nodelessDeps } from '@parley/market/settle/testing/rows.ts';
import { createFigures } from '@parley/market/start/gauges.ts';
import type { Page } from 'playwright-core';
import { sharedBrowser } from './support/chromium.ts';
import { type TestDatabase, testDatabase } from './support/database.ts';
import { waitUntil } from './support/waiting.ts';

const browser = sharedBrowser();
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const hostile = '<b>\u202e"&';

let database: TestDatabase;
let home: string;
let url: string;
let deps: ReturnType<typeof nodelessDeps>;
const undo: (() => Promise<unknown>)[] = [];

const sql = (text: string) => database.db.rows({ name: '', text, values: [] });

before(async () => {
  database = await testDatabase();
  home = await mkdtemp(join(tmpdir(), 'parley-operator-'));
  // A finding of the doctor: others may read it.
  await writeFile(join(home, 'server.key'), 'secret', { mode: 0o644 });
  const [first, second] = await agreedSwaps(database.db, 3);
  await sql(`update swaps set status = 'counterparty_funded', high_value = true,
    reveal_by = extract(epoch from now()) + 600 where id = '${first}'`);
  await sql(`update swaps set due_at = extract(epoch from now()) - 100 where id = '${second}'`);
  await sql(`update assets set symbol = '${hostile}'`);
  const base = nodelessDeps(database.db);
  deps = { ...base, settings: { ...base.settings, home, keeper: [] } };
  const { metrics } = deps;
  metrics.http.of('GET', '/v1/book').ended(200, 0.01);
  metrics.http.of('GET', '/v1/book').ended(500, 0.01);
  metrics.http.refusals.inc({ code: 'key_missing' }, 3);
  metrics.chainHeight.set({ chain: 'bitcoin' }, 840_000);
  metrics.keeper.balance.set({ chain: 'evm-dev' }, 2.5e17);
  metrics.keeper.lowBalance.set({ chain: 'evm-dev' }, 1e18);
  const refresh = createFigures(deps);
  const beside = { ...deps, chains: [], databaseUrl: database.url, wait: async () => {} };
  const pages = operatorPages(beside, refresh, { hasRequests: true });
  const place = { metricsHost: '127.0.0.1', metricsPort: 0, metricsToken: null };
  const served = await serveMetrics(metrics, place, refresh, pages);
  undo.push(
    () => served.stop(),
    () => pages.stop(),
  );
  url = new URL('/operator', served.url).href;
  await waitUntil(async () => !(await textOf(url)).includes('The first look'));
});
after(async () => {
  for (const step of undo) await step();
  await database.drop();
  await rm(home, { recursive: true });
});

const textOf = async (at: string) => (await fetch(at)).text();

/** The value of a series, or the sum of those that have its labels. */
function valueIn(metrics: string, series: string): number {
  const [, name = '', labels = ''] = /^([^{]+)(?:\{(.*)\})?$/.exec(series) ?? [];
  const wanted = labels === '' ? [] : labels.split(',');
  const lines = metrics.matchAll(/^(?:parley_)?([a-z]\w*)(?:\{(.*)\})? (\S+)$/gm);
  return [...lines]
    .filter(([, own]) => own === name)
    .filter(([, , own = '']) => wanted.every((each) => own.split(',').includes(each)))
    .reduce((sum, [, , , value]) => sum + Number(value), 0);
}

/** Those of the process itself move between two readings. */
const moves = /^(?:process_|nodejs_|figures_seconds)/;

test('every figure is what the metrics say', async () => {
  const page = await textOf(url);
  const metrics = await textOf(url.replace('/operator', '/metrics'));
  const figures = [...page.matchAll(/<data value="([^"]*)" data-of="([^"]*)"/g)].map((found) => {
    return { value: Number(found[1]), of: (found[2] ?? '').replaceAll('&quot;', '"') };
  });
  assert.ok(figures.length > 20, `${figures.length}`);
  for (const { value, of } of figures.filter((each) => !moves.test(each.of))) {
    const own = valueIn(metrics, of);
    assert.ok(Math.abs(own - value) <= (/_seconds/.test(of) ? 30 : 0), `${of}: ${value}, ${own}`);
  }
  const shown = new Set(figures.map(({ of }) => of));
  for (const of of [
    'chain_height{chain="bitcoin"}',
    'http_requests_total',
    'keeper_balance{chain="evm-dev"}',
    'market_next_deadline_seconds{step="reveal"}',
    'market_overdue_steps{step="reconcile"}',
    'market_swaps',
  ]) {
    assert.ok(shown.has(of), of);
  }
});

test('every finding is what the doctor says, with the command that mends it', async () => {
  const found: Finding[] = [];
  const own = { settings: deps.settings, db: database.db, chains: [], now: deps.now };
  const rest = { wall: Date.now, signal: AbortSignal.timeout(60_000) };
  const wanted = { swap: null, nodes: false, all: false, most: mostSwaps };
  await examine({ ...own, ...rest }, wanted, (each) => void found.push(each));
  const page = await textOf(url);
  const shown = [...page.matchAll(/data-what="(\w+)"/g)].map(([, what]) => what);
  assert.deepEqual(shown.sort(), found.map(({ what }) => what).sort());
  assert.ok(found.some(({ what }) => what === 'mode'));
  assert.ok(page.includes(`chmod 600 &#39;${join(home, 'server.key')}&#39;`));
});

test('amounts are in whole coins, and a symbol is never markup', async () => {
  const page = await textOf(url);
  const symbol = '&lt;b&gt; &quot;&amp;';
  assert.ok(page.includes(`1\u202f000\u202f000\u202f000 ${symbol}`), 'of a leg');
  assert.ok(page.includes(`2\u202f500\u202f000\u202f000 ${symbol}`), 'of a gas key');
  assert.ok(!page.includes('<b>\u202e') && !page.includes('\u202e'));
});

test('the page runs nothing inline and is for no other site', async () => {
  const answer = await fetch(url);
  const policy = answer.headers.get('content-security-policy') ?? '';
  for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]) {
    assert.ok(policy.includes(part), part);
  }
  assert.doesNotMatch(policy, /unsafe/);
  assert.doesNotMatch(await answer.text(), / style=| on\w+=|<script>/);
  assert.equal((await fetch(url, { method: 'POST' })).status, 404, 'it changes nothing');
  for (const path of ['/operator/', '/operator/../main.ts', '/operator/constructor']) {
    assert.equal((await fetch(new URL(path, url))).status, 404, path);
  }
});

test('the public port has no such page', async () => {
  const edge = await testEdge();
  for (const path of ['/operator', '/operator/page.css']) {
    assert.equal((await edge.call('GET', path)).status, 404, path);
  }
});

test('a database that is gone is said first, and no old figure with it', async () => {
  const lost = await testDatabase();
  const own = nodelessDeps(lost.db);
  await lost.drop();
  const beside = { ...own, chains: [], databaseUrl: lost.url };
  const pages = operatorPages(beside, createFigures(own), { hasRequests: false });
  const page = String((await pages.answer('/operator'))?.body);
  await pages.stop();
  assert.match(page, /<h1[^>]*data-tone="bad">The database does not answer<\/h1>/);
  assert.equal(page.match(/so this is not known/g)?.length, 2);
});

type Found = { violations: { id: string; help: string; nodes: { html: string }[] }[] };

async function faultsOf(page: Page, only: readonly string[]): Promise<string[]> {
  const rules = only.length === 0 ? {} : { runOnly: only };
  // Passed rules are examined as far as they have to be, and named nowhere.
  const how = JSON.stringify({ ...rules, resultTypes: ['violations'], selectors: false });
  const { violations } = (await page.evaluate(`axe.run(${how})`)) as Found;
  const sideways = await page.evaluate(
    () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
  );
  return [
    ...violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html}`),
    ...(sideways ? ['it scrolls sideways'] : []),
  ];
}

test('axe finds nothing, at both widths, in light and dark', async () => {
  const context = await (await browser()).newContext();
  const page = await context.newPage();
  const said: string[] = [];
  page.on('console', (each) => said.push(each.text()));
  await page.goto(url);
  await page.evaluate(axe);
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    // The dark differs in nothing but colours.
    for (const [colorScheme, only] of [
      ['light', []],
      ['dark', ['color-contrast']],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual([...(await faultsOf(page, only)), ...said], [], `${width} ${colorScheme}`);
    }
  }
  await context.close();
});

test('an open page takes the newest figures, and says so when none come', async () => {
  const context = await (await browser()).newContext();
  const page = await context.newPage();
  await page.clock.install();
  await page.goto(url);
  const { chainHeight } = deps.metrics;
  chainHeight.set({ chain: 'bitcoin' }, 840_001);
  const height = page.locator('[data-of=\'chain_height{chain="bitcoin"}\']');
  await waitUntil(async () => {
    await page.clock.runFor(5_000);
    return (await height.getAttribute('value')) === '840001';
  });
  await page.route('**/operator', (route) => route.abort());
  await page.clock.runFor(5_000);
  await page.getByText(/^No answer since .*The figures below are old\.$/).waitFor();
  await context.close();
});
