// Valkey over TLS, with a real server: its certificate is checked.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  type Certificate,
  makeCertificate,
  trusted,
} from '@parley/verify/test/support/certificate.ts';
import { startValkey } from '@parley/verify/test/support/valkey.ts';
import { startEdge } from '../edge/testing/edge.ts';
import { connectValkey, reasonOf } from './valkey.ts';

async function serve(t: TestContext, certificate: Certificate) {
  const valkey = await startValkey({ requirepass: 'f00d' }, certificate);
  t.after(() => valkey.stop());
  return valkey.url.replace('//', '//default:f00d@');
}

/** Why no connection is had; 'ready' when one is. */
function outcome(t: TestContext, url: string): Promise<string> {
  const client = connectValkey(url);
  t.after(() => client.disconnect());
  return new Promise((resolve) => {
    client.once('ready', () => resolve('ready'));
    client.once('error', (error) => resolve(reasonOf(error)));
  });
}

test('a server whose authority is not trusted is not used', async (t) => {
  const url = await serve(t, makeCertificate(['IP:127.0.0.1']));
  assert.match(await outcome(t, url), /^(UNABLE_TO_|SELF_SIGNED_)/);
});

test('two processes share a budget over TLS, by address or by name', async (t) => {
  const url = await serve(t, trusted(makeCertificate(['DNS:localhost', 'IP:127.0.0.1'])));
  const left: unknown[] = [];
  for (const valkeyUrl of [url, url.replace('127.0.0.1', 'localhost')]) {
    const edge = await startEdge({ settings: { valkeyUrl, rateLimit: 4 } });
    t.after(() => edge.close());
    const { headers } = await edge.call('GET', '/v1/keys/nonce', { ip: '192.0.2.9' });
    left.push(headers['ratelimit-remaining']);
  }
  assert.deepEqual(left, ['3', '2']);
});
