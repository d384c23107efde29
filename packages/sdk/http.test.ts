import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { inspect } from 'node:util';
import { parleyClient } from './client.ts';
import { ParleyApiError } from './errors.ts';
import { makerFeed } from './feed.ts';

type Seen = { method?: string; url?: string; key: unknown; auth: unknown };
type Answer = (response: ServerResponse) => void;

/** A market that answers each request with the next of `answers`. */
async function withMarket(
  answers: Answer[],
  work: (url: string, seen: Seen[]) => Promise<void>,
): Promise<void> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    request.resume();
    const { method = '', url = '', headers } = request;
    seen.push({ method, url, key: headers['idempotency-key'], auth: headers.authorization });
    (answers.shift() ?? ((each) => void each.writeHead(500).end()))(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
const silent: Answer = () => undefined;

/** It is refused so, after so many requests. */
async function refused(
  call: Promise<unknown>,
  expected: Partial<Record<keyof ParleyApiError, unknown>>,
): Promise<void> {
  const error = await call.then(
    () => assert.fail('it was not refused'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ParleyApiError, String(error));
  for (const [field, value] of Object.entries(expected)) {
    assert.deepEqual(error[field as keyof ParleyApiError], value, field);
  }
}

test('an effect is repeated under one idempotency key when nobody decided anything', async () => {
  const rfq = { rfq: { id: 'x' } };
  const cut: Answer = (response) => void response.destroy();
  const answers = [answer(503, { error: 'stopping' }), cut, answer(201, rfq)];
  await withMarket(answers, async (baseUrl, seen) => {
    const client = parleyClient({ baseUrl, key: 'parley_test_k' });
    assert.deepEqual(await client.cancelRfq('a/b'), rfq.rfq);
    assert.equal(seen.length, 3);
    assert.equal(new Set(seen.map(({ key }) => key)).size, 1);
    assert.ok(seen[0]?.key);
    assert.equal(seen[0]?.url, '/v1/rfqs/a%2Fb/cancel');
    assert.equal(seen[0]?.auth, 'Bearer parley_test_k');
  });
});

test('a token that can never be listed is a refusal with its reasons', async () => {
  const reasons = ['transfer: 3 of 100 did not arrive'];
  const code = { 'x-parley-error': 'token_rejected' };
  const answers = [
    answer(422, { error: 'never', status: 'rejected', reasons }, code),
    answer(422, { error: 'never', reasons: [1, { a: 2 }] }, code),
    answer(202, { status: 'pending', reasons }),
  ];
  await withMarket(answers, async (baseUrl, seen) => {
    const client = parleyClient({ baseUrl, key: 'parley_test_k' });
    const token = { chain: 'evm-dev', address: '0x00' };
    // Another body has none.
    for (const expected of [reasons, []]) {
      const same = { code: 'token_rejected', message: 'never', reasons: expected };
      await refused(client.listAsset(token), same);
    }
    assert.deepEqual(await client.listAsset(token), { status: 'pending', reasons });
    assert.deepEqual([seen[0]?.method, seen[0]?.url], ['POST', '/v1/assets']);
  });
});

test('a refusal is not repeated, nor is a mint, whose nonce is single-use', async () => {
  const moved = answer(409, { error: 'the terms moved' }, { 'x-parley-error': 'terms_moved' });
  await withMarket([moved, answer(503, { error: 'stopping' })], async (baseUrl, seen) => {
    const client = parleyClient({ baseUrl, key: 'k' });
    await refused(client.accept('t', { quoteAmount: '1' }), {
      status: 409,
      code: 'terms_moved',
      message: 'the terms moved',
      unreachable: false,
    });
    assert.equal(seen.length, 1);
    const proof = { rail: 'evm', address: '0x', message: '', signature: '' } as const;
    await refused(client.mintKey(proof), { status: 503 });
    assert.equal(seen.length, 2);
  });
});

test('a 504 of a broadcast names its transaction, after its tries are used up', async () => {
  const late = answer(504, { error: 'late' }, { 'x-parley-txid': 'ab'.repeat(32) });
  await withMarket([late, late], async (baseUrl, seen) => {
    const client = parleyClient({ baseUrl, key: 'k', tries: 2 });
    await refused(client.broadcast('bitcoin', '00'), { txid: 'ab'.repeat(32) });
    assert.equal(seen.length, 2);
  });
});

test('a key that no header carries is named when the client is made, and never shown', async () => {
  const baseUrl = 'http://127.0.0.1:1';
  for (const [fault, named] of [
    ['\n', 'a line break after 4 of its 9 characters'],
    ['\r', 'a line break'],
    ['\t', 'a tab'],
    ['\0', 'a NUL'],
    ['\u001b', 'a control character'],
    ['\u2019', 'a character beyond ASCII'],
  ]) {
    const key = `pa55${fault}w0rd`;
    const expected = (error: unknown) =>
      error instanceof TypeError &&
      error.message.includes(`the API key holds ${named}`) &&
      !/pa55|w0rd/.test(inspect(error));
    assert.throws(() => parleyClient({ baseUrl, key }), expected);
    assert.throws(() => makerFeed({ baseUrl, key }), expected);
    const how = { idempotencyKey: key };
    const asked = parleyClient({ baseUrl, key: 'k' }).cancelRfq('r', how);
    await assert.rejects(asked, { message: new RegExp(`the idempotency key holds ${named}`) });
  }
});

test('white space around a key is what a file left', async () => {
  const answers = [answer(200, {}), answer(200, {})];
  await withMarket(answers, async (baseUrl, seen) => {
    for (const key of ['\ufeff pa55w0rd\r\n', 'pa55w0rd\t\n']) {
      await parleyClient({ baseUrl, key }).me();
    }
    assert.deepEqual(
      seen.map(({ auth }) => auth),
      ['Bearer pa55w0rd', 'Bearer pa55w0rd'],
    );
  });
});

test('a refusal has the name of its request, where it is one', async () => {
  for (const [given, requestId] of [
    ['a1b2c3d4e5f60718293a', 'a1b2c3d4e5f60718293a'],
    ['ignore all that was said', null],
    ['x'.repeat(65), null],
  ] as const) {
    const fault = answer(500, { error: 'failed' }, { 'x-request-id': given });
    await withMarket([fault], async (baseUrl) => {
      await refused(parleyClient({ baseUrl, key: 'k' }).me(), { status: 500, requestId });
    });
  }
});

test('Retry-After is waited for, and refused when it is too long', async () => {
  const soon = answer(429, { error: 'slow' }, { 'retry-after': '1' });
  const late = answer(429, { error: 'slow' }, { 'retry-after': '3600' });
  await withMarket([soon, answer(200, { nonce: 'n' }), late], async (baseUrl) => {
    const client = parleyClient({ baseUrl });
    const began = performance.now();
    assert.deepEqual(await client.mintNonce(), { nonce: 'n' });
    assert.ok(performance.now() - began >= 990);
    await refused(client.mintNonce(), { retryAfterSeconds: 3600 });
  });
});

test('a market that is silent, or answers with something else, is an error', async () => {
  const html: Answer = (response) => void response.writeHead(200).end('<html>');
  await withMarket([silent, html, silent], async (baseUrl) => {
    const hanging = parleyClient({ baseUrl, key: 'k', timeoutMs: 200, tries: 1 });
    await refused(hanging.me(), { status: 0, code: 'no_answer', unreachable: true });
    await refused(parleyClient({ baseUrl, key: 'k' }).me(), { code: 'bad_answer' });
    // The caller can stop a request, and gets its own reason.
    const reason = new Error('enough');
    const stop = new AbortController();
    setTimeout(() => stop.abort(reason), 50);
    await assert.rejects(parleyClient({ baseUrl, key: 'k' }).me({ signal: stop.signal }), reason);
  });
});
