// A payee that claims and uses its lane again at once, and a funder who was away, over a node that
// gives no logs: on EVM and on TRON.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { type EscrowFacts, legStatus } from '@parley/core/facts.ts';
import { freshLane } from '@parley/core/testing.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { type Leg, read, worlds } from './testing/worlds.ts';

const signal = () => AbortSignal.timeout(60_000);

for (const [family, begin] of Object.entries(worlds)) {
  const world = await begin();
  describe(family, () => {
    const { finalize } = world;
    const inLane = (number: string, counter: number, funder: string, amount: bigint) => {
      const refund = { address: funder, pubkey: null };
      return world.leg({ lane: { number, counter }, amount, refund });
    };
    const fund = async (each: Leg) => {
      const adapter = await world.adapter();
      const text = adapter.lanes?.consent(each.terms);
      assert.ok(text);
      const laneSignature = await world.sign(text);
      const input = { escrow: each.escrow, feeRateSatPerVbyte: null, isPublic: false };
      await world.perform(await adapter.buildFund({ ...input, laneSignature }, signal()));
    };
    const ended = async (settle: (each: Leg) => Promise<unknown>) => {
      const number = `8${freshLane().number.slice(1)}`;
      const each = await inLane(number, 1, world.funder, 1_000n);
      await fund(each);
      await finalize();
      const stored = await read(await world.adapter('logs'), each);
      assert.equal(legStatus(stored), 'funded');
      await settle(each);
      await fund(await inLane(number, 2, world.anyone, 1n));
      // More than an adapter reads whole.
      for (let at = 0; at < 45; at += 1) await finalize();
      return { each, stored };
    };
    /** As a driver does it: it looks again when it is told to. */
    const lateRead = async (adapter: ChainAdapter, each: Leg, stored: EscrowFacts) => {
      adapter.watch([each.escrow]);
      await adapter.changes(signal());
      let facts = await read(adapter, each, stored);
      await waitUntil(async () => {
        if (facts.outcome !== 'unknown') return true;
        const { touched } = await adapter.changes(signal());
        if (touched.length > 0) facts = await read(adapter, each, stored);
        return false;
      });
      return facts;
    };

    test('a payee that uses its lane again after its claim does not hide the secret, without logs either', async () => {
      const { each, stored } = await ended(world.claim);
      const facts = await lateRead(await world.adapter('logs'), each, stored);
      assert.deepEqual([legStatus(facts), facts.secret], ['claimed', each.secret]);
      assert.deepEqual([facts.claimed?.deep, facts.outcome], [true, undefined]);
    });

    test('a leg that its payee gave up reads as refunded, without logs either', async () => {
      const { each, stored } = await ended(world.release);
      const facts = await lateRead(await world.adapter('logs'), each, stored);
      assert.deepEqual([legStatus(facts), facts.claimed], ['refunded', null]);
      assert.deepEqual([facts.secret, facts.outcome], [null, undefined]);
    });
  });
}
