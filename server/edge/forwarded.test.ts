// Who forwards for others and is not trusted is named in the log, by the whole application.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { startEdge } from './testing/edge.ts';

test('a peer that forwards and is not trusted is named once, and again after an hour', async () => {
  const lines: { level: number; peer?: string; msg: string }[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const settings = { trustedProxies: ['10.0.0.0/8'] };
  const edge = await startEdge({ settings, log });
  try {
    edge.deps.freeze();
    const call = (ip: string, headers = {}) => edge.call('GET', '/v1/keys/nonce', { ip, headers });
    const forwarded = { 'x-forwarded-for': '192.0.2.1' };
    const peers = () => lines.filter(({ msg }) => msg.includes('PARLEY_TRUSTED_PROXIES'));
    await call('198.51.100.1');
    for (const trusted of ['10.0.0.1', '::ffff:10.0.0.1']) await call(trusted, forwarded);
    assert.deepEqual(peers(), []);
    for (const ip of ['198.51.100.1', '2001:db8::1']) await call(ip, forwarded);
    assert.deepEqual(
      peers().map(({ level, peer }) => [level, peer]),
      [[40, '198.51.100.1']],
    );
    edge.deps.advance(3_600_000 - 1);
    await call('2001:db8::1', forwarded);
    assert.equal(peers().length, 1);
    edge.deps.advance(1);
    await call('2001:db8::1', forwarded);
    assert.equal(peers()[1]?.peer, '2001:db8::1');
  } finally {
    await edge.close();
  }
});
