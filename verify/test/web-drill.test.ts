// The rescue drill: a browser profile is deleted in the middle of a swap, and the market is asked
// no more. Phrase, rescue file and nodes bring it back in the saved rescue page, from a disk.
// Refunds, and payments that were wrong, are the rules of packages/sdk/rescue and packages/sdk/paid-elsewhere.test.ts.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { ledgers } from '@parley/dev/demo/ledger.ts';
import { walletScript } from '@parley/web/wallets/testing/script.ts';
import type { BrowserContext, Page } from 'playwright-core';
import { pageLimitMs } from './support/chromium.ts';
import { waitUntil } from './support/waiting.ts';
import { sharedWeb, type Web, watch } from './support/web.ts';
import { newMaker } from './web-soak/maker.ts';
import { agreed, person, tradeOf } from './web-soak/scenario.ts';
import { settles } from './web-soak/settles.ts';
import { type Ground, groundOf, type Trader } from './web-soak/trader.ts';

const opened = sharedWeb();
let web: Web;
let ground: Ground;
before(async () => {
  web = await opened();
  ground = await groundOf(web);
});

/** Another address than the swap was agreed with, named in the copy alone. */
const payout = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
const clock = {
  now: () => Math.floor(Date.now() / 1_000),
  move: async () => assert.fail('no clock is moved'),
};

type Saved = { readonly copy: string; readonly file: string };

/** The rescue file and the rescue page, as the app gives them. */
async function savedBy({ page, follow }: Trader, home: string): Promise<Saved> {
  await follow('/rescue');
  const saved = { copy: join(home, 'rescue.html'), file: join(home, 'rescue.json') };
  for (const [control, path] of [
    [page.getByRole('button', { name: 'Save the rescue file' }).first(), saved.file],
    [page.getByRole('link', { name: 'Save the rescue page' }), saved.copy],
  ] as const) {
    const downloading = page.waitForEvent('download');
    await control.click();
    await (await downloading).saveAs(path);
  }
  return saved;
}

/** From a disk, by nodes alone: the market's origin is asked nothing. */
async function rescued(profile: BrowserContext, { copy, file }: Saved, lost: Trader) {
  const { place, coreUrl } = ground;
  const { chainId, rpcUrl } = place.evm;
  const page = await profile.newPage();
  page.setDefaultTimeout(pageLimitMs);
  const wallet = { family: 'evm', name: 'Drill', privateKey: lost.keys.evm } as const;
  const content = await walletScript([{ ...wallet, chains: { [chainId]: rpcUrl } }]);
  await page.addInitScript({ content });
  const nodes = { 'Bitcoin regtest': coreUrl, 'EVM chain': rpcUrl };
  const origins = Object.values(nodes).map((url) => new URL(url).origin);
  // A page from a disk has none.
  const wrong = await watch(page, new Set([...origins, 'null']));
  await page.goto(`file://${copy}`);
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByLabel('The twelve words').fill(lost.words.join(' '));
  await page.getByRole('button', { name: 'Take this phrase' }).click();
  for (const [name, url] of Object.entries(nodes)) {
    const form = page.locator('.node-chain', { hasText: name });
    await form.locator('textarea').fill(url);
    await form.getByRole('button', { name: 'Check and keep' }).click();
    await form.getByText('is of this chain').waitFor();
  }
  await page.getByRole('button', { name: 'Bring back 1 open swap' }).click();
  await page.getByText('It waits for a Bitcoin address of yours').waitFor();
  await page.getByRole('textbox', { name: 'Bitcoin address' }).fill(payout);
  await page.getByRole('button', { name: 'Use this address' }).click();
  await page
    .getByText(/^Brought back\. (?:It goes on by itself|Your own wallet has to sign)/)
    .waitFor();
  return { page, wrong };
}

/** On the page of a swap, by the person's own wallet. */
async function collects(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Look at it' }).click();
  await page.getByRole('button', { name: 'Drill' }).first().click();
  await page.getByRole('button', { name: 'Ask the wallet' }).click();
  await page.locator('.swap-now h2', { hasText: /You received 640/ }).waitFor();
}

test('profile deleted and market gone: the secret of the phrase collects from a disk', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'parley-copy-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const over = new AbortController();
  t.after(() => over.abort());
  const [maker, alice] = await Promise.all([
    newMaker(ground, clock),
    person(ground, 'Alice', ['BTC']),
  ]);
  const trade = tradeOf(ground, 'BTC', 'EVM dollar');
  // A browser that is gone signs no claim with it.
  const how = { signal: over.signal, cosignWaitMs: 0 };
  const { swapId } = await agreed(maker, alice, trade, clock, how);
  await alice.page.waitForURL(/\/swaps\//);
  await settles(ground, alice, { until: /on its way$|are locked$/ });
  const saved = await savedBy(alice, home);
  await alice.close();

  const { family, token } = ground.place.coins['EVM dollar'];
  const balance = () =>
    ledgers[family].balance(ground.place[family].rpcUrl, alice.addresses[family], token);
  const had = await balance();
  const profile = await web.browser.newContext({ locale: 'en-GB' });
  t.after(() => profile.close());
  const copy = await rescued(profile, saved, alice);
  await collects(copy.page);
  assert.equal((await balance()) - had, trade.getAmount);
  await copy.page.close();
  // The other side was paid too, by the secret that the copy has shown.
  await waitUntil(async () => (await maker.client.swap(swapId)).legs.b.claimTx);
  assert.deepEqual(copy.wrong, []);
});
