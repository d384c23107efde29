// Every adapter's promise about an escrow that ended: its end is reported long after, also where
// only its transactions are left on the chain, and it is never reported as unfunded.

import assert from 'node:assert/strict';
import type { AdapterPromise } from './driver.ts';
import { claim, deepLeg, facts, finalise, newLeg, plainCoins, refund } from './leg.ts';

export const endsTold: readonly AdapterPromise[] = [
  {
    name: 'how a leg ended is told long after its timelock, by who begins then too',
    run: async (driver) => {
      const adapter = driver.adapter();
      for (const kind of plainCoins(driver)) {
        const claimed = await deepLeg(driver, adapter, kind);
        const refunded = await deepLeg(driver, adapter, kind);
        const never = newLeg(driver, kind);
        const claimTx = await claim(driver, adapter, claimed);
        await driver.dev.mine(1);
        await driver.deepen();
        await driver.pass(5 * 3_600);
        const refundTx = await refund(driver, adapter, refunded);
        // The rest of a claim goes to the funder; a claim without a rest leaves nothing to refund.
        await refund(driver, adapter, claimed).catch(() => null);
        await driver.dev.mine(1);
        await finalise(driver);
        for (const each of [adapter, driver.adapter()]) {
          const one = await facts(each, claimed);
          assert.deepEqual([one.claimed?.txid, one.claimed?.deep], [claimTx, true], kind);
          assert.deepEqual([one.refunded, one.secret, one.balance], [null, claimed.secret, 0n]);
          const other = await facts(each, refunded);
          assert.deepEqual([other.refunded?.txid, other.refunded?.deep], [refundTx, true], kind);
          assert.deepEqual([other.claimed, other.secret, other.balance], [null, null, 0n]);
          assert.deepEqual([one.funded?.deep, other.funded?.deep], [true, true]);
          assert.equal((await facts(each, never)).funded, null);
        }
      }
    },
  },
];
