// What surrounds every request: specification parts 5, 7 and 8, decisions 0 and 7.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { buildApp } from './app.ts';
import { startEdge, type TestEdge } from './testing/edge.ts';
import { evmWallet } from './testing/signers.ts';

const rateHeaders = [
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
];
const unknownKey = `parley_test_${'a'.repeat(43)}`;

let edge: TestEdge;
let key: string;
const lines: string[] = [];

before(async () => {
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  edge = await startEdge({ log });
  key = (await edge.mint(evmWallet())).body.key;
});
after(() => edge.close());

describe('a request without a valid key is 401 with its reason', () => {
  const cases: [string, Record<string, string>, string][] = [
    ['no header', {}, 'key_missing'],
    ['an unknown key', { authorization: `Bearer ${unknownKey}` }, 'key_invalid'],
    ['an unknown key in X-Api-Key', { 'x-api-key': unknownKey }, 'key_invalid'],
    ['nonsense', { authorization: 'Bearer x' }, 'key_invalid'],
    ['an empty bearer', { authorization: 'Bearer ' }, 'key_invalid'],
    ['another scheme', { authorization: 'Basic eDp5' }, 'key_missing'],
    ['a key of mainnet', { 'x-api-key': `parley_live_${'a'.repeat(43)}` }, 'key_invalid'],
  ];
  for (const [name, headers, code] of cases) {
    test(name, async () => {
      const answer = await edge.call('GET', '/v1/me', { headers });
      assert.equal(answer.status, 401);
      assert.equal(answer.headers['x-parley-error'], code);
      assert.equal(answer.headers['www-authenticate'], 'Bearer');
      assert.deepEqual(Object.keys(answer.body), ['error']);
    });
  }

  test('and the scheme is read in any case', async () => {
    const headers = { authorization: `bearer ${key}` };
    assert.equal((await edge.call('GET', '/v1/me', { headers })).status, 200);
  });
});

describe('every /v1 answer carries the five budget headers and the security headers', () => {
  const calls: [number, string, string, Record<string, unknown>][] = [
    [200, 'GET', '/v1/me', {}],
    [200, 'GET', '/v1/keys/nonce', {}],
    [200, 'GET', '/v1/openapi.json', {}],
    [401, 'GET', '/v1/me', { key: unknownKey }],
    [404, 'GET', '/v1/nothing', {}],
    [302, 'GET', '/v1', {}],
    [405, 'PUT', '/v1/me', {}],
    [400, 'POST', '/v1/keys', { body: '{' }],
    [413, 'POST', '/v1/keys', { body: { a: 'x'.repeat(66_000) } }],
    [415, 'POST', '/v1/keys', { body: 'x', headers: { 'content-type': 'text/plain' } }],
    [400, 'GET', '/v1/rfqs/%zz', {}],
    [404, 'DELETE', `/v1/wallets/${'w'.repeat(201)}`, {}],
    [400, 'GET', '/v1/rfqs?limit=101', {}],
    [404, 'GET', '/v1/rfqs/nonsense', {}],
  ];
  for (const [status, method, url, options] of calls) {
    test(`${status} ${method} ${url.slice(0, 40)}`, async () => {
      const answer = await edge.call(method, url, { key, ...options });
      assert.equal(answer.status, status, JSON.stringify(answer.body));
      for (const name of rateHeaders) assert.match(String(answer.headers[name]), /^\d+$/);
      assert.equal(answer.headers['x-content-type-options'], 'nosniff');
      assert.equal(answer.headers['cache-control'], 'no-store');
      if (status < 400) return;
      assert.deepEqual(Object.keys(answer.body), ['error']);
      assert.match(String(answer.headers['x-parley-error']), /^[a-z0-9_]+$/);
    });
  }
});

describe('the checks come in their order', () => {
  test('route before key: 404 and 405 need none, and 405 says what is allowed', async () => {
    assert.equal((await edge.call('GET', '/v1/nothing')).status, 404);
    const wrong = await edge.call('DELETE', '/v1/rfqs');
    assert.equal(wrong.status, 405);
    assert.equal(wrong.headers.allow, 'GET, HEAD, POST');
    const beside = await edge.call('POST', '/v1/wallets/doge');
    assert.match(
      String(beside.body.error),
      /takes DELETE, not POST; POST is for \/v1\/wallets\/bitcoin, .*\/tron/,
    );
    const body = 'x'.repeat(70_000);
    assert.equal((await edge.call('POST', '/v1/nothing', { body })).status, 404);
  });

  test('key before body: a huge, broken body without a key is 401', async () => {
    const body = 'x'.repeat(70_000);
    assert.equal((await edge.call('POST', '/v1/rfqs', { body })).status, 401);
  });

  test('scope before body, body before shape, shape before existence', async () => {
    const { key: reader } = (await edge.mint(evmWallet(), ['Scopes: read'])).body;
    const call = (by: string, body: unknown, url = '/v1/rfqs') =>
      edge.call('POST', url, { key: by, body });
    const scoped = await call(reader, '{');
    assert.deepEqual([scoped.status, scoped.headers['x-parley-error']], [403, 'scope_missing']);
    assert.equal((await call(key, '{')).headers['x-parley-error'], 'malformed_json');
    const shape = await call(key, { quoteAmount: 7 }, '/v1/threads/nonsense/propose');
    assert.deepEqual([shape.status, shape.headers['x-parley-error']], [400, 'bad_field']);
    const absent = await call(key, { quoteAmount: '7' }, '/v1/threads/nonsense/propose');
    assert.equal(absent.status, 404);
  });

  test('any valid key reads and writes where no scope is asked for', async () => {
    const { key: reader } = (await edge.mint(evmWallet(), ['Scopes: read'])).body;
    assert.equal((await edge.call('GET', '/v1/rfqs', { key: reader })).status, 200);
    const answer = await edge.call('POST', '/v1/tx/broadcast', { key: reader, body: {} });
    assert.equal(answer.status, 400);
  });
});

describe('a budget', () => {
  test('of an account that is out answers 429 with Retry-After, before scope and body', async () => {
    const own = await startEdge({ settings: { rateLimit: 3 } });
    try {
      own.deps.freeze();
      const minted = await own.mint(evmWallet(), ['Scopes: read']);
      const call = () => own.call('POST', '/v1/rfqs', { key: minted.body.key, body: '{' });
      for (const left of ['2', '1', '0']) {
        const answer = await call();
        assert.equal(answer.status, 403);
        assert.equal(answer.headers['ratelimit-remaining'], left);
      }
      own.deps.advance(20_000);
      const refused = await call();
      assert.equal(refused.status, 429);
      assert.match(refused.body.error, /too many requests for this account/);
      assert.equal(refused.headers['retry-after'], '40');
      assert.equal(refused.headers['ratelimit-limit'], '3');
      assert.equal(refused.headers['x-ratelimit-remaining'], '0');
      own.deps.advance(40_000);
      assert.equal((await call()).status, 403);
    } finally {
      await own.close();
    }
  });

  test('of a client address is spent by calls without a valid key, and only by them', async () => {
    const own = await startEdge({ settings: { rateLimit: 4 } });
    try {
      own.deps.freeze();
      const minted = await own.mint(evmWallet());
      const bad = () => own.call('GET', '/v1/me', { key: unknownKey });
      assert.equal((await bad()).status, 401);
      assert.equal((await own.call('GET', '/v1/me')).status, 401);
      const refused = await bad();
      assert.equal(refused.status, 429);
      assert.doesNotMatch(refused.body.error, /account/);
      assert.equal((await own.call('GET', '/v1/keys/nonce')).status, 429);
      const good = await own.call('GET', '/v1/me', { key: minted.body.key });
      assert.equal(good.status, 200);
      assert.equal(good.headers['ratelimit-remaining'], '3');
      const elsewhere = await own.call('GET', '/v1/keys/nonce', { ip: '198.51.100.9' });
      assert.equal(elsewhere.status, 200);
    } finally {
      await own.close();
    }
  });

  test('believes X-Forwarded-For from a trusted proxy only', async () => {
    const own = await startEdge({ settings: { rateLimit: 1, trustedProxies: ['10.0.0.0/8'] } });
    try {
      const call = (ip: string, forwarded: string) =>
        own.call('GET', '/v1/keys/nonce', { ip, headers: { 'x-forwarded-for': forwarded } });
      assert.equal((await call('10.0.0.1', '192.0.2.1')).status, 200);
      assert.equal((await call('10.0.0.2', '192.0.2.1')).status, 429);
      assert.equal((await call('10.0.0.2', '192.0.2.2')).status, 200);
      assert.equal((await call('198.51.100.1', '192.0.2.3')).status, 200);
      assert.equal((await call('198.51.100.1', '192.0.2.4')).status, 429);
    } finally {
      await own.close();
    }
  });
});

describe('a body', () => {
  const cancel = (options: object) =>
    edge.call('POST', '/v1/rfqs/0193b5a0-0000-7000-8000-000000000000/cancel', { key, ...options });

  test('may be absent under a JSON content type, or under any', async () => {
    for (const type of ['application/json', 'application/x-www-form-urlencoded']) {
      const headers = { 'content-type': type };
      const answer = await cancel({ headers });
      assert.equal(answer.status, 404);
      assert.equal(answer.headers['x-parley-error'], 'unknown_rfq');
    }
    assert.equal((await cancel({ body: {} })).status, 404);
    assert.equal((await cancel({ body: null })).status, 404);
  });

  test('is refused where none is taken', async () => {
    for (const body of [{ a: 1 }, [], '"x"', 7]) {
      assert.equal((await cancel({ body })).headers['x-parley-error'], 'bad_field');
    }
  });

  test('that nests 65 levels deep is refused, and one of 30 000 does not break the server', async () => {
    for (const depth of [65, 30_000]) {
      const body = '['.repeat(depth) + ']'.repeat(depth);
      const answer = await edge.call('POST', '/v1/rfqs', { key, body });
      assert.equal(answer.headers['x-parley-error'], 'malformed_json');
    }
  });

  test('cannot reach a prototype', async () => {
    const body = '{"__proto__":{"a":1},"constructor":{"prototype":{}}}';
    assert.equal((await edge.call('POST', '/v1/rfqs', { key, body })).status, 400);
  });
});

/** Sends raw bytes to a listening server and returns all that it answers. */
function exchange(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  return everything(socket);
}

function everything(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    socket.setTimeout(10_000, () => socket.destroy(new Error('no answer')));
    socket.on('data', (data) => {
      answer += data;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

test('bytes that are not HTTP, and headers that are too large, are JSON with a code', async () => {
  const own = await startEdge();
  try {
    await own.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = own.app.server.address() as AddressInfo;
    const said = (status: number, code: string) =>
      new RegExp(`^HTTP/1\\.1 ${status} [^]*x-parley-error: ${code}\r[^]*\\{"error":"[^"]+"\\}$`);
    assert.match(await exchange(port, 'nonsense\r\n\r\n'), said(400, 'malformed_http'));
    const tunnel = 'CONNECT x:443 HTTP/1.1\r\nhost: x:443\r\n\r\n';
    assert.match(await exchange(port, tunnel), said(400, 'malformed_http'));
    const large = `GET /v1/me HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(20_000)}\r\n\r\n`;
    assert.match(await exchange(port, large), said(431, 'headers_too_large'));
  } finally {
    await own.close();
  }
});

test('a body that dribbles in is cut off soon after its time limit', async () => {
  const { deps } = edge;
  const app = await buildApp(deps, { requestTimeoutMs: 200 });
  try {
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const head = 'POST /v1/keys HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
    // `exchange` waits 10 s: less than Node's own 30 s between two looks at its connections.
    const answer = await exchange(port, `${head}content-length: 9\r\n\r\n{`);
    assert.match(answer, /^HTTP\/1\.1 408 [\s\S]*x-parley-error: request_timeout\r/);
  } finally {
    await app.close();
  }
});

test('HTTP/1.1 without Host, or with two, is 400, an unknown expectation 417, both in JSON with a code', async () => {
  const own = await startEdge();
  try {
    await own.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = own.app.server.address() as AddressInfo;
    const get = (head: string) =>
      exchange(port, `GET /v1/keys/nonce ${head}connection: close\r\n\r\n`);
    const json = (status: number, code: string) =>
      new RegExp(
        `^HTTP/1\\.1 ${status} [\\s\\S]*x-parley-error: ${code}\r[\\s\\S]*\\{"error":"[^"]+"\\}$`,
        'i',
      );
    assert.match(await get('HTTP/1.1\r\n'), json(400, 'bad_header'));
    for (const two of ['host: x\r\nhost: x\r\n', 'Host: x\r\nx: y\r\nhOST: z\r\n']) {
      const answer = await get(`HTTP/1.1\r\n${two}`);
      assert.match(answer, json(400, 'bad_header'));
      assert.match(answer, /there are 2 Host headers, not one/);
    }
    assert.match(
      await get('HTTP/1.1\r\nhost: x\r\nexpect: cake\r\n'),
      json(417, 'expectation_failed'),
    );
    assert.match(await get('HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\n'), / 200 OK/);
    assert.match(await get('HTTP/1.0\r\n'), / 200 OK/);
  } finally {
    await own.close();
  }
});

test('a shutdown lets a running request end and answers 503 to one behind it', async () => {
  const own = await startEdge();
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  try {
    await own.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = own.app.server.address() as AddressInfo;
    // A lock that a request waits for keeps it running.
    const locked = own.deps.db.transaction(async (tx) => {
      await tx.rows({ name: 'test_hold', text: 'lock table nonces', values: [] });
      reached.resolve();
      await held.promise;
    });
    await reached.promise;
    const sockets = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    const answers = sockets.map(everything);
    for (const socket of sockets) {
      socket.write('GET /v1/keys/nonce HTTP/1.1\r\nhost: x\r\n\r\n');
    }
    while ((await waiters(own)) < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    const closed = own.app.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    sockets[0]?.write('GET /v1/me HTTP/1.1\r\nhost: x\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 50));
    held.resolve();
    await locked;
    const [followed, alone] = await Promise.all(answers);
    await closed;
    assert.match(followed ?? '', /^HTTP\/1\.1 200 OK/);
    assert.match(followed ?? '', /HTTP\/1\.1 503 [\s\S]*\{"error":"the server is shutting down"\}/);
    assert.match(alone ?? '', /^HTTP\/1\.1 200 OK/);
  } finally {
    held.resolve();
    await own.close();
  }
});

async function waiters({ deps }: TestEdge): Promise<number> {
  const rows = await deps.db.rows({
    name: 'test_waiters',
    text: 'select 1 as one from pg_locks where not granted',
    values: [],
  });
  return rows.length;
}

test('HEAD answers as GET does, without the body', async () => {
  const answer = await edge.app.inject({
    method: 'HEAD',
    url: '/v1/me',
    headers: { authorization: `Bearer ${key}` },
  });
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.body, '');
});

test('the log holds no key, no signature and no body', async () => {
  const { wallet, answer } = await (async () => {
    const made = evmWallet();
    return { wallet: made, answer: await edge.mint(made, ['Key name: secret desk']) };
  })();
  await edge.call('POST', '/v1/keys', { body: { rail: 'evm', address: wallet.address } });
  await edge.call('GET', '/v1/me', { key: unknownKey });
  const log = lines.join('');
  assert.ok(log.includes('bad_field') && log.includes('milliseconds'));
  for (const text of [answer.body.key, unknownKey, 'secret desk', wallet.address]) {
    assert.ok(!log.includes(text), text);
  }
});

test('a client that is gone before its key was looked up ends nothing but its connection', async () => {
  const own = await startEdge();
  const unheard: unknown[] = [];
  const hear = (error: unknown) => unheard.push(error);
  process.on('unhandledRejection', hear);
  try {
    await own.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = own.app.server.address() as AddressInfo;
    const key = () => `parley_test_${randomBytes(40).toString('hex').slice(0, 43)}`;
    for (let at = 0; at < 60; at += 1) {
      const paths = ['/v1/me', '/v1/nothing', '/v1/%zz', `/v1/wallets/${'a'.repeat(300)}`];
      const path = paths[at % paths.length] as string;
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      await new Promise((resolve) => {
        const head = `GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key()}\r\n\r\n`;
        socket.write(head, () => setTimeout(resolve, at % 3));
      });
      if (at % 3 < 2) socket.resetAndDestroy();
      else socket.destroy();
    }
    const answer = await fetch(`http://127.0.0.1:${port}/v1/me`);
    assert.equal(answer.status, 401);
    await sleep(100);
    assert.deepEqual(unheard, []);
  } finally {
    process.off('unhandledRejection', hear);
    await own.close();
  }
});

test('a body that is cut off is no failure of ours in the log', async () => {
  const said: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void said.push(line) });
  const own = await startEdge({ log });
  try {
    const { body } = await own.mint(evmWallet());
    await own.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = own.app.server.address() as AddressInfo;
    for (let at = 0; at < 6; at += 1) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      const head = `POST /v1/rfqs HTTP/1.1\r\nhost: x\r\nx-api-key: ${body.key}\r\n`;
      const rest = 'content-type: application/json\r\ncontent-length: 100\r\n\r\n{"direction"';
      await new Promise((resolve) => socket.write(head + rest, () => setTimeout(resolve, 20)));
      if (at % 2 === 0) socket.resetAndDestroy();
      else socket.destroy();
    }
    await sleep(200);
    const loud = said
      .map((line) => JSON.parse(line) as { level: number })
      .filter(({ level }) => level >= 40);
    assert.deepEqual(loud, []);
  } finally {
    await own.close();
  }
});

test('a key that is revoked while the body of a request arrives does nothing any more', async () => {
  const own = await startEdge();
  try {
    const wallet = evmWallet();
    const { body: first } = await own.mint(wallet);
    await own.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = own.app.server.address() as AddressInfo;
    const text = JSON.stringify({ quoteAmount: '1' });
    const socket = connect(port, '127.0.0.1');
    const answered = new Promise<string>((resolve) => {
      let all = '';
      socket.on('data', (part) => {
        all += part;
      });
      socket.on('close', () => resolve(all));
    });
    const head =
      `POST /v1/rfqs/${crypto.randomUUID()}/quotes HTTP/1.1\r\nhost: x\r\nconnection: close\r\n` +
      `x-api-key: ${first.key}\r\ncontent-type: application/json\r\n` +
      `content-length: ${text.length}\r\n\r\n${text.slice(0, 5)}`;
    await new Promise((resolve) => socket.write(head, resolve));
    await sleep(100);
    const { body: second } = await own.mint(wallet);
    assert.equal(second.replaced, true);
    socket.write(text.slice(5));
    assert.match(await answered, /^HTTP\/1\.1 401 [\s\S]*x-parley-error: key_invalid\r/i);
  } finally {
    await own.close();
  }
});

test('a path of ours counts and carries the headers however it is spelt', async () => {
  const own = await startEdge();
  try {
    await own.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = own.app.server.address() as AddressInfo;
    for (const target of ['http://evil/v1/nosuch', '/%76%31/nosuch', '/v%31/nosuch']) {
      const answer = await exchange(
        port,
        `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
      );
      assert.match(answer, /^HTTP\/1\.1 404 [\s\S]*\r\nratelimit-limit: /i, target);
    }
  } finally {
    await own.close();
  }
});
