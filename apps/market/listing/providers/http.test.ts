// A provider that misbehaves, over real HTTP: every request ends in time and in words.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { mayAsk } from '../../settings/listing.ts';
import { type FailureKind, ProviderFailure } from './facts.ts';
import { type ClientOptions, jsonClient, mostBytes } from './http.ts';
import { startProvider, testClock } from './testing/server.ts';

const never = new AbortController().signal;
const json = { 'content-type': 'application/json' };
const bodied = (body: string | Buffer, headers: Record<string, string> = json) => {
  return (_request: unknown, response: ServerResponse) =>
    response.writeHead(200, headers).end(body);
};

const asking = (base: string, more: Partial<ClientOptions> = {}) =>
  jsonClient({ name: 'prov', base, perMinute: 1_000, clock: testClock(), ...more });

async function failureOf(work: Promise<unknown>): Promise<ProviderFailure> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ProviderFailure) return error;
    throw error;
  }
  return assert.fail('answered');
}

const fails = async (work: Promise<unknown>, kind: FailureKind, words: RegExp) => {
  const failure = await failureOf(work);
  assert.equal(failure.kind, kind, failure.message);
  assert.match(failure.message, words);
};

test('an answer is JSON of 200, or of 404 where there is no such thing', async (t) => {
  const provider = await startProvider(t);
  provider.json({ a: 1 });
  const client = asking(`${provider.base}/v2/`, { headers: { 'x-key': 'f00d' } });
  assert.deepEqual(await client.get(['b c', 'd/e'], { q: 'x&y' }, never), {
    found: true,
    body: { a: 1 },
  });
  provider.json({ errors: [] }, 404);
  assert.deepEqual(await client.get(['x'], {}, never), { found: false, body: { errors: [] } });
  assert.deepEqual(provider.asked, ['/v2/b%20c/d%2Fe?q=x%26y', '/v2/x']);
  assert.equal(provider.headers[0]?.['x-key'], 'f00d');
});

test('only https is asked, and http on this machine', () => {
  const may = ['https://a.example', 'https://a.example/v2', 'http://127.0.0.1:1', 'http://[::1]:1'];
  for (const url of [...may, 'http://localhost:8/x']) assert.ok(mayAsk(url), url);
  const mayNot =
    '|a.example|https://|file:///etc/passwd|ftp://a.example|http://a.example|http://10.0.0.1|' +
    'http://0.0.0.0|http://127.0.0.1.example|http://localhost.example|https://me:pw@a.example|' +
    'https://a.example?key=1|https://a.example#x';
  for (const url of mayNot.split('|')) assert.ok(!mayAsk(url), url);
  assert.throws(() => asking('http://a.example'), /https/);
});

test('a provider that does not answer, or never ends, or drips, is given up in time', async (t) => {
  const provider = await startProvider(t);
  const client = asking(provider.base, { tryMs: 150 });
  provider.answer(() => {});
  await fails(client.get([], {}, never), 'unreachable', /did not answer in time/);
  provider.answer((_request, response) => {
    response.writeHead(200, json);
    const timer = setInterval(() => response.write(' '), 10);
    response.on('close', () => clearInterval(timer));
  });
  await fails(client.get([], {}, never), 'unreachable', /did not answer in time/);
});

test('an answer of more than a mebibyte is not read to its end, nor one that unpacks to it', async (t) => {
  const provider = await startProvider(t);
  const client = asking(provider.base);
  provider.answer(bodied(`"${'x'.repeat(mostBytes - 2)}"`));
  assert.equal(((await client.get([], {}, never)).body as string).length, mostBytes - 2);
  provider.answer(bodied(`"${'x'.repeat(mostBytes - 1)}"`));
  await fails(client.get([], {}, never), 'unreadable', /more than 1048576 bytes/);
  const bomb = gzipSync(Buffer.alloc(256 * 2 ** 20, 0x20), { level: 9 });
  assert.ok(bomb.length < mostBytes);
  provider.answer(bodied(bomb, { ...json, 'content-encoding': 'gzip' }));
  const before = process.memoryUsage().arrayBuffers;
  await fails(client.get([], {}, never), 'unreadable', /more than 1048576 bytes/);
  assert.ok(process.memoryUsage().arrayBuffers - before < 64 * 2 ** 20);
});

test('an answer that is no JSON is none, and is quoted nowhere', async (t) => {
  const provider = await startProvider(t);
  const client = asking(provider.base, { headers: { 'x-key': 'f00d' } });
  const bodies = ['', '{"a":1', '<html>f00d</html>', 'undefined', '{"a":1}{"a":1}', "{'a':f00d}"];
  for (const body of bodies) {
    provider.answer(bodied(body));
    const failure = await failureOf(client.get([], {}, never));
    assert.equal(failure.kind, 'unreadable', body);
    assert.doesNotMatch(`${failure.stack}${String(failure.cause)}`, /f00d/);
    provider.json({});
    await client.get([], {}, never);
  }
  provider.answer(bodied('{"a":1}', { 'content-type': 'text/html' }));
  await fails(client.get([], {}, never), 'unreadable', /no JSON/);
  provider.answer(bodied('{"a":1}', { ...json, 'content-encoding': 'gzip' }));
  await fails(client.get([], {}, never), 'unreachable', /cannot be reached/);
});

test('a redirect is not followed', async (t) => {
  const provider = await startProvider(t);
  const elsewhere = await startProvider(t);
  elsewhere.json({ a: 1 });
  provider.answer((_request, response) =>
    response.writeHead(307, { ...json, location: `${elsewhere.base}/x` }).end('{}'),
  );
  const client = asking(provider.base, { headers: { 'x-key': 'f00d' } });
  await fails(client.get([], {}, never), 'unreachable', /^prov redirects with status 307$/);
  assert.deepEqual([elsewhere.asked.length, provider.asked.length], [0, 1], 'nor asked again');
});
