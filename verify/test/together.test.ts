// A Taproot leg through a real market, by two drivers of the SDK: claimed by both sides, and given
// back by both where the other side never funds.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { placeOf } from '@parley/dev/demo/place.ts';
import { devnetClient } from '@parley/dev/devnet/client.ts';
import { rpcTo } from '@parley/dev/devnet/rpc.ts';
import type { Progress } from '@parley/sdk/settle.ts';
import { type Customer, newCustomer } from './support/customers.ts';
import { agreed, run } from './support/deals.ts';
import { sharedMarket } from './support/market.ts';
import type { Ground } from './support/stage.ts';

const limits = { timeout: 240_000 };
const opened = sharedMarket();
let ground: Ground;
let pair: readonly [Customer, Customer];

before(async () => {
  const market = await opened();
  const dev = devnetClient(market.ready.dev ?? '');
  const status = await dev.status();
  const now = () => Math.floor(Date.now() / 1_000) + status.clockOffsetSeconds;
  ground = { url: market.ready.url, dev, place: placeOf(status), now };
  pair = await Promise.all([newCustomer(ground, 'Tara'), newCustomer(ground, 'Max')]);
}, limits);

type Decoded = { readonly vin: readonly { readonly txinwitness?: readonly string[] }[] };

/** By the key of both sides one signature; by a leaf its script is beside it. */
async function isByBoth(txid: string | null): Promise<boolean> {
  const core = rpcTo(ground.place.bitcoin.rpcUrl);
  const { vin } = await core<Decoded>('getrawtransaction', [txid, true]);
  return vin.every(({ txinwitness = [] }) => txinwitness.length === 1);
}

test('both sides claim a Taproot leg together, through the market', limits, async () => {
  const deal = await agreed(ground, pair, 'BTC', 'EVM dollar');
  const ends = await Promise.all([run(ground, deal, 'taker'), run(ground, deal, 'maker')]);
  assert.deepEqual(
    ends.map(({ end }) => end),
    ['received', 'received'],
  );
  assert.ok(await isByBoth(ends[0].txids.b.claim));
});

test('a Taproot leg that the other side gives up is back at once', limits, async () => {
  const deal = await agreed(ground, pair, 'BTC', 'EVM dollar');
  let isFunded = false;
  const onProgress = ({ step, leg }: Progress) => {
    isFunded ||= step === 'seen' && leg === 'b';
  };
  const taker = run(ground, deal, 'taker', { onProgress });
  // Its own look is the one before it would fund.
  const maker = run(ground, deal, 'maker', { onProgress, givesUp: () => isFunded });
  const ends = await Promise.all([taker, maker]);
  assert.deepEqual(
    ends.map(({ end }) => end),
    ['refunded', 'nothing'],
  );
  assert.ok(await isByBoth(ends[0].txids.b.refund));
});
