// How far behind a reader may be, and how long anything is waited for: on real sockets, whose
// client reads when the test says so.

import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import type { WebSocket } from 'ws';
import { socketServer } from '../testing/sockets.ts';
import { encodeFrame } from './frames.ts';
import { closeInWaves, createPeer, type Peer } from './peer.ts';

const connect = await socketServer();
type Pair = { readonly peer: Peer; readonly socket: Socket; readonly client: WebSocket };

/** One that reads nothing yet. */
async function pair(): Promise<Pair> {
  const { client, ours } = await connect((ws, socket) => ({
    peer: createPeer(ws, socket),
    socket,
  }));
  client.pause();
  return { ...ours, client };
}

const part = encodeFrame(JSON.stringify({ filler: 'x'.repeat(65_500) }));

/** Without giving the network a turn, so that all beyond its first gulp is unread. */
function writeWhile({ peer, socket }: Pair, goesOn: () => boolean): number {
  let before = 0;
  for (let parts = 0; goesOn(); parts += 1) {
    assert.ok(parts < 1_000);
    before = socket.writableLength;
    peer.write(part);
  }
  return before;
}

const ended = (client: WebSocket) =>
  new Promise<number>((resolve) => {
    client.once('close', resolve);
    client.resume();
  });

test('a reader may be 1 MiB behind, and is ended with 4408 by what goes beyond it', async () => {
  const each = await pair();
  const behind = writeWhile(each, () => {
    if (each.peer.isOpen()) assert.ok(each.socket.writableLength <= 1_048_576);
    return each.peer.isOpen();
  });
  assert.ok(behind + part.length > 1_048_576, `ended at ${behind + part.length}`);
  const said: string[] = [];
  each.client.on('message', (data) => said.push(String(data).slice(0, 200)));
  assert.equal(await ended(each.client), 4408);
  assert.match(said.at(-1) ?? '', /more than 1048576 bytes were not read/);
});

test('what is said in one turn is sent as one, in order with frames that are ready', async () => {
  const { peer, socket, client } = await pair();
  const heard: string[] = [];
  client.on('message', (data) => heard.push(String(data)));
  peer.say({ number: 1 });
  peer.write(encodeFrame('{"number":2}'));
  await Promise.resolve().then(() => peer.say({ number: 3 }));
  const { length } = encodeFrame('{"number":1}');
  assert.equal(socket.writableLength, 3 * length);
  await new Promise(setImmediate);
  peer.say({ number: 4 });
  assert.equal(socket.writableLength, length);
  peer.end(1000, 'enough');
  peer.say({ number: 5 });
  client.resume();
  await waitUntil(() => heard.length === 5);
  const expected = [1, 2, 3, 4].map((number) => JSON.stringify({ number }));
  assert.deepEqual(heard, [...expected, '{"type":"error","error":"enough"}']);
});

test('a peer more than 256 KiB behind is waited for', async () => {
  const each = await pair();
  const behind = writeWhile(each, () => !each.peer.isFull());
  assert.ok(behind <= 262_144 && each.socket.writableLength > 262_144);
  let isDrained = false;
  const drained = each.peer.drained().then(() => {
    isDrained = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isDrained, false);
  each.client.resume();
  await drained;
  assert.ok(each.peer.isOpen() && !each.peer.isFull());
});

test('for 20 s: then it is ended with 4408', async (t) => {
  const slow = await pair();
  const quick = await pair();
  for (const each of [slow, quick]) writeWhile(each, () => !each.peer.isFull());
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const waiting = slow.peer.drained();
  const read = quick.peer.drained();
  quick.client.resume();
  await read;
  t.mock.timers.tick(19_999);
  assert.ok(slow.peer.isOpen());
  t.mock.timers.tick(1);
  assert.ok(!slow.peer.isOpen() && quick.peer.isOpen());
  await waiting;
  assert.equal(await ended(slow.client), 4408);
});

test('the newest of the pings before an answer is answered, and no other', async () => {
  const each = await pair();
  writeWhile(each, () => each.socket.writableLength === 0);
  const unread = each.socket.writableLength;
  assert.ok(!each.peer.isFull());
  for (let ping = 1; ping <= 1_000; ping += 1) each.peer.pong(Buffer.from(`ping ${ping}`));
  assert.ok(each.socket.writableLength < unread + 20);
  const heard: string[] = [];
  each.client.on('pong', (data) => heard.push(String(data)));
  each.client.resume();
  await waitUntil(() => heard.length === 2);
  assert.deepEqual(heard, ['ping 1', 'ping 1000']);
});

/** So many sockets are ended; the result lists sockets and clock, in order. */
async function waves(count: number, closesAtOnce = true): Promise<string[]> {
  const log: string[] = [];
  const open = new Set<{ peer: { end(code: number): void; drop(): void } }>();
  for (let at = 0; at < count; at += 1) {
    const end = (code: number) => {
      log.push(`${code}`);
      if (closesAtOnce) open.delete(each);
    };
    const each = { peer: { end, drop: () => void log.push('dropped') } };
    open.add(each);
  }
  await closeInWaves(open, async (ms) => void log.push(`${ms} ms`));
  return log;
}

test('sockets are ended with 1012 in twenty waves, a tenth of a second apart, none in no time', async () => {
  for (const [count, each, last] of [
    [0, 0, 0],
    [2, 1, 2],
    [60, 3, 20],
    [2_000, 100, 20],
  ] as const) {
    const wave = Array(each).fill('1012');
    const expected = Array.from({ length: last }, (_, at) => (at ? ['100 ms', ...wave] : wave));
    assert.deepEqual(await waves(count), expected.flat());
  }
});
