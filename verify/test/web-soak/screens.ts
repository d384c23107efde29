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
  await trader.goto('/sign-in?then=/swaps');
  await button(page, `Use ${walletNames.evm}`).click();
  // The address of the sign-in ends so too.
  await page.waitForURL(({ pathname }) => pathname === '/swaps');
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
    await button(page, `Use ${walletNames[login]}`).first().click();
    await paid.waitFor();
  }
}

/** Made, read, and three of its words typed back. */
export async function writesPhrase(trader: Trader): Promise<void> {
  const { page } = trader;
  await trader.goto('/phrase');
  await button(page, 'Make a phrase').click();
  await button(page, 'Show the words').click();
  const shown = page.locator('.phrase-words strong');
  await shown.first().waitFor();
  const words = await shown.allTextContents();
  assert.equal(words.length, 12);
  trader.words = words;
  await button(page, 'I have written them down').click();
  const fields = page.getByLabel(/^Word \d+$/);
  await fields.first().waitFor();
  for (const field of await fields.all()) {
    const label = await field.evaluate((each: HTMLInputElement) => each.labels?.[0]?.textContent);
    await field.fill(words[Number(label?.slice(5)) - 1] ?? '');
  }
  await button(page, 'Check').click();
  await says(page, 'Your phrase is checked');
}

/** On another device. */
export async function typesPhrase(trader: Trader): Promise<void> {
  const { page, words } = trader;
  await trader.goto('/phrase');
  await button(page, 'I have a phrase').click();
  await page.getByLabel('The twelve words').fill(words.join(' '));
  await button(page, 'Take this phrase').click();
  await says(page, 'Your phrase is checked');
}

/** The login wallet vouches for the key of the phrase, where the screen asks for it. */
export async function vouches(trader: Trader, family: Family = 'evm'): Promise<void> {
  const { page } = trader;
  const begin = button(page, 'Sign with the login wallet');
  const isBegun = await begin.click({ timeout: 5_000 }).then(
    () => true,
    () => false,
  );
  // A page's record of the account may be old for a moment: then no question comes.
  if (!isBegun && !(await begin.isVisible())) return;
  if (!isBegun) await begin.click();
  await button(page, `Use ${walletNames[family]}`).click();
  await begin.waitFor({ state: 'detached' });
}

/** By keyboard: the asset that the list finds, on that chain. */
async function chooses(page: Page, side: string, { symbol, chain }: Coin): Promise<void> {
  const group = page.getByRole('group', { name: side, exact: true });
  const field = group.getByRole('combobox', { name: 'Asset' });
  await field.fill(symbol);
  const option = page.getByRole('listbox').getByRole('option');
  await option.first().waitFor();
  const all = await option.all();
  for (const each of all) {
    const value = (await each.textContent()) ?? '';
    if (!value.startsWith(symbol)) continue;
    if (!chainTitle(chain).test(value)) continue;
    await each.click();
    await page.getByRole('listbox').waitFor({ state: 'detached' });
    return;
  }
  assert.fail(`no ${symbol} on ${chain}: ${(await option.allTextContents()).join(', ')}`);
}

/** As the app names a chain of the dev network. */
const titles: Readonly<Record<string, RegExp>> = {};
const chainTitle = (chain: string) =>
  titles[chain] ?? new RegExp(escaped(chain.split('-')[0] ?? chain), 'i');

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
  await chooses(page, 'You give', give);
  await chooses(page, 'You get', get);
  const group = page.getByRole('group', { name: 'You give', exact: true });
  await group.getByLabel(/^Amount/).fill(typed(giveAmount, give));
  await says(page, 'At worst your');
}

/** Returns the path of the order. */
export async function asks(trader: Trader, trade: Trade): Promise<string> {
  const { page } = trader;
  await fills(trader, trade);
  const vouch = button(page, 'Sign with the login wallet');
  const ask = button(page, 'Ask for quotes');
  // The form that vouches for a key on Bitcoin is loaded when it is due.
  await vouch
    .or(ask.and(page.locator(':not([aria-disabled=true])')))
    .first()
    .waitFor();
  if (await vouch.isVisible()) await vouches(trader);
  await ask.click();
  await page.waitForURL(/\/orders\/[^/]+$/);
  return new URL(page.url()).pathname;
}

/** From the makers' console. */
export async function quotes(trader: Trader, { give, get, giveAmount, getAmount }: Trade) {
  const { page } = trader;
  await trader.goto('/console');
  await says(page, 'The book is live');
  const row = page.getByRole('row', { name: `${typed(giveAmount, give)}\u00a0${give.symbol}` });
  await row.filter({ hasText: get.symbol }).first().getByRole('button').click();
  // Its first quote of a coin on Bitcoin: the key is vouched for.
  const vouch = button(page, 'Sign with the login wallet');
  const price = page.getByLabel(/^You g/).last();
  await price.waitFor();
  // The form that asks for it is loaded when it is due.
  if (get.symbol === 'BTC') await vouch.waitFor({ timeout: 15_000 }).catch(() => {});
  if (await vouch.isVisible()) await vouches(trader);
  await price.fill(typed(getAmount, get));
  // The field gets the focus, whatever else had it meanwhile, such as the dialog of the wallet.
  await price.press('Enter');
  const threads = page.getByRole('region', { name: 'Negotiations' });
  await threads.getByText('Your price: it is their move').first().waitFor();
}

export async function looksAtQuote({ page }: Trader): Promise<void> {
  await page
    .getByRole('link', { name: /^Look and accept/ })
    .first()
    .click();
  await page.waitForURL(/\/deals\//);
}

/**
 * As far as the screen lets: with a Bitcoin address where it asks for one. `looks` is done right
 * before it binds.
 */
export async function accepts(trader: Trader, looks?: () => Promise<unknown>): Promise<void> {
  const { page, addresses } = trader;
  const accept = button(page, 'Check and accept');
  const vouch = button(page, 'Sign with the login wallet');
  await accept
    .or(vouch)
    .or(page.getByRole('link', { name: 'To the phrase' }))
    .first()
    .waitFor();
  const free = page.getByRole('textbox', { name: /^(You are paid|A refund|You pay).* on/ });
  for (const field of await free.all()) await field.fill(addresses.bitcoin);
  if (await vouch.isVisible()) await vouches(trader);
  await accept.click();
  const dialog = page.getByRole('dialog');
  const yes = button(dialog, 'Accept, bindingly');
  const isFree = yes.and(page.locator(':not([aria-disabled=true])'));
  await isFree.or(dialog.getByText('Tick every sentence first')).first().waitFor();
  // The other form of a Bitcoin escrow is a choice, and no sentence to confirm.
  const sentences = dialog.getByRole('checkbox', { name: /^(?!Some exchanges)/ });
  const boxes = await sentences.all();
  assert.equal(await isFree.count(), boxes.length === 0 ? 1 : 0, 'each sentence is ticked first');
  for (const box of boxes) await box.check();
  await isFree.waitFor();
  await looks?.();
  await yes.click();
  await dialog.waitFor({ state: 'detached' });
}
