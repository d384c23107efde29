// A swap of the maker on real dev chains, to whose escrow a stranger pays: it gives its place free
// as soon as it has ended, and what is worth its fee comes back in a later run.

import assert from 'node:assert/strict';
import { formatUnits } from '@parley/core/amounts.ts';
import type { Chains } from '@parley/sdk/chains.ts';
import { onChains, running, sideOf, unscheduled } from '@parley/sdk/testing/sides.ts';
import { timed } from '@parley/sdk/testing/timed.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import type { Deal } from './journal.ts';
import type { SettlingInput } from './settling.ts';
import { dealOf, settlingOf } from './testing/stage.ts';

const on = onChains();

timed(
  'a stranger’s payment beside a settled funding holds no place, and comes back later',
  async () => {
    const scene = on.chains.swap();
    const { swapId, trade, chains, store, client } = await sideOf(scene, 'taker');
    assert.ok(trade && client);
    await store.putTrade(trade);
    const { threadId } = trade;
    const deal = dealOf(threadId, swapId, on.chains.now());
    const deals = new Map([[threadId, deal]]);
    let writes = 0;
    const keep = async (each: Deal) => {
      writes += 1;
      // The end is tried again.
      if (writes === 1) throw new Error('the disk is full');
      deals.set(threadId, each);
    };
    const { begin, takeRemains, promises, end } = settlingOf(deal, {
      store,
      client,
      journal: { deals, keep, close: async () => {} },
      pollMs: 50,
      chains: chains as SettlingInput['chains'],
      now: () => on.chains.now() * 1_000,
    });
    begin(deal);
    const { address, terms } = scene.market.watched('b');
    const other = running(await sideOf(scene, 'maker', unscheduled));
    await other.next('funded');
    await on.core('sendtoaddress', [address, formatUnits(5_000n, 8)]);
    await other.end;
    await waitUntil(() => promises.open.size === 0);
    const { timelock } = terms;
    assert.deepEqual(deals.get(threadId)?.end, 'received');
    assert.equal(deals.get(threadId)?.remainsFrom, timelock);
    await takeRemains();
    assert.equal(deals.get(threadId)?.remainsFrom, timelock, 'not before the timelock');
    await on.chains.move(timelock - on.chains.now() + 30);
    await takeRemains();
    assert.ok(deals.has(threadId) && !('remainsFrom' in (deals.get(threadId) ?? {})));
    assert.equal(deals.get(threadId)?.end, 'received');
    await end();
  },
);

/** Asks the market of each swap, which is named first. */
function byMarket(markets: ReadonlyMap<unknown, object>): object {
  const [any] = markets.values();
  const names = Object.entries(any ?? {}).filter(([, each]) => typeof each === 'function');
  const calls = names.map(([name]) => {
    const call = (...asked: readonly unknown[]) =>
      Reflect.get(markets.get(asked[0]) ?? any ?? {}, name)(...asked);
    return [name, call] as const;
  });
  return Object.fromEntries(calls);
}

/** A leg in its payee's lane is funded alone. */
function lendingNone(chains: Chains): Chains {
  const all = Object.entries(chains).map(([chain, each]) => {
    const { wallet } = each;
    if (wallet?.family !== 'evm') return [chain, each];
    const { signTypedData: _, ...own } = wallet;
    return [chain, { ...each, wallet: own }];
  });
  return Object.fromEntries(all);
}

timed('two swaps that become fundable together are funded by one transaction', async () => {
  const scenes = [on.chains.swap(), on.chains.swap()];
  const sides = await Promise.all(scenes.map((scene) => sideOf(scene, 'maker')));
  const [{ store, chains }] = sides as [(typeof sides)[number]];
  const deals = sides.map(({ swapId, trade }) => {
    assert.ok(trade);
    return { trade, deal: dealOf(trade.threadId, swapId, on.chains.now()) };
  });
  for (const { trade } of deals) await store.putTrade(trade);
  const [first] = deals as [(typeof deals)[number]];
  const { begin, lines, end } = settlingOf(first.deal, {
    store,
    client: byMarket(new Map(sides.map((side) => [side.swapId, side.client ?? {}]))),
    batchMs: 60_000,
    pollMs: 50,
    chains: chains as SettlingInput['chains'],
    now: () => on.chains.now() * 1_000,
  });
  try {
    for (const { deal } of deals) begin(deal);
    const takers = await Promise.all(scenes.map((scene) => sideOf(scene, 'taker', unscheduled)));
    const runs = takers.map((taker) => running({ ...taker, chains: lendingNone(taker.chains) }));
    await Promise.all(runs.map(({ next }) => next('seen', 1, 'a')));
    const records = await Promise.all(sides.map(({ swapId }) => store.getSwap(swapId)));
    const [one, other] = records.map((record) => record?.funding?.txid);
    assert.ok(one !== undefined && one === other);
    const told = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'batch');
    assert.deepEqual(
      told.map(({ verb, swaps, txid }) => [verb, swaps, txid]),
      [['fund', 2, one]],
    );
  } finally {
    await end();
  }
});
