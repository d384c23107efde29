// The price of keeping accounts may change, at any time and in form: settling must not depend on
// it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rent } from 'litesvm';
import {
  assets,
  claim,
  close,
  createSwap,
  expire,
  fund,
  moneyOf,
  refund,
  stateOf,
} from './testing/swaps.ts';

const TODAY = { price: 3_480n, threshold: 2 };

const prices = [
  { name: 'as today', price: 3_480n, threshold: 2, minimum: 129n * 6_960n },
  {
    name: 'the threshold moved into the price',
    price: 6_960n,
    threshold: 1,
    minimum: 129n * 6_960n,
  },
  { name: 'half of it', price: 3_480n, threshold: 1, minimum: 129n * 3_480n },
  { name: 'a tenth of it', price: 696n, threshold: 1, minimum: 129n * 696n },
  // Rounded up to a power of two: a little more than the least stays behind.
  { name: 'a fraction', price: 3_000n, threshold: 1.5, minimum: 129n * 6_000n },
  { name: 'less than one', price: 3_000n, threshold: 0.5, minimum: 129n * 3_000n },
  { name: 'nothing', price: 0n, threshold: 2, minimum: 1n },
] as const;

for (const { name, price, threshold, minimum } of prices) {
  test(`an escrow settles under a rent that is ${name}: a claim leaves what can stay, a refund nothing`, async () => {
    for (const asset of assets) {
      for (const settle of [claim, refund]) {
        for (const before of [TODAY, { price, threshold }]) {
          const swap = await createSwap(asset);
          const { svm } = swap.world;
          svm.setRent(new Rent(before.price, before.threshold, 50));
          assert.equal((await fund(swap)).error, undefined);
          svm.setRent(new Rent(price, threshold, 50));
          if (settle === refund) expire(swap);
          assert.equal((await settle(swap)).error, undefined);
          assert.equal(moneyOf(swap).escrow, settle === claim ? minimum : 0n);
          assert.ok(minimum >= svm.minimumBalanceForRentExemption(1n));
          assert.equal(stateOf(swap)?.length, settle === claim ? 1 : undefined);
          if (settle === refund) continue;
          svm.setRent(new Rent(before.price, before.threshold, 50));
          expire(swap);
          assert.equal((await close(swap)).error, undefined);
          assert.equal(moneyOf(swap).escrow, 0n);
        }
      }
    }
  });
}
