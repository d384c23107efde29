// Following and restarts on real chains: each ends where an undisturbed run would, and emits each
// event once. A follower on a chain that hangs or fails: reconcile.test.ts.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { escrowsOfSwap } from '../db/escrows.ts';
import type { Settings } from '../settings/config.ts';
import { createSettlement, type Settlement } from './follow.ts';
import { sharedWorld } from './testing/shared.ts';
import {
  agree,
  bitcoin,
  claimLong,
  claimShort,
  type Deal,
  evm,
  freshAdapters,
  fundLong,
  fundShort,
  give,
  look,
  swapOf,
  told,
  type World,
} from './testing/world.ts';

let world: World;
sharedWorld((made) => {
  world = made;
});

/** As another process, or this one after a crash: the database is its only memory. */
function anotherProcess(t: TestContext, more: Partial<Settings> = {}): Settlement {
  const adapters = freshAdapters(world.infos, world.deps.now);
  const settings = { ...world.deps.settings, ...more };
  const settlement = createSettlement({ ...world.deps, adapters, settings });
  t.after(() => settlement.stop());
  return settlement;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_500; tries += 1) {
    if (await holds()) return;
    await sleep(20);
  }
  assert.fail('it did not happen in 30 s');
}

const mineBoth = async () => {
  for (const chain of [bitcoin, evm]) await world.dev.mine(chain, 3);
};

test('two followers on one database, which die at every step, emit each event once and in order', async (t) => {
  const deals = [await agree(world), await agree(world, { taker: 'counterparty' })];
  const [first] = deals as [Deal];
  const both = async () => {
    await mineBoth();
    const followers = [anotherProcess(t), anotherProcess(t)];
    await Promise.all(
      followers.flatMap((each) => [each.pass(bitcoin), each.pass(evm), each.passDue()]),
    );
    // A change that met another one is left to the next pass.
    await look(world, followers[0]);
  };
  for (const deal of deals) await give(world, deal);
  for (const deal of deals) await fundLong(world, deal);
  await both();
  for (const deal of deals) await fundShort(world, deal);
  await both();
  for (const deal of deals) await claimShort(world, deal);
  await both();
  for (const deal of deals) await claimLong(deal);
  await both();
  const whole = [
    'swap.funded initiator_funded',
    'swap.funded counterparty_funded',
    'secret.revealed initiator_claimed',
    'swap.settled counterparty_claimed',
  ];
  assert.equal((await swapOf(first)).status, 'counterparty_claimed');
  for (const deal of deals) assert.deepEqual(await told(world, deal), whole);
});

test('started, it follows by itself an escrow as soon as that is stored; stopped, it stops', async (t) => {
  const adapters = freshAdapters(world.infos, world.deps.now);
  const watched = new Set<string>();
  for (const [chain, adapter] of adapters) {
    const watch: typeof adapter.watch = (escrows) => {
      for (const { address } of escrows) watched.add(address);
      adapter.watch(escrows);
    };
    adapters.set(chain, { ...adapter, watch });
  }
  // However rarely the chains are polled.
  const settings = { ...world.deps.settings, followIntervalMs: 600_000 };
  const rare = createSettlement({ ...world.deps, adapters, settings });
  const often = anotherProcess(t, { followIntervalMs: 50 });
  t.after(() => rare.stop());
  for (const each of [rare, often]) each.start();
  await sleep(500);
  const deal = await agree(world);
  const own = (await escrowsOfSwap(world.deps.db, deal.id)).map(({ address }) => address);
  assert.equal(own.length, 2);
  await until(async () => own.every((each) => watched.has(each)));
  await fundLong(world, deal);
  await world.dev.mine(bitcoin, 3);
  await until(async () => (await swapOf(deal)).status === 'initiator_funded');
  await often.stop();
  await assert.rejects(often.pass(bitcoin));
});
