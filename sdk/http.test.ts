import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { parleyClient } from './client.ts';
import { ParleyApiError } from './errors.ts';

type Seen = { method: string; url: string; key: string | undefined; auth: string | undefined };

/** A market that answers each request with the next of `answers`. */
async function withMarket(
  answers: ((response: ServerResponse) => void)[],
  work: (url: string, seen: Seen[]) => Promise<void>,
): Promise<void> {
  const seen: Seen[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    request.resume();
    seen.push({
      method: request.method ?? '',
      url: request.url ?? '',
      key: request.headers['idempotency-key'] as string | undefined,
      auth: request.headers.authorization,
    });
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
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

test('an effect is repeated under one idempotency key when nobody decided anything', async () => {
  const rfq = { rfq: { id: 'x' } };
  const answers = [
    answer(503, { error: 'stopping' }),
    (response: ServerResponse) => void response.destroy(),
    answer(201, rfq),
  ];
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

test('a token that can never be listed is a refusal with its reasons; another body has none', async () => {
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
    for (const expected of [reasons, []]) {
      await assert.rejects(client.listAsset(token), (error) => {
        assert.ok(error instanceof ParleyApiError);
        assert.deepEqual([error.code, error.message], ['token_rejected', 'never']);
        assert.deepEqual(error.reasons, expected);
        return true;
      });
    }
    assert.deepEqual(await client.listAsset(token), { status: 'pending', reasons });
    assert.deepEqual([seen[0]?.method, seen[0]?.url], ['POST', '/v1/assets']);
  });
});

test('a refusal is not repeated, and says its status, code and sentence', async () => {
  const refused = answer(409, { error: 'the terms moved' }, { 'x-parley-error': 'terms_moved' });
  await withMarket([refused], async (baseUrl, seen) => {
    const { accept } = parleyClient({ baseUrl });
    await assert.rejects(accept('t', { quoteAmount: '1' }), (error) => {
      assert.ok(error instanceof ParleyApiError);
      const { status, code, message, unreachable } = error;
      assert.deepEqual([status, code, message], [409, 'terms_moved', 'the terms moved']);
      assert.equal(unreachable, false);
      return true;
    });
    assert.equal(seen.length, 1);
  });
});

test('a mint is never repeated: its nonce is single-use', async () => {
  await withMarket([answer(503, { error: 'stopping' })], async (baseUrl, seen) => {
    const client = parleyClient({ baseUrl });
    const proof = { rail: 'evm', address: '0x', message: '', signature: '' } as const;
    await assert.rejects(client.mintKey(proof), ParleyApiError);
    assert.equal(seen.length, 1);
  });
});

test('a 504 of a broadcast names the transaction to look up, after its tries are used up', async () => {
  const late = answer(504, { error: 'late' }, { 'x-parley-txid': 'ab'.repeat(32) });
  await withMarket([late, late], async (baseUrl, seen) => {
    const client = parleyClient({ baseUrl, tries: 2 });
    await assert.rejects(client.broadcast('bitcoin', '00'), (error) => {
      assert.ok(error instanceof ParleyApiError);
      assert.equal(error.txid, 'ab'.repeat(32));
      return true;
    });
    assert.equal(seen.length, 2);
  });
});

test('Retry-After is waited for, and refused when it is too long', async () => {
  const soon = answer(429, { error: 'slow' }, { 'retry-after': '1' });
  const late = answer(429, { error: 'slow' }, { 'retry-after': '3600' });
  await withMarket([soon, answer(200, { nonce: 'n' }), late], async (baseUrl) => {
    const client = parleyClient({ baseUrl });
    const began = performance.now();
    assert.deepEqual(await client.mintNonce(), { nonce: 'n' });
    assert.ok(performance.now() - began >= 990);
    await assert.rejects(client.mintNonce(), (error) => {
      assert.ok(error instanceof ParleyApiError);
      assert.equal(error.retryAfterSeconds, 3600);
      return true;
    });
  });
});

test('a market that does not answer in time, or answers with something else, is an error', async () => {
  const html = (response: ServerResponse) => void response.writeHead(200).end('<html>');
  await withMarket([() => undefined, html], async (baseUrl) => {
    const hanging = parleyClient({ baseUrl, timeoutMs: 200, tries: 1 });
    await assert.rejects(hanging.me(), (error) => {
      assert.ok(error instanceof ParleyApiError);
      assert.deepEqual([error.status, error.code, error.unreachable], [0, 'no_answer', true]);
      return true;
    });
    await assert.rejects(parleyClient({ baseUrl }).me(), { code: 'bad_answer' });
  });
});

test('the caller can stop a request, and gets its own reason', async () => {
  await withMarket([() => undefined], async (baseUrl) => {
    const reason = new Error('enough');
    const stop = new AbortController();
    setTimeout(() => stop.abort(reason), 50);
    await assert.rejects(parleyClient({ baseUrl }).me({ signal: stop.signal }), reason);
  });
});
