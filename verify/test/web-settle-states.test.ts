// The screens of a settlement, the phrase and a rescue in every state, in a real Chromium. The
// screens do not scroll sideways at 360 px, axe finds no fault, and a person's act is what happens.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { after, test } from 'node:test';
import { listed, states } from '@parley/web/parts/swap/testing/views.ts';
import { icons, sourceConditions } from '@parley/web/vite.config.ts';
import { walletScript } from '@parley/web/wallets/testing/script.ts';
import type { Told } from '@parley/web/wallets/testing/settings.ts';
import react from '@vitejs/plugin-react';
import type { Page } from 'playwright-core';
import { build } from 'vite';
import { pageLimitMs, savedBy, sharedBrowser } from './support/chromium.ts';
import { sheetsIn } from './web-soak/sheets.ts';

declare const walletDoubles: Record<string, Told>;

const launched = sharedBrowser();
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const dir = await mkdtemp(join(tmpdir(), 'parley-states-'));
await build({
  configFile: false,
  resolve: { conditions: sourceConditions },
  root: join(import.meta.dirname, 'support/screens'),
  logLevel: 'error',
  plugins: [react(), icons],
  build: {
    outDir: dir,
    emptyOutDir: true,
    minify: false,
    rollupOptions: { input: join(import.meta.dirname, 'support/screens/settle.html') },
  },
});
const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
};
const server = createServer(async ({ url = '/' }, reply) => {
  const { pathname } = new URL(url, 'http://localhost');
  if (pathname === '/market/assets') {
    const rest = { chain: 'x', address: null, decimals: 8, enabled: true, verified: true };
    const assets = listed.map((each) => ({ ...each, ...rest, source: 'list' }));
    reply.setHeader('content-type', 'application/json');
    reply.end(JSON.stringify({ assets, nextCursor: null }));
    return;
  }
  const file = await readFile(join(dir, pathname)).catch(() => null);
  reply.statusCode = file === null ? 404 : 200;
  reply.setHeader('content-type', types[extname(pathname)] ?? 'text/plain');
  reply.end(file ?? '');
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
after(async () => {
  server.close();
  server.closeAllConnections();
  await rm(dir, { recursive: true, force: true });
});

const others = [
  'phrase none',
  'phrase unchecked',
  'phrase checked',
  'rescue',
  'swaps',
  'swaps none',
  'swap unknown',
  'swap looked for',
  'swap warned',
  'swap stopped',
  'file unsaved',
];

type Look = {
  readonly width?: number;
  readonly scheme?: 'light' | 'dark';
  readonly locale?: string;
};

async function opened(look: Look = {}): Promise<Page> {
  const { width = 1_000, scheme = 'light', locale = 'en-GB' } = look;
  const browser = await launched();
  const page = await browser.newPage({
    viewport: { width, height: 900 },
    colorScheme: scheme,
    locale,
    timezoneId: 'Europe/Zurich',
    reducedMotion: 'reduce',
  });
  page.setDefaultTimeout(pageLimitMs);
  page.on('pageerror', (error) => assert.fail(error));
  return page;
}

let usual: Promise<Page> | null = null;

/** The usual look, loaded anew: a browser profile a test costs more than its test. */
async function loaded(): Promise<Page> {
  usual ??= opened();
  const page = await usual;
  await page.goto('about:blank');
  return page;
}

async function show(page: Page, state: string): Promise<void> {
  if (page.url() === 'about:blank') {
    await page.goto(`${origin}/settle.html`);
    await page.waitForFunction(() => 'showState' in globalThis);
  }
  await page.evaluate(
    (name) => (globalThis as unknown as { showState(name: string): void }).showState(name),
    state,
  );
  await page
    .locator('h1')
    .waitFor()
    .catch(async (cause: Error) => {
      const seen = await page.locator('body').innerHTML();
      throw new Error(`"${state}" is not shown: ${seen.slice(0, 500)}`, { cause });
    });
}

/** Where somebody wants to look at them: a folder, for a sheet each. */
const pictures = process.env.PARLEY_PICTURES;

/** The closed rows of a screen hold as much as the rest of it. */
const unfold = (page: Page) =>
  page.evaluate(() => {
    for (const each of document.querySelectorAll('details')) each.open = true;
  });

const fold = (page: Page, name: string) => page.locator('summary', { hasText: name });

type Found = { violations: { id: string; nodes: { html: string }[] }[] };

async function found(page: Page): Promise<string[]> {
  const { violations } = await page.evaluate(async () => {
    const { axe: tool } = globalThis as unknown as { axe: { run(how: object): Promise<Found> } };
    return tool.run({ resultTypes: ['violations'], selectors: false });
  });
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

/** Shows the state, with all rows open. */
async function fits(page: Page, name: string): Promise<void> {
  await show(page, name);
  await unfold(page);
  const [wide, seen] = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return [scrollWidth, clientWidth] as const;
  });
  assert.ok(wide <= seen, `${name}: ${wide} px wide`);
}

/** One of each part: equal ones are not looked at twice. */
const parts = ['pay', 'paid twice', 'done', 'declined', 'lost', ...others];

test('every state is whole at 360 px, and axe finds nothing, in light and dark', async () => {
  const narrow = await opened({ width: 360, scheme: 'dark' });
  const german = await opened({ width: 360, locale: 'de-DE' });
  // German words are the longer ones: of the English screens one of each part is looked at.
  for (const name of [...states.map(([each]) => each), ...others]) await fits(german, name);
  const light = await opened();
  for (const page of [narrow, light]) {
    await show(page, 'pay');
    await page.addScriptTag({ path: axe });
  }
  for (const [at, name] of parts.entries()) {
    const page = at % 2 === 0 ? narrow : light;
    for (const each of new Set([narrow, page])) await fits(each, name);
    assert.deepEqual(await found(page), [], name);
  }
  if (pictures !== undefined) {
    const sheets = sheetsIn(pictures);
    for (const name of [...states.map(([each]) => each), ...others]) {
      await show(light, name);
      await sheets.take(light, `state-${name.replaceAll(/\W+/g, '-')}`);
    }
  }
  for (const page of [narrow, german, light]) await page.close();
});

test('the code to pay goes once the payment is seen, and is not the first thing after too little', async () => {
  const page = await loaded();
  const code = page.locator('svg.qr');
  await show(page, 'pay');
  assert.match(
    (await code.getAttribute('aria-label')) ?? '',
    /^Payment of 0\.01\u00a0BTC to bcrt1p/,
  );
  await page.getByText(/^This address begins with bcrt1p\./).waitFor();
  // How long it is until a deadline is said once; everywhere else it is a time of day.
  const all = (await page.locator('#screen').textContent()) ?? '';
  assert.deepEqual(all.match(/\d+ (?:min|hr|hour|minute)s?\b/g), ['59 mins']);
  await show(page, 'too little');
  assert.equal(await code.isVisible(), false);
  await page.getByText('Pay the whole amount once more').click();
  assert.equal(await code.isVisible(), true);
  const without = ['paid, in a pool', 'paid late', 'pay, too late', 'nothing by hand'];
  for (const state of [...without, 'pay, and nodes are silent and behind']) {
    await show(page, state);
    assert.equal(await code.count(), 0, state);
  }
});

test('a payment beyond the amount is put at risk by a second word alone', async () => {
  const page = await loaded();
  await show(page, 'paid twice');
  await page.getByText('Go on, and risk 0.010').click();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await page.locator('body').getAttribute('data-gives'), null);
  await page.getByText('Go on, and risk 0.010').click();
  await page.getByRole('dialog').getByText('Go on, and risk').click();
  await page.locator('body[data-gives="1000001"]').waitFor({ state: 'attached' });
});

test('a swap is given up by a second word alone, and while that still brings coins back', async () => {
  const page = await loaded();
  const word = page.getByRole('button', { name: 'Give up this swap and send both coins back now' });
  await show(page, 'waits for the other');
  await fold(page, 'Give up').click();
  await word.click();
  await page.getByRole('dialog').getByText('You cannot take it back').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await page.locator('body').getAttribute('data-gives-up'), null);
  await word.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Give up this swap' }).click();
  await page.locator('body[data-gives-up]').waitFor({ state: 'attached' });
  for (const state of ['gives up', 'secret is out', 'claim in a pool', 'refunds', 'done']) {
    await show(page, state);
    assert.equal(await word.count(), 0, state);
  }
});

test('the agreed account is connected on the screen of the swap, and no other one', async () => {
  const page = await opened();
  const evm = (name: string, privateKey: string) => ({
    ...({ family: 'evm', name, privateKey, chains: { 1: origin } } as const),
  });
  // The key of the fixtures' address, which every dev chain knows, and another one.
  const key = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d';
  const wallets = [evm('Fox', key), evm('Rabbit', '42'.repeat(32))];
  await page.addInitScript({ content: await walletScript(wallets) });
  await show(page, 'wallet is missing');
  await page.getByRole('button', { name: 'Use Rabbit' }).click();
  await page.getByText(/^Rabbit shows 0x\w+. Choose 0x70997970C51812dc3A010C7d/).waitFor();
  await page.getByRole('button', { name: 'Use Fox' }).click();
  await page.getByText(/^Rabbit shows/).waitFor({ state: 'detached' });
  await page
    .locator('body[data-uses="0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]')
    .waitFor({ state: 'attached' });
  await page.close();
});

declare const told: string[];
declare const tell: (news: Record<string, string>) => void;

test('a page tells by a click alone, once for an event, and only while it is not seen', async () => {
  const page = await opened();
  await page.addInitScript(() => {
    const shown: string[] = [];
    const { Notification: Real } = globalThis;
    class Told extends Real {
      // The headless shell has nobody to ask, and so refuses all of them.
      static override readonly permission = 'granted';
      static override requestPermission(): Promise<NotificationPermission> {
        return Promise.resolve('granted');
      }
      constructor(title: string, options?: NotificationOptions) {
        super(title, options);
        shown.push(`${title}, ${options?.tag}`);
      }
    }
    Object.assign(globalThis, { Notification: Told, told: shown });
  });
  await show(page, 'pay');
  const looks = (visibilityState: string) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'visibilityState', { value, configurable: true });
    }, visibilityState);
  const tells = (key: string) =>
    page.evaluate((it) => tell({ key: it, title: it, body: '', path: '/swaps' }), key);
  await looks('hidden');
  await tells('before a click');
  await fold(page, 'Tell me on this device').click();
  await page.getByRole('button', { name: 'Tell me' }).click();
  await page.getByRole('button', { name: 'Stop telling me' }).waitFor();
  await tells('once');
  await tells('once');
  await looks('visible');
  await tells('while it is seen');
  await looks('hidden');
  await page.getByRole('button', { name: 'Stop telling me' }).click();
  await tells('stopped');
  const all = await page.evaluate(() => told);
  assert.deepEqual(all, ['You are told here, parley tells', 'once, once']);
  await page.close();
  const denied = await opened();
  await denied.addInitScript(() => {
    Object.defineProperty(Notification, 'permission', { get: () => 'denied' });
  });
  await show(denied, 'pay');
  await fold(denied, 'Tell me on this device').click();
  await denied.getByText('This browser shows no messages of this site.').waitFor();
  assert.equal(await denied.getByRole('button', { name: 'Tell me' }).count(), 0);
  await denied.close();
});

test('one warning is large, the most dangerous one, and the file is saved by one press', async () => {
  const page = await loaded();
  await show(page, 'swap warned');
  const large = page.locator('.swap-notes > .notice');
  assert.equal(await large.count(), 1);
  assert.match((await large.textContent()) ?? '', /terms do not fit/);
  await page.getByText(/^\d+ more notes$/).click();
  await page.getByText('Another tab settles your swaps').waitFor();
  await show(page, 'file unsaved');
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save the rescue file' }).click();
  assert.match((await saving).suggestedFilename(), /rescue/);
});

test('a wallet that says no is not told of as the market', async () => {
  const page = await opened();
  const key = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d';
  const fox = { family: 'evm', name: 'Fox', privateKey: key, chains: { 1: origin } } as const;
  await page.addInitScript({ content: await walletScript([fox]) });
  await show(page, 'wallet is missing');
  await page.evaluate(() => {
    const { Fox: wallet } = walletDoubles;
    if (wallet !== undefined) wallet.does = 'declines';
  });
  await page.getByRole('button', { name: 'Use Fox' }).click();
  await page.getByText('You said no in your wallet').waitFor();
  assert.equal(await page.getByText(/market refused/i).count(), 0);
  await page.close();
});

test('a receipt is a file, and the same swap is asked for again by a link', async () => {
  const page = await loaded();
  await show(page, 'done');
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save the receipt' }).click();
  const { buffer } = await savedBy(saving);
  assert.match(buffer.toString(), /^Received: 640 USDX/m);
  const again = await page.getByRole('link', { name: 'Swap again' }).getAttribute('href');
  assert.equal(again, '/#give=btc&get=usd&exact=give&amount=1000000');
});

test('a page that must stay open asks before it is left', async () => {
  const page = await opened();
  const asked = async (state: string) => {
    await show(page, state);
    await page.locator('h1').click();
    let isAsked = false;
    page.once('dialog', (dialog) => {
      isAsked = true;
      void dialog.accept();
    });
    await page.goto('about:blank');
    page.removeAllListeners('dialog');
    return isAsked;
  };
  assert.equal(await asked('collects'), true);
  assert.equal(await asked('received'), false);
  await page.close();
});

test('a phrase is hidden until asked for, typed back, and then shown no more', async () => {
  const page = await loaded();
  await show(page, 'phrase none');
  assert.doesNotMatch(await page.content(), /sausage/);
  await page.getByRole('button', { name: 'Write it down' }).click();
  await page.getByText('sausage').waitFor();
  await page.evaluate(() =>
    document
      .querySelector('ol')
      ?.dispatchEvent(new ClipboardEvent('copy', { bubbles: true, cancelable: true })),
  );
  await page.getByRole('button', { name: 'Do not copy' }).click();
  await page.getByLabel('Word 2').focus();
  assert.doesNotMatch(await page.content(), /sausage/);
  await page.getByLabel('Word 2').fill('winner');
  await page.getByLabel('Word 5').fill('wave');
  await page.getByLabel('Word 11').fill('thanks');
  await page.keyboard.press('Enter');
  await page.getByText('This is not word 11').waitFor();
  await page.getByLabel('Word 11').fill('thank');
  await page.keyboard.press('Enter');
  await page.getByText('Your phrase is checked').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Show the words' }).count(), 0);
});

test('a phrase that is saved counts once it has come back whole from there', async () => {
  const page = await loaded();
  await show(page, 'phrase unchecked');
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as a file' }).click();
  const saved = await savedBy(downloading);
  const field = page.getByLabel('Choose the saved file');
  await field.setInputFiles({ name: 'other.txt', mimeType: 'text/plain', buffer: Buffer.from('') });
  await page.getByText('other.txt has no rescue phrase in it.').waitFor();
  await page.getByRole('button', { name: 'Save to my password manager' }).click();
  assert.doesNotMatch(await page.content(), /sausage/);
  await page.getByLabel(/^The phrase, as your password manager/).fill('legal winner');
  await page.keyboard.press('Enter');
  await page.getByText('These are other words').waitFor();
  await page.getByRole('button', { name: 'Save as a file' }).click();
  await field.setInputFiles(saved);
  await page.getByText('Your phrase is checked').waitFor();
});
