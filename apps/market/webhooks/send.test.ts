// One delivery, to a real HTTPS receiver: the bytes that arrive, and those that never leave.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
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

const sent = (url?: string, may = mayReach, options?: Parameters<typeof sendDelivery>[2]) =>
  sendDelivery(sending(url), may, options);
/** The receiver by its name. */
const named = () => `https://localhost:${receiver.port}/`;
const none = (error: string) => ({ status: 0, error });

test('the bytes arrive as they are, with their headers, and any 2xx is a success', async () => {
  for (const status of [200, 201, 204]) {
    receiver.answer(status);
    assert.deepEqual(await sent(), { status, error: null });
    const last = receiver.received.at(-1);
    assert.equal(last?.body, sending().body);
    assert.equal(last.headers['x-parley-event'], 'ping');
    assert.equal(last.headers['content-length'], String(Buffer.byteLength(sending().body)));
    assert.equal(last.headers.host, `127.0.0.1:${receiver.port}`);
  }
});

test('how the answer begins is kept as one plain line, whatever was sent', async () => {
  for (const [bytes, answer] of [
    ['bad signature\r\n\u0000\u202e{"x":1}\n', 'bad signature {"x":1}'],
    [`${'ü'.repeat(249)}abcd`, `${'ü'.repeat(249)}ab`],
    [Buffer.from([0xff, 0x41]), '\ufffdA'],
    [' \n', undefined],
  ] as const) {
    receiver.answer((_received, response) => {
      response.writeHead(400).end(bytes);
    });
    const expected = { status: 400, error: null, ...(answer === undefined ? {} : { answer }) };
    assert.deepEqual(await sent(), expected);
  }
});

test('a redirect of any kind is not followed, and is no success', async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.answer((_received, response) => {
      response.writeHead(status, { location: receiver.url }).end();
    });
    const before = receiver.received.length;
    assert.deepEqual(await sent(), { status, error: null });
    assert.equal(receiver.received.length, before + 1);
  }
});

test('an address that is not public is refused before anything is sent', async () => {
  receiver.answer(200);
  const before = receiver.received.length;
  for (const host of [
    'localhost',
    'LOCALHOST',
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '127.0.1',
    '0',
    '2130706433',
    '0x7f.1',
    '0x7f.0x1',
    '0177.1',
    '017700000001',
    '%31%32%37.0.0.1',
    '127。0。0。1',
    '１２７.０.０.１',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[0:0:0:0:0:ffff:7f00:1]',
    '[fe80::1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b:1::7f00:1]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::]',
    '[2606:4700::200:5efe:7f00:1]',
  ]) {
    const { status, error } = await sent(`https://${host}:${receiver.port}/`, reachable([]));
    assert.equal(status, 0);
    assert.match(error ?? '', /is not a public one|has no public address/, host);
  }
  assert.equal(receiver.received.length, before);
});

test('a name is looked up, also one that only this machine knows, and one that nobody knows is said', async () => {
  receiver.answer(200);
  const both = reachable(['127.0.0.0/8', '::1']);
  const local = await sent(named(), both, { resolve: async () => ['127.0.0.1'] });
  assert.equal(local.status, 200);
  const own = await sent(named(), reachable([]));
  assert.equal(own.error, 'the name has no public address');
  const resolve = async () => {
    throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  };
  const unknown = await sent('https://nobody.example/', both, { resolve });
  assert.deepEqual(unknown, own, 'what an inside knows is not told');
});

test('the connection goes to the address that was checked, whatever the name says later', async () => {
  receiver.answer(200);
  let asked = 0;
  // Checked: 127.0.0.1, which is allowed here. Asked a second time it would be another.
  const resolve = async () => {
    asked += 1;
    return asked === 1 ? ['127.0.0.1'] : ['169.254.169.254'];
  };
  const { status } = await sent(named(), mayReach, { resolve });
  assert.deepEqual([status, asked], [200, 1]);
});

test('a certificate of nobody that is trusted, or for another name, is no connection', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'parley-untrusted-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const key = join(dir, 'key');
  const cert = join(dir, 'cert');
  const ofIp = 'subjectAltName=IP:127.0.0.1';
  const made = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=own';
  const wanted = ['req', ...made.split(' '), '-addext', ofIp, '-keyout', key, '-out', cert];
  execFileSync('openssl', wanted, { stdio: 'pipe' });
  const files = { key: await readFile(key), cert: await readFile(cert) };
  const own = await rawReceiver(t, (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'), files);
  const selfSigned = await sent(own.url);
  assert.deepEqual(selfSigned, none('no connection: DEPTH_ZERO_SELF_SIGNED_CERT'));
  const resolve = async () => ['127.0.0.1'];
  const other = await sent(`https://example.com:${receiver.port}/`, mayReach, { resolve });
  assert.deepEqual(other, none('no connection: ERR_TLS_CERT_ALTNAME_INVALID'));
});

test('a host that answers nothing, drips, or is not there ends in time, in words', async () => {
  receiver.answer(() => {});
  const quick = { timeMs: 300 };
  assert.deepEqual(await sent(undefined, mayReach, quick), none('no answer in 0.3 s'));
  const held: Socket[] = [];
  const mute = createServer((socket) => held.push(socket.on('error', () => {})));
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(mute.address() as AddressInfo).port}/`;
  assert.deepEqual(await sent(url, mayReach, quick), none('no answer in 0.3 s'));
  for (const each of held) each.destroy();
  await new Promise((resolve) => mute.close(resolve));
  assert.deepEqual(await sent(url), none('no connection: ECONNREFUSED'));
  const resolve = () => new Promise<string[]>(() => {});
  const slow = await sent(named(), mayReach, { timeMs: 200, resolve });
  assert.deepEqual(slow, none('no answer in 0.2 s'));
  receiver.answer((_received, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write('x'.repeat(4_096)), 5);
    response.on('close', () => clearInterval(drip));
  });
  assert.equal((await sent()).status, 200, 'a status is an answer');
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

async function allClosed({ open }: { open: () => number }): Promise<void> {
  await waitUntil(() => open() === 0);
}

/** Writes this again and again, until the connection ends. */
function writes(socket: TLSSocket, ms: number, text: string, count = () => {}) {
  const again = setInterval(() => {
    count();
    socket.write(text);
  }, ms);
  socket.on('close', () => clearInterval(again));
}

test('an answer that never ends is read so far and no further, and its connection closed', async (t) => {
  const part = `4000\r\n${'x'.repeat(16_384)}\r\n`;
  for (const [header, text, most] of [
    // A second would have brought fifty.
    ['transfer-encoding: chunked', part, 25],
    // Ten seconds would have brought five hundred.
    ['content-length: 1000', 'x', 250],
  ] as const) {
    let written = 0;
    const endless = await rawReceiver(t, (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n`);
      writes(socket, 20, text, () => {
        written += 1;
      });
    });
    const { answer, ...rest } = await sent(endless.url);
    assert.deepEqual(rest, { status: 200, error: null });
    assert.match(String(answer), /^x{1,500}$/);
    await allClosed(endless);
    assert.ok(written < most, `${written} parts were sent`);
  }
});

test('no answer of a name server leads inside, in whatever form, nor one that is no address', async () => {
  const before = receiver.received.length;
  for (const answer of [
    ['127.0.0.1'],
    ['169.254.169.254'],
    ['::ffff:127.0.0.1'],
    ['93.184.216.34', '10.0.0.1'],
    ['2606:4700::1111', 'fd00:ec2::254'],
    ['fe80::1%lo'],
    ['127.1'],
    ['localhost'],
    [''],
    [],
  ]) {
    const came = await sent(named(), reachable([]), { resolve: async () => answer });
    assert.deepEqual(came, none('the name has no public address'), String(answer));
  }
  assert.equal(receiver.received.length, before);
});
