// Rows about single requests: protocols, limits and refusals.

import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { maxHeaderSize } from 'node:http';
import tls from 'node:tls';
import { bodyLimitBytes } from '@parley/market/edge/body.ts';
import type { RunningProxy } from './programs.ts';
import type { Row, Scene } from './scene.ts';
import { type Answer, ask, openSession } from './wire.ts';

export const json = { 'content-type': 'application/json' };

export function refused({ status, headers, body }: Answer, wanted: string): void {
  const { error } = JSON.parse(body) as { error: unknown };
  assert.equal(`${status} ${headers['x-parley-error']}`, wanted, body);
  assert.equal(typeof error, 'string');
  assert.match(headers['content-type'] ?? '', /^application\/json/);
  assert.match(headers['x-request-id'] ?? '', /^[\w-]{8,64}$/);
}

/** By each version of HTTP. */
async function byBoth(
  proxy: RunningProxy,
  path: string,
  asked: Parameters<typeof ask>[2] = {},
): Promise<readonly Answer[]> {
  const session = await openSession(proxy, asked.from);
  try {
    return [await ask(proxy, path, asked), await session.ask(path, asked)];
  } finally {
    session.close();
  }
}

async function protocols({ proxy, customers }: Scene): Promise<string> {
  const headers = { authorization: `Bearer ${customers[0].key}` };
  for (const answer of await byBoth(proxy, '/v1/rules', { headers })) {
    assert.equal(answer.status, 200, answer.body);
    assert.equal(answer.headers['strict-transport-security'], 'max-age=31536000');
    assert.match(answer.headers['x-request-id'] ?? '', /^[0-9a-f-]{32,36}$/, 'the proxy’s own');
  }
  for (const answer of await byBoth(proxy, '/account', { headers: { accept: 'text/html' } }))
    assert.ok(answer.status === 200 || answer.status === 503, answer.body);
  const old = await handshake(proxy, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1' });
  assert.notEqual(old, 'TLSv1.1', 'TLS 1.1');
  const spoken = [
    await handshake(proxy, { maxVersion: 'TLSv1.2' }),
    await handshake(proxy, { minVersion: 'TLSv1.3' }),
  ];
  assert.deepEqual(spoken, ['TLSv1.2', 'TLSv1.3']);
  const other = await handshake(proxy, { servername: 'other.example' });
  assert.match(other, /^refused/, 'a name that is not ours has no certificate');
  const stranger = { headers: { host: 'other.example' } };
  assert.equal((await ask(proxy, '/v1/rules', stranger)).status, 421);
  return 'HTTP/1.1 and 2, TLS 1.2 and 1.3; older TLS and other names are refused';
}

function handshake(proxy: RunningProxy, options: tls.ConnectionOptions): Promise<string> {
  const { port, certificate } = proxy;
  return new Promise((resolve) => {
    const socket = tls.connect({
      host: '127.0.0.1',
      port,
      servername: 'localhost',
      ca: certificate.ca,
      ciphers: 'DEFAULT@SECLEVEL=0',
      ...options,
    });
    socket.on('error', ({ message }) => resolve(`refused: ${message}`));
    socket.on('secureConnect', () => {
      resolve(socket.getProtocol() ?? 'none');
      socket.destroy();
    });
  });
}

async function inTheClear({ proxy: { httpPort } }: Scene): Promise<string> {
  const answer = async (path: string) => {
    const { status, headers } = await fetch(`http://localhost:${httpPort}${path}`, {
      method: path === '/v1/rfqs' ? 'POST' : 'GET',
      redirect: 'manual',
    });
    return `${status} ${headers.get('location') ?? headers.get('x-parley-error')}`;
  };
  assert.equal(await answer('/v1/rfqs'), '403 https_only');
  assert.equal(await answer('/market/pairs'), '403 https_only');
  assert.match(await answer('/orders?a=b'), /^301 https:\/\/localhost:\d+\/orders\?a=b$/);
  return 'the API by plain HTTP is 403, a page is sent on';
}

async function sizes({ proxy, customers }: Scene): Promise<string> {
  const headers = { ...json, authorization: `Bearer ${customers[0].key}` };
  const body = (bytes: number) => ({ method: 'POST', headers, body: `{${' '.repeat(bytes - 2)}}` });
  for (const answer of await byBoth(proxy, '/v1/rfqs', body(bodyLimitBytes)))
    refused(answer, '400 bad_field');
  for (const answer of await byBoth(proxy, '/v1/rfqs', body(bodyLimitBytes + 1)))
    refused(answer, '413 body_too_large');
  const chunked = { ...body(bodyLimitBytes + 1) };
  const unsaid = { ...headers, 'transfer-encoding': 'chunked' };
  refused(await ask(proxy, '/v1/rfqs', { ...chunked, headers: unsaid }), '413 body_too_large');
  const withHead = (bytes: number) => ({ headers: { ...headers, 'x-long': 'a'.repeat(bytes) } });
  // Room for the proxy's own headers.
  const most = maxHeaderSize - 1_000;
  assert.equal((await ask(proxy, '/v1/rules', withHead(most))).status, 200);
  assert.equal((await ask(proxy, '/v1/rules', withHead(maxHeaderSize + 6_000))).status, 431);
  // No attempt has made the proxy think that a process has failed.
  for (let tries = 0; tries < 8; tries += 1)
    assert.equal((await ask(proxy, '/v1/rules', { headers })).status, 200);
  return `bodies of ${bodyLimitBytes} bytes pass, one more is 413; headers of ${most} pass`;
}

async function closed({ proxy }: Scene): Promise<string> {
  const page = { headers: { accept: 'text/html' } };
  for (const path of ['/readyz', '/livez', '/%72eadyz', '//readyz'])
    refused(await ask(proxy, path), '404 not_found');
  await writeFile(proxy.maintenance, '');
  try {
    for (const path of ['/v1/rules', '/account/session', '/v1/ws', '/v1/webhooks/x']) {
      const answer = await ask(proxy, path, { method: path.endsWith('x') ? 'DELETE' : 'GET' });
      refused(answer, '503 unavailable');
      assert.equal(answer.headers['retry-after'], '30');
    }
    assert.equal((await ask(proxy, '/', page)).status, 503);
  } finally {
    await rm(proxy.maintenance);
  }
  assert.equal((await ask(proxy, '/v1/keys/nonce')).status, 200);
  return 'probes are not for the outside; one file closes the market, and its end opens it';
}

async function noSecretInLogs({ proxy, customers, program }: Scene): Promise<string> {
  const secret = 'code-that-signs-in';
  const [{ key }] = customers;
  const headers = { 'x-api-key': key, cookie: `parley_session=${secret}` };
  await ask(proxy, `/account/provider/return/one?code=${secret}&state=${secret}`, { headers });
  await ask(proxy, `/v1/rules?code=${secret}`, { headers });
  const log = await proxy.log();
  assert.ok(log.includes('/account/provider/return/one'), 'the path is there');
  assert.ok(!log.includes(secret) && !log.includes(key), `the log of ${program.kind} has a secret`);
  return 'no query and no header in the log';
}

async function compression({ proxy, customers }: Scene): Promise<string> {
  const headers = { authorization: `Bearer ${customers[0].key}`, 'accept-encoding': 'gzip' };
  const encoding = async (path: string) =>
    (await ask(proxy, path, { headers })).headers['content-encoding'];
  assert.equal(await encoding('/v1/rules'), 'gzip');
  assert.equal(await encoding('/v1/openapi.json'), 'gzip');
  assert.equal(await encoding('/account/openapi.json'), 'gzip');
  const whole = await ask(proxy, '/v1/rules', { headers: { ...headers, 'accept-encoding': '' } });
  assert.ok(whole.body.startsWith('{'));
  const tag = (await ask(proxy, '/status', { headers })).headers.etag ?? '';
  const again = await ask(proxy, '/status', { headers: { ...headers, 'if-none-match': tag } });
  assert.ok([200, 304].includes(again.status));
  return 'JSON is compressed, and what the market compressed stays as it is';
}

export const requestRows: readonly Row[] = [
  { name: 'protocols', play: protocols },
  { name: 'plain HTTP', play: inTheClear },
  { name: 'sizes', play: sizes },
  { name: 'closed', play: closed },
  { name: 'compression', play: compression },
  { name: 'logs', play: noSecretInLogs },
];
