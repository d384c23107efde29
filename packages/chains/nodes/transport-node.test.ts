// An exchange with a node that is slow, says too much, sends elsewhere or goes away, over real
// sockets.

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { serverOf, within } from '../testing/nodes.ts';
import { isUnreached, mostParts, type NodeLimits, textOf } from './exchange.ts';
import { connectMs, exchangeWith } from './transport-node.ts';

const limits: NodeLimits = { timeMs: 20_000, bytes: 1_000 };
const never = new AbortController().signal;

async function nodeOf(t: TestContext, answer: RequestListener) {
  const sockets = new Set<Socket>();
  const url = await within(
    t,
    serverOf((asked, reply) => {
      sockets.add(asked.socket);
      answer(asked, reply);
    }),
  );
  return { url: `${url}/path?key=k`, sockets };
}

/** Plain sockets, without HTTP. */
async function socketsOf(t: TestContext, each: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer(each);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const get = (url: string, own: Partial<NodeLimits> = {}, signal = never) =>
  exchangeWith({ url, method: 'GET', headers: {} }, { ...limits, ...own }, signal);

/** The failure, as name, code and message. */
async function failureOf(work: Promise<unknown>) {
  const error = await work.then(
    () => assert.fail('it was answered'),
    (reason: unknown) => reason as Error & { code?: unknown },
  );
  return { name: error.name, code: error.code, message: error.message };
}

test('a request arrives, its answer comes back, and the connection is kept', async (t) => {
  const seen: string[] = [];
  const { url, sockets } = await nodeOf(t, (asked, reply) => {
    let body = '';
    asked.on('data', (part) => {
      body += part;
    });
    asked.on('end', () => {
      seen.push(`${asked.method} ${asked.url} ${asked.headers.authorization} ${body}`);
      assert.deepEqual([asked.headers.accept, asked.headers['user-agent']], ['*/*', 'node']);
      reply.writeHead(418).end(body);
    });
  });
  const headers = { authorization: 'Basic x' };
  for (const word of ['één', 'two', '']) {
    const request = { url, method: 'POST', headers, body: word } as const;
    const reply = await exchangeWith(request, limits, never);
    assert.deepEqual([reply.status, textOf(reply)], [418, word]);
  }
  assert.deepEqual(
    seen,
    ['één', 'two', ''].map((word) => `POST /path?key=k Basic x ${word}`),
  );
  assert.equal(sockets.size, 1);
});

test('a packed answer is unpacked, and its limit is that of what comes out', async (t) => {
  const packs = { gzip: gzipSync, br: brotliCompressSync };
  const { url } = await nodeOf(t, (asked, reply) => {
    const [, name = '', size = ''] = (asked.url ?? '').split('/');
    const pack = packs[name as keyof typeof packs];
    reply.setHeader('content-encoding', name).end(pack(Buffer.alloc(Number(size), 'a')));
  });
  const base = url.replace(/\/path.*$/, '');
  for (const name of ['gzip', 'br']) {
    const reply = await get(`${base}/${name}/1000`);
    assert.equal(textOf(reply), 'a'.repeat(1_000), name);
    const bomb = await failureOf(get(`${base}/${name}/50000000`));
    assert.deepEqual(
      [bomb.name, bomb.message],
      ['AnswerTooLong', 'an answer of more than 1000 bytes'],
    );
  }
});

test('an answer that would fill the memory once it is read is refused, just before and just after', async (t) => {
  const { url } = await nodeOf(t, (request, reply) => {
    const parts = Number(new URL(request.url ?? '', 'http://x').searchParams.get('parts'));
    reply.end(`[${Array.from({ length: parts - 1 }, () => '{}').join(',')}]`);
  });
  const large = { timeMs: 5_000, bytes: 16 * 1024 * 1024 };
  const asked = (parts: number) => get(`${url}&parts=${parts}`, large);
  assert.equal((await asked(mostParts)).status, 200);
  assert.match((await failureOf(asked(mostParts + 1))).message, /1000000 objects and lists/);
});

test('an answer that is too long is not unpacked to its end', async (t) => {
  const bomb = gzipSync(Buffer.alloc(200_000_000));
  const { url } = await nodeOf(t, (_, reply) => {
    reply.setHeader('content-encoding', 'gzip').end(bomb);
  });
  const { signal } = new AbortController();
  assert.equal((await failureOf(get(url, {}, signal))).name, 'AnswerTooLong');
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, 300));
  const { user, system } = process.cpuUsage(before);
  // All of it takes a second.
  assert.ok(user + system < 200_000, `${user + system} µs afterwards`);
});

test('a redirection is a failure, and where it leads is not asked', async (t) => {
  let isAsked = false;
  const other = await nodeOf(t, (_, reply) => {
    isAsked = true;
    reply.end('{}');
  });
  for (const status of [301, 302, 307, 308]) {
    const { url } = await nodeOf(t, (_, reply) => {
      reply.writeHead(status, { location: other.url }).end();
    });
    assert.match((await failureOf(get(url))).message, new RegExp(`^HTTP ${status}`));
  }
  assert.equal(isAsked, false);
});

test('a node has only so long to begin and to end', async (t) => {
  const starts: RequestListener[] = [
    () => {},
    (_, reply) => {
      reply.writeHead(200, { 'content-length': '10' }).write('12345');
    },
  ];
  for (const start of starts) {
    const { url } = await nodeOf(t, start);
    assert.deepEqual(await failureOf(get(url, { timeMs: 100 })), {
      name: 'TimeoutError',
      code: 23,
      message: 'no answer in 100 ms',
    });
    const cancel = new AbortController();
    const asked = failureOf(get(url, {}, cancel.signal));
    setTimeout(() => cancel.abort(new Error('enough')), 50);
    assert.equal((await asked).message, 'enough');
  }
  const cancelled = await failureOf(get('http://127.0.0.1:1/', {}, AbortSignal.abort()));
  assert.equal(cancelled.name, 'AbortError');
});

test('whether anybody was there to hear it is said of every failure', async (t) => {
  const isUnheard = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => assert.fail('it was answered'),
      (reason: unknown) => reason,
    );
    return isUnreached(error);
  };
  assert.equal(await isUnheard(get('http://127.0.0.1:1/')), true);
  const silent = await nodeOf(t, () => {});
  assert.equal(await isUnheard(get(silent.url, { timeMs: connectMs + 200 })), false);
  const cut = await nodeOf(t, (asked) => asked.socket.destroy());
  assert.equal(await isUnheard(get(cut.url)), false);
  // It takes connections, and never shakes hands.
  const url = `https://${await socketsOf(t, () => {})}/`;
  const asked = get(url);
  assert.deepEqual(await failureOf(asked), {
    name: 'TimeoutError',
    code: 23,
    message: `no answer in ${connectMs} ms`,
  });
  assert.equal(await isUnheard(asked), true);
  assert.equal(await isUnheard(get(url, { timeMs: 50 })), true);
});

test('a connection that fails, or is cut half-way, is said with its code', async (t) => {
  const { url } = await nodeOf(t, (_, reply) => {
    reply.writeHead(200, { 'content-length': '10' }).write('12345', () => reply.destroy());
  });
  assert.equal((await failureOf(get(url))).code, 'ECONNRESET');
  const gone = await nodeOf(t, (asked) => asked.socket.destroy());
  assert.equal((await failureOf(get(gone.url))).code, 'ECONNRESET');
  assert.equal((await failureOf(get('http://127.0.0.1:1/'))).code, 'ECONNREFUSED');
  assert.equal((await failureOf(get('ftp://127.0.0.1/'))).code, 'ERR_INVALID_PROTOCOL');
  assert.equal((await failureOf(get('no address'))).code, 'ERR_INVALID_URL');
});
