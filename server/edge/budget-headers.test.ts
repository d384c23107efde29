// Every answer tells what is left of whose budget, whatever went wrong: specification part 8.

import assert from 'node:assert/strict';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { startEdge, type TestEdge } from './testing/edge.ts';
import { evmWallet } from './testing/signers.ts';

const rateLimit = 1_000;

let edge: TestEdge;
let port: number;
before(async () => {
  edge = await startEdge({ settings: { rateLimit } });
  // No window ends between two calls.
  edge.deps.freeze();
  await edge.app.listen({ host: '127.0.0.1', port: 0 });
  port = (edge.app.server.address() as AddressInfo).port;
});
after(() => edge.close());

type Told = { readonly status: number; readonly headers: Readonly<Record<string, string>> };

/** Sends raw bytes, and reads the first answer's head. */
async function told(bytes: string, to = port): Promise<Told> {
  const socket = connect(to, '127.0.0.1');
  socket.write(bytes);
  let text = '';
  for await (const data of socket) {
    text += data;
    if (text.includes('\r\n\r\n')) break;
  }
  const [first = '', ...lines] = text.split('\r\n\r\n')[0]!.split('\r\n');
  const headers = lines.map((line) => line.split(': ') as [string, string]);
  return { status: Number(first.split(' ')[1]), headers: Object.fromEntries(headers) };
}

/** All five, consistent with one another; returns what is left. */
function remainingOf({ headers }: Told, limit = rateLimit): number {
  assert.equal(headers['ratelimit-limit'], String(limit));
  assert.equal(headers['x-ratelimit-limit'], String(limit));
  const remaining = Number(headers['ratelimit-remaining']);
  assert.ok(remaining >= 0 && remaining < limit, JSON.stringify(headers));
  assert.equal(headers['x-ratelimit-remaining'], String(remaining));
  const reset = Number(headers['ratelimit-reset']);
  assert.ok(Number.isInteger(reset) && reset >= 1 && reset <= 60);
  return remaining;
}

const head = 'host: x\r\nconnection: close\r\n';

describe('the five headers, and one request spent of the client address, on', () => {
  const cases: [string, number, string][] = [
    ['bytes that are not HTTP', 400, 'nonsense\r\n\r\n'],
    ['headers that are too large', 431, `GET /v1/me HTTP/1.1\r\na: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['a request without Host', 400, 'GET /v1/me HTTP/1.1\r\nconnection: close\r\n\r\n'],
    ['an expectation', 417, `GET /v1/me HTTP/1.1\r\n${head}expect: tea\r\n\r\n`],
    ['a malformed URL', 400, `GET /v1/rfqs/%zz HTTP/1.1\r\n${head}\r\n`],
    ['a path that is not there', 404, `GET /v1/nothing HTTP/1.1\r\n${head}\r\n`],
    [
      'a parameter that is too long',
      404,
      `GET /v1/rfqs/${'x'.repeat(300)} HTTP/1.1\r\n${head}\r\n`,
    ],
    ['a path outside of the API', 404, `GET /robots.txt HTTP/1.1\r\n${head}\r\n`],
    ['a method that the path does not take', 405, `PUT /v1/me HTTP/1.1\r\n${head}\r\n`],
    ['a method that no path takes', 405, `PROPFIND /v1/me HTTP/1.1\r\n${head}\r\n`],
    ['OPTIONS', 405, `OPTIONS /v1/me HTTP/1.1\r\n${head}\r\n`],
    ['no key', 401, `GET /v1/me HTTP/1.1\r\n${head}\r\n`],
    ['a body without a key', 401, `POST /v1/rfqs HTTP/1.1\r\n${head}content-length: 9\r\n\r\n`],
    ['a body that is no JSON', 415, `POST /v1/keys HTTP/1.1\r\n${head}content-length: 1\r\n\r\nx`],
  ];
  for (const [name, status, bytes] of cases) {
    test(name, async () => {
      const before = remainingOf(await told(`GET /v1/keys/nonce HTTP/1.1\r\n${head}\r\n`));
      const answer = await told(bytes);
      assert.equal(answer.status, status);
      assert.equal(remainingOf(answer), before - 1);
    });
  }
});

test('a call to no route spends the budget of its key, though the key was not seen before', async () => {
  const { key } = (await edge.mint(evmWallet())).body;
  const nothing = await edge.call('GET', '/v1/nothing', { key });
  assert.equal(nothing.status, 404);
  assert.equal(remainingOf(nothing), rateLimit - 1);
  assert.equal(remainingOf(await edge.call('PATCH', '/v1/me', { key })), rateLimit - 2);
  assert.equal(remainingOf(await edge.call('GET', '/v1/me', { key })), rateLimit - 3);
});

test('an answer while shutting down tells it too', async () => {
  const own = await startEdge({ settings: { rateLimit } });
  await own.app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((own.app.server.address() as AddressInfo).port, '127.0.0.1');
  // Its body is not there yet: the connection stays, and the request behind it comes too late.
  const request = `POST /v1/keys HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;
  socket.write(`${request}content-length: 2\r\n\r\n`);
  while (own.app.server.listening && (await connectionsOf(own)) === 0) await soon();
  await soon();
  const closing = own.app.close();
  socket.write(`{}GET /v1/me HTTP/1.1\r\nhost: x\r\n\r\n`);
  let text = '';
  for await (const data of socket) text += data;
  await closing;
  await own.close();
  const answer = text.slice(text.indexOf('HTTP/1.1 503')).toLowerCase();
  assert.match(answer, /^http\/1\.1 503/);
  assert.match(answer, /\r\nratelimit-remaining: \d+\r\n/);
  assert.match(answer, /\r\nx-ratelimit-limit: 1000\r\n/);
});

test('of one client network so many connections are open, and no more are heard', async () => {
  const own = await startEdge({ settings: { connectionsPerNetwork: 2, connections: 7 } });
  try {
    await own.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = own.app.server.address() as AddressInfo;
    const two = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    while ((await connectionsOf(own)) < 2) await soon();
    const third = `GET /v1/me HTTP/1.1\r\n${head}\r\n`;
    assert.equal((await told(third, port).catch(() => null))?.status || 'ended', 'ended');
    two[0]?.destroy();
    while ((await connectionsOf(own)) > 1) await soon();
    assert.equal((await told(third, port)).status, 401);
    assert.equal(own.app.server.maxConnections, 7);
    two[1]?.destroy();
  } finally {
    await own.close();
  }
});

function connectionsOf({ app }: TestEdge): Promise<number> {
  return new Promise((resolve) => app.server.getConnections((_, count) => resolve(count)));
}

function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

test("a key whose own budget is out is told so, with its window's end", async () => {
  const own = await startEdge({ settings: { rateLimit: 4 } });
  try {
    own.deps.freeze();
    const wallet = evmWallet();
    const me = (key: string) => own.call('GET', '/v1/me', { key });
    const { key: old } = (await own.mint(wallet)).body;
    await me(old);
    own.deps.advance(40_000);
    const { key } = (await own.mint(wallet)).body;
    for (const left of [2, 1, 0]) assert.equal(remainingOf(await me(key), 4), left);
    const account = await me(key);
    assert.equal(account.headers['x-parley-error'], 'account_rate_limited');
    assert.match(account.body.error, /^too many requests for this account/);
    assert.equal(account.headers['retry-after'], '20');
    own.deps.advance(20_000);
    assert.equal(remainingOf(await me(key), 4), 0);
    const refused = await me(key);
    assert.equal(refused.status, 429);
    assert.equal(refused.headers['x-parley-error'], 'key_rate_limited');
    assert.match(refused.body.error, /^too many requests for this key/);
    assert.equal(refused.headers['retry-after'], '40');
    assert.equal(refused.headers['ratelimit-reset'], '40');
  } finally {
    await own.close();
  }
});
