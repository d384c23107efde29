// A person in front of the screen of its swap: does the one thing that the screen asks for, until
// the swap has ended.

import type { Page } from 'playwright-core';
import type { Ground, Trader } from './trader.ts';
import { walletNames } from './trader.ts';

const families = ['evm', 'tron', 'solana'] as const;
const endLimitMs = 180_000;
const lookMs = 250;

export type Watching = {
  /** Told once for each title that the screen shows. */
  readonly onTitle?: (title: string) => unknown;
  /** Where the person leaves it be. */
  readonly until?: RegExp;
  /** The same by anything else on the screen; asked before the person does anything. */
  readonly isEnough?: () => Promise<boolean>;
  /** Does nothing where the screen asks for the own payment. */
  readonly pays?: boolean;
  /** Bitcoin by its wallet in the browser, and not from elsewhere. */
  readonly isByWallet?: boolean;
  readonly signal?: AbortSignal;
};

export const titleOf = async (page: Page): Promise<string> =>
  (await page.locator('#swap-now').textContent({ timeout: 20_000 })) ?? '';

/** The title that it ended with. */
export async function settles(
  ground: Ground,
  trader: Trader,
  {
    onTitle,
    until = /^(Done|Ended)/,
    isEnough,
    pays = true,
    isByWallet = false,
    signal,
  }: Watching = {},
): Promise<string> {
  const { page } = trader;
  const limit = performance.now() + endLimitMs;
  const seen: string[] = [];
  let hasPaid = false;
  while (performance.now() < limit) {
    signal?.throwIfAborted();
    const { title, asked } = await lookAt(page);
    if (title !== '' && seen.at(-1) !== title) {
      seen.push(title);
      await onTitle?.(title);
    }
    if (until.test(title) || (await isEnough?.())) return title;
    if (asked === 'wallet' && (pays || !/^Lock/.test(title))) {
      await page
        .getByRole('button', { name: /^Ask the wallet/ })
        .click({ timeout: 10_000 })
        .catch(() => {});
    }
    if (asked === 'connect') await connects(page);
    if (asked === 'pay' && pays && !hasPaid) {
      hasPaid = true;
      if (isByWallet) await page.getByRole('button', { name: paysWith }).click();
      else await paysByHand(ground, trader);
    }
    await page.waitForTimeout(lookMs);
  }
  const shown = await page.locator('main').textContent();
  throw new Error(`${trader.name} came no further than ${seen.join(' → ')}:\n${shown}`);
}

const paysWith = `Pay with ${walletNames.bitcoin}`;

type Look = { readonly title: string; readonly asked: 'wallet' | 'connect' | 'pay' | null };

/**
 * In one question: several a look, many times a second, took more than the swap. Before the swap is
 * shown its title is empty.
 */
function lookAt(page: Page): Promise<Look> {
  return page.evaluate((): Look => {
    const title = document.querySelector('#swap-now')?.textContent ?? '';
    const seen = (what: string) =>
      [...document.querySelectorAll(`.swap-now ${what}`)].filter((each) => each.checkVisibility());
    const names = seen('button').map((each) => each.textContent?.trim() ?? '');
    if (names.some((each) => each.startsWith('Ask the wallet'))) return { title, asked: 'wallet' };
    if (names.some((each) => each.startsWith('Use '))) return { title, asked: 'connect' };
    return { title, asked: seen('svg.qr').length > 0 ? 'pay' : null };
  });
}

async function connects(page: Page): Promise<void> {
  for (const family of families) {
    const found = page
      .locator('.swap-now')
      .getByRole('button', { name: `Use ${walletNames[family]}` });
    if (await found.isVisible()) await found.click({ timeout: 10_000 }).catch(() => {});
  }
}

/** From an exchange: to the address that the screen shows, the amount of its title. */
async function paysByHand({ web, place }: Ground, { page }: Trader): Promise<void> {
  const address = (await page.locator('.swap-pay .swap-address').textContent()) ?? '';
  const [, amount = ''] = /^Pay exactly ([\d.]+)/.exec(await titleOf(page)) ?? [];
  const sats = BigInt(Math.round(Number(amount) * 1e8));
  await web.dev.faucet({ chain: place.bitcoin.chain, address, amount: sats });
}
