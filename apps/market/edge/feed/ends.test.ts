// How a socket ends: keys that stop being valid, readers that do not read, peers that are gone,
// frames that are too large, a database that is away, and a server that restarts.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import type { Trader } from '@parley/verify/test/support/trading.ts';
import { revokeKeys } from '../../db/keys.ts';
import { type Frame, openFeed, openMaker } from '../testing/feed-client.ts';
import { anotherProcess, feedMarket } from '../testing/feed-market.ts';

const market = await feedMarket();
after(() => market.close());
const taker = await market.trader();

const revoke = ({ accountId }: Trader) =>
  revokeKeys(market.db, accountId, 'a notice', new Date(market.deps.now()));

test('a revoked key is cut off in every process, and its next quote is not taken', async () => {
  const other = await anotherProcess(market);
  const maker = await market.trader();
  const { id } = await market.rfq(taker);
  const here = await market.maker(maker);
  const there = await openMaker(other.at, { apiKey: maker.key });
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
  await market.sql(
    'update api_keys set expires_at = $2 where account_id = $1',
    maker.accountId,
    new Date(market.deps.now() + 60_000),
  );
  const client = await market.maker(maker);
  const stays = await market.maker(await market.trader());
  market.deps.advance(60_001);
  assert.equal((await client.closed).code, 4401);
  assert.equal(stays.ws.readyState, stays.ws.OPEN);
  stays.close();
});

test('a frame of 16 384 bytes is read, a larger one ends the socket with 1009', async () => {
  const maker = await market.trader();
  for (const [bytes, words] of [
    [16_385, /16385 bytes, more than 16384/],
    [5_000_000, /larger than 16384 bytes/],
  ] as const) {
    const client = await market.maker(maker);
    client.send(`"${'x'.repeat(16_382)}"`);
    assert.match((await client.of('error')).error, /must be object/);
    client.send(`"${'x'.repeat(bytes - 2)}"`);
    assert.equal((await client.closed).code, 1009);
    assert.match(client.frames.at(-1).error, words);
  }
});

/** A socket by hand: the handshake is done, what comes is left unread unless `read`. */
async function byHand(key: string, at = market.at): Promise<Socket> {
  const { hostname, port } = new URL(at);
  const socket = connect(Number(port), hostname);
  socket.write(
    `GET /v1/ws HTTP/1.1\r\nHost: ${hostname}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  const head = await new Promise((resolve) => socket.once('data', resolve));
  // RFC 6455, 1.3.
  assert.match(String(head), /s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/);
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

test('while the database is away nothing is lost, and the sockets stay', async () => {
  const client = await market.maker(await market.trader(), { resume: true });
  const taker = await market.trader();
  await market.sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`);
  // A connection that nobody knows to be lost yet is said to be: 503, and it is asked again.
  const posted = async (more: number): Promise<{ readonly id: string }> => {
    try {
      return await market.rfq(taker);
    } catch (error) {
      if (more === 0 || !/^503 /.test((error as Error).message)) throw error;
      return posted(more - 1);
    }
  };
  const { id } = await posted(20);
  await client.frame((frame) => frame.rfq?.id === id);
  client.close();
});

test('a server that stops ends its sockets with 1012, says so, and takes no more', async () => {
  const own = await feedMarket();
  const maker = await own.trader();
  const clients = await Promise.all([1, 2, 3].map(() => own.maker(maker)));
  const stopping = own.close();
  await assert.rejects(openFeed(own.at), /503|ECONNREFUSED/);
  for (const { closed, frames } of clients) {
    assert.equal((await closed).code, 1012);
    assert.match(frames.at(-1).error, /restarts/);
  }
  await stopping;
});

test('a peer that answers no ping is dropped, one that does stays', async (t) => {
  const own = await feedMarket({}, { feed: { pingMs: 1_000 } });
  t.after(() => own.close());
  const dead = await byHand((await own.trader()).key, own.at);
  const alive = await own.maker(await own.trader());
  dead.resume();
  await new Promise((resolve) => dead.once('close', resolve));
  await new Promise((resolve) => alive.ws.once('ping', resolve));
  assert.equal(alive.ws.readyState, alive.ws.OPEN);
  alive.close();
});
