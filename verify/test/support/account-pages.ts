// The app's screens of an account in a real Chromium, on a market in this process without chains.
// A test reads codes of mails from it, and moves its clock.

import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import {
  type IdentityProvider,
  startIdentityProvider,
} from '@parley/dev/devnet/people/identity-provider.ts';
import { type PeopleEdge, startPeople } from '@parley/market/edge/testing/people.ts';
import type { TestWallet } from '@parley/market/edge/testing/signers.ts';
import { readSettings } from '@parley/market/settings/config.ts';
import { openWeb, webConfig } from '@parley/market/start/web.ts';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { pageLimitMs } from './chromium.ts';
import { watch } from './web.ts';

export type AccountPages = {
  readonly edge: PeopleEdge;
  readonly provider: IdentityProvider;
  /** On localhost: passkeys want a name. */
  readonly origin: string;
  /** A browser of its own, that fails the test by whatever was wrong in it. */
  open(t: TestContext, path: string, prepare?: (page: Page) => Promise<void>): Promise<Page>;
  /** Another tab of the same browser. */
  beside(page: Page, path: string): Promise<Page>;
  /** From the page of the sign-in on, until the screen after it. */
  byEmail(page: Page, address: string): Promise<void>;
  close(): Promise<void>;
};

export async function startAccountPages(browser: Browser): Promise<AccountPages> {
  const provider = await startIdentityProvider({ log: { error: assert.fail } as never });
  const { issuer, label, client } = provider;
  const own = { id: 'dev', label, issuer, clientId: client.id, clientSecret: client.secret };
  const scopes = ['openid', 'email'];
  const providers = [{ ...own, scopes, messages: false, nonce: true }];
  const people = { ...readSettings({}).people, providers, payoutHoldSeconds: 5_000 };
  const { build, said } = await openWeb();
  if (build === null) throw new Error(`no app: ${said}`);
  const config = () => webConfig(readSettings({}), { offsetMs: 0 }, [], null);
  const edge = await startPeople({ settings: { people } }, { build, config });
  await edge.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = edge.app.server.address() as AddressInfo;
  const origin = `http://localhost:${port}`;
  return {
    edge,
    provider,
    origin,
    open: (t, path, prepare) => open(t, { browser, origin, issuer, path, prepare }),
    beside: async (page, path) => {
      const other = await page.context().newPage();
      other.setDefaultTimeout(pageLimitMs);
      await other.goto(`${origin}${path}`);
      return other;
    },
    byEmail: async (page, address) => {
      await page.getByLabel('E-mail address').fill(address);
      await page.getByRole('button', { name: 'Send a code' }).click();
      await page.getByLabel('The digits of the code').waitFor();
      await page.getByLabel('The digits of the code').fill(edge.codeOf(address));
      await page.getByRole('button', { name: 'Go on' }).click();
      await page.getByLabel('The digits of the code').waitFor({ state: 'detached' });
    },
    close: async () => {
      await Promise.all([edge.close(), provider.stop()]);
    },
  };
}

type Opening = {
  readonly browser: Browser;
  readonly origin: string;
  readonly issuer: string;
  readonly path: string;
  readonly prepare: ((page: Page) => Promise<void>) | undefined;
};

async function open(t: TestContext, opening: Opening): Promise<Page> {
  const { browser, origin, issuer, path, prepare } = opening;
  const context: BrowserContext = await browser.newContext({
    serviceWorkers: 'block',
    reducedMotion: 'reduce',
    locale: 'en-GB',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(pageLimitMs);
  const wrong = await watch(page, new Set([origin, new URL(issuer).origin]));
  t.after(async () => {
    await context.close();
    assert.deepEqual(wrong, [], wrong.join('\n'));
  });
  await prepare?.(page);
  await page.goto(`${origin}${path}`);
  return page;
}

/** A wallet that announces itself as an extension does (EIP-6963), and signs at once. */
export async function announceWallet(page: Page, wallet: TestWallet): Promise<void> {
  await page.exposeFunction('signText', (hex: string) =>
    wallet.sign(Buffer.from(hex.slice(2), 'hex').toString()),
  );
  await page.addInitScript(`(() => {
    const answers = {
      eth_requestAccounts: () => ['${wallet.address}'],
      eth_accounts: () => ['${wallet.address}'],
      personal_sign: ([hex]) => signText(hex),
    };
    const request = async ({ method, params }) => answers[method](params);
    const icon = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlE' +
      'QVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
    const info = { uuid: crypto.randomUUID(), name: 'Test Wallet', icon, rdns: 'test.wallet' };
    const detail = Object.freeze({ info, provider: { request, on: () => {} } });
    const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
    addEventListener('eip6963:requestProvider', announce);
    announce();
  })()`);
}

/** A text that is signed elsewhere, in the given part of the page. */
export async function signByHand(page: Page, where: string, wallet: TestWallet): Promise<void> {
  const part = page.locator('section', { has: page.getByRole('heading', { name: where }) }).last();
  await part.getByText('Sign a text by hand').click();
  await part.getByLabel('Kind of wallet').selectOption(wallet.family);
  await part.getByLabel('Address of the wallet').fill(wallet.address);
  await part.getByRole('button', { name: 'Show the text' }).click();
  const text = await part.getByLabel('The text to sign').inputValue();
  await part.getByLabel('Signature').fill(await wallet.sign(text));
  await part.getByRole('button', { name: 'Go on' }).click();
}
