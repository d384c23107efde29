// Connections by themselves: their grouping, the right to read, and how many a process can have.

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { nextEvent, waitUntil } from '@parley/verify/test/support/waiting.ts';
import { createMetrics } from '../ports/metrics.ts';
import {
  type ConnectionLimits,
  connectionsWithin,
  limitConnections,
  lookMs,
  unreadMs,
} from './connections.ts';

async function droppedOf(metrics: ReturnType<typeof createMetrics>) {
  const { values } = await metrics.connectionsDropped.get();
  return Object.fromEntries(values.map(({ labels, value }) => [labels.why, value]));
}

/** A server with these limits, and its sides of the connections. */
async function serve(t: TestContext, trustedProxies: string[], limits: ConnectionLimits = {}) {
  const server = createServer();
  const metrics = createMetrics('parley');
  const settings = {
    connections: 3,
    connectionsPerNetwork: 1,
    trustedProxies,
  };
  limitConnections(server, { settings, metrics }, limits);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ours: Socket[] = [];
  server.on('connection', (socket) => ours.push(socket));
  const theirs: Socket[] = [];
  const open = async () => {
    const client = connect(port, '127.0.0.1');
    theirs.push(client);
    client.on('error', () => {});
    const ended = once(client, 'close');
    client.resume();
    await nextEvent(client, 'connect');
    return { client, ended };
  };
  const dropped = () => droppedOf(metrics);
  t.after(() => {
    for (const socket of [...ours, ...theirs]) socket.destroy();
    server.close();
  });
  return { ours, open, dropped };
}

/** Says of a connection from an address whether it is cut; `end` closes it. */
function emitting(settings: { connections: number; connectionsPerNetwork: number }) {
  const server = createServer();
  const metrics = createMetrics('parley');
  const needs = { settings: { ...settings, trustedProxies: [] }, metrics };
  const { showedKey } = limitConnections(server, needs);
  const opened: Socket[] = [];
  const isCut = (remoteAddress: string) => {
    const socket = new Socket();
    Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
    server.emit('connection', socket);
    opened.push(socket);
    return socket.destroyed;
  };
  const ask = (at: number) => server.emit('request', { socket: opened[at] }, new EventEmitter());
  return { isCut, opened, showedKey, ask, dropped: () => droppedOf(metrics) };
}

test('a client is limited by its address or /64, and its neighbours in the /56 are not', () => {
  const { isCut } = emitting({ connections: 10, connectionsPerNetwork: 1 });
  const clients = ['2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:3::1', '::ffff:192.0.2.1'];
  assert.deepEqual(clients.map(isCut), [false, true, false, false]);
  assert.deepEqual(['192.0.2.1', '192.0.2.2'].map(isCut), [true, false]);
});

test('the clients of a /48 have a quarter of the connections, and one of them at most half of that', async () => {
  const { isCut, opened } = emitting({ connections: 32, connectionsPerNetwork: 2 });
  const client = (n: number, site = '2001:db8:1') => `${site}:${n.toString(16)}::1`;
  const many = (ns: number[]) => ns.map((n) => isCut(client(n)));
  // Refused by its own limit, it takes nothing of what its neighbours share.
  assert.deepEqual(many([1, 1, 1, 1]), [false, false, true, true]);
  assert.deepEqual(many([2, 3, 4, 5, 6, 7]), Array(6).fill(false));
  assert.deepEqual(many([8, 2, 0xffff]), [true, true, true]);
  assert.equal(isCut(client(8, '2001:db8:2')), false);
  opened[5]?.destroy();
  await nextEvent(opened[5] as Socket, 'close');
  assert.deepEqual(many([9, 10]), [false, true]);
  const few = emitting({ connections: 4, connectionsPerNetwork: 2 });
  assert.deepEqual(
    [1, 1, 1, 2, 2, 3].map((n) => few.isCut(client(n))),
    [false, false, true, false, false, true],
  );
  // The /24 of an IPv4 client, which is many customers, is no site.
  const v4 = emitting({ connections: 8, connectionsPerNetwork: 1 });
  assert.ok([1, 2, 3, 4, 5, 6, 7, 8].every((n) => !v4.isCut(`192.0.2.${n}`)));
});

test('where connections run short, the longest idle of who holds most and has shown no key goes first', async () => {
  const { isCut, opened, showedKey, ask, dropped } = emitting({
    connections: 8,
    connectionsPerNetwork: 8,
  });
  const gone = () => opened.flatMap(({ destroyed }, at) => (destroyed ? [at] : []));
  for (const ip of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3']) isCut(ip);
  ask(0);
  isCut('192.0.2.4');
  assert.deepEqual(gone(), []);
  // Three quarters are for strangers, and the first of them has asked for something since.
  isCut('192.0.2.5');
  assert.deepEqual(gone(), [1]);
  showedKey('192.0.2.1');
  // A known client is no stranger, with all its open connections, and its share is its own.
  for (const ip of ['192.0.2.6', '192.0.2.1', '192.0.2.1']) assert.equal(isCut(ip), false);
  assert.deepEqual(gone(), [1, 3]);
  isCut('192.0.2.1');
  assert.deepEqual(gone(), [1, 3, 4]);
  assert.deepEqual(await dropped(), { stranger: 3 });
});

test('connections of a trusted proxy are limited by the process alone', async (t) => {
  const { ours, open, dropped } = await serve(t, ['loopback']);
  const opened = [await open(), await open(), await open(), await open()];
  await Promise.any(opened.map(({ ended }) => ended));
  assert.deepEqual(
    ours.map(({ destroyed }) => destroyed),
    [false, false, false],
  );
  assert.deepEqual(await dropped(), { process: 1 });
});

test('a client that reads nothing of what waits for it is cut off, a slow reader is not', {
  timeout: 30_000,
}, async (t) => {
  // It may have read right after a poll; the next one begins to count.
  assert.ok(lookMs + unreadMs + lookMs <= 30_000);
  const { ours, open, dropped } = await serve(t, ['loopback'], { lookMs: 20, unreadMs: 1_000 });
  const deaf = await open();
  const slow = await open();
  await open();
  await waitUntil(() => ours.length >= 3);
  deaf.client.pause();
  slow.client.pause();
  for (const { localPort } of [deaf.client, slow.client]) {
    const socket = ours.find(({ remotePort }) => remotePort === localPort) as Socket;
    socket.on('error', () => {});
    // In one piece, which counts as written when all of it is.
    socket.write(Buffer.alloc(65_536_000));
  }
  // It has seen what waits, and then the process stands still, which is nobody's silence.
  let looks = 0;
  const counting = setInterval(() => (looks += 1), 20);
  t.after(() => clearInterval(counting));
  await waitUntil(() => looks >= 3);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_200);
  const reading = setInterval(() => slow.client.read(262_144) ?? slow.client.read(), 20);
  t.after(() => clearInterval(reading));
  await waitUntil(() => ours[0]?.destroyed !== false);
  assert.deepEqual(
    ours.map(({ destroyed }) => destroyed),
    [true, false, false],
  );
  assert.deepEqual(await dropped(), { unread: 1 });
});

test('a process serves what its descriptors are enough for, or says how many it needs', () => {
  assert.equal(connectionsWithin(null, 1_048_576), 25_000);
  assert.equal(connectionsWithin(null, 20_000), 18_000);
  assert.equal(connectionsWithin(null, 1_024), 512);
  assert.equal(connectionsWithin(18_000, 20_000), 18_000);
  assert.throws(
    () => connectionsWithin(18_001, 20_000),
    /PARLEY_CONNECTIONS=18001 needs 20001 open files, and this process may have 20000: raise/,
  );
});
