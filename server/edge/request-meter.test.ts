// Requests as Prometheus counts them: by the template of their route, and never by their path.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testEdge } from './testing/edge.ts';

const edge = await testEdge({ settings: { metricsPort: 0 } });
const counted = async () => {
  const text = await edge.deps.metrics.registry.metrics();
  const lines = text.matchAll(/^parley_(http_(?:requests|refusals)_total)\{(.+)\} (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, , labels = '', count]) => [labels, Number(count)]));
};

test('a request counts for the template of its route, and a refusal for its code too', async () => {
  const id = '00000000-0000-7000-8000-000000000000';
  await edge.call('GET', '/livez');
  await edge.call('GET', '/livez');
  assert.equal((await edge.call('GET', `/v1/swaps/${id}`)).status, 401);
  assert.equal((await edge.call('GET', '/no/such/path')).status, 404);
  const found = await counted();
  assert.equal(found['method="GET",route="/livez",code="2xx"'], 2);
  assert.equal(found['method="GET",route="/v1/swaps/:id",code="4xx"'], 1);
  assert.equal(found['method="any",route="none",code="4xx"'], 1);
  assert.equal(found['code="key_missing"'], 1);
  assert.equal(found['code="not_found"'], 1);
  assert.ok(!JSON.stringify(found).includes(id) && !JSON.stringify(found).includes('such'));
});
