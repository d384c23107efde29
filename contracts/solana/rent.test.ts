// The price of keeping accounts may change, at any time and in form: settling must not depend on
// it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rent } from 'litesvm';
import * as instructions from './testing/instructions.ts';
import { SYSTEM } from './testing/instructions.ts';
import {
  AMOUNT,
  type Asset,
  accepted,
  assets,
  claim,
  close,
  createSwap,
  expire,
  fund,
  moneyOf,
  pay,
  refund,
  refused,
  release,
  type Swap,
  secret,
  stateOf,
  swapIn,
} from './testing/swaps.ts';
import { balanceOf, createWorld, type Runtime, rentOf, send, setAccount } from './testing/vm.ts';

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
  test(`an escrow settles under a rent that is ${name}: a claim or release leaves what can stay, a refund nothing`, async () => {
    for (const asset of assets) {
      for (const settle of [claim, refund, release]) {
        for (const before of [TODAY, { price, threshold }]) {
          const swap = await createSwap(asset);
          const { svm } = swap.world;
          svm.setRent(new Rent(before.price, before.threshold, 50));
          assert.equal((await fund(swap)).error, undefined);
          svm.setRent(new Rent(price, threshold, 50));
          if (settle === refund) expire(swap);
          assert.equal((await settle(swap)).error, undefined);
          assert.equal(moneyOf(swap).escrow, settle === refund ? 0n : minimum);
          assert.ok(minimum >= svm.minimumBalanceForRentExemption(1n));
          assert.equal(stateOf(swap)?.length, settle === refund ? undefined : 1);
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

const rentIs = ({ world }: Pick<Swap, 'world'>, price: bigint): void => {
  world.svm.setRent(new Rent(price, 1, 50));
};
const forms = ['whole', 'bare'] as const;
const claimAs = ({ escrow }: Swap, form: (typeof forms)[number]) =>
  instructions.claim(escrow, secret, { refund: form === 'whole' });

async function fundedAt(price: bigint, asset: Asset, runtime: Runtime = 'usual'): Promise<Swap> {
  const swap = await swapIn(await createWorld(runtime), asset);
  rentIs(swap, price);
  await accepted(fund(swap));
  return swap;
}

const paidTo = (swap: Swap) =>
  swap.asset === 'SOL' ? moneyOf(swap).payee : (moneyOf(swap).destination ?? 0n);

for (const asset of assets) {
  test(`${asset}: whoever funds while the rent is low, the claim pays once it is back`, async () => {
    for (const runtime of ['usual', 'every feature'] as const) {
      for (const low of [5_080n, 2_575n, 1_322n, 696n, 0n]) {
        for (const form of forms) {
          const swap = await fundedAt(low, asset, runtime);
          const had = paidTo(swap);
          rentIs(swap, 6_960n);
          await accepted(send(swap.world, [claimAs(swap, form)]));
          assert.equal(paidTo(swap) - had, AMOUNT);
          // Whole accounts, whatever rule of the runtime lets smaller ones be.
          const length = BigInt(stateOf(swap)?.length ?? 0);
          assert.ok(moneyOf(swap).escrow >= rentOf(swap.world, length), `${low} ${form}`);
          await refused(fund(swap), 'AlreadyFunded');
        }
      }
    }
  });

  test(`${asset}: the deposit is what it was at the highest rent so far, and all of it comes back`, async () => {
    for (const [price, deposit] of [
      [696n, 2_171_520n],
      [6_960n, 2_171_520n],
      [6_961n, 312n * 6_961n],
    ] as const) {
      const swap = await createSwap(asset);
      rentIs(swap, price);
      const before = moneyOf(swap).funder;
      await accepted(fund(swap));
      assert.equal(moneyOf(swap).escrow, deposit + (asset === 'SOL' ? AMOUNT : 0n));
      expire(swap);
      await accepted(refund(swap));
      assert.equal(moneyOf(swap).funder, before);
    }
  });

  test(`${asset}: a release pays through a rise of the rent, and all of the deposit comes back`, async () => {
    for (const runtime of ['usual', 'every feature'] as const) {
      const swap = await fundedAt(696n, asset, runtime);
      const before = moneyOf(swap);
      rentIs(swap, 6_960n);
      await accepted(release(swap));
      const [sol, tokens] = asset === 'SOL' ? [AMOUNT, undefined] : [0n, AMOUNT];
      const vault = asset === 'SOL' ? 0n : 293n * 696n;
      const kept = 129n * 6_960n;
      const { funder, source } = moneyOf(swap);
      assert.equal(funder - before.funder, sol + 2_171_520n + vault - kept);
      assert.equal(source, tokens === undefined ? undefined : before.source! + tokens);
      await refused(fund(swap), 'AlreadyFunded');
      expire(swap);
      await accepted(close(swap));
      assert.equal(moneyOf(swap).funder - funder, kept);
    }
  });

  test(`${asset}: through two rises a claim, a refund of its rent and a closing work`, async () => {
    for (const form of forms) {
      const swap = await fundedAt(696n, asset);
      const before = moneyOf(swap).funder;
      rentIs(swap, 6_960n);
      await accepted(send(swap.world, [claimAs(swap, form)]));
      rentIs(swap, 16_000n);
      if (form === 'bare') {
        await accepted(send(swap.world, [instructions.refund(swap.escrow)]));
        assert.equal(stateOf(swap)?.length, 1);
        await refused(fund(swap), 'AlreadyFunded');
      }
      rentIs(swap, 1_000_000n);
      expire(swap);
      await accepted(close(swap));
      assert.equal(moneyOf(swap).escrow, 0n);
      const vault = asset === 'SOL' ? 0n : 293n * 696n;
      assert.equal(moneyOf(swap).funder - before, 2_171_520n + vault);
    }
  });
}

test('beyond any rent so far a claim pays with a transfer of what is missing, to the lamport', async () => {
  for (const [form, length] of [
    ['whole', 1n],
    ['bare', 184n],
  ] as const) {
    const swap = await fundedAt(696n, 'SOL');
    rentIs(swap, 69_600n);
    const missing = rentOf(swap.world, length) - 2_171_520n;
    const { escrow } = swap.escrow;
    const own = claimAs(swap, form);
    const { error } = await send(swap.world, [pay(swap, escrow, missing - 1n), own]);
    assert.match(error ?? '', /InsufficientFundsForRent/);
    await accepted(send(swap.world, [pay(swap, escrow, missing), own]));
    assert.equal(moneyOf(swap).escrow, rentOf(swap.world, length));
    await refused(fund(swap), 'AlreadyFunded');
    const before = moneyOf(swap).funder;
    expire(swap);
    await accepted(close(swap));
    assert.equal(moneyOf(swap).funder - before, rentOf(swap.world, length));
  }
});

test('at any rent a release goes through: what its mark lacks or costs comes with a closing', async () => {
  for (const asset of assets) {
    for (const price of [69_600n, 1_000_000n, 100_000_000n]) {
      const swap = await fundedAt(696n, asset);
      const [vault, sol] = asset === 'SOL' ? [0n, AMOUNT] : [293n * 696n, 0n];
      const before = moneyOf(swap);
      rentIs(swap, price);
      await accepted(release(swap));
      assert.equal(stateOf(swap)?.length, 1);
      assert.equal(moneyOf(swap).source, asset === 'SOL' ? undefined : before.source! + AMOUNT);
      await refused(fund(swap), 'AlreadyFunded');
      expire(swap);
      await accepted(close(swap));
      assert.equal(moneyOf(swap).funder - before.funder, sol + 2_171_520n + vault);
    }
  }
});

test('a funder whose account is below its own rent stops no claim, and gets all by a closing', async () => {
  for (const has of [0n, 1n, 100_000n]) {
    const swap = await fundedAt(696n, 'SOL');
    const { world, terms } = swap;
    rentIs(swap, 10_000n);
    setAccount(world, terms.refund, SYSTEM, new Uint8Array(), has);
    await accepted(claim(swap));
    assert.equal(balanceOf(world, terms.refund), has);
    assert.deepEqual(stateOf(swap), { status: 2, length: 1 });
    assert.equal(moneyOf(swap).escrow, 2_171_520n);
    expire(swap);
    await accepted(close(swap));
    assert.equal(balanceOf(world, terms.refund), has + 2_171_520n);
  }
});
