// Every adapter's promise to gates: a snapshot is of one block, whichever of its answers the chain
// moves between, and it follows nobody.

import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Asks } from '@parley/chains/interface/building.ts';
import type { Look } from '@parley/chains/interface/reading.ts';
import type { AdapterPromise, Driver } from './driver.ts';
import {
  allChanges,
  codeOf,
  fund,
  inputOf,
  type Leg,
  newLeg,
  read,
  settleDown,
  signal,
} from './leg.ts';
import { movingNode } from './nodes.ts';

/** Bitcoin asks on and on for the past of what is not followed. */
const mostQuestions = 8;

export const oneBlock: readonly AdapterPromise[] = [
  {
    name: 'clock and facts of a look are of one block, wherever in it a block comes or goes',
    run: async (driver) => {
      // Where blocks are not ours to move nothing of it can be seen.
      await driver.dev.mine(1);
      await driver.takeBack(1);
      const honest = driver.adapter();
      let questions = mostQuestions;
      for (let at = 1; at <= questions; at += 1) {
        const leg = newLeg(driver);
        await fund(driver, honest, leg);
        const direct = () => honest.look([leg.escrow], signal());
        const comes = await lookAcross(driver, leg, { at, direct, move: driver.show });
        const goes = await lookAcross(driver, leg, { at, direct, move: () => driver.takeBack(1) });
        questions = Math.min(mostQuestions, Math.max(comes, goes));
        await driver.dev.mine(1);
      }
    },
  },
  {
    name: 'what gates ask beside a look is of its block, whatever was shown since',
    except: {
      bitcoin: 'there are no lanes, and neither a trial nor a funding asks for the escrow’s state',
      tron: 'a call names no block: what the look asked is not asked again (views.test.ts)',
      solana: 'a node answers of no block that was: it has no `at`',
    },
    run: async (driver) => {
      const adapter = driver.adapter();
      assert.ok(adapter.at);
      const leg = newLeg(driver);
      const { lane = unplanned, refund } = leg.escrow.terms;
      const counter = async ({ lanes }: Asks) => {
        const of = { contract: lanes?.contracts[0] ?? '', owner: refund.address };
        return (await lanes?.read(of, [lane.number], signal()))?.[0]?.counter;
      };
      const asks = adapter.at((await adapter.look([leg.escrow], signal())).heads);
      const before = await counter(adapter);
      await fund(driver, driver.adapter(), leg);
      await driver.show();
      assert.equal(await codeOf(adapter.buildFund(inputOf(leg), signal())), 'already_funded');
      await asks.buildFund(inputOf(leg), signal());
      assert.deepEqual([await counter(asks), await counter(adapter)], [before, lane.counter]);
    },
  },
  {
    name: 'what is looked at is not watched, and what is watched meanwhile is',
    run: async (driver) => {
      const adapter = driver.adapter();
      const other = driver.adapter();
      const leg = newLeg(driver);
      const { address } = leg.escrow;
      const isNamed = async () => (await allChanges(adapter)).has(address);
      await settleDown(driver, adapter);
      await adapter.readEscrow(leg.escrow, signal());
      await fund(driver, other, leg);
      await driver.show();
      await adapter.readEscrow(leg.escrow, signal());
      assert.equal(await isNamed(), false, 'neither that it is new nor that it moved');
      await driver.deepen();
      const [one, two] = await Promise.all([
        adapter.look([leg.escrow], signal()),
        adapter.look([leg.escrow], signal()),
      ]);
      assert.deepEqual([inBlock(one), inBlock(two)], [true, true], 'one does not end the other');
      const claim = await other.buildClaim(inputOf(leg), leg.secret, signal());
      const claiming = await read(driver, adapter, 'receiver', claim, leg.secret);
      assert.deepEqual(claiming.touches, []);
      assert.equal(await isNamed(), false);

      const looking = adapter.look([leg.escrow], signal());
      adapter.watch([leg.escrow]);
      assert.equal(inBlock(await looking), true);
      assert.equal(await isNamed(), true, 'new to who follows it');
      const unwatched = adapter.look([leg.escrow], signal());
      adapter.unwatch([address]);
      assert.equal(inBlock(await unwatched), true, 'a look is not cut short');
      assert.equal(await isNamed(), false);
      // A signed transaction has a nonce, which others wait for.
      await adapter.broadcast(claiming, signal());
    },
  },
];

const unplanned = { number: '', counter: 0 };

const inBlock = ({ facts: [facts] }: Look) => (facts?.funded?.confirmations ?? 0) > 0;

/** `direct`: through a node whose chain does not move meanwhile. */
type Across = { readonly at: number; direct(): Promise<Look>; move(): Promise<void> };

/**
 * Looks at a leg through a node whose chain moves at one of the questions: returns how many
 * questions there were.
 */
async function lookAcross(
  driver: Driver,
  { escrow }: Leg,
  { at, direct, move }: Across,
): Promise<number> {
  const node = await movingNode(driver, at, move);
  try {
    const adapter = driver.adapter([node.url]);
    // Questions that it asks once of a node are no part of a snapshot.
    await adapter.heads(signal());
    const before = await direct();
    node.begin();
    const shown = await adapter.look([escrow], signal());
    const questions = node.asked();
    if (questions < at) await move();
    const after = await direct();
    assert.notEqual(inBlock(before), inBlock(after), 'the chain has moved');
    assert.notDeepEqual(before.heads, after.heads);
    const same = [before, after].find(({ heads }) => isDeepStrictEqual(heads, shown.heads));
    assert.ok(same, `at question ${at} of ${questions}`);
    assert.equal(inBlock(shown), inBlock(same), `at question ${at} of ${questions}`);
    return questions;
  } finally {
    await node.stop();
  }
}
