// Every screen of the router: axe finds nothing, a phone fits it, keys reach everything. And the
// build, kept and newer; that two are the same bytes is a part of `npm run soak -- packages`.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { before, describe, type TestContext, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import type { WebBuild } from '@parley/market/edge/web/build.ts';
import { registerWeb } from '@parley/market/edge/web/routes.ts';
import { openWeb } from '@parley/market/start/web.ts';
import Fastify from 'fastify';
import type { Page } from 'playwright-core';
import { startAccountPages } from './support/account-pages.ts';
import { type Opened, type Person, sharedWeb, type Web } from './support/web.ts';

const nobody = '00000000-0000-4000-8000-000000000000';
const opened = sharedWeb();
let web: Web;
let person: Person;
/** As the build names them to the market; a parameter is an id that nobody has. */
let screens: readonly string[];
before(async () => {
  web = await opened();
  const { screens: named } = (await (await fetch(`${web.url}/app/build.json`)).json()) as {
    screens: string[];
  };
  screens = named.map((path) => path.replace(/\$\w+/g, nobody));
  person = await web.person();
});

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The screen is there, and nothing is being loaded. */
async function shown(page: Page): Promise<void> {
  const isThere = () => {
    const screen = document.querySelector<HTMLElement>('#screen');
    const heading = screen?.querySelector('h1');
    return screen?.dataset.path === location.pathname && heading?.checkVisibility() === true;
  };
  await page.waitForFunction(isThere).catch(async (error: Error) => {
    const seen = await page.locator('body').textContent();
    throw new Error(`${page.url()} is not shown: ${error.message}\n${seen}`);
  });
  // A field whose script is on its way is a readonly one, of which nothing stays.
  const loading = page.locator('.loading, input[readonly][placeholder]');
  await loading.first().waitFor({ state: 'detached' });
}

/** In the app, without loading it again: by its own router, as a link does. */
async function go(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => history.pushState(null, '', to), path);
  await shown(page);
}

type AxeResult = { violations: { id: string; help: string; nodes: { html: string }[] }[] };

/** `only`: a rule; without one all of them. */
async function axeFindings(page: Page, only: string | null): Promise<string[]> {
  // Not a script of the page: the policy would refuse it, and rightly.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
  const rules = only === null ? {} : { runOnly: [only] };
  // Passed rules are examined as far as they have to be, and named nowhere.
  const how = JSON.stringify({ ...rules, resultTypes: ['violations'], selectors: false });
  const { violations } = (await page.evaluate(`axe.run(${how})`)) as AxeResult;
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html}`);
}

/** The elements beyond the right edge, of a page that would have to be scrolled sideways. */
function overflowing(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    return [...document.querySelectorAll('#app *')]
      .filter((each) => each.getBoundingClientRect().right > clientWidth + 1)
      .slice(0, 3)
      .map((each) => each.outerHTML.slice(0, 160));
  });
}

/** Controls that are seen and that Tab, from the top of the page to its end, never reaches. */
async function unreachable(page: Page): Promise<string[]> {
  await page.evaluate(() => {
    (document.activeElement as HTMLElement | null)?.blur();
    const controls = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
    const seen = [...document.querySelectorAll<HTMLElement>(controls)].filter(
      (each) => each.checkVisibility() && !each.matches(':disabled, [tabindex="-1"]'),
    );
    // Tab reaches the chosen radio button, arrow keys the others.
    const left = new Set(seen.filter((each) => !each.matches('[type=radio]:not(:checked)')));
    document.addEventListener('focusin', ({ target }) => left.delete(target as HTMLElement));
    Object.assign(window, { left });
  });
  const count = await page.evaluate(() => (window as unknown as { left: Set<unknown> }).left.size);
  // As one key that is held: hundreds of answers are waited for at once.
  await Promise.all(Array.from({ length: count + 10 }, () => page.keyboard.down('Tab')));
  await page.keyboard.up('Tab');
  return page.evaluate(() =>
    [...(window as unknown as { left: Set<HTMLElement> }).left].map((each) => each.outerHTML),
  );
}

/** In the dark, which differs in nothing but colours. */
async function unreadable(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'dark' });
  const found = await axeFindings(page, 'color-contrast');
  await page.emulateMedia({ colorScheme: 'light' });
  return found.map((each) => `dark: ${each}`);
}

const looks: [look: string, how: () => Opened][] = [
  ['light, signed out', () => ({ scheme: 'light' })],
  ['a phone, by keyboard, and in the dark', () => ({ as: person, width: 360, height: 740 })],
];
describe('every screen', { concurrency: true }, () => {
  for (const [look, how] of looks) {
    test(look, async (t) => {
      const page = await web.open(t, '/help', how());
      // Before that, its router hears of nothing.
      await shown(page);
      const wrong: string[] = [];
      for (const path of screens) {
        await go(page, path);
        const found = [...(await axeFindings(page, null)), ...(await overflowing(page))];
        if (look.startsWith('a phone')) {
          found.push(...(await unreachable(page)), ...(await unreadable(page)));
        }
        wrong.push(...found.map((each) => `${path}: ${each}`));
      }
      assert.deepEqual(wrong, []);
    });
  }
});

test('in German every screen fits a phone, and another language is there at once and stays', async (t) => {
  const loaded: string[] = [];
  const page = await web.open(t, '/', {
    as: person,
    locale: 'de-DE',
    width: 360,
    height: 740,
    prepare: async (context) => {
      context.on('request', (request) => loaded.push(new URL(request.url()).pathname));
    },
  });
  await shown(page);
  const wrong: string[] = [];
  for (const path of ['/', ...screens]) {
    await go(page, path);
    const isChief = ['/', '/settings', '/phrase'].includes(path);
    const found = [...(isChief ? await axeFindings(page, null) : []), ...(await overflowing(page))];
    wrong.push(...found.map((each) => `${path}: ${each}`));
  }
  assert.deepEqual(wrong, []);
  const words = () => loaded.filter((path) => /\/(?:first|rest)-/.test(path)).length;
  assert.equal(words(), 2, 'one language alone is loaded');
  await go(page, '/settings');
  assert.equal(await page.locator('h1').textContent(), 'Einstellungen');
  await page.getByText('12\u202f345,6789').waitFor();
  await page.getByLabel('Sprache der App').selectOption('English');
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  await page.waitForFunction(() => document.activeElement?.matches('h1') === true);
  await page.getByText('12\u202f345.6789').waitFor();
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  assert.equal(await page.locator('html').getAttribute('lang'), 'en');
});

test('kept once, the app opens with the market gone, at any of its addresses', async (t) => {
  const page = await web.open(t, '/help', { keepsApp: true });
  await page.evaluate(() => navigator.serviceWorker.ready);
  // A page of the market itself, behind the worker.
  await page.reload();
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  const answer = await page.goto(`${web.url}/docs/webhooks`);
  assert.equal(answer?.fromServiceWorker(), false);
  await page.context().setOffline(true);
  await page.goto(`${web.url}/status`);
  await shown(page);
  const { hash } = (await page.evaluate("fetch('/app/build.json').then((a) => a.json())")) as {
    hash: string;
  };
  await page
    .getByRole('contentinfo')
    .filter({ hasText: hash.slice(0, 12) })
    .waitFor();
  // A date of the last time would make the own clock look wrong.
  const date = "fetch('/app/config.js').then((a) => [a.ok, a.headers.get('date')])";
  assert.deepEqual(await page.evaluate(date), [true, null]);
});

type Fetched = { readonly mode: string; readonly method: string; readonly url: string };

/**
 * The worker of the build, by what browsers tell it: which file it opens a page with, null where it
 * leaves the page to the market.
 */
async function servedWorker(): Promise<(url: string) => Promise<string | null>> {
  const text = await (await fetch(`${web.url}/app/worker.js`)).text();
  const self = Object.assign(new EventTarget(), { location: new URL(web.url) });
  const caches = { open: async () => ({ match: async (url: string) => url }) };
  runInNewContext(text, { self, caches, URL });
  return async (path) => {
    let answer: Promise<string> | null = null;
    const request: Fetched = { mode: 'navigate', method: 'GET', url: `${web.url}${path}` };
    const respondWith = (given: Promise<string>) => {
      answer = given;
    };
    self.dispatchEvent(Object.assign(new Event('fetch'), { request, respondWith }));
    return answer;
  };
}

test('every page of the server opens behind the worker, which answers for screens alone', async (t) => {
  const { edge, close } = await startAccountPages(web.browser);
  t.after(close);
  const urls = edge.app.edge.routes
    .filter(({ method }) => method === 'GET')
    .map(({ url }) => url.replace('*', 'webhooks').replace(/:\w+/g, nobody))
    .concat('/app/rescue.html');
  assert.ok(urls.includes('/docs/webhooks'));
  const opens = await servedWorker();
  const byWorker = [];
  for (const url of [...urls, ...screens]) {
    if ((await opens(url)) === '/app/index.html') byWorker.push(url);
  }
  assert.deepEqual([...new Set(byWorker)].sort(), screens.toSorted());
});

test('an address without a screen says so, with a way back', async (t) => {
  const page = await web.open(t, '/nowhere');
  await page.getByRole('heading', { name: 'There is nothing at this address' }).waitFor();
  assert.equal(await page.locator('.test-network').count(), 0, 'of a dev network');
  await page.getByRole('link', { name: 'To the first screen' }).click();
  await page.waitForURL((url) => url.pathname !== '/nowhere');
});

test('a browser that keeps nothing opens the app, which says what works there', async (t) => {
  const page = await web.open(t, '/settings', {
    prepare: (context) =>
      context.addInitScript(() => {
        IDBFactory.prototype.open = () => {
          throw new DOMException('denied by a setting', 'SecurityError');
        };
      }),
  });
  await page.getByText('This browser keeps nothing').waitFor();
  await page.getByText('Prices, the market and its status work all the same.').waitFor();
  assert.equal(await page.getByText('This did not work').count(), 0);
});

test('a link to one part of the help opens it; a new screen has the focus on its heading, the tab its name', async (t) => {
  const page = await web.open(t, '/help#market', { width: 360 });
  await page.getByText('A halt means that no new swaps start on a chain.').waitFor();
  assert.equal(await page.getByText('One secret opens both escrows.').isVisible(), false);
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('link', { name: 'Status' }).click();
  await page.waitForFunction(() => {
    const { activeElement: there, title } = document;
    const heading = 'Status of the market';
    return (
      there?.matches('h1') && there.textContent === heading && title.startsWith(`${heading} · `)
    );
  });
});

/** Scripts of the first screen beside its own; a file for each shared module was thirty. */
const mostPreloads = 10;

test('a newer build waits until it is taken', async (t) => {
  const { build: first, said } = await openWeb();
  assert.ok(first !== null, said ?? undefined);
  const shell = fileOf(first, 'index.html').plain.toString();
  const linked = (rel: string) => shell.split(`rel="${rel}"`).length - 1;
  assert.equal(
    linked('stylesheet'),
    1,
    'a sheet beside the one that orders the layers may come first',
  );
  assert.ok(linked('modulepreload') <= mostPreloads, `${linked('modulepreload')} scripts`);
  const market = await servingOf(t, first);
  const context = await web.browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(`${market.url}/help`);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  // Here, where the only market is that says so: a person who takes it for the real one waits for
  // money.
  await page.getByText('This is a test network: its coins are worth nothing').waitFor();
  const update = () =>
    page.evaluate(async () => {
      const registration = await (await navigator.serviceWorker.ready).update();
      const coming = registration.installing;
      for (let tries = 0; tries < 1_500 && coming?.state === 'installing'; tries += 1) {
        await new Promise((next) => setTimeout(next, 20));
      }
      return coming?.state;
    });
  await market.serve(newerThan(first, 'of a file that is not served'));
  assert.equal(await update(), 'redundant');
  const isNew = 'meta[name=newer]';
  const other = await context.newPage();
  await other.goto(`${market.url}/help`);
  await market.serve(newerThan(first));
  assert.equal(await update(), 'installed');
  const takes = [page, other].map((each) => each.getByRole('button', { name: 'Reload into it' }));
  await Promise.all(takes.map((each) => each.waitFor()));
  // A reload of one's own changes nothing: another tab may be in the middle of a swap.
  await page.reload();
  await takes[0]?.waitFor();
  assert.equal(await page.locator(isNew).count(), 0);
  await takes[0]?.click();
  await page.locator(isNew).waitFor({ state: 'attached' });
  // The other tab stays as it is until somebody says so there.
  assert.equal(await other.locator(isNew).count(), 0);
  // It may settle a swap, and loads what it needs when that is due.
  const load = `fetch('/app/${chunkOf(first)}').then((answer) => answer.status)`;
  assert.equal((await fetch(`${market.url}/app/${chunkOf(first)}`)).status, 404);
  assert.equal(await other.evaluate(load), 200);
  await takes[1]?.click();
  await other.locator(isNew).waitFor({ state: 'attached' });
});

/** Another page and a renamed chunk, as its worker names them, or with the hash of `named`. */
function newerThan(build: WebBuild, named?: string): WebBuild {
  const page = fileOf(build, 'index.html').plain;
  const newer = Buffer.from(page.toString().replace('<title>', '<meta name="newer"><title>'));
  const worker = fileOf(build, 'worker.js').plain.toString();
  const hashes = [page, named ?? newer].map((each) => createHash('sha256').update(each));
  const [was = '', is = ''] = hashes.map((each) => each.digest('hex'));
  const dropped = chunkOf(build);
  const contents: Readonly<Record<string, Buffer>> = {
    'index.html': newer,
    'worker.js': Buffer.from(worker.replace(was, is).replace(dropped, renamed(dropped))),
  };
  const files = build.files.map((each) => {
    const file = each.path === dropped ? { ...each, path: renamed(dropped) } : each;
    const plain = contents[file.path];
    return plain === undefined ? file : { ...file, plain, br: null, gzip: null, etag: `W/"${is}"` };
  });
  return { ...build, files };
}

/** The chunk of a screen that the tabs have not opened: another one in a newer build. */
function chunkOf({ files }: WebBuild): string {
  const file = files.find(({ path }) => /^assets\/webhooks-[^/]*\.js$/.test(path));
  assert.ok(file !== undefined);
  return file.path;
}

const renamed = (path: string) => path.replace('.js', '-newer.js');

function fileOf({ files }: WebBuild, path: string): WebBuild['files'][number] {
  const file = files.find((each) => each.path === path);
  assert.ok(file !== undefined, path);
  return file;
}

/** A market that serves nothing but a build, and then another one. */
async function servingOf(t: TestContext, first: WebBuild) {
  const appOf = async (build: WebBuild) => {
    const app = Fastify();
    registerWeb(app, { build, config: () => ({ network: 'testnet' }) });
    await app.ready();
    return app;
  };
  const now = { app: await appOf(first) };
  const server = createServer((request, reply) => now.app.routing(request, reply));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}`,
    serve: async (build: WebBuild) => {
      now.app = await appOf(build);
    },
  };
}
