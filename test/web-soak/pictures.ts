// `npm run node -- test/web-soak/pictures.ts`: docs/pictures/web anew, for docs/web.md. A swap from
// the first screen to the receipt, and states that it rarely has.

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { placeOf } from '../../scripts/demo/place.ts';
import { originsOf, startWeb } from '../support/web.ts';
import { palettePng } from './palette.ts';
import { person, tradeOf } from './scenario.ts';
import { accepts, asks, fills, looksAtQuote, quotes, says } from './screens.ts';
import { settles } from './settles.ts';
import { type Ground, newTrader, type Trader } from './trader.ts';

const folder = join(import.meta.dirname, '../../docs/pictures/web');
const mostBytes = 60 * 1_024;
const narrow = { width: 360, height: 780 };
const wide = { width: 1_200, height: 800 };
/** Of test/web-settle-states.test.ts, by the names of its fixtures. */
const states = {
  'state-too-little': 'wide too little',
  'state-paid-twice': 'wide paid twice',
  'state-declined': 'wide declined',
  'state-refunded': 'wide refunded',
  'state-lost': 'wide lost',
  'state-warned': 'wide swap warned',
};

const raw = await mkdtemp(join(tmpdir(), 'parley-pictures-'));
const web = await startWeb();
try {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const status = await web.dev.status();
  const coreUrl = status.chains.find(({ family }) => family === 'bitcoin')?.pageUrl ?? '';
  const own = originsOf(web.market, web.url, status);
  await swap({ web, place: placeOf(status), coreUrl, own });
} finally {
  await web.close();
}
const test = join(import.meta.dirname, '../web-settle-states.test.ts');
const env = { ...process.env, PARLEY_PICTURES: raw };
await promisify(execFile)(process.execPath, ['--test', test], { env });
for (const [name, fixture] of Object.entries(states)) {
  await small(name, join(raw, `${fixture.replaceAll(/\W+/g, '-')}.png`));
}
await rm(raw, { recursive: true, force: true });

async function small(name: string, from: string): Promise<void> {
  const png = await readFile(from);
  for (let rows = 1_500; ; rows -= 100) {
    const made = palettePng(png, rows);
    if (made.length > mostBytes) continue;
    await writeFile(join(folder, `${name}.png`), made);
    return console.log(`${name} ${made.length}`);
  }
}

/** Of what the page shows; `isAlsoNarrow`: and as a phone shows it. */
async function picture({ page }: Trader, name: string, isAlsoNarrow = false): Promise<void> {
  const sizes = isAlsoNarrow ? [wide, narrow] : [wide];
  for (const size of sizes) {
    await page.setViewportSize(size);
    await page.waitForTimeout(400);
    const own = size === wide ? name : `${name}-360`;
    const path = join(raw, `${own}.png`);
    // What lies over the page is as large as the window.
    const fullPage = (await page.getByRole('dialog').count()) === 0;
    await page.screenshot({ path, fullPage });
    await small(own, path);
  }
  await page.setViewportSize(wide);
}

async function swap(ground: Ground): Promise<void> {
  const trade = tradeOf(ground, 'BTC', 'EVM dollar');
  const guest = await newTrader(ground, 'Guest');
  await guest.goto('/');
  await says(guest.page, 'You give');
  await guest.page.getByRole('combobox').first().waitFor();
  await picture(guest, 'swap-box-empty');
  await fills(guest, trade);
  await picture(guest, 'swap-box', true);
  await screens(guest, ['sign-in']);
  await guest.goto('/phrase');
  await guest.page.getByRole('button', { name: 'Make a phrase' }).click();
  await guest.page.getByRole('button', { name: 'Show the words' }).click();
  await picture(guest, 'phrase');
  await guest.page.getByRole('button', { name: 'I have written them down' }).click();
  await picture(guest, 'phrase-typed-back');
  await guest.close();

  const alice = await person(ground, 'Alice');
  const bob = await person(ground, 'Bob');
  await asks(alice, trade);
  await picture(alice, 'order-waits');
  await bob.goto('/console');
  await bob.page.locator('.request-open').first().click();
  await bob.page.locator('.quote-panel input').fill('640');
  await bob.page.locator('.facts').getByText(/^640 /).first().waitFor();
  await picture(bob, 'console', true);
  await quotes(bob, trade);
  await picture(alice, 'order-quoted', true);
  await looksAtQuote(alice);
  await says(alice.page, 'Check and accept');
  const address = alice.page.getByRole('textbox', { name: / on / }).first();
  await address.fill(alice.addresses.bitcoin);
  await picture(alice, 'deal', true);
  await alice.page.getByRole('button', { name: 'Check and accept' }).click();
  await alice.page.getByRole('dialog').getByRole('button', { name: 'Accept, bindingly' }).waitFor();
  await alice.page.waitForTimeout(1_500);
  await picture(alice, 'acceptance');
  await alice.page.keyboard.press('Escape');
  await accepts(alice);
  await picture(alice, 'deal-accepted');
  await bob.page.getByRole('link', { name: 'Look and accept' }).first().click();
  await accepts(bob);
  await Promise.all([alice, bob].map(({ page }) => page.waitForURL(/\/swaps\//)));
  await settles(ground, alice, { until: /^Pay /, pays: false });
  await alice.page.locator('svg.qr').waitFor();
  await picture(alice, 'swap-pay', true);
  const taken = settles(ground, alice, { until: /are locked$/ });
  await settles(ground, bob, { until: /^Lock/, pays: false });
  await bob.page.getByRole('button', { name: 'Ask the wallet' }).waitFor();
  await picture(bob, 'swap-lock');
  await taken;
  await picture(alice, 'swap-locked');
  await Promise.all([settles(ground, bob), settles(ground, alice)]);
  await picture(alice, 'swap-done', true);
  await screens(alice, ['swaps', 'book', 'status', 'wallets', 'account', 'keys', 'webhooks']);
  await screens(alice, ['notifications', 'activity', 'assets', 'settings', 'help', 'rescue']);
  await Promise.all([alice.close(), bob.close()]);
}

async function screens(trader: Trader, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await trader.goto(`/${path}`);
    await trader.page.locator('h1').waitFor();
    await trader.page.waitForLoadState('networkidle');
    await picture(trader, path);
  }
}
