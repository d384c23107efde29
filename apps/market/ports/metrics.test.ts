import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createMetrics } from './metrics.ts';
import { serveMetrics } from './metrics-server.ts';

const place = { metricsHost: '127.0.0.1', metricsPort: 0, metricsToken: null };

test('metrics are served on loopback, and nothing else is', async (t) => {
  const metrics = createMetrics('parley');
  const served = await serveMetrics(metrics, place);
  t.after(() => served.stop());
  metrics.reorganisations.inc();
  metrics.chainHeight.set({ chain: 'bitcoin' }, 7);
  const text = await (await fetch(served.url)).text();
  assert.match(text, /^parley_reorganisations_total 1$/m);
  assert.match(text, /^parley_chain_height\{chain="bitcoin"\} 7$/m);
  assert.match(text, /^nodejs_eventloop_lag_p99_seconds \d/m);
  assert.equal((await fetch(new URL('/', served.url))).status, 404);
});

test('where there is a token, who shows no other reads metrics', async (t) => {
  const metricsToken = 'a-token-of-sixteen-and-more';
  const served = await serveMetrics(createMetrics('parley'), { ...place, metricsToken });
  t.after(() => served.stop());
  const statusWith = async (authorization?: string) => {
    const headers = authorization === undefined ? {} : { authorization };
    return (await fetch(served.url, { headers })).status;
  };
  assert.equal(await statusWith(`Bearer ${metricsToken}`), 200);
  assert.equal(await statusWith(`bearer ${metricsToken}`), 200, 'RFC 9110: of any case');
  const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
  assert.equal(await statusWith(basic(`any name:${metricsToken}`)), 200, 'as browsers ask for it');
  for (const wrong of [
    undefined,
    'Bearer',
    `Bearer ${metricsToken}x`,
    `Basic ${metricsToken}`,
    basic(metricsToken),
    basic(`any name:${metricsToken}x`),
    basic(`any name:x:${metricsToken}`),
  ]) {
    assert.equal(await statusWith(wrong), 401, wrong);
  }
});

test('without a token a page that leads a name of its own here reads nothing', async (t) => {
  const statusAs = async (host: string | null, metricsToken: string | null) => {
    const served = await serveMetrics(createMetrics('parley'), { ...place, metricsToken });
    t.after(() => served.stop());
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
    const lines =
      host === null ? ['GET /metrics HTTP/1.0'] : ['GET /metrics HTTP/1.1', `Host: ${host}`];
    if (metricsToken !== null) lines.push(`Authorization: Bearer ${metricsToken}`);
    socket.write(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`);
    const [head] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return Number(head.toString().split(' ')[1]);
  };
  for (const host of [
    'evil.example',
    'evil.example:9464',
    'localhost.evil.example',
    '127.0.0.1.nip.io',
  ]) {
    assert.equal(await statusAs(host, null), 421, host);
  }
  for (const host of ['127.0.0.1', '127.0.0.1:9464', '[::1]:9464', 'LOCALHOST:9464', null]) {
    assert.equal(await statusAs(host, null), 200, `${host}`);
  }
  // No page has the token, and a scraper may use any name.
  assert.equal(await statusAs('market.example', 'a-token-of-sixteen-and-more'), 200);
});
