// A swap of the maker on real dev chains, to whose escrow a stranger pays: it gives its place free
// as soon as it has ended, and what is worth its fee comes back in a later run.

import assert from 'node:assert/strict';
import { formatUnits } from '@parley/core/amounts.ts';
import { onChains, running, sideOf } from '@parley/sdk/testing/sides.ts';
import { timed } from '@parley/sdk/testing/timed.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
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
    const { begin, takeRemains, deals, promises, end } = settlingOf(deal, {
      store,
      client,
      pollMs: 50,
      chains: chains as SettlingInput['chains'],
      now: () => on.chains.now() * 1_000,
    });
    begin(deal);
    const { address, terms } = scene.market.watched('b');
    const other = running(await sideOf(scene, 'maker'));
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
