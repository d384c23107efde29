// Compute units of each verb in the VM, balance checks included. A change that costs more shows
// here; README.md has the figures.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AMOUNT,
  type Asset,
  assets,
  claim,
  close,
  createSwap,
  expire,
  fund,
  refund,
  release,
  type Swap,
} from './testing/swaps.ts';
import type { Outcome } from './testing/vm.ts';

const most: Readonly<Record<Asset, Readonly<Record<string, number>>>> = {
  SOL: { fund: 8_000, claim: 1_500, refund: 1_500, release: 1_500, close: 1_500 },
  'SPL Token': { fund: 12_000, claim: 6_000, refund: 6_000, release: 6_000, close: 1_500 },
  'Token-2022': { fund: 12_000, claim: 9_000, refund: 9_000, release: 9_000, close: 1_500 },
};

/** A swap whose escrow's address is the first that is tried. */
async function firstBump(asset: Asset): Promise<Swap> {
  for (let amount = AMOUNT; ; amount += 1n) {
    const swap = await createSwap(asset, { amount });
    if (swap.escrow.bump === 255) return swap;
  }
}

for (const asset of assets) {
  test(`${asset}: no verb takes more compute units than its limit`, async () => {
    const taken: Record<string, bigint> = {};
    const note = ({ error, units }: Outcome, verb: string) => {
      assert.equal(error, undefined, verb);
      taken[verb] = units;
    };
    const claimed = await firstBump(asset);
    note(await fund(claimed), 'fund');
    note(await claim(claimed), 'claim');
    expire(claimed);
    note(await close(claimed), 'close');
    for (const verb of ['refund', 'release'] as const) {
      const swap = await firstBump(asset);
      await fund(swap);
      if (verb === 'refund') expire(swap);
      note(await (verb === 'refund' ? refund : release)(swap), verb);
    }
    for (const [verb, limit] of Object.entries(most[asset])) {
      assert.ok(taken[verb]! <= limit, `${verb}: ${taken[verb]} units`);
    }
  });
}
