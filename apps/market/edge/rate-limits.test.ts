// Budgets over HTTP: the bucket of a request, the headers on it in every answer, and the reserve of
// a party of an open swap. Specification part 8. The counting itself: budgets.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import Type from 'typebox';
import { readSettings, type Settings } from '../settings/config.ts';
import { bytesOfRequest } from './budgets.ts';
import { read } from './command.ts';
import { caller, codeOf, rawAnswer, refused, type TestEdge, testEdge } from './testing/edge.ts';
import { account } from './testing/hands.ts';
import { negotiating, secretLock } from './testing/negotiating.ts';
import { evmWallet } from './testing/signers.ts';

const unknownKey = `parley_test_${'a'.repeat(43)}`;
const me = (edge: TestEdge, key: string) => edge.call('GET', '/v1/me', { key });

async function frozen(how: Parameters<typeof testEdge>[0]) {
  const edge = await testEdge(how);
  edge.deps.freeze();
  return edge;
}

test('an account has its requests in 60 s, and has them back then', async () => {
  assert.equal(readSettings({}).rateLimit, 300);
  const edge = await frozen({ settings: { rateLimit: 3 } });
  const { key } = await account(edge, evmWallet());
  for (const left of ['1', '0']) {
    assert.equal((await me(edge, key)).headers['ratelimit-remaining'], left);
  }
  edge.deps.advance(20_000);
  // Before scope and body.
  const over = await edge.call('POST', '/v1/rfqs', { key, body: '{' });
  refused(over, '429 account_rate_limited', /^too many requests for this account/);
  const names = ['retry-after', 'ratelimit-reset', 'ratelimit-limit', 'x-ratelimit-remaining'];
  assert.deepEqual(
    names.map((name) => over.headers[name]),
    ['40', '40', '3', '0'],
  );
  edge.deps.advance(39_999);
  assert.equal((await me(edge, key)).status, 429);
  edge.deps.advance(1);
  assert.equal((await me(edge, key)).status, 200);
});

test('a large answer made for one request counts as the requests that it is worth', async () => {
  const large = ['x'.repeat(2 * bytesOfRequest)];
  const answers: unknown[] = [
    large,
    ['x'.repeat(bytesOfRequest - 5)],
    // Made before.
    Buffer.from(JSON.stringify(large)),
    // Worth more than is left.
    large,
    [],
  ];
  const lefts = ['4', '3', '2', '1', '0'];
  const edge = await testEdge({ settings: { rateLimit: 8 } }, (app, deps) =>
    read({ app, deps, tag: 'test' }, '/v1/large', 'large', {
      about: 'test',
      replies: { 200: Type.Array(Type.String()) },
      handle: () => answers.shift(),
    }),
  );
  edge.deps.freeze();
  const { key } = await account(edge, evmWallet());
  for (const left of lefts) {
    const { status, headers } = await edge.call('GET', '/v1/large', { key });
    assert.deepEqual([status, headers['ratelimit-remaining']], [200, left]);
  }
});

test('calls without a valid key spend the budget of their address, and only they do', async () => {
  const edge = await frozen({ settings: { rateLimit: 4, trustedProxies: ['10.0.0.0/8'] } });
  const { key } = (await edge.mint(evmWallet())).body;
  // The mint took a nonce and a mint of it.
  assert.equal((await me(edge, unknownKey)).status, 401);
  assert.equal((await edge.call('GET', '/v1/me')).status, 401);
  refused(await me(edge, unknownKey), '429 rate_limited', /^(?!.*account)/);
  refused(await edge.call('GET', '/v1/keys/nonce'), '429 rate_limited');
  assert.equal((await me(edge, key)).headers['ratelimit-remaining'], '3');
  const from = (ip: string, forwarded: string) =>
    edge.call('GET', '/v1/keys/nonce', { ip, headers: { 'x-forwarded-for': forwarded } });
  // Only a trusted proxy says for whom it asks.
  for (const [ip, forwarded, left] of [
    ['10.0.0.1', '192.0.2.1', '3'],
    ['10.0.0.2', '192.0.2.1', '2'],
    ['10.0.0.2', '192.0.2.2', '3'],
    ['198.51.100.1', '192.0.2.3', '3'],
    ['198.51.100.1', '192.0.2.4', '2'],
  ] as const) {
    assert.equal((await from(ip, forwarded)).headers['ratelimit-remaining'], left);
  }
});

test('an entry of a trusted proxy counts as its address, whatever is around it', async () => {
  const trustedProxies = ['10.0.0.0/8', '2001:db8:ffff::/48'];
  const edge = await frozen({ settings: { rateLimit: 100, trustedProxies } });
  const left = async (forwarded: string) => {
    const given = { ip: '10.0.0.1', headers: { 'x-forwarded-for': forwarded } };
    return edge.call('GET', '/v1/keys/nonce', given).then(({ headers }) => {
      return 100 - Number(headers['ratelimit-remaining']);
    });
  };
  const same = [
    '192.0.2.1',
    '192.0.2.1:4711',
    '::ffff:192.0.2.1',
    '[::ffff:192.0.2.1]:80',
    // Trusted proxies that wrote their port.
    '192.0.2.1, 10.0.0.5:12345',
    '192.0.2.1:1, 10.0.0.5:1, [2001:db8:ffff::1]:443',
    '198.51.100.9, 192.0.2.1:9, 2001:db8:ffff::1',
  ];
  for (const [at, each] of same.entries()) assert.equal(await left(each), at + 1, each);
  const site = ['[2001:db8::1]:1', '[2001:db8::2]', '[2001:db8::3%25eth0]:9', '2001:db8::4%eth0'];
  for (const [at, each] of site.entries()) assert.equal(await left(each), at + 1, each);
  // A name that is no address is one client: it gets no budget of its own.
  const none = ['unknown', '_hidden', 'unknown:80', '"><x', 'x'.repeat(5_000), '09.9.9.9'];
  for (const [at, each] of none.entries()) assert.equal(await left(each), at + 1, each);
});

test('a peer that forwards and is not trusted is named once, and again after an hour', async () => {
  const lines: { level: number; peer?: string; msg: string }[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const edge = await frozen({ settings: { trustedProxies: ['10.0.0.0/8'] }, log });
  const call = (ip: string, headers = { 'x-forwarded-for': '192.0.2.1' }) =>
    edge.call('GET', '/v1/keys/nonce', { ip, headers });
  const peers = () => lines.filter(({ msg }) => msg.includes('PARLEY_TRUSTED_PROXIES'));
  await call('198.51.100.1', {} as never);
  for (const trusted of ['10.0.0.1', '::ffff:10.0.0.1']) await call(trusted);
  assert.deepEqual(peers(), []);
  for (const ip of ['198.51.100.1', '2001:db8::1']) await call(ip);
  assert.deepEqual(
    peers().map(({ level, peer }) => [level, peer]),
    [[40, '198.51.100.1']],
  );
  edge.deps.advance(3_600_000 - 1);
  await call('2001:db8::1');
  assert.equal(peers().length, 1);
  edge.deps.advance(1);
  await call('2001:db8::1');
  assert.equal(peers()[1]?.peer, '2001:db8::1');
});

/** A party of an open swap that one has funded, and a stranger, with these limits. */
async function trading(settings: Partial<Settings>) {
  const market = await negotiating({ settings });
  const { taker, maker, deps, sql } = market;
  deps.freeze();
  const stranger = await market.trader();
  const { threadId } = await market.negotiation();
  await market.accept(taker, threadId, { hashlock: secretLock() });
  const { id } = (await market.accept(maker, threadId)).body.swap;
  // An escrow that a leg has moved off: it counts all the same.
  await sql(`insert into escrows
      (chain, address, swap_id, leg, terms, facts, created_at, done, funding_seen_at)
    select 'evm-dev', 'former', id, 'a', '{}', '{"balance": "0", "funded": null, "claimed": null,
      "refunded": null, "secret": null, "empty": true}', now(), true, now() from swaps`);
  const call = caller(market.app);
  const swap = (key: string) => call('GET', `/v1/swaps/${id}`, { key });
  const spendAll = async (key: string) => {
    while ((await call('GET', '/v1/me', { key })).status === 200);
  };
  return { call, deps, sql, giver: taker.key, stranger: stranger.key, swap, spendAll };
}

test('a party keeps 60 requests a window on each open swap, and as many broadcasts', async () => {
  const { call, deps, sql, giver, stranger, swap, spendAll } = await trading({ rateLimit: 10 });
  const send = (key: string) => call('POST', '/v1/tx/broadcast', { key, body: {} });
  for (const key of [giver, stranger]) await spendAll(key);
  for (let count = 0; count < 60; count += 1) {
    const { status, headers } = await swap(giver);
    assert.deepEqual([status, headers['ratelimit-remaining']], [200, '0']);
    assert.equal(codeOf(await send(giver)), '400 bad_field');
  }
  for (const answer of [
    await swap(giver),
    await send(giver),
    await call('GET', '/v1/swaps', { key: giver }),
    await swap(stranger),
    await send(stranger),
  ]) {
    refused(answer, '429 account_rate_limited');
  }
  // Over, or expired with nothing at stake.
  for (const set of ["status = 'expired'", "status = 'agreed', done = true"]) {
    await sql(`update swaps set ${set}`);
    deps.advance(60_000);
    await spendAll(giver);
    for (const ask of [swap, send]) refused(await ask(giver), '429 account_rate_limited');
  }
});

const head = 'host: x\r\nconnection: close\r\n';

/** Status and headers of the first answer to these bytes. */
async function firstAnswer(bytes: string, port: number) {
  const [first = '', ...lines] = (await rawAnswer(port, bytes)).split('\r\n\r\n')[0]!.split('\r\n');
  const headers = Object.fromEntries(lines.map((line) => line.split(': ') as [string, string]));
  return { status: Number(first.split(' ')[1]), headers };
}

test('a faulty request of any kind spends one of its client, and its headers say so', async () => {
  const rateLimit = 1_000;
  const edge = await frozen({ settings: { rateLimit } });
  const port = await edge.port();
  const cases: [status: number, bytes: string][] = [
    [400, 'nonsense\r\n\r\n'],
    [431, `GET /v1/me HTTP/1.1\r\na: ${'x'.repeat(20_000)}\r\n\r\n`],
    [400, `GET /v1/rfqs/%zz HTTP/1.1\r\n${head}\r\n`],
    [404, `GET /v1/nothing HTTP/1.1\r\n${head}\r\n`],
    [404, `GET /v%31/nosuch HTTP/1.1\r\n${head}\r\n`],
    [404, `GET /v1/rfqs/${'x'.repeat(300)} HTTP/1.1\r\n${head}\r\n`],
    [405, `PUT /v1/me HTTP/1.1\r\n${head}\r\n`],
    [405, `OPTIONS /v1/me HTTP/1.1\r\n${head}\r\n`],
    [401, `GET /v1/me HTTP/1.1\r\n${head}\r\n`],
    [401, `POST /v1/rfqs HTTP/1.1\r\n${head}content-length: 9\r\n\r\n`],
    [415, `POST /v1/keys HTTP/1.1\r\n${head}content-length: 1\r\n\r\nx`],
    [302, `GET /v1 HTTP/1.1\r\n${head}\r\n`],
    [200, `GET /v1/keys/nonce HTTP/1.1\r\n${head}\r\n`],
  ];
  let left = rateLimit;
  for (const [status, bytes] of cases) {
    const answer = await firstAnswer(bytes, port);
    left -= 1;
    assert.equal(answer.status, status, bytes.slice(0, 60));
    for (const prefix of ['', 'x-']) {
      assert.equal(answer.headers[`${prefix}ratelimit-limit`], String(rateLimit), bytes);
      assert.equal(answer.headers[`${prefix}ratelimit-remaining`], String(left), bytes);
    }
    assert.match(answer.headers['ratelimit-reset'] ?? '', /^([1-9]|[1-5]\d|60)$/);
    const safety = [answer.headers['x-content-type-options'], answer.headers['cache-control']];
    assert.deepEqual(safety, ['nosniff', 'no-store'], bytes);
    assert.match(answer.headers['x-request-id'] ?? '', /^[0-9a-f]{20}$/);
  }
});
