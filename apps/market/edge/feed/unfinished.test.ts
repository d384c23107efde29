// Messages that do not end: in how many pieces, reads and bytes one may come, and for how long. On
// real sockets, whose client writes frames by hand.

import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import type { WebSocket } from 'ws';
import { socketServer } from '../testing/sockets.ts';
import { createPeer } from './peer.ts';
import { limitUnfinished } from './unfinished.ts';

const connect = await socketServer();

async function pair() {
  const { client, ours } = await connect((ws, socket) => {
    const peer = createPeer(ws, socket);
    const unfinished = limitUnfinished(ws, socket, peer);
    const heard: string[] = [];
    ws.on('message', (data) => heard.push(String(data)));
    ws.on('error', () => {}); // Said by the close that comes with it.
    return { ws, socket, peer, unfinished, heard };
  });
  const { _socket: wire } = client as WebSocket & { readonly _socket: Socket };
  const said: string[] = [];
  client.on('message', (data) => said.push(String(data)));
  let code: number | null = null;
  client.once('close', (given) => {
    code = given;
  });
  return { ...ours, wire, said, ended: () => waitUntil(() => code) };
}

type Pair = Awaited<ReturnType<typeof pair>>;

const text = 0x1;
const continued = 0x0;
const ping = 0x9;
const pong = 0xa;

/** A frame of a client under the mask 0, which changes nothing. */
function frame(opcode: number, payload = '', isLast = true): Buffer {
  const length = Buffer.byteLength(payload);
  const first = (isLast ? 0x80 : 0) | opcode;
  const head = length < 126 ? [first, 0x80 | length] : [first, 0xfe, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), Buffer.from(payload)]);
}

const begins = frame(text, 'x', false);
const goesOn = (payload: string) => frame(continued, payload, false);
const repeated = (bytes: Buffer, times: number) => Buffer.concat(Array(times).fill(bytes));

/** Written, and read by the server. */
async function write({ wire, socket }: Pair, bytes: Buffer): Promise<void> {
  const before = socket.bytesRead;
  wire.write(bytes);
  await waitUntil(() => socket.bytesRead >= before + bytes.length);
}

const endedWith = async ({ peer, ended, said }: Pair, code: number, words: RegExp) => {
  // The library says so a moment later.
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(!peer.isOpen(), 'it is not ended');
  assert.equal(await ended(), code);
  assert.match(said.at(-1) ?? '', words);
};

test('a message may come in 64 pieces, empty ones and pings between them, and not in 65', async () => {
  const each = await pair();
  const between = Buffer.concat([goesOn(''), frame(ping), frame(pong), goesOn('y')]);
  await write(each, Buffer.concat([begins, repeated(between, 62), frame(continued, 'z')]));
  assert.deepEqual(each.heard, [`x${'y'.repeat(62)}z`]);
  // One after the other as often as one likes.
  await write(each, repeated(Buffer.concat([begins, frame(continued, 'z')]), 100));
  assert.equal(each.heard.length, 101);
  await write(each, Buffer.concat([begins, repeated(goesOn('y'), 64)]));
  await endedWith(each, 1009, /too many pieces/);
});

const mostBytes = 131_072;
for (const [what, filler] of [
  ['empty pieces', goesOn('')],
  ['pings', frame(ping, 'p'.repeat(125))],
  ['pongs', frame(pong, 'p'.repeat(125))],
] as const) {
  test(`128 KiB may come before a message ends, ${what} among them, and no more`, async () => {
    const each = await pair();
    const room = Math.floor((mostBytes - begins.length) / filler.length);
    await write(each, Buffer.concat([begins, repeated(filler, room)]));
    assert.ok(each.peer.isOpen());
    await write(each, frame(continued, 'end'));
    assert.deepEqual(each.heard, ['xend']);
    await write(each, Buffer.concat([begins, repeated(filler, room + 1)]));
    await endedWith(each, 1009, /more than 131072 bytes came before a message ended/);
  });
}

test('a message that ten looks in a row find unfinished ends the socket with 4408', async () => {
  for (const bytes of [begins, frame(text, 'x').subarray(0, 6), Buffer.of(0x81)]) {
    const each = await pair();
    await write(each, bytes);
    for (let look = 0; look < 9; look += 1) each.unfinished.look();
    // A sign of life does not make a message whole.
    if (bytes === begins) await write(each, Buffer.concat([frame(ping), frame(pong), goesOn('')]));
    assert.ok(each.peer.isOpen());
    each.unfinished.look();
    await endedWith(each, 4408, /not complete after 10 s/);
  }
});
