// Sign-ins by wallets, for tests, as the pages of the site do them.

import type { TestBrowser } from './browser.ts';
import type { Answer } from './edge.ts';
import type { TestWallet } from './signers.ts';

export type Purpose = 'sign-in' | 'add' | 'renew';

/** The text that the wallet is asked to sign. */
export async function textFor(
  browser: TestBrowser,
  { family, address }: Pick<TestWallet, 'family' | 'address'>,
  purpose: Purpose = 'sign-in',
): Promise<string> {
  const asked = await browser.post('/account/wallet', { family, address, purpose });
  if (asked.status !== 200) throw new Error(JSON.stringify(asked.body));
  return asked.body.message;
}

/** Hands in a text, signed by the wallet. */
export async function giveText(
  browser: TestBrowser,
  wallet: TestWallet,
  message: string,
  overrides: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  const { family, address } = wallet;
  const signature = await wallet.sign(message);
  const body = { family, address, message, signature, ...overrides };
  return browser.post('/account/wallet/proof', body);
}

/** Signs in by the wallet, adds it as a login, or renews the session by it. */
export async function signInBy(
  browser: TestBrowser,
  wallet: TestWallet,
  purpose: Purpose = 'sign-in',
): Promise<Answer> {
  return giveText(browser, wallet, await textFor(browser, wallet, purpose));
}
