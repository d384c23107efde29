// Several escrows, under any acts in any order: all coins that went in come out, to the right
// party.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import { createScene, step, verbs } from './testing/scene.ts';
import { assets, HOUR } from './testing/swaps.ts';
import { balanceOf, NOW } from './testing/vm.ts';

const hours = [1n, 2n, 3n];
const lastTimelock = hours.at(-1)! * HOUR;

/** Down in steps by SIMD-0437, and back at once by SIMD-0438. */
const rents = ['rent=6960', 'rent=2575', 'rent=696'];
const waits = [1n, 1_799n, 1_800n, 3_599n, 3_600n];
const steps = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        text: fc.constantFrom<string>(...verbs, 'escrow+1000000', 'dust+10', ...rents),
        which: fc.nat(hours.length - 1),
      }),
    },
    { weight: 1, arbitrary: fc.record({ wait: fc.constantFrom(...waits) }) },
  ),
  { minLength: 5, maxLength: 40 },
);

for (const asset of assets) {
  test(`${asset}: in any order of deeds and rents everyone has what the rules say, and it all comes out`, async () => {
    const property = fc.asyncProperty(steps, async (list) => {
      const scene = await createScene(
        asset,
        hours.map((each) => ({ timelock: NOW + each * HOUR })),
      );
      let dust = 0n;
      for (const each of list) {
        if ('wait' in each) {
          await step(scene, `@${scene.now + each.wait - NOW - HOUR}`);
          continue;
        }
        const isDust = each.text.startsWith('dust');
        if (isDust && (asset === 'SOL' || scene.models[each.which]?.status !== 'open')) continue;
        if (isDust) dust += 10n;
        await step(scene, each.text, each.which);
      }
      await step(scene, `@${lastTimelock}`);
      for (const [at, { status }] of scene.models.entries()) {
        await step(scene, status === 'open' ? 'refund' : 'close', at);
      }
      for (const { swap } of scene.models) {
        assert.equal(balanceOf(swap.world, swap.escrow.escrow), 0n);
        assert.equal(balanceOf(swap.world, swap.escrow.vault), 0n);
      }
      assert.equal(scene.payee.tokens + scene.funder.tokens, dust);
    });
    await fc.assert(property, { numRuns: runs(20) });
  });
}
