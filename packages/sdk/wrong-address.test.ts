// Each way to name another address than a market's: the error says what was asked, what came, and
// what to change.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { makeCertificate } from '@parley/verify/test/support/certificate.ts';
import { parleyClient } from './client.ts';
import { ParleyApiError } from './errors.ts';
import { whyUnreached } from './wrong-address.ts';

async function portOf(t: TestContext, server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const says =
  (status: number, type: string, text: string, more = {}): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': type, ...more }).end(text);

/** Status, code and sentence, the address of this run as `HOST`. */
async function refusal(baseUrl: string): Promise<string> {
  const client = parleyClient({ baseUrl, key: 'k', tries: 1 });
  const error = await client.me().catch((thrown: unknown) => thrown);
  assert.ok(error instanceof ParleyApiError, String(error));
  const { host } = new URL(baseUrl);
  return `${error.status} ${error.code}: ${error.message.replaceAll(host, 'HOST')}`;
}

test('something else than a market is named by what it answers', async (t) => {
  const notFound = { 'x-parley-error': 'not_found' };
  const html = '<!doctype html><title>Welcome</title>';
  const rpc = '{"jsonrpc":"2.0","error":{"code":-32600},"id":null}';
  const is = "Is http://HOST the market's address?";
  const asked = 'GET http://HOST/v1/me';
  const elsewhere = 'and a key is not carried there. Give the address of the market itself';
  for (const [answer, path, expected] of [
    [
      says(200, 'text/html', html),
      '',
      `200 bad_answer: ${asked} answered 200 with a web page. ${is}`,
    ],
    [
      says(404, 'text/html', html),
      '/',
      `404 http_404: ${asked} answered 404 with a web page. ${is}`,
    ],
    [
      says(404, 'text/json', '{"message":"?"}'),
      '',
      `404 http_404: ${asked} answered 404 with other JSON. ${is}`,
    ],
    [
      says(200, 'text/json', '[]'),
      '',
      `200 bad_answer: ${asked} answered 200 with other JSON. ${is}`,
    ],
    [
      says(200, 'text/json', rpc),
      '',
      `200 bad_answer: ${asked} answered 200 with JSON-RPC, as a chain's node does. ${is}`,
    ],
    [
      says(200, 'text/plain', 'ok'),
      '',
      `200 bad_answer: ${asked} answered 200 with no JSON. ${is}`,
    ],
    [
      says(404, 'text/json', '{"error":"there is nothing at this path"}', notFound),
      '/v1',
      '404 not_found: there is nothing at this path (GET http://HOST/v1/v1/me). ' +
        "Is http://HOST/v1 the market's address, or is it http://HOST alone?",
    ],
    [
      says(301, 'text/html', html, { location: 'https://other.example/ignore?all=that' }),
      '',
      `0 no_answer: ${asked} leads to https://other.example, ${elsewhere}`,
    ],
    [
      says(302, 'text/html', html),
      '',
      `0 no_answer: ${asked} leads to another address, ${elsewhere}`,
    ],
  ] as const) {
    const port = await portOf(t, createServer(answer));
    assert.equal(await refusal(`http://127.0.0.1:${port}${path}`), expected);
  }
});

test('a port that is closed, and TLS that is mixed up or not trusted, are named', async (t) => {
  const { key, cert } = makeCertificate(['IP:127.0.0.1']);
  const plain = await portOf(t, createServer(says(200, 'text/json', '{}')));
  const tls = await portOf(t, createTlsServer({ key, cert }, says(200, '', '{}')));
  const closed = createServer();
  const port = await portOf(t, closed);
  closed.close();
  for (const [baseUrl, expected] of [
    [
      `http://127.0.0.1:${port}`,
      'no answer to GET http://HOST/v1/me: nothing listens there. Is the market running, and at this port? (ECONNREFUSED)',
    ],
    [
      `https://127.0.0.1:${plain}`,
      'no answer to GET https://HOST/v1/me: it speaks no TLS. Does the address begin with http://? (ERR_SSL_WRONG_VERSION_NUMBER)',
    ],
    [
      `http://127.0.0.1:${tls}`,
      'no answer to GET http://HOST/v1/me: the connection was closed, or it speaks no HTTP. Does the address begin with https://? (UND_ERR_SOCKET)',
    ],
    [
      `https://127.0.0.1:${tls}`,
      'no answer to GET https://HOST/v1/me: its certificate is not trusted for this name. NODE_EXTRA_CA_CERTS names an authority of your own (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
    ],
  ]) {
    assert.equal(await refusal(baseUrl ?? ''), `0 no_answer: ${expected}`);
  }
  const unknown = new TypeError('fetch failed', {
    cause: Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }),
  });
  assert.match(whyUnreached('http://market.example', unknown), /^no machine has this name/);
});

test('a text that is no address is refused before any request', () => {
  for (const [baseUrl, expected] of [
    ['', /^"" is no address of a market: https:\/\/market\.example is one$/],
    ['market.example', /^"market\.example" is no address/],
    ['localhost:8080', /^"localhost:8080" is no address/],
    ['ws://market.example', /is no address/],
    [
      'https://me:secret@market.example',
      /^the address of a market has no user, query or fragment$/,
    ],
    ['https://market.example/?key=secret', /^the address of a market has no user/],
  ] as const) {
    assert.throws(() => parleyClient({ baseUrl }), { name: 'TypeError', message: expected });
  }
});

test('plain http leaves this machine only where the caller says so', () => {
  const sentence = (baseUrl: string) =>
    `"${baseUrl}" must be https, or http of this machine: a key would be read`;
  for (const baseUrl of [
    'http://market.example',
    'http://10.0.0.1:80',
    'http://localhost.example',
    'http://127.0.0.1.example',
  ]) {
    assert.throws(() => parleyClient({ baseUrl }), { message: sentence(baseUrl) });
    assert.equal(parleyClient({ baseUrl, allowHttp: true }).baseUrl, baseUrl);
  }
  for (const host of ['localhost:8080', 'a.localhost', '127.9.9.9', '[::1]:80']) {
    assert.ok(parleyClient({ baseUrl: `http://${host}` }));
  }
});
