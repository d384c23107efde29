// A maker lends its lanes by its own driver, on the market of `npm start`: a person's first swap
// takes less in a lane that the maker has used than in a new one, on EVM and on TRON.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
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

/** A lane of one's own, as new as a new one of the maker's, is opened without a signature. */
const signature = 10_000;

/** A taker that never funded before gives this coin to the maker; the cost of its funding. */
async function first(coin: CoinName) {
  const taker = await newCustomer(ground, 'Taker');
  const deal = await agreed(ground, [taker, maker], coin, 'SOL');
  assert.deepEqual(await finish(ground, deal), ['received', 'received']);
  const { lane, fundTx } = (await taker.client.swap(deal.id)).legs.b;
  assert.ok(lane !== null && fundTx !== null);
  return { lane, cost: (await costs[coin]?.(fundTx)) ?? 0 };
}

describe('a first swap takes less in a lane that its maker has used', { concurrency: true }, () => {
  for (const coin of ['ETH', 'TRX'] as const) {
    test(coin, { timeout: 240_000 }, async () => {
      const fresh = await first(coin);
      const used = await first(coin);
      assert.deepEqual([isOfPayee(fresh.lane), used.lane], [true, { ...fresh.lane, counter: 2 }]);
      assert.ok(
        used.cost < fresh.cost - signature,
        `${used.cost} in it, ${fresh.cost} in a new one`,
      );
    });
  }
});
