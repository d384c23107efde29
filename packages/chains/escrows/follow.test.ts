// The findings about escrows that are followed, and the cost of following: on EVM and on TRON.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nothingSeen } from '@parley/core/facts.ts';
import { read, worlds } from './testing/worlds.ts';

const signal = () => AbortSignal.timeout(60_000);

for (const [family, begin] of Object.entries(worlds)) {
  const world = await begin();
  describe(family, () => {
    const { leg, tell, contract } = world;
    const following = async () => {
      const adapter = await world.adapter();
      const each = await leg();
      adapter.watch([each.escrow]);
      await adapter.changes(signal());
      const touched = async () => (await adapter.changes(signal())).touched;
      assert.deepEqual(await touched(), []);
      return { adapter, each, touched };
    };

    test('the secret of a claim that failed on chain is found in its calldata, of other terms too', async () => {
      for (const amount of [1_000n, 1n]) {
        const { adapter, each, touched } = await following();
        // The escrow is not funded: it fails.
        await tell(contract, world.claimData({ ...each, terms: { ...each.terms, amount } }));
        assert.deepEqual(await touched(), [each.escrow.address]);
        const { secret } = each;
        assert.deepEqual(await read(adapter, each), { ...nothingSeen, secret });
      }
    });

    test('the secret of a claim that failed long ago is found where nobody has read that block', async () => {
      const each = await leg();
      const former = await world.adapter();
      const told = await world.adapter();
      const other = await world.adapter();
      for (const adapter of [told, other]) adapter.watch([each.escrow]);
      told.resumeFrom?.((await former.changes(signal())).readTo ?? 0);
      await tell(contract, world.claimData(each));
      // More than each family reads after every start.
      await world.mine(130);
      for (const adapter of [told, other]) await adapter.changes(signal());
      assert.equal((await read(told, each)).secret, each.secret);
      assert.equal((await read(other, each)).secret, null);
    });

    test('a secret in any form is found in what is sent to the contract, or names ours or its hashlock', async () => {
      for (const [isSentToUs, names] of [
        [true, () => ''],
        [false, (hashlock: string) => hashlock],
        [false, () => world.bare(contract)],
      ] as const) {
        const { adapter, each, touched } = await following();
        const { secret, terms } = each;
        const to = isSentToUs ? contract : world.token('DevDollar');
        await tell(to, `deadbeef0a${names(terms.hashlock)}${secret}77`);
        assert.deepEqual(await touched(), [each.escrow.address]);
        assert.equal((await read(adapter, each)).secret, secret);
      }
      const { adapter, each, touched } = await following();
      await tell(world.token('DevDollar'), `deadbeef0a${each.secret}`);
      assert.deepEqual(await touched(), [], 'named nowhere');
      assert.equal((await read(adapter, each)).secret, null);
    });

    test('following ten thousand escrows asks the node no more than following one', async () => {
      const { escrow } = await leg();
      const counts: number[] = [];
      for (const others of [0, 10_000]) {
        let asked = 0;
        const adapter = await world.counted(() => {
          asked += 1;
        });
        const many = Array.from({ length: others }, (_, at) => {
          return { ...escrow, address: `${contract}:${at.toString(16).padStart(64, '0')}` };
        });
        adapter.watch([escrow, ...many]);
        assert.equal((await adapter.changes(signal())).touched.length, others + 1);
        await world.finalize();
        asked = 0;
        assert.deepEqual((await adapter.changes(signal())).touched, []);
        counts.push(asked);
      }
      assert.equal(counts[0], counts[1]);
      assert.ok((counts[0] ?? 99) < 12, `${counts[0]} requests`);
    });
  });
}
