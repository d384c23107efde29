// How a socket ends: keys that stop being valid, readers that do not read, peers that are gone,
// frames that are too large, a database that is away, and a server that restarts.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import type { Trader } from '../../../test/support/trading.ts';
import { revokeKeys } from '../../db/keys.ts';
import { buildApp } from '../app.ts';
import { type Frame, openFeed, openMaker } from '../testing/feed-client.ts';
import { type FeedMarket, feedMarket } from '../testing/feed-market.ts';

let market: FeedMarket;
let taker: Trader;

before(async () => {
  market = await feedMarket();
  taker = await market.trader();
});
after(() => market.close());

const revoke = ({ accountId }: Trader) =>
  revokeKeys(market.db, accountId, 'a notice', new Date(market.deps.now()));

test('a revoked key is cut off in every process, and its next quote is not taken', async () => {
  const other = await buildApp(market.deps);
  const at = await other.listen({ host: '127.0.0.1', port: 0 });
  const maker = await market.trader();
  const { id } = await market.rfq(taker);
  const here = await market.maker(maker);
  const there = await openMaker(at, { apiKey: maker.key });
  await revoke(maker);
  here.send({ quote: { rfqId: id, quoteAmount: '65000000' } });
  for (const client of [here, there]) {
    assert.equal((await client.closed).code, 4401);
    assert.match(client.frames.at(-1).error, /revoked or has expired/);
  }
  await other.close();
});

test('a key revoked while its handshake is under way is cut off too', async () => {
  for (let round = 0; round < 20; round += 1) {
    const maker = await market.trader();
    const client = await openFeed(market.at);
    client.send({ apiKey: maker.key });
    await revoke(maker);
    const isRefused = ({ error }: Frame) => /invalid, revoked/.test(error ?? '');
    const refused = client.frame(isRefused).then(() => 4401);
    const ended = client.closed.then(({ code }) => code);
    assert.equal(await Promise.race([refused.catch(() => ended), ended]), 4401);
    client.close();
  }
});

test('an expired key is cut off', async () => {
  const maker = await market.trader();
  const other = await market.trader();
  await market.sql(
    `update api_keys set expires_at = $2 where account_id = $1`,
    maker.accountId,
    new Date(market.deps.now() + 60_000),
  );
  const [client, stays] = [await market.maker(maker), await market.maker(other)];
  market.deps.advance(60_001);
  assert.equal((await client.closed).code, 4401);
  assert.equal(stays.ws.readyState, stays.ws.OPEN);
  stays.close();
});

test('a frame of 16 384 bytes is read, a larger one ends the socket with 1009', async () => {
  const maker = await market.trader();
  const filled = (bytes: number) => `"${'x'.repeat(bytes - 2)}"`;
  const client = await market.maker(maker);
  client.send(filled(16_384));
  assert.match((await client.of('error')).error, /must be object/);
  client.send(filled(16_385));
  assert.equal((await client.closed).code, 1009);
  assert.match(client.frames.at(-1).error, /16385 bytes, more than 16384/);
  for (const bytes of [100_000, 5_000_000]) {
    const huge = await market.maker(maker);
    huge.send(filled(bytes));
    assert.equal((await huge.closed).code, 1009);
    assert.match(huge.frames.at(-1).error, /larger than 16384 bytes/);
  }
});

/** A socket by hand: the handshake is done, what comes is left unread unless `read`. */
async function byHand(key: string, at = market.at): Promise<Socket> {
  const { hostname, port } = new URL(at);
  const socket = connect(Number(port), hostname);
  await new Promise((resolve) => socket.once('connect', resolve));
  const nonce = randomBytes(16).toString('base64');
  socket.write(
    `GET /v1/ws HTTP/1.1\r\nHost: ${hostname}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${nonce}\r\n\r\n`,
  );
  const [head] = await new Promise<[Buffer]>((resolve) =>
    socket.once('data', (data) => resolve([data])),
  );
  const accepted = createHash('sha1')
    .update(`${nonce}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  assert.ok(String(head).includes(accepted));
  socket.pause();
  socket.write(masked(0x1, JSON.stringify({ apiKey: key })));
  return socket;
}

function masked(opcode: number, text: string): Buffer {
  const payload = Buffer.from(text);
  const mask = randomBytes(4);
  const head =
    payload.length < 126
      ? Buffer.from([0x80 | opcode, 0x80 | payload.length])
      : Buffer.from([0x80 | opcode, 0xfe, payload.length >> 8, payload.length & 255]);
  const body = payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  return Buffer.concat([head, mask, body]);
}

test('protocol faults are said before the socket is closed', async () => {
  const maker = await market.trader();
  const faults: [Buffer, number, RegExp][] = [
    [masked(0x3, 'x'), 1002, /WebSocket protocol/],
    [Buffer.from([0x81, 0x01, 0x78]), 1002, /WebSocket protocol/],
  ];
  for (const [bytes, code, sentence] of faults) {
    const socket = await byHand(maker.key);
    let text = '';
    socket.on('data', (data) => {
      text += data.toString('latin1');
    });
    socket.resume();
    socket.write(bytes);
    await new Promise((resolve) => socket.once('end', resolve));
    assert.match(text, sentence);
    assert.ok(text.includes(String.fromCharCode(code >> 8, code & 255)));
    socket.destroy();
  }
});

test('a reader that does not read is dropped, the others are told all', async (t) => {
  const maker = await market.trader();
  const slow = await byHand(maker.key);
  t.after(() => slow.destroy());
  const healthy = await market.maker(await market.trader());
  const ended = () =>
    market.deps.metrics.registry
      .getSingleMetricAsString('parley_feed_ended_total')
      .then((text) => /code="4408"\} [1-9]/.test(text));
  // Bodies as large as the log takes them fill the network's own buffers soon.
  const body = JSON.stringify({ filler: 'x'.repeat(60_000) });
  const each = 20;
  let rounds = 0;
  for (; rounds < 40 && !(await ended()); rounds += 1) {
    await market.sql(
      `insert into outbox (topic, payload, created_at) select 'feed.created',
        jsonb_build_object('rfqId', gen_random_uuid(), 'creatorId', gen_random_uuid(),
          'targetAddress', null, 'body', $1::text), now() from generate_series(1, $2)`,
      body,
      each,
    );
    const told = (rounds + 1) * each;
    await healthy.frame(() => healthy.frames.filter(({ type }) => type === 'rfq').length >= told);
  }
  assert.ok(rounds < 40, 'it was never dropped');
  assert.equal(healthy.ws.readyState, healthy.ws.OPEN);
  healthy.close();
});

test('while the database is away nothing is lost, and the sockets stay', async () => {
  const client = await market.maker(await market.trader(), { resume: true });
  await market.sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`);
  const { id } = await market.rfq(await market.trader());
  await client.frame((frame) => frame.rfq?.id === id);
  client.close();
});

test('a server that stops ends its sockets with 1012, says so, and takes no more', async () => {
  const own = await feedMarket();
  const makers = await Promise.all(Array.from({ length: 60 }, () => own.trader()));
  const clients = await Promise.all(makers.map((each) => own.maker(each)));
  const codes = clients.map(({ closed }) => closed.then(({ code }) => code));
  const stopping = own.close();
  await assert.rejects(openFeed(own.at), /503|ECONNREFUSED/);
  assert.deepEqual([...new Set(await Promise.all(codes))], [1012]);
  await stopping;
  for (const { frames } of clients) assert.match(frames.at(-1).error, /restarts/);
});

test('a peer that answers no ping is dropped, one that does stays', async (t) => {
  const own = await feedMarket({}, { feed: { pingMs: 2_000 } });
  t.after(() => own.close());
  const dead = await byHand((await own.trader()).key, own.at);
  const alive = await own.maker(await own.trader());
  dead.resume();
  await new Promise((resolve) => dead.once('close', resolve));
  await new Promise((resolve) => alive.ws.once('ping', resolve));
  assert.equal(alive.ws.readyState, alive.ws.OPEN);
  alive.close();
});

test('pings of one that reads nothing do not fill memory, and it is not kept for them', async () => {
  const socket = await byHand((await market.trader()).key);
  const ping = masked(0x9, 'x'.repeat(120));
  const many = Buffer.concat(Array.from({ length: 8_000 }, () => ping));
  const before = process.memoryUsage().rss;
  let gone = false;
  socket.on('close', () => {
    gone = true;
  });
  for (let round = 0; round < 60 && !gone; round += 1) {
    await new Promise((resolve) => socket.write(many, resolve));
  }
  const grown = (process.memoryUsage().rss - before) / 2 ** 20;
  assert.ok(grown < 200, `${Math.round(grown)} MiB more`);
  socket.destroy();
});

test('a long reason in any letters ends the socket all the same', async () => {
  const client = await openFeed(market.at);
  for (let tries = 0; tries < 3; tries += 1) client.send({ apiKey: 'x', ['€'.repeat(80)]: 1 });
  assert.equal((await client.closed).code, 4401);
});

test('of many wrong keys at once three are looked up', async () => {
  const client = await openFeed(market.at);
  const wrong = () => `parley_test_${'x'.repeat(40)}${Math.floor(Math.random() * 900) + 100}`;
  for (let tries = 0; tries < 100; tries += 1) client.send({ apiKey: wrong() });
  assert.equal((await client.closed).code, 4401);
  assert.equal(client.frames.length, 3);
});

test('a look-up that fails is not the fault of the key: 1012, and it may come again', async () => {
  const failing: typeof market.db = {
    ...market.db,
    rows: (statement) =>
      statement.name === 'find_live_keys'
        ? Promise.reject(Object.assign(new Error('gone'), { code: '08006' }))
        : market.db.rows(statement),
  };
  const app = await buildApp({ ...market.deps, db: failing });
  const at = await app.listen({ host: '127.0.0.1', port: 0 });
  const client = await openFeed(at);
  client.send({ apiKey: (await market.trader()).key });
  assert.equal((await client.closed).code, 1012);
  assert.match(client.frames[0].error, /database does not answer/);
  await app.close();
});
