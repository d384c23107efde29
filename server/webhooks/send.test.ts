// One delivery, to a real HTTPS receiver: what arrives, and what never leaves.

import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
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

test('a redirect is not followed, and is no success', async () => {
  let second = 0;
  receiver.answer(({ headers }, response) => {
    if (headers['x-again'] !== undefined) second += 1;
    response.writeHead(302, { location: receiver.url }).end();
  });
  const before = receiver.received.length;
  assert.equal((await sendDelivery(sending(), mayReach)).status, 302);
  assert.deepEqual([receiver.received.length - before, second], [1, 0]);
});

test('an address that is not public is refused before anything is sent', async () => {
  receiver.answer(200);
  const before = receiver.received.length;
  const { port } = receiver;
  const none = reachable([]);
  for (const host of [
    'localhost',
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '2130706433',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0',
  ]) {
    const sent = await sendDelivery(sending(`https://${host}:${port}/`), none);
    assert.deepEqual(sent, { status: 0, error: 'the address is not a public one' }, host);
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
  assert.equal(own.error, 'the address is not a public one');
  const nobody = async () => {
    throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  };
  const unknown = await sendDelivery(sending('https://nobody.example/'), both, { resolve: nobody });
  assert.deepEqual(unknown, { status: 0, error: 'the name cannot be looked up' });
});

test('a name with one inside address among public ones is refused', async () => {
  const before = receiver.received.length;
  const resolve = async () => ['93.184.216.34', '10.0.0.1'];
  const named = `https://localhost:${receiver.port}/`;
  const sent = await sendDelivery(sending(named), reachable([]), { resolve });
  assert.equal(sent.error, 'the address is not a public one');
  assert.equal(receiver.received.length, before);
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

test('a certificate of nobody that is trusted, or for another name, is no connection', async () => {
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
