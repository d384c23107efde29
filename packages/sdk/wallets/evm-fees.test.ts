// The price of a replacement: always enough for a node to take it, never above the limit.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { replacementFees } from './evm.ts';
import { bounded } from './evm-nodes.ts';

const wei = fc.bigInt({ min: 0n, max: 10n ** 13n });
const fees = fc.tuple(wei, wei).map(([base, priority]) => ({
  maxFeePerGas: base + priority,
  maxPriorityFeePerGas: priority,
}));

test('a replacement is an eighth above both fees, at least the estimate, and within the limit', () => {
  fc.assert(
    fc.property(fees, fees, wei, (former, estimate, most) => {
      const next = replacementFees(former, estimate, most);
      const room = former.maxFeePerGas + former.maxFeePerGas / 8n + 1n;
      if (next === null) {
        assert.ok(room > most);
        return;
      }
      for (const field of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
        assert.ok(next[field] * 8n >= former[field] * 9n, `${field} is raised by an eighth`);
        assert.ok(next[field] > former[field]);
        assert.ok(next[field] >= estimate[field] || next[field] <= most, field);
      }
      assert.ok(next.maxFeePerGas >= estimate.maxFeePerGas || next.maxFeePerGas === most);
      assert.ok(next.maxFeePerGas <= most);
      assert.ok(next.maxPriorityFeePerGas <= next.maxFeePerGas);
    }),
  );
});

test('fees at the limit are not raised, and an estimate above it is cut to it', () => {
  const at = (max: bigint, priority: bigint) => ({
    maxFeePerGas: max,
    maxPriorityFeePerGas: priority,
  });
  assert.deepEqual(replacementFees(at(800n, 80n), at(1n, 1n), 901n), at(901n, 91n));
  assert.equal(replacementFees(at(800n, 80n), at(1n, 1n), 900n), null);
  assert.deepEqual(replacementFees(at(8n, 8n), at(5_000n, 300n), 1_000n), at(1_000n, 300n));
  assert.deepEqual(bounded(at(5_000n, 3_000n), 1_000n), at(1_000n, 1_000n));
});
