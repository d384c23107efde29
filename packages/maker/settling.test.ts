// A swap of the maker on real dev chains, to whose escrow a stranger pays: it gives its place free
// as soon as it has ended, and what is worth its fee comes back in a later run.

import assert from 'node:assert/strict';
import { formatUnits } from '@parley/core/amounts.ts';
import { onChains } from '@parley/sdk/testing/evm-account.ts';
import { running, sideOf } from '@parley/sdk/testing/sides.ts';
import { timed } from '@parley/sdk/testing/timed.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { createDoubts } from './doubts.ts';
import { createSettling, type SettlingInput } from './settling.ts';
import { dealOf, journalOf, partsOf } from './testing/stage.ts';

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
    const { deals, promises, log, metrics } = partsOf({ at: { ms: 0, price: null, mode: 'open' } });
    deals.set(threadId, deal);
    promises.dealt(deal, null);
    const stop = new AbortController();
    const now = () => on.chains.now() * 1_000;
    const settling = createSettling({
      store,
      promises,
      log,
      metrics,
      signal: stop.signal,
      pollMs: 50,
      batchMs: 0,
      chains: chains as SettlingInput['chains'],
      session: { client } as unknown as SettlingInput['session'],
      journal: journalOf(deals),
      doubts: createDoubts({ log, metrics, now }),
      now,
    });
    settling.begin(deal);
    const { address, terms } = scene.market.watched('b');
    const other = running(await sideOf(scene, 'maker'));
    await other.next('funded');
    await on.core('sendtoaddress', [address, formatUnits(5_000n, 8)]);
    await other.end;
    await waitUntil(() => promises.open.size === 0);
    const { timelock } = terms;
    assert.deepEqual(deals.get(threadId)?.end, 'received');
    assert.equal(deals.get(threadId)?.remainsFrom, timelock);
    await settling.takeRemains();
    assert.equal(deals.get(threadId)?.remainsFrom, timelock, 'not before the timelock');
    await on.chains.move(timelock - on.chains.now() + 30);
    await settling.takeRemains();
    assert.ok(deals.has(threadId) && !('remainsFrom' in (deals.get(threadId) ?? {})));
    assert.equal(deals.get(threadId)?.end, 'received');
    stop.abort();
    await settling.stopped();
  },
);
