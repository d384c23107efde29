// The surroundings of every request on a socket: bytes that are no HTTP, bodies that do not come,
// clients that leave, and a server that stops. Specification parts 5, 7 and 8, decisions 0 and 7.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { pino } from 'pino';
import { buildApp } from './app.ts';
import { rawAnswer, testEdge } from './testing/edge.ts';
import { evmWallet } from './testing/signers.ts';

const lines: string[] = [];
const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
const edge = await testEdge({ log });
const port = await edge.port();

const json = (status: number, code: string) =>
  new RegExp(`^HTTP/1\\.1 ${status} [^]*x-parley-error: ${code}\r[^]*\\{"error":"[^"]+"\\}$`, 'i');

test('a malformed HTTP request is refused in JSON with a code', async () => {
  const get = (head: string) => `GET /v1/keys/nonce ${head}connection: close\r\n\r\n`;
  for (const [bytes, expected] of [
    ['nonsense\r\n\r\n', json(400, 'malformed_http')],
    ['CONNECT x:443 HTTP/1.1\r\nhost: x:443\r\n\r\n', json(400, 'malformed_http')],
    [get(`HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(20_000)}\r\n`), json(431, 'headers_too_large')],
    [get('HTTP/1.1\r\n'), / 400 Bad Request/],
    [get('HTTP/1.1\r\nhost: x\r\nexpect: cake\r\n'), / 200 OK/],
    [get('HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\n'), / 200 OK/],
    [get('HTTP/1.0\r\n'), / 200 OK/],
  ] as const) {
    assert.match(await rawAnswer(port, bytes), expected);
  }
});

test('a connection that asked for another protocol in vain ends after its answer', async () => {
  const { body } = await edge.mint(evmWallet());
  const wanted = 'HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: h2c\r\n';
  for (const [head, status] of [
    [`GET /v1/me ${wanted}x-api-key: ${body.key}\r\n\r\n`, 200],
    [`GET /v1/me ${wanted}\r\n`, 401],
    [`GET /v1/keys/nonce ${wanted}\r\n`, 200],
  ] as const) {
    const ended = new RegExp(`^HTTP/1\\.1 ${status} [^]*\r\nconnection: close\r`, 'i');
    assert.match(await rawAnswer(port, head), ended);
  }
});

test('a body that dribbles in is cut off soon after its time limit', async () => {
  const app = await buildApp(edge.deps, { requestTimeoutMs: 200 });
  try {
    const at = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
    const head = 'POST /v1/keys HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
    // `rawAnswer` waits 10 s: less than Node's own 30 s between two checks of its connections.
    const answer = await rawAnswer(at, `${head}content-length: 9\r\n\r\n{`);
    assert.match(answer, /^HTTP\/1\.1 408 [\s\S]*x-parley-error: request_timeout\r/);
  } finally {
    await app.close();
  }
});

test('a shutdown lets a running request end and answers 503, with its budget, to one behind it', async () => {
  const own = await testEdge();
  const at = await own.port();
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  // A lock that a request waits for keeps it running.
  const locked = own.deps.db.transaction(async (tx) => {
    await tx.rows({ name: '', text: 'lock table nonces', values: [] });
    reached.resolve();
    await held.promise;
  });
  await reached.promise;
  const head = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
  const begun = Promise.withResolvers<string>();
  const followed = rawAnswer(at, head('/v1/keys/nonce'), () => begun.promise);
  const alone = rawAnswer(at, head('/v1/keys/nonce'));
  const waiting = () => own.sql('select 1 as one from pg_locks where not granted');
  await waitUntil(async () => (await waiting()).length >= 2);
  const closed = own.app.close();
  await sleep(50);
  begun.resolve(head('/v1/me'));
  await sleep(50);
  held.resolve();
  await locked;
  await closed;
  for (const answer of [followed, alone]) assert.match(await answer, /^HTTP\/1\.1 200 OK/);
  const late = (await followed).slice((await followed).indexOf('HTTP/1.1 503'));
  assert.match(late, /^HTTP\/1\.1 503 [\s\S]*\{"error":"the server is shutting down"\}/);
  assert.match(late, /\r\nratelimit-remaining: \d+\r\n/i);
});

test('a shutdown waits for no request that does not come whole', { timeout: 20_000 }, async () => {
  const own = await testEdge();
  const at = await own.port();
  const head = 'POST /v1/keys HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
  const answered = 'GET /livez HTTP/1.1\r\nhost: x\r\n\r\n';
  const parts = ['', 'GET /v1/ke', `${answered}GET /v1/ke`, `${head}content-length: 9\r\n\r\n{`];
  const ended = parts.map(async (bytes) => {
    const socket = connect(at, '127.0.0.1', () => socket.write(bytes));
    socket.on('error', () => {}).resume();
    await once(socket, 'connect');
    return { over: once(socket, 'close') };
  });
  const open = await Promise.all(ended);
  await sleep(100);
  await own.app.close();
  await Promise.all(open.map(({ over }) => over));
});

test('the log holds no key, no signature and no body', async () => {
  const wallet = evmWallet();
  const unknownKey = `parley_test_${'a'.repeat(43)}`;
  const { body } = await edge.mint(wallet, ['Key name: secret desk']);
  await edge.call('POST', '/v1/keys', { body: { rail: 'evm', address: wallet.address } });
  await edge.call('GET', '/v1/me', { key: unknownKey });
  const text = lines.join('');
  assert.ok(text.includes('bad_field') && text.includes('milliseconds'));
  for (const each of [body.key, unknownKey, 'secret desk', wallet.address]) {
    assert.ok(!text.includes(each), each);
  }
});

test('a key that is revoked while the body of a request arrives does nothing any more', async () => {
  const wallet = evmWallet();
  const { body: first } = await edge.mint(wallet);
  const text = JSON.stringify({ quoteAmount: '1' });
  const head =
    `POST /v1/rfqs/${crypto.randomUUID()}/quotes HTTP/1.1\r\nhost: x\r\nconnection: close\r\n` +
    `x-api-key: ${first.key}\r\ncontent-type: application/json\r\n` +
    `content-length: ${text.length}\r\n\r\n${text.slice(0, 5)}`;
  const answer = await rawAnswer(port, head, async () => {
    await sleep(100);
    assert.equal((await edge.mint(wallet)).body.replaced, true);
    return text.slice(5);
  });
  assert.match(answer, json(401, 'key_invalid'));
});
