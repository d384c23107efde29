// The app's screens of an account in a real Chromium: each login method, and the reach of another
// tab. The reach of another site is a rule of apps/market/edge/account/cross-site.test.ts.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bitcoinWallet, evmWallet } from '@parley/market/edge/testing/signers.ts';
import type { Page } from 'playwright-core';
import {
  type AccountPages,
  announceWallet,
  signByHand,
  startAccountPages,
} from './support/account-pages.ts';
import { sharedBrowser } from './support/chromium.ts';

const browser = sharedBrowser();
let pages: AccountPages;
before(async () => {
  pages = await startAccountPages(await browser());
});
after(() => pages.close());

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
/** The question that is asked before something ends. */
const sure = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true });

test('by e-mail: back to where one was; a key is made, works, is revoked; then signed out', async (t) => {
  const page = await pages.open(t, '/sign-in?then=%2Fkeys');
  await pages.byEmail(page, 'ann@example.test');
  await heading(page, 'A new key').waitFor();
  assert.equal(page.url(), `${pages.origin}/keys`);
  await page.getByLabel('Name of the key').fill('my bot');
  await button(page, 'Make the key').click();
  const key = (await page.locator('.secret').textContent()) ?? '';
  assert.match(key, /^parley_test_.{43}$/);
  const works = async () => (await pages.edge.call('GET', '/v1/me', { key })).status;
  assert.equal(await works(), 200);
  await page.getByRole('button', { name: /^Revoke the key/ }).click();
  await sure(page, 'Revoke');
  await page.getByText('The key is revoked.').waitFor();
  assert.equal(await works(), 401);
  await page.getByRole('link', { name: 'Account', exact: true }).last().click();
  await page.getByText('Only one login is left').waitFor();
  await button(page, 'Sign out').click();
  await page.getByText('You are not signed in here').waitFor();
});

test('through an identity provider: there and back as any browser goes, and back to cancel', async (t) => {
  const page = await pages.open(t, '/sign-in?then=%2Fwebhooks');
  const go = button(page, `Go on with ${pages.provider.label}`);
  await go.click();
  await button(page, 'Cancel').click();
  await page.getByText('The sign-in was cancelled.').waitFor();
  await go.click();
  await page.getByLabel('Sign in as').fill('olga');
  await button(page, 'Sign in').click();
  await heading(page, 'Register a webhook').waitFor();
  assert.equal(page.url(), `${pages.origin}/webhooks`);
  // A further login, added there: said here, and nobody is led anywhere by it later.
  await page.getByRole('link', { name: 'Account', exact: true }).last().click();
  await button(page, 'Add a login').click();
  await go.click();
  await page.getByLabel('Sign in as').fill('olga.other');
  await button(page, 'Sign in').click();
  await page.getByText('The login is added.').waitFor();
  await page.getByText('olga.other@example.test').waitFor();
  assert.equal(page.url(), `${pages.origin}/account`);
  await button(page, 'Sign out').click();
  await page.getByText('You are not signed in here').waitFor();
  assert.equal(page.url(), `${pages.origin}/account`);
});

test('by wallet: one is paid there; another wallet waits, is stopped; so does the end of the account', async (t) => {
  const wallet = evmWallet();
  const other = bitcoinWallet();
  const page = await pages.open(t, '/sign-in?then=%2Fwallets', (each) =>
    announceWallet(each, wallet),
  );
  await page.getByRole('button', { name: 'Use Test Wallet' }).click();
  const own = page.locator('li', { hasText: wallet.address });
  await own.getByText('you are paid here · signs in').waitFor();
  await signByHand(page, 'Name a wallet', other);
  await page.getByText('it waits for 1 hour, 24 minutes').waitFor();
  await button(page, 'Wait instead').click();
  const waiting = page.locator('li', { hasText: other.address });
  await waiting.getByText('is paid from').waitFor();
  await page.getByText('A change of where you are paid waits').waitFor();
  await waiting.getByRole('button', { name: /^Stop what waits/ }).click();
  await sure(page, 'Stop it');
  await page.getByText('Stopped. You are paid as before.').waitFor();
  await waiting.waitFor({ state: 'detached' });
  await page.goto(`${pages.origin}/account`);
  await button(page, 'Delete the account').click();
  await isInTheMiddle(page);
  await sure(page, 'Delete the account');
  await page.getByText('This account is to be deleted').waitFor();
  await heading(page, 'Delete the account').waitFor({ state: 'detached' });
  await button(page, 'Stop it').click();
  await sure(page, 'Stop it');
  await heading(page, 'Delete the account').waitFor();
});

/** Wherever on the page its button stands. */
async function isInTheMiddle(page: Page): Promise<void> {
  const box = await page.getByRole('dialog').boundingBox();
  const { width, height } = page.viewportSize() ?? assert.fail('no window');
  const { x, y, width: wide, height: high } = box ?? assert.fail('no dialog');
  const off = [x + wide / 2 - width / 2, y + high / 2 - height / 2].map(Math.abs);
  assert.ok(Math.max(...off) <= 1, `${JSON.stringify(box)} in ${width} x ${height}`);
}

test('by passkey: one that was added signs in alone, and is not added twice', async (t) => {
  const page = await pages.open(t, '/sign-in');
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await pages.byEmail(page, 'pia@example.test');
  const add = async () => {
    await button(page, 'Add a login').click();
    await page.getByLabel('Your name for this device').fill('my laptop');
    await button(page, 'Add a passkey').click();
  };
  await add();
  await page.locator('li', { hasText: 'my laptop' }).waitFor();
  await add();
  await page.getByText('this device has one of this account already').waitFor();
  await button(page, 'Sign out').click();
  await page.getByRole('link', { name: 'Sign in' }).last().click();
  await button(page, 'Use a passkey').click();
  await page.getByText('Signed in by passkey').waitFor();
});

/** Has another person sign in in the browser of `page`, in a tab of its own. */
async function signInBeside(page: Page, address: string): Promise<void> {
  const beside = await pages.beside(page, '/account');
  await button(beside, 'Sign out').click();
  await beside.getByRole('link', { name: 'Sign in' }).last().click();
  await pages.byEmail(beside, address);
  await heading(beside, address).waitFor();
  await beside.close();
}

const madeAt = async (address: string) => {
  const browser = await pages.edge.person(address);
  return (await browser.get('/account/me')).body.createdAt as string;
};

test('a tab that was left open does nothing to the account that another tab signed in to', async (t) => {
  const page = await pages.open(t, '/sign-in');
  await pages.byEmail(page, 'xena@example.test');
  await button(page, 'Delete the account').click();
  await signInBeside(page, 'yuri@example.test');
  const before = await madeAt('yuri@example.test');
  await sure(page, 'Delete the account');
  await heading(page, 'yuri@example.test').waitFor();
  await page.getByText('another account is signed in here by now').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await madeAt('yuri@example.test'), before);
  // An account that has signed out in another tab disappears from a screen that asks the market
  // alone.
  const activity = await pages.beside(page, '/activity');
  await activity.getByText('Nothing here yet').waitFor();
  await button(page, 'Sign out').click();
  await heading(page, 'You are not signed in here')
    .or(page.getByText('You are not signed in here'))
    .first()
    .waitFor();
  await activity.getByText('You are not signed in here').waitFor();
  await activity.close();
});
