// The traces that a lane that is used again leaves of the escrows before: on EVM and on TRON.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { legStatus, nothingSeen, type Sighting } from '@parley/core/facts.ts';
import { freshLane } from '@parley/core/testing.ts';
import { type Leg, read, worlds } from './testing/worlds.ts';

const signal = () => AbortSignal.timeout(60_000);
/** The outcome is unknown: its leg is `seen`, so that nobody funds on it. */
const unknown = { ...nothingSeen, outcome: 'unknown' };

for (const [family, begin] of Object.entries(worlds)) {
  const world = await begin();
  describe(family, () => {
    const { leg, fund, finalize, adapter } = world;
    const legIn = (number: string, counter: number) => leg({ lane: { number, counter } });
    const nextOf = ({ terms: { lane } }: Leg) => legIn(lane?.number ?? '', 2);
    /** Claimed, or refunded behind its timelock. */
    const settle = async (each: Leg, verb: 'claim' | 'refund') => {
      if (verb === 'refund') await world.pass(7_300);
      return world[verb](each);
    };
    const ended = async (verb: 'claim' | 'refund') => {
      const each = await leg();
      const funded = await fund(each);
      const settled = await settle(each, verb);
      return { each, funded, settled };
    };

    for (const verb of ['claim', 'refund'] as const) {
      test(`after a ${verb} and another escrow in its lane, logs record it for whoever asks`, async () => {
        const { each, funded, settled } = await ended(verb);
        await fund(await nextOf(each));
        await finalize();
        const facts = await read(await adapter(), each);
        const both = [facts.claimed, facts.refunded];
        const [one, other] = verb === 'claim' ? both : both.toReversed();
        assert.deepEqual([one?.txid, one?.deep, other], [settled, true, null]);
        assert.deepEqual([facts.funded?.txid, facts.outcome], [funded, undefined]);
        assert.deepEqual([facts.balance, facts.empty], [0n, true]);
        assert.equal(facts.secret, verb === 'claim' ? each.secret : null);
      });

      test(`after a ${verb} and another escrow in its lane, what was recorded stays over a node without a past`, async () => {
        const { each } = await ended(verb);
        await finalize();
        const stored = await read(await adapter(), each);
        assert.equal(legStatus(stored), verb === 'claim' ? 'claimed' : 'refunded');
        const next = await nextOf(each);
        await fund(next);
        await finalize();
        const blind = await adapter('past');
        assert.deepEqual(await read(blind, each, stored), { ...stored, empty: true });
        assert.equal(legStatus(await read(await adapter(), next)), 'funded');
      });
    }

    test('without logs and a past, and with nothing final stored, it is unknown, which is never unfunded', async () => {
      const { each } = await ended('claim');
      await fund(await nextOf(each));
      await finalize();
      const blind = await adapter('past');
      const facts = await read(blind, each);
      assert.deepEqual([facts, legStatus(facts)], [unknown, 'seen']);
      // Not final when it was stored: it may have been taken back, and stays what it was.
      const refunded: Sighting = { txid: 'aa', confirmations: 1, deep: false };
      const stored = { ...nothingSeen, refunded };
      assert.deepEqual(await read(blind, each, stored), { ...stored, outcome: 'unknown' });
      // Logs alone change it.
      const told = await read(await adapter(), each, stored);
      assert.deepEqual([legStatus(told), told.refunded], ['claimed', null]);
    });

    test('an escrow whose counter went to another one is not funded, and where the past is gone unknown', async () => {
      const each = await leg();
      const { lane = freshLane() } = each.terms;
      const other = await leg({ lane, amount: 7n });
      await fund(other);
      await finalize();
      assert.deepEqual(await read(await adapter(), each), nothingSeen);
      await world.claim(other);
      await finalize();
      assert.deepEqual(await read(await adapter(), each), nothingSeen);
      await fund(await nextOf(each));
      await finalize();
      for (const stored of [undefined, nothingSeen]) {
        assert.deepEqual(await read(await adapter('past'), each, stored), unknown);
      }
      // Old states tell it; TRON gives none.
      if (family === 'EVM') {
        for (const lack of [undefined, 'logs'] as const) {
          assert.deepEqual(await read(await adapter(lack), each), nothingSeen);
        }
      }
    });

    test('lanes are read in the order asked for, of this funder alone, open while the last holds money', async () => {
      const { lanes } = await adapter();
      assert.equal(lanes?.contractFor(world.funder), world.contract);
      const statesOf = async (owner: string, ...numbers: string[]) => {
        const states = await lanes?.read({ contract: world.contract, owner }, numbers, signal());
        return states?.map(({ counter, isOpen }) => [counter, isOpen]);
      };
      // The lowest and the highest number of a funder's is among them.
      const low = '0'.repeat(24);
      const high = `7${'f'.repeat(23)}`;
      const numbers = [low, ...Array.from({ length: 9 }, () => freshLane().number), high];
      const now = () => statesOf(world.funder, ...numbers);
      const expected = numbers.map(() => [0, false]);
      assert.deepEqual(await now(), expected);
      const first = await legIn(low, 1);
      const last = await legIn(high, 1);
      for (const each of [first, last]) await fund(each);
      [expected[0], expected[10]] = [
        [1, true],
        [1, true],
      ];
      assert.deepEqual(await now(), expected);
      await settle(first, 'claim');
      await fund(await legIn(low, 2));
      await world.pass(7_300);
      expected[0] = [2, true];
      assert.deepEqual(await now(), expected, 'a timelock alone closes nothing');
      await world.refund(last);
      expected[10] = [1, false];
      assert.deepEqual(await now(), expected);
      const nobody = numbers.map(() => [0, false]);
      assert.deepEqual(await statesOf(world.anyone, ...numbers), nobody);
      assert.deepEqual(await statesOf(world.funder), []);
    });
  });
}
