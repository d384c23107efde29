// Real clients send what is nearly right: bodies that are packed or in another encoding, paths
// with a slash too many. Each refusal says what came and what is wanted. RFC 9110, 8.4 and 15.5.16;
// RFC 8259, 8.1.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { codeOf, rawAnswer, testEdge } from './testing/edge.ts';
import { evmWallet } from './testing/signers.ts';

const edge = await testEdge();
const key: string = (await edge.mint(evmWallet())).body.key;
const port = await edge.port();
const text = '{"direction":"buy_base"}';

/** Such as `400 bad_field` and its sentence. */
async function posted(payload: Buffer | string, more: Record<string, string> = {}) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more };
  const answer = await edge.app.inject({ method: 'POST', url: '/v1/rfqs', headers, payload });
  const { statusCode: status } = answer;
  return [codeOf({ status, headers: answer.headers }), answer.json().error] as const;
}

test('a body that comes packed is 415, and the packing is named', async () => {
  for (const [coding, bytes] of [
    ['gzip', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['br', brotliCompressSync(text)],
    ['gzip, br', brotliCompressSync(gzipSync(text))],
    ['aws-chunked', text],
  ] as const) {
    const [code, sentence] = await posted(bytes, { 'content-encoding': coding });
    assert.equal(code, '415 not_json');
    assert.match(sentence, new RegExp(`content-encoding: ${coding}, .* send the JSON as it is$`));
  }
  for (const coding of ['identity', 'Identity', ' ']) {
    const [code] = await posted(text, { 'content-encoding': coding });
    assert.equal(code, '400 bad_field', coding);
  }
  const bare = { authorization: `Bearer ${key}`, 'content-encoding': 'gzip' };
  const read = await edge.app.inject({ url: '/v1/rfqs', headers: bare });
  assert.equal(read.statusCode, 200, 'nothing is packed where there is no body');
});

test('a body that is no JSON by its first bytes is told what it is', async () => {
  const utf16 = (plain: string) => Buffer.from(plain, 'utf16le');
  for (const [bytes, words] of [
    [`\ufeff${text}`, /begins with a byte order mark \(U\+FEFF\): send the JSON without it/],
    [utf16(`\ufeff${text}`), /is UTF-16 or UTF-32: send the JSON as UTF-8/],
    [utf16(`\ufeff${text}`).swap16(), /is UTF-16 or UTF-32/],
    [utf16(text), /is UTF-16 or UTF-32/],
    [utf16(text).swap16(), /is UTF-16 or UTF-32/],
    [gzipSync(text), /is compressed by gzip: send the JSON as it is/],
    ["{'direction':1}", /^the body is not valid JSON$/],
  ] as const) {
    const [code, sentence] = await posted(bytes);
    assert.equal(code, '400 malformed_json');
    assert.match(sentence, words);
  }
});

test('a path that is nearly one is 404 and told how it is written', async () => {
  const head = `host: x\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n\r\n`;
  const of = async (line: string) => {
    const answer = await rawAnswer(port, `${line} HTTP/1.1\r\n${head}`);
    const found = /^HTTP\/1\.1 (\d+) [\s\S]*"there is nothing at this path(.*)"\}$/.exec(answer);
    const [, status = '', sentence = ''] = found ?? [];
    return `${status}${sentence}`;
  };
  for (const [asked, written] of [
    ['GET /v1/rfqs/', '/v1/rfqs'],
    ['GET /v1/rfqs/?limit=1', '/v1/rfqs'],
    ['POST /v1/rfqs/', '/v1/rfqs'],
    ['DELETE /v1/webhooks/', '/v1/webhooks'],
    ['GET /v1/rfqs//', '/v1/rfqs'],
    ['GET //v1/rfqs', '/v1/rfqs'],
    ['GET /v1//rfqs', '/v1/rfqs'],
    ['GET /V1/Rfqs', '/v1/rfqs'],
    ['GET /v1%2Frfqs', '/v1/rfqs'],
    ['GET /v1/rfqs%2f', '/v1/rfqs'],
    ['GET /v1/rfqs/Ab/', '/v1/rfqs/Ab'],
    ['POST /V1/rfqs/Ab/cancel', '/v1/rfqs/Ab/cancel'],
    ['GET /readyz/', '/readyz'],
  ]) {
    assert.equal(await of(asked!), `404; it is written ${written}`, asked);
  }
  const long = `/v1/rfqs/${'x'.repeat(190)}`;
  for (const asked of ['/v2/rfqs', '/v1/rfqs;a', '/v1/./rfqs', `${long}//`]) {
    assert.equal(await of(`GET ${asked}`), '404', asked);
  }
});
