// The rules of a browser's exchange with a node, by Node's own `fetch` over real sockets.

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import type { RequestListener } from 'node:http';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { serverOf, within } from '../testing/nodes.ts';
import { isUnreached, mostParts, type NodeLimits, textOf } from './exchange.ts';
import { exchangeWith } from './transport-fetch.ts';

const never = new AbortController().signal;
const urlOf = (t: TestContext, answer: RequestListener) => within(t, serverOf(answer));

const get = (url: string, own: Partial<NodeLimits> = {}, signal = never) =>
  exchangeWith(
    { url, method: 'GET', headers: {} },
    { timeMs: 5_000, bytes: 1_000, ...own },
    signal,
  );

async function failureOf(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => assert.fail('it was answered'),
    (reason: unknown) => reason as Error,
  );
}

test('a request arrives with the credentials of the URL, and its answer comes back', async (t) => {
  const seen: unknown[] = [];
  const url = await urlOf(t, async (asked, reply) => {
    const parts = await asked.toArray();
    const { authorization, referer, cookie } = asked.headers;
    seen.push([asked.method, asked.url, authorization, referer, cookie, parts.join('')]);
    reply.writeHead(418).end('één');
  });
  const own = url.replace('//', '//some%20one:p%3Aéß@');
  const request = { url: `${own}/path?key=k`, method: 'POST', headers: {}, body: 'één' } as const;
  const reply = await exchangeWith(request, { timeMs: 5_000, bytes: 10 }, never);
  assert.deepEqual([reply.status, textOf(reply)], [418, 'één']);
  const basic = `Basic ${Buffer.from('some one:p:éß').toString('base64')}`;
  assert.deepEqual(seen, [['POST', '/path?key=k', basic, undefined, undefined, 'één']]);
});

test('an answer has its limits once it is unpacked, just before and just after', async (t) => {
  const url = await urlOf(t, (asked, reply) => {
    const [kind, size] = (asked.url ?? '').slice(1).split('/');
    if (kind === 'parts') return void reply.end('{'.repeat(Number(size)));
    reply.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(Number(size), 'a')));
  });
  assert.equal(textOf(await get(`${url}/bytes/1000`)), 'a'.repeat(1_000));
  for (const size of [1_001, 50_000_000]) {
    const { message } = await failureOf(get(`${url}/bytes/${size}`));
    assert.equal(message, 'an answer of more than 1000 bytes');
  }
  const large = { bytes: 2 * mostParts };
  assert.equal((await get(`${url}/parts/${mostParts}`, large)).body.length, mostParts);
  const { message } = await failureOf(get(`${url}/parts/${mostParts + 1}`, large));
  assert.match(message, /1000000 objects and lists/);
});

test('a redirection is a failure, and where it leads is not asked', async (t) => {
  let isAsked = false;
  const location = await urlOf(t, (_, reply) => {
    isAsked = true;
    reply.end('{}');
  });
  const url = await urlOf(t, (_, reply) => void reply.writeHead(307, { location }).end());
  assert.match((await failureOf(get(url))).message, /^the page may read no answer: /);
  assert.equal(isAsked, false);
});

test('a node has only so long to begin and to end, and who asks may end it', async (t) => {
  const starts: RequestListener[] = [
    () => {},
    (_, reply) => void reply.writeHead(200, { 'content-length': '10' }).write('12345'),
  ];
  for (const start of starts) {
    const url = await urlOf(t, start);
    const late = await failureOf(get(url, { timeMs: 100 }));
    assert.deepEqual([late.name, late.message], ['TimeoutError', 'no answer in 100 ms']);
    const cancel = new AbortController();
    const asked = failureOf(get(url, {}, cancel.signal));
    setTimeout(() => cancel.abort(new Error('enough')), 50);
    assert.equal((await asked).message, 'enough');
    assert.equal(getEventListeners(cancel.signal, 'abort').length, 0);
  }
  const { name } = await failureOf(get('http://127.0.0.1:1/', {}, AbortSignal.abort()));
  assert.equal(name, 'AbortError');
});

test('a failure never says that nobody heard it, nor quotes the address', async (t) => {
  const cut = await urlOf(t, (asked) => asked.socket.destroy());
  for (const url of [cut, 'http://me:secret@127.0.0.1:1/key']) {
    const failure = await failureOf(get(url));
    assert.equal(isUnreached(failure), false);
    assert.match(failure.message, /^the page may read no answer: /);
    assert.doesNotMatch(failure.message, /127\.0\.0\.1|secret|key/);
  }
});
