import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics, serveMetrics } from './metrics.ts';

test('metrics are served on loopback, and nothing else is', async (t) => {
  const metrics = createMetrics('parley');
  const served = await serveMetrics(metrics, 0);
  t.after(() => served.stop());
  metrics.reorganisations.inc();
  metrics.chainHeight.set({ chain: 'bitcoin' }, 7);
  const text = await (await fetch(served.url)).text();
  assert.match(text, /^parley_reorganisations_total 1$/m);
  assert.match(text, /^parley_chain_height\{chain="bitcoin"\} 7$/m);
  assert.equal((await fetch(new URL('/', served.url))).status, 404);
});
