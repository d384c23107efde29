// Requests as Prometheus counts them: by the template of their route, and never by their path.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { testEdge } from './testing/edge.ts';

const edge = await testEdge({ settings: { metricsPort: 0 } });
const url = await edge.app.listen({ host: '127.0.0.1', port: 0 });
const counted = async () => {
  const text = await edge.deps.metrics.registry.metrics();
  const lines = text.matchAll(/^parley_(http_(?:requests|refusals)_total)\{(.+)\} (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, , labels = '', count]) => [labels, Number(count)]));
};

test('a request counts for the template of its route, and a refusal for its code too', async () => {
  const id = '00000000-0000-7000-8000-000000000000';
  const asks = async (path: string, method = 'GET') => {
    const reply = await fetch(url + path, { method });
    await reply.arrayBuffer();
    return reply.status;
  };
  assert.equal(await asks('/livez'), 200);
  assert.equal(await asks('/livez'), 200);
  assert.equal(await asks('/livez', 'HEAD'), 200);
  assert.equal(await asks(`/v1/swaps/${id}`), 401);
  assert.equal(await asks('/no/such/path'), 404);
  // Neither reaches a route or a hook.
  assert.equal(await asks('/v1/rfqs/%zz'), 400);
  assert.equal(await asks(`/v1/rfqs/${'x'.repeat(1_000)}`), 404);
  // Clients may have an answer before its process knows that it was written.
  const found = await waitUntil(async () => {
    const all = await counted();
    return all['method="any",route="none",code="4xx"'] === 3 && all;
  });
  assert.equal(found['method="GET",route="/livez",code="2xx"'], 2);
  assert.equal(found['method="HEAD",route="/livez",code="2xx"'], 1);
  assert.equal(found['method="GET",route="/v1/swaps/:id",code="4xx"'], 1);
  assert.equal(found['code="not_found"'], 2);
  assert.equal(found['code="malformed_url"'], 1);
  assert.equal(found['code="key_missing"'], 1);
  assert.ok(!JSON.stringify(found).includes(id) && !JSON.stringify(found).includes('such'));
});
