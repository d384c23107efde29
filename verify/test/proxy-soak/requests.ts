// Rows about single requests: protocols, limits, refusals, and what somebody tries to slip past.

import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { maxHeaderSize } from 'node:http';
import tls from 'node:tls';
import { bodyLimitBytes } from '@parley/market/edge/body.ts';
import { waitUntil } from '../support/waiting.ts';
import type { RunningProxy } from './programs.ts';
import type { Row, Scene } from './scene.ts';
import { type Answer, ask, openSession, say } from './wire.ts';

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

/** The route that is asked for by what is slipped past, and by nothing else here. */
const target = 'GET /docs/smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n';

async function arrived(metricsPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const counts = text.matchAll(/^parley_http_requests_total\{.*route="\/docs\/\*".*\} (\d+)/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Bytes that are one request to one reader, and two to another. */
function ambiguous(): readonly string[] {
  const post = (text: string, ...lines: string[]) =>
    ['POST /v1/keys HTTP/1.1', 'Host: localhost', ...lines, '', text].join('\r\n');
  const length = `Content-Length: ${5 + target.length}`;
  const chunked = 'Transfer-Encoding: chunked';
  const body = `0\r\n\r\n${target}`;
  return [
    post(body, length, chunked),
    post(body, chunked, length),
    post(body, length, 'Transfer-Encoding : chunked'),
    post(body, length, 'Transfer-Encoding:\tchunked'),
    post(body, length, 'Transfer-Encoding: xchunked'),
    post(body, length, 'Transfer-Encoding: chunked, identity'),
    post(body, length, 'Transfer-Encoding: identity', chunked),
    post(body, length, ' Transfer-Encoding: chunked'),
    post(body, length, 'X: y\nTransfer-Encoding: chunked'),
    post(body, length, 'X: y\rTransfer-Encoding: chunked'),
    post(body, length, 'Transfer_Encoding: chunked'),
    post(body, 'Content-Length: 0', length),
    post(body, length, 'Content-Length: 0'),
    post(body, 'Content-Length: 0, 5'),
    post(body, `Content-Length: +${5 + target.length}`),
    post(body, 'Content-Length: 0x5'),
    post(body, 'Content-Length: 0 ', 'Connection: Content-Length', length),
    post(`5;x=\n${target}\r\n0\r\n\r\n`, chunked),
    post(`-1\r\n${target}`, chunked),
    post(`10000000000000000\r\n${target}`, chunked),
    post(`0\n\n${target}`, chunked),
    post(`0\r\nX: y\r\n\r${target}`, chunked),
    post(`0\r\n\rX${target}`, chunked, 'Connection: Transfer-Encoding'),
    post(body.slice(0, 8), 'Expect: 100-continue', length),
    `GET /v1/rules HTTP/1.1\r\nHost: localhost\r\n${length}\r\n\r\n${body}`,
    `GET /v1/rules?a= HTTP/1.1\r\nHost: x\r\nHost: localhost\r\n${length}\r\n\r\n${body}`,
    `GET http://localhost/v1/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: h2c\r\n` +
      `Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n${length}\r\n\r\n${body}`,
    `GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Version: 99\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${length}\r\n\r\n${body}`,
  ];
}

/** Frames of HTTP/2 (RFC 9113, 4.1), written by hand: a client's library refuses such headers. */
function inFrames(fields: readonly (readonly [string, string])[], body: string): Buffer {
  const text = (value: string) => {
    const bytes = Buffer.from(value, 'latin1');
    assert.ok(bytes.length < 127, 'one byte of length');
    return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  };
  const frame = (type: number, flags: number, stream: number, payload: Buffer) => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, payload]);
  };
  // Literal, without an index (RFC 7541, 6.2.2).
  const block = fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]);
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(4, 0, 0, Buffer.alloc(0)),
    frame(1, 4, 1, Buffer.concat(block)),
    frame(0, 1, 1, Buffer.from(body)),
  ]);
}

function ambiguousInFrames(): readonly Buffer[] {
  const asked = (path: string, ...more: (readonly [string, string])[]) =>
    inFrames(
      [
        [':method', 'POST'],
        [':scheme', 'https'],
        [':authority', 'localhost'],
        [':path', path],
        ...more,
      ],
      `0\r\n\r\n${target}`,
    );
  return [
    asked('/v1/keys', ['transfer-encoding', 'chunked']),
    asked('/v1/keys', ['content-length', '0']),
    asked('/v1/keys', ['content-length', '5']),
    asked('/v1/keys', ['x', 'y\r\ntransfer-encoding: chunked']),
    asked('/v1/keys', ['x', `y\r\n\r\n${target.slice(0, 60)}`]),
    asked('/v1/keys', ['x: y\r\nb', 'c']),
    asked('/v1/keys HTTP/1.1\r\nHost: localhost\r\n\r\nGET /docs/smuggled'),
    asked('/v1/keys', ['host', 'x'], ['host', 'localhost']),
    asked('/v1/ws', ['upgrade', 'websocket'], ['connection', 'upgrade']),
    asked('/v1/keys', [':path', '/docs/smuggled']),
  ];
}

/** The requests that the proxy counted as its own. */
async function counted(proxy: RunningProxy): Promise<number> {
  return (await proxy.log()).split('"/docs/smuggled"').length - 1;
}

async function smuggling({ markets, metricsPort, with: opened }: Scene): Promise<string> {
  return opened([markets.one.port], async (proxy) => {
    const before = await arrived(metricsPort);
    await ask(proxy, '/docs/smuggled');
    assert.equal((await arrived(metricsPort)) - before, 1, 'what is asked for is counted');
    const lines = ambiguous();
    const frames = ambiguousInFrames();
    const victims = () =>
      Promise.all(Array.from({ length: 4 }, () => ask(proxy, '/v1/keys/nonce')));
    for (const each of [...lines, ...frames]) {
      const shown = JSON.stringify(each.toString('latin1').slice(0, 300));
      const protocol = typeof each === 'string' ? 'http/1.1' : 'h2';
      await say(proxy, [each], { mostMs: 400, protocol });
      for (const { status, body } of await victims()) {
        assert.equal(status, 200, `after ${shown}`);
        assert.match(body, /"nonce":/);
      }
      // A second request of one connection, to both of them, is one.
      const came = (await arrived(metricsPort)) - before;
      await waitUntil(async () => came <= (await counted(proxy)), { mostMs: 5_000 }).catch(() => {
        assert.fail(`the market had a request that the proxy had not: ${shown}`);
      });
    }
    const many = `${lines.length} ambiguous requests of HTTP/1.1 and ${frames.length} of HTTP/2`;
    return `${many}: the market had none that the proxy had not`;
  });
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
  { name: 'smuggling', play: smuggling },
];
