// A person's acts on the screens of the app, by the names that a screen reader says.

import assert from 'node:assert/strict';
import type { Family } from '@parley/core/families.ts';
import type { Coin } from '@parley/dev/demo/place.ts';
import { formatAmount } from '@parley/sdk/people.ts';
import type { Locator, Page } from 'playwright-core';
import { type Trader, walletNames } from './trader.ts';

/** As a pattern; digits are grouped by spaces of some kind. */
const escaped = (text: string) =>
  text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/\s/g, '\\s');
const button = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name });
export const says = (page: Page, sentence: RegExp | string, timeout?: number) =>
  page
    .getByText(sentence)
    .first()
    .waitFor(timeout === undefined ? {} : { timeout });
const panel = (page: Page, title: string) =>
  page.locator('section.panel', { has: page.getByRole('heading', { name: title }) });

export async function signsIn(trader: Trader): Promise<void> {
  const { page } = trader;
  await trader.goto('/sign-in?then=/activity');
  await button(page, `Use ${walletNames.evm}`).click();
  // The address of the sign-in ends so too.
  await page.waitForURL(({ pathname }) => pathname === '/activity');
}

const familyTitles = { evm: 'Ethereum and others (EVM)', tron: 'TRON', solana: 'Solana' };

/** By the wallet of that family; then every other family's is named to be paid, and proven. */
export async function joins(trader: Trader, login: Exclude<Family, 'bitcoin'> = 'evm') {
  const { page } = trader;
  await trader.goto('/sign-in?then=/wallets');
  await button(page, `Use ${walletNames[login]}`).click();
  await page.getByRole('heading', { name: 'Wallets and payout' }).waitFor();
  for (const family of ['evm', 'tron', 'solana'] as const) {
    if (family === login) continue;
    await button(panel(page, 'Name a wallet'), `Use ${walletNames[family]}`).click();
    const paid = panel(page, familyTitles[family]).getByText('you are paid here');
    const second = page.getByText('A second signature');
    await paid.or(second).first().waitFor();
    if (!(await second.isVisible())) continue;
    await vouching(page, login).click();
    await paid.waitFor();
  }
}

/** Written on paper, and three of its words typed back, on whatever screen asks for it. */
export async function keepsPhrase(trader: Trader): Promise<void> {
  const { page } = trader;
  await button(page, /^Write it down/).click();
  const shown = page.locator('.phrase-words strong');
  await shown.first().waitFor();
  const words = await shown.allTextContents();
  assert.equal(words.length, 12);
  trader.words = words;
  const fields = page.getByLabel(/^Word \d+$/);
  await fields.first().waitFor();
  for (const field of await fields.all()) {
    const label = await field.evaluate((each: HTMLInputElement) => each.labels?.[0]?.textContent);
    await field.fill(words[Number(label?.slice(5)) - 1] ?? '');
  }
  await button(page, 'Check').click();
}

export async function writesPhrase(trader: Trader): Promise<void> {
  await trader.follow('/phrase');
  await keepsPhrase(trader);
  await says(trader.page, 'Your phrase is checked');
}

/** On another device. */
export async function typesPhrase(trader: Trader): Promise<void> {
  const { page, words } = trader;
  await trader.goto('/phrase');
  await page.getByText('I have a phrase from another device').click();
  await page.getByLabel('The twelve words').fill(words.join(' '));
  await button(page, 'Take this phrase').click();
  await says(page, 'Your phrase is checked');
}

const vouching = (page: Page, family: Family = 'evm') =>
  button(page, `Sign with ${walletNames[family]}`);

/** The login wallet vouches for the key of the phrase, where the screen asks for it. */
export async function vouches(trader: Trader, family: Family = 'evm'): Promise<void> {
  const { page } = trader;
  const sign = vouching(page, family);
  const isSigned = await sign.click({ timeout: 5_000 }).then(
    () => true,
    () => false,
  );
  // A page's record of the account may be old for a moment: then no question comes.
  if (!isSigned && !(await sign.isVisible())) return;
  if (!isSigned) await sign.click();
  await sign.waitFor({ state: 'detached' });
}

/** The asset that the picker finds, on that chain. */
async function chooses(page: Page, side: 'give' | 'get', { symbol, chain }: Coin): Promise<void> {
  await page.locator(`#swap-${side}-asset`).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Symbol or chain').fill(symbol);
  // Behind its own name a row may say what the other side is then.
  const name = new RegExp(`^${escaped(symbol)} on ${escaped(familyOf(chain))}`, 'i');
  await button(dialog.locator('.asset-list'), name).click();
  await dialog.waitFor({ state: 'detached' });
}

/** As the app names the chains of the dev network. */
const familyOf = (chain: string) =>
  /^evm/.test(chain) ? 'Ethereum' : (chain.split('-')[0] ?? chain);
export type Trade = {
  readonly give: Coin;
  readonly get: Coin;
  readonly giveAmount: bigint;
  readonly getAmount: bigint;
};

const typed = (units: bigint, { decimals }: Coin) => formatAmount(units, decimals);

/** The swap box, as far as the costs. */
export async function fills(trader: Trader, { give, get, giveAmount }: Trade): Promise<void> {
  const { page } = trader;
  await trader.goto('/');
  await chooses(page, 'get', get);
  await chooses(page, 'give', give);
  await page.getByRole('textbox', { name: 'You give' }).fill(typed(giveAmount, give));
  await says(page, 'Safe refund after');
}

/** Returns the path of the order. */
export async function asks(trader: Trader, trade: Trade): Promise<string> {
  const { page } = trader;
  await fills(trader, trade);
  await button(page, 'Get live quotes').click();
  await page.waitForURL(/\/orders\/[^/]+$/);
  return new URL(page.url()).pathname;
}

/** From the makers' console. */
export async function quotes(trader: Trader, { give, get, giveAmount, getAmount }: Trade) {
  const { page } = trader;
  await trader.goto('/console');
  const order = button(
    page,
    new RegExp(`^${escaped(`${typed(giveAmount, give)} ${give.symbol}`)}`),
  );
  await order.filter({ hasText: get.symbol }).first().click();
  const ticket = page.getByRole('region', { name: 'Chosen order' });
  const send = button(ticket, 'Send the quote');
  await send.waitFor();
  const vouch = vouching(page);
  const price = ticket.getByLabel(/^You g.*\(/);
  await price.fill(typed(getAmount, get));
  const isReady = send.and(page.locator(':not([aria-disabled=true])'));
  // Its first quote of a coin on Bitcoin: the key is vouched for first.
  await vouch.or(isReady).first().waitFor();
  if (await vouch.isVisible()) await vouches(trader);
  await isReady.waitFor();
  await price.press('Enter');
  await ticket.getByText('Your price: it is their move').waitFor();
}

export async function looksAtQuote({ page }: Trader): Promise<void> {
  await page
    .getByRole('article')
    .getByRole('link', { name: /^Accept/ })
    .click();
  await page.waitForURL(/\/deals\//);
}

/**
 * As far as the page lets: what it asks for first, a Bitcoin address among it. `looks` is done right
 * before it binds.
 */
export async function accepts(trader: Trader, looks?: () => Promise<unknown>): Promise<void> {
  const { page, addresses } = trader;
  const yes = button(page, /^Accept and (?:lock the price|start the swap)$/);
  const vouch = vouching(page);
  const keep = button(page, /^Write it down/);
  const first = page.locator('#deal-first');
  await first.waitFor();
  await keep.or(first.getByText('Your rescue phrase is kept')).first().waitFor();
  if (await keep.isVisible()) {
    await keepsPhrase(trader);
    await first.getByText('Your rescue phrase is kept').waitFor();
  }
  const free = first.getByRole('textbox', { name: /^(You are paid|A refund|You pay).* on/ });
  for (const field of await free.all()) await field.fill(addresses.bitcoin);
  if (await vouch.isVisible()) await vouches(trader);
  const isFree = yes.and(page.locator(':not([aria-disabled=true])'));
  const unticked = button(page, 'Next: tick every sentence');
  await isFree.or(unticked).first().waitFor();
  const boxes = await page.locator('#deal-confirm').getByRole('checkbox').all();
  assert.equal(await isFree.count(), boxes.length === 0 ? 1 : 0, 'each sentence is ticked first');
  for (const box of boxes) await box.check();
  await isFree.waitFor();
  await looks?.();
  await yes.click();
  await page.waitForFunction(
    () => !document.querySelector('.sticky-action button')?.matches('[aria-busy=true]'),
  );
}
