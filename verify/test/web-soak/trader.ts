// A person with a browser profile of its own and money on all four chains. A wallet of every family
// is in it, as extensions put them there. This file never talks to the market.

import type { Family } from '@parley/core/families.ts';
import { type Keys, newKeys, walletsOf } from '@parley/dev/demo/people.ts';
import { type CoinName, type Place, placeOf } from '@parley/dev/demo/place.ts';
import { walletScript } from '@parley/web/wallets/testing/script.ts';
import type { Told } from '@parley/web/wallets/testing/settings.ts';
import type { BrowserContext, Page } from 'playwright-core';
import { originsOf, type Web, watch } from '../support/web.ts';

export const walletNames = {
  evm: 'Fox',
  tron: 'TronLink',
  solana: 'Ghost',
  bitcoin: 'Verse',
} as const;

export type Ground = {
  readonly web: Web;
  readonly place: Place;
  /** The URL by which pages reach Bitcoin's node. */
  readonly coreUrl: string;
  readonly own: ReadonlySet<string>;
};

export async function groundOf(web: Web): Promise<Ground> {
  const status = await web.dev.status();
  const coreUrl = status.chains.find(({ family }) => family === 'bitcoin')?.pageUrl ?? '';
  return { web, place: placeOf(status), coreUrl, own: originsOf(web.market, web.url, status) };
}

/** Unix seconds, as the dev network has moved them. */
export type Clock = { readonly now: () => number; move(seconds: number): Promise<void> };

export type Trader = {
  readonly name: string;
  readonly keys: Keys;
  readonly addresses: Readonly<Record<Family, string>>;
  readonly context: BrowserContext;
  readonly page: Page;
  /** The faults of its pages so far. */
  readonly wrong: readonly string[];
  /** Written on paper. */
  words: readonly string[];
  /** Loads the page anew. */
  goto(path: string): Promise<void>;
  /** As a link of the app does. */
  follow(path: string): Promise<void>;
  close(): Promise<void>;
};

declare const walletDoubles: Record<string, Told>;

/** Answers of a page on a machine with two cores. */
const pageMs = 20_000;

/**
 * `of`: the same person on another device, with the same wallets and no storage; in `browser`, a
 * profile that is there, in another tab.
 */
export async function newTrader(
  ground: Ground,
  name: string,
  of?: Trader,
  browser?: BrowserContext,
): Promise<Trader> {
  const { web, place, coreUrl, own } = ground;
  const keys = of?.keys ?? newKeys();
  const wallets = walletsOf(place, keys);
  const addresses = {
    bitcoin: wallets.bitcoin.address,
    evm: wallets.evm.address,
    tron: wallets.tron.address,
    solana: wallets.solana.address,
  };
  const content = await walletScript([
    {
      family: 'evm',
      name: walletNames.evm,
      privateKey: keys.evm,
      chains: { [place.evm.chainId]: place.evm.rpcUrl },
    },
    { family: 'tron', name: walletNames.tron, privateKey: keys.tron, url: place.tron.rpcUrl },
    { family: 'solana', name: walletNames.solana, privateKey: keys.solana },
    {
      family: 'bitcoin',
      name: walletNames.bitcoin,
      privateKey: keys.bitcoin,
      network: 'regtest',
      coreUrl,
    },
  ]);
  const context =
    browser ??
    (await web.browser.newContext({
      viewport: { width: 1_200, height: 900 },
      locale: 'en-GB',
      reducedMotion: 'reduce',
      serviceWorkers: 'block',
      acceptDownloads: true,
    }));
  if (browser === undefined) await context.addInitScript({ content });
  const page = await context.newPage();
  page.setDefaultTimeout(pageMs);
  await page.addInitScript(tellsEndTakenBack);
  const wrong = await watch(page, own);
  return {
    name,
    keys,
    addresses,
    context,
    page,
    wrong,
    words: of?.words ?? [],
    goto: async (path) => void (await page.goto(`${web.url}${path}`)),
    follow: (path) => page.evaluate((to) => history.pushState(null, '', to), path),
    close: () => context.close(),
  };
}

/** An end that a screen shows for a moment alone frightens; no look of the soak would meet it. */
function tellsEndTakenBack(): void {
  let end = '';
  const look = () => {
    const title = document.querySelector('#swap-now')?.textContent ?? '';
    if (end !== '' && title !== '' && title !== end) console.error(`"${end}" became "${title}"`);
    end = /^(Done|Ended)/.test(title) ? title : '';
  };
  new MutationObserver(look).observe(document, {
    childList: true,
    subtree: true,
    characterData: true,
  });
}

/** On every chain, for so many swaps; the coins `without` get nothing. */
export async function funded(
  { web, place }: Ground,
  { addresses }: Trader,
  without: readonly CoinName[] = [],
): Promise<void> {
  const given = Object.values(place.coins).filter(({ name }) => !without.includes(name));
  const gifts = given.flatMap(({ name, chain, family, token, gift: amount }) => {
    const asset = token === null ? {} : { asset: token };
    const gift = { chain, address: addresses[family], amount, ...asset };
    return name === 'BTC' ? Array.from({ length: 8 }, () => gift) : [gift];
  });
  await Promise.all(gifts.map((gift) => web.dev.faucet(gift)));
}

/** The person's answers at the next prompts of that wallet. */
export const behaves = ({ page }: Trader, family: Family, does: Told['does']) =>
  page.evaluate(
    ([name, how]) => {
      const told = walletDoubles[name];
      if (told !== undefined) told.does = how;
    },
    [walletNames[family], does] as const,
  );

/** All that this wallet has shown in the page that is open, by the names of its calls. */
export const promptsOf = ({ page }: Trader, family: Family) =>
  page.evaluate((name) => walletDoubles[name]?.prompts ?? [], walletNames[family]);
