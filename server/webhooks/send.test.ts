// One delivery, to a real HTTPS receiver: what arrives, and what never leaves.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { HostBusy } from './hosts.ts';
import { reachable } from './public-address.ts';
import { type Sending, sendDelivery } from './send.ts';
import { type Receiver, startReceiver } from './testing/receiver.ts';

const mayReach = reachable(['127.0.0.1']);
let receiver: Receiver;
before(async () => {
  receiver = await startReceiver();
});
after(() => receiver.close());

const sending = (url = receiver.url): Sending => ({
  url,
  headers: { 'content-type': 'application/json', 'x-parley-event': 'ping' },
  body: '{"message":"Grüße"}',
});

test('the bytes arrive as they are, with their headers, and any 2xx is a success', async () => {
  for (const status of [200, 201, 204]) {
    receiver.answer(status);
    assert.deepEqual(await sendDelivery(sending(), mayReach), { status, error: null });
    const last = receiver.received.at(-1);
    assert.equal(last?.body, sending().body);
    assert.equal(last.headers['x-parley-event'], 'ping');
    assert.equal(last.headers['content-length'], String(Buffer.byteLength(sending().body)));
    assert.equal(last.headers.host, `127.0.0.1:${receiver.port}`);
  }
});

test('a redirect of any kind is not followed, and is no success', async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.answer((_received, response) => {
      response.writeHead(status, { location: receiver.url }).end();
    });
    const before = receiver.received.length;
    assert.deepEqual(await sendDelivery(sending(), mayReach), { status, error: null });
    assert.equal(receiver.received.length, before + 1);
  }
});

test('an address that is not public is refused before anything is sent', async () => {
  receiver.answer(200);
  const before = receiver.received.length;
  const { port } = receiver;
  const none = reachable([]);
  for (const host of [
    ...['localhost', 'LOCALHOST', '127.0.0.1', '127.0.0.1.', '127.1', '127.0.1', '0', '2130706433'],
    ...['0x7f.1', '0x7f.0x1', '0177.1', '017700000001', '%31%32%37.0.0.1', '127。0。0。1'],
    ...['１２７.０.０.１', '[::1]', '[::ffff:127.0.0.1]', '[0:0:0:0:0:ffff:7f00:1]', '[fe80::1]'],
    ...['[::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]'],
    ...['[2001:0:7f00:1::]', '[2606:4700::200:5efe:7f00:1]'],
  ]) {
    const sent = await sendDelivery(sending(`https://${host}:${port}/`), none);
    assert.equal(sent.status, 0);
    assert.match(sent.error ?? '', /is not a public one|has no public address/, host);
  }
  assert.equal(receiver.received.length, before);
});

test('a name is looked up, also one that only this machine knows, and one that nobody knows is said', async () => {
  receiver.answer(200);
  const both = reachable(['127.0.0.0/8', '::1']);
  const local = await sendDelivery(sending(`https://localhost:${receiver.port}/`), both, {
    resolve: async () => ['127.0.0.1'],
  });
  assert.equal(local.status, 200);
  const own = await sendDelivery(sending(`https://localhost:${receiver.port}/`), reachable([]));
  assert.equal(own.error, 'the name has no public address');
  const nobody = async () => {
    throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  };
  const unknown = await sendDelivery(sending('https://nobody.example/'), both, { resolve: nobody });
  assert.deepEqual(unknown, own, 'what an inside knows is not told');
});

test('the connection goes to the address that was checked, whatever the name says later', async () => {
  receiver.answer(200);
  const named = `https://localhost:${receiver.port}/`;
  let asked = 0;
  // Checked: 127.0.0.1, which is allowed here. Asked a second time it would be another.
  const resolve = async () => {
    asked += 1;
    return asked === 1 ? ['127.0.0.1'] : ['169.254.169.254'];
  };
  const sent = await sendDelivery(sending(named), mayReach, { resolve });
  assert.deepEqual([sent.status, asked], [200, 1]);
});

test('its address is told before anything is sent to it, and may be refused for now', async () => {
  const before = receiver.received.length;
  const busy = new HostBusy('127.0.0.1', new Date());
  const told: string[] = [];
  const admit = async (address: string) => {
    told.push(address);
    throw busy;
  };
  const named = { ...sending(`https://localhost:${receiver.port}/`), admit };
  await assert.rejects(sendDelivery(named, mayReach), busy);
  assert.deepEqual([told, receiver.received.length], [['127.0.0.1'], before]);
});

test('names that only this machine knows are looked up however many come at once', async () => {
  let told = 0;
  const admit = async () => {
    told += 1;
    throw new HostBusy('localhost', new Date());
  };
  const named = { ...sending(`https://localhost:${receiver.port}/`), admit };
  const loopback = reachable(['127.0.0.0/8', '::1']);
  await Promise.allSettled(Array.from({ length: 20 }, () => sendDelivery(named, loopback)));
  assert.equal(told, 20);
});

test('a certificate of nobody that is trusted, or for another name, is no connection', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'parley-untrusted-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const [key, cert] = [join(dir, 'key'), join(dir, 'cert')];
  const ofIp = 'subjectAltName=IP:127.0.0.1';
  const made = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=own';
  const wanted = ['req', ...made.split(' '), '-addext', ofIp, '-keyout', key, '-out', cert];
  execFileSync('openssl', wanted, { stdio: 'pipe' });
  const files = { key: await readFile(key), cert: await readFile(cert) };
  const own = await rawReceiver(t, (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'), files);
  assert.deepEqual(await sendDelivery(sending(own.url), mayReach), {
    status: 0,
    error: 'no connection: DEPTH_ZERO_SELF_SIGNED_CERT',
  });
  const resolve = async () => ['127.0.0.1'];
  const other = await sendDelivery(sending(`https://example.com:${receiver.port}/`), mayReach, {
    resolve,
  });
  assert.equal(other.status, 0);
  assert.match(other.error ?? '', /^no connection: ERR_TLS_CERT_ALTNAME_INVALID$/);
});

test('who answers nothing, drips, or is not there ends in time, in words', async () => {
  receiver.answer(() => {});
  const silent = await sendDelivery(sending(), mayReach, { timeMs: 300 });
  assert.deepEqual(silent, { status: 0, error: 'no answer in 0.3 s' });
  const held: Socket[] = [];
  const mute = createServer((socket) => held.push(socket.on('error', () => {})));
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  const { port } = mute.address() as { port: number };
  const sent = await sendDelivery(sending(`https://127.0.0.1:${port}/`), mayReach, { timeMs: 300 });
  assert.deepEqual(sent, { status: 0, error: 'no answer in 0.3 s' });
  for (const each of held) each.destroy();
  await new Promise((resolve) => mute.close(resolve));
  const gone = await sendDelivery(sending(`https://127.0.0.1:${port}/`), mayReach);
  assert.deepEqual(gone, { status: 0, error: 'no connection: ECONNREFUSED' });
  const hanging = () => new Promise<string[]>(() => {});
  const named = `https://localhost:${receiver.port}/`;
  const slow = await sendDelivery(sending(named), mayReach, { timeMs: 200, resolve: hanging });
  assert.deepEqual(slow, { status: 0, error: 'no answer in 0.2 s' });
  receiver.answer((_received, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write('x'.repeat(4_096)), 5);
    response.on('close', () => clearInterval(drip));
  });
  assert.equal((await sendDelivery(sending(), mayReach)).status, 200, 'a status is an answer');
});

/** A receiver that speaks TLS and writes what it likes instead of HTTP. */
async function rawReceiver(
  t: TestContext,
  speak: (socket: TLSSocket) => void,
  files: { cert: string | Buffer; key: string | Buffer } = receiver,
) {
  const sockets = new Set<Socket>();
  const server = createTlsServer({ cert: files.cert, key: files.key }, (socket) => {
    socket.on('error', () => {});
    socket.once('data', () => speak(socket));
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const each of sockets) each.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}/`, open: () => sockets.size };
}

/** Until no connection is left; throws when one is. */
async function allClosed({ open }: { open: () => number }): Promise<void> {
  for (let tries = 0; open() > 0; tries += 1) {
    assert.ok(tries < 200, 'a connection is left');
    await sleep(20);
  }
}

test('an answer that never ends is read so far and no further, and its connection closed', async (t) => {
  let [parts, drips] = [0, 0];
  const endless = await rawReceiver(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    const more = setInterval(() => {
      parts += 1;
      socket.write(`4000\r\n${'x'.repeat(16_384)}\r\n`);
    }, 20);
    socket.on('close', () => clearInterval(more));
  });
  assert.deepEqual(await sendDelivery(sending(endless.url), mayReach), {
    status: 200,
    error: null,
  });
  await allClosed(endless);
  // A second would have brought fifty.
  assert.ok(parts < 25, `${parts} parts of 16 KiB were sent`);
  const dripping = await rawReceiver(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nx');
    const drip = setInterval(() => {
      drips += 1;
      socket.write('x');
    }, 20);
    socket.on('close', () => clearInterval(drip));
  });
  await sendDelivery(sending(dripping.url), mayReach);
  await allClosed(dripping);
  // Ten seconds would have brought five hundred.
  assert.ok(drips < 250, `${drips} bytes were waited for`);
});

test('headers that come a byte at a time, or are too large, are no answer', async (t) => {
  const slow = await rawReceiver(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const drip = setInterval(() => socket.write('x: y\r\n'), 50);
    socket.on('close', () => clearInterval(drip));
  });
  const late = await sendDelivery(sending(slow.url), mayReach, { timeMs: 400 });
  assert.deepEqual(late, { status: 0, error: 'no answer in 0.4 s' });
  const huge = await rawReceiver(t, (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`);
  });
  const sent = await sendDelivery(sending(huge.url), mayReach);
  assert.deepEqual(sent, { status: 0, error: 'no connection: HPE_HEADER_OVERFLOW' });
  await Promise.all([allClosed(slow), allClosed(huge)]);
});

test('an answer that would go on as another protocol ends there, and is no success', async (t) => {
  const upgrading = await rawReceiver(t, (socket) => {
    socket.write('HTTP/1.1 101 Go on\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
  });
  const sent = await sendDelivery(sending(upgrading.url), mayReach);
  assert.equal(sent.status, 101);
  await allClosed(upgrading);
  const provisional = await rawReceiver(t, (socket) => {
    const again = setInterval(() => socket.write('HTTP/1.1 102 Wait\r\n\r\n'), 20);
    socket.on('close', () => clearInterval(again));
  });
  const waited = await sendDelivery(sending(provisional.url), mayReach, { timeMs: 400 });
  assert.deepEqual(waited, { status: 0, error: 'no answer in 0.4 s' });
  await allClosed(provisional);
});

test('what breaks off, or is no HTTP, is no answer, in words', async (t) => {
  const cut = await rawReceiver(t, (socket) => socket.destroy());
  const broken = await sendDelivery(sending(cut.url), mayReach);
  assert.deepEqual(broken, { status: 0, error: 'no connection: ECONNRESET' });
  const other = await rawReceiver(t, (socket) => socket.end('SSH-2.0-parley\r\n'));
  const strange = await sendDelivery(sending(other.url), mayReach);
  assert.equal(strange.status, 0);
  assert.match(strange.error ?? '', /^no connection: HPE_/);
});

test('no answer of a name server leads inside, in whatever form, nor one that is no address', async () => {
  const before = receiver.received.length;
  const named = `https://localhost:${receiver.port}/`;
  for (const answer of [
    ...[['127.0.0.1'], ['169.254.169.254'], ['::ffff:127.0.0.1'], ['93.184.216.34', '10.0.0.1']],
    ...[['2606:4700::1111', 'fd00:ec2::254'], ['fe80::1%lo'], ['127.1'], ['localhost'], [''], []],
  ]) {
    const sent = await sendDelivery(sending(named), reachable([]), { resolve: async () => answer });
    assert.equal(sent.status, 0);
    assert.match(sent.error ?? '', /^the name has no public address$/, String(answer));
  }
  assert.equal(receiver.received.length, before);
});
