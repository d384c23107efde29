// docs/vectors: the results and refusals of this code, for programs in any language. To rewrite
// them:
//   npm run -s node -- packages/sdk/vectors.test.ts --write

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { escrowVectors } from './testing/vectors/escrows.ts';
import { evidenceVectors } from './testing/vectors/evidence.ts';
import { textOf } from './testing/vectors/format.ts';
import { batchVectors, materialVectors } from './testing/vectors/materials.ts';
import { signedVectors } from './testing/vectors/signed.ts';
import { hashlockVectors, proofVectors, webhookVectors } from './testing/vectors/simple.ts';
import { deadlineVectors, swapVectors } from './testing/vectors/swaps.ts';
import { taprootVectors } from './testing/vectors/taproot.ts';
import { threadVectors } from './testing/vectors/threads.ts';
import { typedDataVectors } from './testing/vectors/typed-data.ts';

const folder = new URL('../../docs/vectors/', import.meta.url);
const files: Readonly<Record<string, () => unknown>> = {
  hashlocks: hashlockVectors,
  escrows: escrowVectors,
  swaps: swapVectors,
  deadlines: deadlineVectors,
  threads: threadVectors,
  transactions: materialVectors,
  batches: batchVectors,
  'typed-data': typedDataVectors,
  signed: signedVectors,
  taproot: taprootVectors,
  evidence: evidenceVectors,
  webhooks: webhookVectors,
  proofs: proofVectors,
};

for (const [name, make] of Object.entries(files)) {
  test(`docs/vectors/${name}.json is what this code computes (--write rewrites it)`, async () => {
    const file = new URL(`${name}.json`, folder);
    const text = textOf(await make());
    if (process.argv.includes('--write')) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, text);
    }
    assert.ok(
      text === readFileSync(file, 'utf8'),
      `${name}.json differs: rewrite it, and read why`,
    );
  });
}
