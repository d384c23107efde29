// How far behind a reader may be, and how long anything is waited for: on real sockets, whose
// client reads when it is told to.

import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, type TestContext, test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { encodeFrame } from './frames.ts';
import { createPeer, type Peer } from './peer.ts';

let server: WebSocketServer;
before(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await new Promise((resolve) => server.once('listening', resolve));
});
after(() => {
  for (const each of server.clients) each.terminate();
  server.close();
});

type Pair = { readonly peer: Peer; readonly socket: Socket; readonly client: WebSocket };

/** One that reads nothing yet. */
async function pair(t: TestContext): Promise<Pair> {
  const accepted = new Promise<Pick<Pair, 'peer' | 'socket'>>((resolve) => {
    server.once('connection', (ws, { socket }) =>
      resolve({ peer: createPeer(ws, socket), socket }),
    );
  });
  const { port } = server.address() as { port: number };
  const client = new WebSocket(`ws://127.0.0.1:${port}`);
  t.after(() => client.terminate());
  await new Promise((resolve) => client.once('open', resolve));
  client.pause();
  return { ...(await accepted), client };
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

test('a reader may be 1 MiB behind, and is ended with 4408 by what goes beyond it', async (t) => {
  const each = await pair(t);
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

test('who is more than 256 KiB behind is waited for', async (t) => {
  const each = await pair(t);
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
  const [slow, quick] = [await pair(t), await pair(t)];
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

test('who does not answer a close within 5 s is cut off', async (t) => {
  const { peer, socket } = await pair(t);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  peer.end(1012, 'the server restarts');
  t.mock.timers.tick(4_999);
  assert.equal(socket.destroyed, false);
  t.mock.timers.tick(1);
  assert.equal(socket.destroyed, true);
});

test('a ping is answered, but not one of who has much unread', async (t) => {
  const each = await pair(t);
  writeWhile(each, () => !each.peer.isFull());
  const unread = each.socket.writableLength;
  each.peer.pong(Buffer.from('unheard'));
  assert.equal(each.socket.writableLength, unread);
  const heard = new Promise((resolve) => each.client.once('pong', (data) => resolve(String(data))));
  each.client.resume();
  await each.peer.drained();
  each.peer.pong(Buffer.from('heard'));
  assert.equal(await heard, 'heard');
});

test('after its end nothing is written to a socket', async (t) => {
  const { peer, socket } = await pair(t);
  peer.end(1012, 'the server restarts');
  const written = socket.bytesWritten;
  peer.write(part);
  peer.say({ type: 'late' });
  peer.end(4408, 'again');
  peer.pong(Buffer.from('late'));
  assert.equal(socket.bytesWritten, written);
});
