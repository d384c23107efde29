// Every adapter's promise to its follower: an escrow on its way to its depth is named again when it
// is there, and when the transaction that emptied it is final, also where somebody else has read it
// meanwhile, as gates and builders do.

import assert from 'node:assert/strict';
import type { AdapterPromise } from './driver.ts';
import { allChanges, claim, deepLeg, facts, finalise, fund, newLeg, settleDown } from './leg.ts';

export const depthTold: readonly AdapterPromise[] = [
  {
    name: 'a depth is told by changes, also after somebody else has read it',
    run: async (driver) => {
      const adapter = driver.adapter();
      const leg = newLeg(driver);
      adapter.watch([leg.escrow]);
      await settleDown(driver, adapter);
      await fund(driver, adapter, leg);
      await driver.show();
      await allChanges(adapter);
      assert.equal((await facts(adapter, leg)).funded?.deep, false, 'as it is followed');
      await driver.deepen();
      assert.equal((await facts(adapter, leg)).funded?.deep, true, 'as a gate reads it');
      assert.ok((await allChanges(adapter)).has(leg.escrow.address), 'of a funding');

      const claimed = await deepLeg(driver, adapter);
      await settleDown(driver, adapter);
      await claim(driver, adapter, claimed);
      await driver.show();
      await allChanges(adapter);
      assert.equal((await facts(adapter, claimed)).claimed?.deep, false);
      await driver.deepen();
      const { claimed: sight, empty: isFinal } = await facts(adapter, claimed);
      assert.equal(sight?.deep, true);
      assert.ok((await allChanges(adapter)).has(claimed.escrow.address), 'of a claim');
      await finalise(driver);
      const isTold = (await allChanges(adapter)).has(claimed.escrow.address);
      assert.ok(isFinal || isTold, 'and that it is final');
      assert.equal((await facts(adapter, claimed)).empty, true);
    },
  },
];
