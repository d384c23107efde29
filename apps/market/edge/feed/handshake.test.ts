// The first frame of a socket: the accepted frames, the refused ones with their answers, and the
// HTTP refusals before.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Frame, handshake, openFeed } from '../testing/feed-client.ts';
import { feedMarket } from '../testing/feed-market.ts';

const market = await feedMarket();
after(() => market.close());
const maker = await market.trader();

const isError = (frame: Frame) => frame.type === 'error';

test('a key with the scope maker gets the book, then that it is ready', async () => {
  const { frames, close } = await market.maker(await market.trader({ scopes: ['maker'] }));
  assert.deepEqual(
    frames.map(({ type }) => type),
    ['snapshot', 'ready'],
  );
  assert.deepEqual(Object.keys(frames[0]).sort(), ['rfqs', 'type']);
  assert.deepEqual(frames[1], { type: 'ready' });
  close();
});

test('the key alone is taken first; the third wrong frame ends the socket with 4401', async () => {
  const wrong: [unknown, RegExp][] = [
    ['{', /not valid JSON/],
    [null, /must be object/],
    [{}, /"apiKey" is missing/],
    [{ apiKey: maker.key, more: 1 }, /"more" is not known/],
    [{ apiKey: maker.key, since: 1 }, /"since" goes with "resume"/],
    [{ apiKey: maker.key, resume: true, since: -1 }, /"since"/],
    [{ apiKey: `parley_test_${'x'.repeat(43)}` }, /invalid, revoked or expired/],
    [{ apiKey: maker.key.replace('_test_', '_live_') }, /invalid, revoked or expired/],
  ];
  for (const [first, sentence] of wrong) {
    const client = await openFeed(market.at);
    client.send(first);
    const { error } = await client.frame(isError);
    assert.match(error, sentence, JSON.stringify(first));
    // Still open: the key is taken after it.
    client.send({ apiKey: maker.key });
    await client.of('ready');
    client.close();
  }
  const client = await openFeed(market.at);
  for (let tries = 0; tries < 3; tries += 1) client.send({ apiKey: 'wrong' });
  assert.equal((await client.closed).code, 4401);
  assert.equal(client.frames.filter(isError).length, 3);
});

test('a key without the scope hears which it has, and ended with 4403', async () => {
  const taker = await market.trader({ scopes: ['read', 'taker'] });
  const client = await openFeed(market.at);
  client.send({ apiKey: taker.key });
  assert.equal((await client.closed).code, 4403);
  assert.match(client.frames[0].error, /"maker"; this key has read, taker$/);
});

const everyHeader = [
  'x-request-id',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
];

test('HTTP answers what is no handshake in the form of every other refusal', async () => {
  const none = {};
  for (const [status, code, headers, how] of [
    [426, 'upgrade_required', {}, { good: none }],
    [426, 'upgrade_required', { connection: 'Upgrade', upgrade: 'h2c' }, { good: none }],
    [426, 'upgrade_required', { 'sec-websocket-version': '8' }],
    [400, 'bad_header', { 'sec-websocket-key': 'short' }],
    [400, 'bad_header', { 'sec-websocket-protocol': 'a b' }],
    [405, 'method_not_allowed', {}, { method: 'POST', good: none }],
    [404, 'not_found', {}, { path: '/v1/wss' }],
  ] as const) {
    const answer = await handshake(market.at, headers, how);
    const said = [answer.status, answer.headers['x-parley-error']];
    assert.deepEqual(said, [status, code], answer.body);
    assert.deepEqual(Object.keys(JSON.parse(answer.body)), ['error']);
    for (const name of everyHeader) assert.ok(answer.headers[name] !== undefined, name);
  }
  const upgrade = { connection: 'Upgrade', upgrade: 'h2c' };
  const how = { path: '/v1/openapi.json', good: none };
  assert.equal((await handshake(market.at, upgrade, how)).status, 200);
  // One that is taken has the rate headers too, and the protocol that was asked for.
  const taken = await handshake(market.at, { 'sec-websocket-protocol': 'a, b' });
  assert.deepEqual([taken.status, taken.headers['sec-websocket-protocol']], [101, 'a']);
  assert.equal(taken.headers.connection, 'Upgrade', 'and no close beside it');
  for (const name of everyHeader) assert.ok(taken.headers[name] !== undefined, name);
});

test('an address has so many sockets at once, and opens so many in a minute', async (t) => {
  const small = await feedMarket({ feedSocketsPerIp: 2 });
  t.after(() => small.close());
  const two = [await openFeed(small.at), await openFeed(small.at)];
  const third = await openFeed(small.at);
  assert.equal((await third.closed).code, 4429);
  assert.match(third.frames[0].error, /^2 sockets/);
  two[0]?.close();
  await two[0]?.closed;
  for (let opened = 3; opened < 20; opened += 1) {
    const next = await openFeed(small.at);
    next.close();
    await next.closed;
  }
  const { status, headers } = await handshake(small.at, {});
  assert.deepEqual([status, headers['x-parley-error']], [429, 'rate_limited']);
  assert.ok(Number(headers['retry-after']) >= 1);
});

test('wrong keys spend what requests without a key spend, until the socket is ended', async (t) => {
  const small = await feedMarket({ rateLimit: 4 });
  t.after(() => small.close());
  for (let tries = 0; tries < 4; tries += 1) {
    const client = await openFeed(small.at);
    client.send({ apiKey: 'wrong' });
    assert.match((await client.frame(isError)).error, /invalid/);
    client.close();
  }
  const client = await openFeed(small.at);
  client.send({ apiKey: 'wrong' });
  assert.equal((await client.closed).code, 4429);
  assert.match(client.frames[0].error, /too many requests for this address \(4 in 60 s\)/);
});
