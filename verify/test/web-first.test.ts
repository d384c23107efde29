// A new person with a wallet in its browser: presses, typed words and prompts of the wallet until the
// first quote, and until the swap is done. Every press is counted by the page itself.

import assert from 'node:assert/strict';
import { before, describe, type TestContext, test } from 'node:test';
import type { Person as Maker } from '@parley/dev/demo/people.ts';
import type { Told } from '@parley/web/wallets/testing/settings.ts';
import { waitUntil } from './support/waiting.ts';
import { saysAt, sharedWeb } from './support/web.ts';
import { newMaker, takesPart } from './web-soak/maker.ts';
import { mustEnd, tradeOf } from './web-soak/scenario.ts';
import { keepsPhrase, type Trade } from './web-soak/screens.ts';
import { funded, type Ground, groundOf, newTrader, type Trader } from './web-soak/trader.ts';

declare const walletDoubles: Record<string, Told>;

const opened = sharedWeb();
let ground: Ground;
let maker: Maker;
before(async () => {
  ground = await groundOf(await opened());
  maker = await newMaker(ground, clock);
});

const clock = {
  now: () => Math.floor(Date.now() / 1_000),
  move: async () => assert.fail('no clock is moved'),
};

/** The bars of docs/web.md: a person that has never been here, with a wallet. */
const mostToQuote = 3;
const mostToDone = 9;

type Count = { presses: number; words: number };

/** Bitcoin is paid from elsewhere; each gift of it is a block that every page reads. */
const unused = ['BTC', 'TRX', 'TRON dollar', 'SOL', 'SPL dollar'] as const;

/** Presses of keys that submit a form are presses too: the browser makes them clicks. */
async function counted({ context }: Trader): Promise<Count> {
  const count = { presses: 0, words: 0 };
  await context.exposeFunction('countPress', () => {
    count.presses += 1;
  });
  await context.addInitScript(() => {
    const heard = (event: Event) => {
      if (event.isTrusted) (window as unknown as { countPress(): void }).countPress();
    };
    addEventListener('click', heard, true);
  });
  return count;
}

const prompts = ({ page }: Trader) =>
  page.evaluate(() =>
    Object.values(walletDoubles).reduce((sum, each) => sum + each.prompts.length, 0),
  );

/** The box by a link, as from the page of the market, so that the pair is chosen. */
async function linkOf({ give, get }: Trade): Promise<string> {
  const { assets } = await maker.client.assets({ limit: 100 });
  const idOf = ({ chain, token }: Trade['give']) =>
    assets.find((each) => each.chain === chain && each.address === token)?.id ?? assert.fail(chain);
  return `/#${new URLSearchParams({ give: idOf(give), get: idOf(get), exact: 'give' })}`;
}

/** Swaps that settle would take minutes: the pair has a median by the market's word here. */
async function tradedBefore({ context }: Trader, { giveAmount, getAmount }: Trade) {
  const agreement = {
    direction: 'sell_base',
    baseAmount: `${giveAmount}`,
    quoteAmount: `${getAmount}`,
    agreedAt: new Date().toISOString(),
  };
  const more = { median: agreement, agreements: [agreement], windowSeconds: 86_400 };
  await saysAt(context, '/market/pairs/price', more);
}

async function isNew(t: TestContext, give: 'BTC' | 'ETH', get: 'BTC' | 'EVM dollar') {
  const trader = await newTrader(ground, 'Nora');
  t.after(() => trader.close());
  const count = await counted(trader);
  await funded(ground, trader, unused);
  const trade = tradeOf(ground, give, get);
  const { page, addresses } = trader;
  await tradedBefore(trader, trade);
  await trader.goto(await linkOf(trade));
  const beganMs = performance.now();
  const amount = page.getByRole('textbox', { name: 'You give' });
  await amount.click();
  await amount.pressSequentially(`${Number(trade.giveAmount) / 10 ** trade.give.decimals}`);
  count.words += 1;
  await page.getByRole('button', { name: 'Get live quotes' }).click();
  await page.getByRole('dialog').getByRole('button', { name: /Fox/ }).click();
  await page.waitForURL(/\/orders\//);
  const rfqId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const { id } = await maker.client.quote(rfqId, `${trade.getAmount}`);
  const accept = page.getByRole('article').getByRole('link', { name: /^Accept/ });
  await accept.waitFor();
  const toQuote = { ...count, prompts: await prompts(trader), seconds: since(beganMs) };
  const over = new AbortController();
  t.after(() => over.abort());
  const part = takesPart(maker, id, clock, { signal: over.signal });
  part.catch(() => {});
  await accept.click();
  await keepsPhrase(trader);
  count.words += 3;
  const address = page.getByRole('textbox', { name: /on Bitcoin/ });
  // It has the focus: pasted at once.
  await address.waitFor();
  await page.waitForFunction(() => document.activeElement?.matches('#deal-first input'));
  await page.keyboard.insertText(addresses.bitcoin);
  count.words += 1;
  await page.getByRole('button', { name: 'Sign with Fox' }).click();
  await page.getByRole('button', { name: 'Accept and lock the price' }).click();
  await page.waitForURL(/\/swaps\//);
  await mustEnd(ground, trader, /^Done\. You received/);
  const toDone = { ...count, prompts: await prompts(trader), seconds: since(beganMs) };
  await waitUntil(async () => (await (await part).ends) !== null);
  t.diagnostic(`${give} for ${get}: to a quote ${said(toQuote)}; to Done ${said(toDone)}`);
  assert.ok(toQuote.presses <= mostToQuote, said(toQuote));
  assert.ok(toDone.presses <= mostToDone, said(toDone));
}

const since = (beganMs: number) => (performance.now() - beganMs) / 1_000;

type Counted = Count & { readonly prompts: number; readonly seconds: number };

const said = ({ presses, words, prompts, seconds }: Counted) =>
  `${presses} presses, ${words} typed words, ${prompts} prompts, ${seconds.toFixed(1)} s`;

describe('three presses to a quote, nine to Done', { concurrency: true }, () => {
  test('coins of the wallet for Bitcoin', (t) => isNew(t, 'ETH', 'BTC'));
  test('Bitcoin for a token', (t) => isNew(t, 'BTC', 'EVM dollar'));
});
