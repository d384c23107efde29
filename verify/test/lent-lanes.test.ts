// A maker lends its lanes by its own driver, on the market of `npm start`: a person's first swap
// takes less in a lane that the maker has used than in one of its own, on EVM and on TRON.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { isOfPayee } from '@parley/chains/interface/lanes.ts';
import type { CoinName } from '@parley/dev/demo/place.ts';
import { placeOf } from '@parley/dev/demo/place.ts';
import { devnetClient } from '@parley/dev/devnet/client.ts';
import { rpcTo } from '@parley/dev/devnet/rpc.ts';
import { type Customer, newCustomer } from './support/customers.ts';
import { agreed, finish, until } from './support/deals.ts';
import { sharedMarket } from './support/market.ts';
import type { Ground } from './support/stage.ts';

const opened = sharedMarket();
let ground: Ground;
let maker: Customer;

before(
  async () => {
    const { ready } = await opened();
    const dev = devnetClient(ready.dev ?? '');
    const status = await dev.status();
    const now = () => Math.floor(Date.now() / 1_000) + status.clockOffsetSeconds;
    ground = { url: ready.url, dev, place: placeOf(status), now };
    maker = await newCustomer(ground, 'Maker');
  },
  { timeout: 240_000 },
);

const costs: Readonly<Record<string, (txid: string) => Promise<number>>> = {
  ETH: async (txid) => {
    const ask = rpcTo(ground.place.evm.rpcUrl);
    const { gasUsed } = (await ask('eth_getTransactionReceipt', [txid])) as { gasUsed: string };
    return Number(gasUsed);
  },
  TRX: (txid) =>
    until('the receipt', async () => {
      const url = `${ground.place.tron.rpcUrl}/wallet/gettransactioninfobyid`;
      const asked = await fetch(url, { method: 'POST', body: JSON.stringify({ value: txid }) });
      const { receipt } = (await asked.json()) as { receipt?: { energy_usage_total?: number } };
      return receipt?.energy_usage_total;
    }),
};

/** A taker that never funded before gives this coin to the maker; the cost of its funding. */
async function first(coin: CoinName, by = maker) {
  const taker = await newCustomer(ground, 'Taker');
  const deal = await agreed(ground, [taker, by], coin, 'SOL');
  assert.deepEqual(await finish(ground, deal), ['received', 'received']);
  const { lane, fundTx } = (await taker.client.swap(deal.id)).legs.b;
  assert.ok(lane !== null && fundTx !== null);
  return { lane, cost: (await costs[coin]?.(fundTx)) ?? 0 };
}

/** The maker's wallet on a chain, as one that signs no texts. */
function mute(who: Customer, chain: string): Customer {
  const { source, wallet } = who.chains[chain] ?? assert.fail(chain);
  assert.ok(wallet);
  const { signTypedData: _, ...rest } = wallet as typeof wallet & { signTypedData?: unknown };
  const chains = { ...who.chains, [chain]: { source, wallet: rest as typeof wallet } };
  return { ...who, chains };
}

for (const coin of ['ETH', 'TRX'] as const) {
  test(`${coin}: a first swap takes less in a lane that its maker has used`, {
    timeout: 240_000,
  }, async () => {
    const own = await first(coin, mute(maker, ground.place.coins[coin].chain));
    assert.ok(!isOfPayee(own.lane));
    const lent = await first(coin);
    const { lane, cost } = await first(coin);
    assert.deepEqual([isOfPayee(lent.lane), lane], [true, { ...lent.lane, counter: 2 }]);
    assert.ok(cost < own.cost, `${cost} in a lent lane, ${own.cost} in one of its own`);
  });
}
