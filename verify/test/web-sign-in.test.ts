// Ways into an account and what they are good for, in a real Chromium on dev chains: presses and
// prompts are counted. Login methods alone are in people-browser.test.ts.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, type TestContext, test } from 'node:test';
import { linkWallet } from '@parley/sdk/keys.ts';
import { bitcoinWallet } from '@parley/sdk/wallets/bitcoin.ts';
import { walletScript } from '@parley/web/wallets/testing/script.ts';
import type { Told } from '@parley/web/wallets/testing/settings.ts';
import type { Page } from 'playwright-core';
import { savedBy } from './support/chromium.ts';
import { waitUntil } from './support/waiting.ts';
import { sharedWeb, type Web } from './support/web.ts';

declare const walletDoubles: Record<string, Told>;

const opened = sharedWeb();
let web: Web;
before(async () => {
  web = await opened();
});

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

/** A browser with one wallet program, or none. */
async function openWith(t: TestContext, path: string, name: string | null): Promise<Page> {
  const evm = web.market.ready.chains.find(({ family }) => family === 'evm');
  const { chainId = 0, rpcUrl = '' } = evm ?? {};
  const privateKey = randomBytes(32).toString('hex');
  const wallet = { family: 'evm', privateKey, chains: { [chainId]: rpcUrl } } as const;
  const content = name === null ? '' : await walletScript([{ ...wallet, name }]);
  return web.open(t, path, { prepare: (context) => context.addInitScript({ content }) });
}

const promptsOf = (page: Page) => page.evaluate(() => walletDoubles.Fox?.prompts ?? []);

const behaves = (page: Page, does: Told['does']) =>
  page.evaluate((next) => {
    if (walletDoubles.Fox !== undefined) walletDoubles.Fox.does = next;
  }, does);

const payoutsOf = (page: Page) =>
  page.evaluate(async () => {
    const { payouts } = await (await fetch('/account/payout')).json();
    return payouts as { family: string; paid: string | null; receives: string[] }[];
  });

/** By the dev network's inbox. */
async function signsInByEmail(page: Page, address: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(address);
  await button(page, 'Send a code').click();
  const field = page.getByLabel('The digits of the code');
  await field.waitFor();
  await field.fill(await codeOf(address));
  await button(page, 'Go on').click();
  await field.waitFor({ state: 'detached' });
}

function codeOf(address: string): Promise<string> {
  const url = `${web.market.ready.inbox}mails.json?to=${encodeURIComponent(address)}`;
  return waitUntil(async () => {
    const { mails } = await (await fetch(url)).json();
    return /\b\d{6}\b/.exec(mails[0]?.text ?? '')?.[0];
  });
}

/** The key of the browser becomes a login, and is paid. */
async function usesOwnKey(page: Page): Promise<void> {
  await button(page, 'Add a login').click();
  await button(page, 'Use this browser’s Bitcoin key').click();
  await page.getByText('The login is added.').waitFor();
}

test('one press on a wallet connects and signs in: two prompts, and the same screen goes on', async (t) => {
  const page = await openWith(t, '/wallets', 'Fox');
  await page.getByText('You are not signed in here').waitFor();
  await button(page, 'Sign in').click();
  await behaves(page, 'declines');
  await button(page, 'Use Fox').click();
  await page.getByText('You said no in your wallet').waitFor();
  await behaves(page, 'signs');
  await button(page, 'Use Fox').click();
  await page.getByRole('heading', { name: 'Name a wallet' }).waitFor();
  assert.equal(new URL(page.url()).pathname, '/wallets');
  const [, ...prompts] = await promptsOf(page);
  assert.deepEqual(prompts, ['eth_requestAccounts', 'personal_sign']);
});

test('a sign-in in another window ends the dialog, and this window goes on', async (t) => {
  const page = await openWith(t, '/wallets', 'Fox');
  await button(page, 'Sign in').click();
  await button(page, 'Use Fox').waitFor();
  const beside = await page.context().newPage();
  await beside.goto(`${web.url}/sign-in`);
  await button(beside, 'Use Fox').click();
  await beside.waitForURL(/\/account$/);
  await page.getByRole('heading', { name: 'Name a wallet' }).waitFor();
  assert.deepEqual(await promptsOf(page), []);
});

test('by e-mail alone the key of the browser is paid in Bitcoin, with no extension', async (t) => {
  const page = await openWith(t, '/account', null);
  await button(page, 'Sign in').click();
  await page.getByText('No wallet program was found in this browser').waitFor();
  await signsInByEmail(page, 'eve@example.test');
  await usesOwnKey(page);
  const bitcoin = (await payoutsOf(page)).find(({ family }) => family === 'bitcoin');
  assert.match(bitcoin?.paid ?? '', /^bcrt1q/);
  assert.deepEqual(bitcoin?.receives, [bitcoin?.paid]);
});

test('the key of the browser authorizes a wallet: it may be paid after one signature', async (t) => {
  const { client } = await web.person();
  const privateKey = randomBytes(32).toString('hex');
  await linkWallet(client, bitcoinWallet({ privateKey, network: 'regtest' }));
  const { assets } = await client.assets({ limit: 100 });
  const idOf = (symbol: string) => assets.find((each) => each.symbol === symbol)?.id ?? '';
  const { id } = await client.createRfq({
    direction: 'sell_base',
    baseAssetId: idOf('BTC'),
    baseAmount: '1000000',
    quoteAssetId: idOf('ETH'),
    ttlSeconds: 600,
    visibility: 'public',
  });
  const page = await openWith(t, '/account', 'Fox');
  await button(page, 'Sign in').click();
  await page.getByText('By e-mail').click();
  await signsInByEmail(page, 'max@example.test');
  await usesOwnKey(page);
  await page.goto(`${web.url}/orders/${id}`);
  const saving = page.waitForEvent('download');
  await button(page, 'Save as a file').click();
  await page.getByLabel('Choose the saved file').setInputFiles(await savedBy(saving));
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await button(page, 'Use Fox').click();
  await page.getByLabel('You give (ETH)').waitFor();
  assert.deepEqual(await promptsOf(page), ['eth_requestAccounts', 'personal_sign']);
  const evm = (await payoutsOf(page)).find(({ family }) => family === 'evm');
  assert.equal(evm?.receives.length, 1);
});
