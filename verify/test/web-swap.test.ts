// A whole swap by the screens alone: two people in two browser profiles, every click by the name
// that a screen reader says. All pairs, and what goes wrong, are in the soak (verify/test/web-soak).

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { ledgers } from '@parley/dev/demo/ledger.ts';
import type { CoinName } from '@parley/dev/demo/place.ts';
import type { Told } from '@parley/web/wallets/testing/settings.ts';
import { sharedWeb } from './support/web.ts';
import { swapped } from './web-soak/pairs.ts';
import { person, tradeOf } from './web-soak/scenario.ts';
import { type Ground, groundOf, type Trader } from './web-soak/trader.ts';

declare const walletDoubles: Record<string, Told>;

const opened = sharedWeb();
let ground: Ground;
before(async () => {
  ground = await groundOf(await opened());
});

/** Base units, by the node itself. */
function balance({ addresses }: Trader, name: CoinName): Promise<bigint> {
  const { place } = ground;
  const { family, token } = place.coins[name];
  return ledgers[family].balance(place[family].rpcUrl, addresses[family], token);
}

test('Bitcoin from a wallet of the browser for dollars from another: each signs in, agrees and has what it gets', async (t) => {
  const both = await Promise.all([
    person(ground, 'Alice', ['ETH']),
    person(ground, 'Bob', ['BTC']),
  ]);
  t.after(() => Promise.all(both.map((each) => each.close())));
  const [alice, bob] = both;
  const trade = tradeOf(ground, 'BTC', 'EVM dollar');
  const had = [await balance(alice, 'EVM dollar'), await balance(bob, 'BTC')] as const;
  await swapped(ground, both, trade, { isByWallet: true });
  await alice.page.locator('summary', { hasText: 'Both sides on chain' }).click();
  await alice.page
    .getByText(/^bcrt1p/)
    .first()
    .waitFor();
  const prompts = await alice.page.evaluate(() => walletDoubles.Verse?.prompts ?? []);
  assert.equal(prompts.filter((each) => each === 'sendTransfer').length, 1);
  assert.equal((await balance(alice, 'EVM dollar')) - had[0], trade.getAmount);
  assert.equal(await balance(alice, 'ETH'), 0n, 'the market has collected for it');
  const came = (await balance(bob, 'BTC')) - had[1];
  // The fee of the claim is taken out of it.
  const leastPercent = 90n;
  assert.ok(came < trade.giveAmount && came * 100n > trade.giveAmount * leastPercent, `${came}`);
});
