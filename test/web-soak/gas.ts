// People whose wallets have no coin for network fees: the market collects for them, sends what they
// signed, or refuses, and then the screen says what is missing.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Family } from '../../core/families.ts';
import type { CoinName } from '../../scripts/demo/place.ts';
import { newMaker } from './maker.ts';
import { agreed, type Group, mustEnd, once, type Scenario, tradeOf } from './scenario.ts';
import { joins, says, type Trade, writesPhrase } from './screens.ts';
import { type Clock, type Ground, newTrader, promptsOf, type Trader } from './trader.ts';

const received = /^Done\. You received/;
const pictures = process.env.PARLEY_PICTURES;

/** With nothing but what is given away. */
async function poor(ground: Ground, name: string): Promise<Trader> {
  const trader = await newTrader(ground, name);
  await joins(trader);
  await writesPhrase(trader);
  return trader;
}

async function picture({ page }: Trader, name: string): Promise<void> {
  if (pictures === undefined) return;
  const fullPage = (await page.getByRole('dialog').count()) === 0;
  await page.screenshot({ path: join(pictures, `gas-${name}.png`), fullPage });
}

/** What this wallet was asked for beside words and its address. */
async function movesOf(trader: Trader, family: Family): Promise<readonly string[]> {
  const all = await promptsOf(trader, family);
  return all.filter((name) => !/connect|accounts|personal|message/i.test(name));
}

const collectors: readonly (readonly [get: CoinName, family: Exclude<Family, 'bitcoin'>])[] = [
  ['EVM dollar', 'evm'],
  ['TRON dollar', 'tron'],
  ['SPL dollar', 'solana'],
];

export function gas(ground: Ground, clock: Clock): Group {
  const { web, place } = ground;
  const over = new AbortController();
  const { signal } = over;
  const both = once(() => Promise.all([poor(ground, 'Poor'), newMaker(ground, clock)]));

  /** Until both have accepted; the maker settles by itself. */
  async function begins(trade: Trade, what: string): Promise<readonly [Trader, Promise<unknown>]> {
    const [poorOne, maker] = await both.get();
    const looks = async () => {
      await says(poorOne.page, 'Coins for network fees');
      await picture(poorOne, `${what}-acceptance`);
    };
    const { ends } = await agreed(maker, poorOne, trade, clock, { signal, looks });
    await poorOne.page.waitForURL(/\/swaps\//);
    return [poorOne, ends];
  }
  const shown = (trader: Trader, what: string) => ({
    onTitle: (title: string) => picture(trader, `${what} ${title}`.replaceAll(/\W+/g, '-')),
  });

  const collected = collectors.map(([get, family]): Scenario => {
    const play = async () => {
      const [trader, ends] = await begins(tradeOf(ground, 'BTC', get), family);
      await mustEnd(ground, trader, received, shown(trader, family));
      await ends;
      assert.deepEqual(await movesOf(trader, family), []);
      return undefined;
    };
    return { name: `without gas, BTC for ${get}`, play };
  });

  const signed: Scenario = {
    name: 'without gas, a signed dollar for BTC',
    play: async () => {
      const [, , coin] =
        (await web.dev.status()).chains.find(({ family }) => family === 'evm')?.tokens ?? [];
      assert.ok(coin);
      const [trader] = await both.get();
      const { address: token, symbol } = coin;
      const { chain } = place.evm;
      const address = trader.addresses.evm;
      await web.dev.faucet({ chain, address, asset: symbol, amount: 1_000_000_000n });
      const trade = tradeOf(ground, 'EVM dollar', 'BTC');
      const [, ends] = await begins({ ...trade, give: { ...trade.give, token, symbol } }, 'signed');
      await mustEnd(ground, trader, received, shown(trader, 'signed'));
      await ends;
      assert.deepEqual(await movesOf(trader, 'evm'), ['eth_signTypedData_v4']);
      return undefined;
    },
  };

  const refused: Scenario = {
    name: 'without gas, and the market refuses',
    play: async () => {
      const [trader] = await both.get();
      const { page, context, addresses } = trader;
      const why = 'this account has had 50 relays on "evm-dev" today and 50 is the most';
      const claims = '**/legs/*/claim';
      const headers = { 'x-parley-error': 'relay_unavailable' };
      await context.route(claims, (route) =>
        route.fulfill({ status: 409, headers, json: { error: why } }),
      );
      const [, ends] = await begins(tradeOf(ground, 'BTC', 'EVM dollar'), 'refused');
      const settling = mustEnd(ground, trader, received, shown(trader, 'refused'));
      settling.catch(() => {});
      await page.getByText(`refused: ${why}`).waitFor({ timeout: 60_000 });
      await says(page, addresses.evm);
      await picture(trader, 'refused-told');
      await web.dev.faucet({ chain: place.evm.chain, address: addresses.evm });
      await settling;
      await ends;
      await context.unroute(claims);
      assert.deepEqual(await movesOf(trader, 'evm'), ['eth_sendTransaction']);
      return undefined;
    },
  };
  const close = async () => {
    over.abort(new Error('the scenarios are over'));
    await (await both.made()?.catch(() => null))?.[0].close();
  };
  return { scenarios: [...collected, signed, refused], close };
}
