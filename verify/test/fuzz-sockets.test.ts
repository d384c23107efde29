// Bytes that no HTTP client sends: lies about lengths, broken chunks, pipelines, pieces and noise.
// The server answers in its own form or closes, whatever arrives; it never hangs and never fails.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { testEdge } from '@parley/market/edge/testing/edge.ts';
import { evmWallet } from '@parley/market/edge/testing/signers.ts';
import fc from 'fast-check';
import { pino } from 'pino';
import type { Answer } from './fuzz/description.ts';
import { exchange } from './fuzz/wire.ts';

const wanted = Number(process.env.PARLEY_FUZZ_REQUESTS ?? 600);
const seed = Number(process.env.PARLEY_FUZZ_SEED ?? randomInt(2 ** 31));

const faults: string[] = [];
const log = pino({ level: 'error' }, { write: (line: string) => void faults.push(line) });
const edge = await testEdge({ log });
const key: string = (await edge.mint(evmWallet())).body.key;
const port = await edge.port();

function checked(answers: readonly Answer[], about: string): number[] {
  for (const { status, headers, text } of answers) {
    const said = `${about}\n-> ${status} ${text}`;
    assert.ok(status < 500, said);
    if (status < 400) continue;
    assert.equal(headers['content-type'], 'application/json; charset=utf-8', said);
    assert.match(String(headers['x-parley-error']), /^[a-z0-9_]+$/, said);
    assert.deepEqual(Object.keys(JSON.parse(text)), ['error'], said);
  }
  assert.deepEqual(faults, [], about);
  return answers.map(({ status }) => status);
}

const next = 'GET /v1/keys/nonce HTTP/1.1\r\nhost: x\r\n\r\n';
/** This request makes a server that still listens close. */
const last = 'GET /v1/keys/nonce HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';

/** The statuses of what is answered to the text and one request more, sent at once. */
async function say(text: string): Promise<number[]> {
  const bytes = Buffer.from(`${text}${last}`, 'latin1');
  return checked(await exchange(port, [bytes]), text.slice(0, 500));
}

/** The same for a text after which nothing comes. */
async function sayAndEnd(text: string): Promise<number[]> {
  const bytes = Buffer.from(text, 'latin1');
  return checked(await exchange(port, [bytes], 50), text.slice(0, 500));
}

/** A write with a key, so that its body is read. */
function write(headers: string, body: string, line = 'POST /v1/rfqs HTTP/1.1'): string {
  const type = 'content-type: application/json';
  return `${line}\r\nhost: x\r\nx-api-key: ${key}\r\n${type}\r\n${headers}\r\n\r\n${body}`;
}

const chunked = (body: string, headers = 'transfer-encoding: chunked') => write(headers, body);
const get = (line: string, headers = 'host: x') => `${line}\r\n${headers}\r\n\r\n`;
const nonce = 'GET /v1/keys/nonce HTTP/1.1';

/** Bytes behind a body that lies about its length are no request. */
const lengths: [what: string, headers: string, body: string][] = [
  ['a body longer than it says', 'content-length: 2', '{}{}'],
  ['a body of no length at all', 'a: b', '{}'],
  ['a negative length', 'content-length: -1', '{}'],
  ['a length that is no number', 'content-length: 2x', '{}'],
  ['a hexadecimal length', 'content-length: 0x2', '{}'],
  ['a length beyond every integer', `content-length: ${'9'.repeat(30)}`, '{}'],
  ['two lengths', 'content-length: 2\r\ncontent-length: 3', '{}'],
  ['twice the same length', 'content-length: 2\r\ncontent-length: 2', '{}'],
  ['a list of lengths', 'content-length: 2, 2', '{}'],
  ['a length and chunks', 'content-length: 2\r\ntransfer-encoding: chunked', '0\r\n\r\n'],
];
const large = `${(66_000).toString(16)}\r\n${'x'.repeat(66_000)}\r\n0\r\n\r\n`;
const exchanges: [what: string, text: string, statuses: number[]][] = [
  ['chunks', chunked('1\r\n{\r\n1\r\n}\r\n0\r\n\r\n'), [400, 200]],
  ['bytes behind chunks', `${chunked('2\r\n{}\r\n0\r\n\r\n')}${next}`, [400, 200, 200]],
  ['a chunk whose size overflows', chunked(`${'f'.repeat(20)}\r\n{}\r\n`), [400]],
  ['a chunk that is too large', chunked(large), [413]],
  ['an endless extension', chunked(`2;${'x'.repeat(40_000)}\r\n{}\r\n0\r\n\r\n`), [400]],
  ['another coding', chunked('{}', 'transfer-encoding: gzip'), [400]],
  ['a space before the colon', chunked('0\r\n\r\n', 'transfer-encoding : chunked'), [400]],
  ['another protocol', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
  ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', [400]],
  ['a method nobody knows', get('BREW /v1/keys/nonce HTTP/1.1'), [400]],
  ['a raw byte in the path', get('GET /v1/rfqs/\xe9 HTTP/1.1'), [400]],
  ['a folded header', get(nonce, 'host: x\r\na: b\r\n c: d'), [400]],
  ['a line that is too long', get(`GET /${'a'.repeat(20_000)} HTTP/1.1`), [431]],
  ['too many headers', get('GET /v1/me HTTP/1.1', 'a: b\r\n'.repeat(5_000)), [431]],
  ['a head that asks for *', get('OPTIONS * HTTP/1.1'), [404, 200]],
  ['the whole address', get('GET http://x/v1/keys/nonce HTTP/1.1'), [200, 200]],
  ['a tunnel', get('CONNECT x:443 HTTP/1.1'), [400]],
];

test('heads and bodies that no client sends are refused, and nothing behind them is a request', async () => {
  for (const [what, headers, body] of lengths) {
    assert.deepEqual([...new Set(await say(write(headers, body)))], [400], what);
  }
  for (const [what, text, statuses] of exchanges) assert.deepEqual(await say(text), statuses, what);
  // Refused before it arrives; shorter than it says; an upgrade that is let be; cut short; nothing.
  const early = Buffer.from(write('connection: close\r\ncontent-length: 65537', ''));
  assert.deepEqual(checked(await exchange(port, [early]), 'too large'), [413]);
  const upgrade = Buffer.from(last.replace('close', 'close, upgrade\r\nupgrade: h2c'));
  assert.deepEqual(checked(await exchange(port, [upgrade]), 'upgrade'), [200]);
  assert.deepEqual(await sayAndEnd(write('content-length: 9', '{}')), [400]);
  assert.deepEqual(await sayAndEnd(`${nonce}\r\nhost: x\r\n`), [400]);
  assert.deepEqual(await sayAndEnd(''), []);
});

describe('a pipeline', () => {
  test('a pipeline of fifty requests has fifty answers in their order', async () => {
    const turns = Array.from({ length: 50 }, (_, at) => at % 3);
    const texts = [
      next,
      write('content-length: 2', '{}'),
      'GET /v1/me HTTP/1.1\r\nhost: x\r\n\r\n',
    ];
    const statuses = await say(turns.map((turn) => texts[turn]).join(''));
    assert.deepEqual(statuses, [...turns.map((turn) => [200, 400, 401][turn]), 200]);
  });

  test('a client that leaves at once does no harm', async () => {
    for (let turn = 0; turn < 20; turn += 1) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write(next.repeat(100));
      await new Promise((resolve) => socket.once('connect', resolve));
      socket.destroy();
    }
    assert.deepEqual(await say(next), [200, 200]);
  });
});

test('a body that arrives a byte at a time is read, and others are answered meanwhile', async () => {
  const text = write('connection: close\r\ncontent-length: 12', '{"a":"slow"}');
  const pieces = [...Buffer.from(text)].map((byte) => Buffer.of(byte));
  const slow = exchange(port, pieces);
  assert.deepEqual(await say(next), [200, 200]);
  assert.deepEqual(checked(await slow, 'slow'), [400]);
});

test('noise in a request, sent in any pieces, is answered or ends', async (t) => {
  t.diagnostic(`seed ${seed}`);
  const texts = [
    next,
    write('content-length: 2', '{}'),
    write('transfer-encoding: chunked', '2\r\n{}\r\n0\r\nx: y\r\n\r\n'),
    write('content-length: 2', '{}').replace('POST /v1/rfqs', 'DELETE /v1/wallets/0x1'),
    `${next}${write('content-length: 17', '{"quoteAmount":1}')}${next}`,
  ];
  const noise = fc.record({
    text: fc.constantFrom(...texts),
    edits: fc.array(
      fc.record({
        at: fc.nat(400),
        drop: fc.nat(3),
        put: fc.oneof(
          fc.constantFrom('', '\r\n', '\n', '\r', ' ', ':', '\0', '\t', '0', '%', ';', ',', '\xff'),
          fc.string({ maxLength: 4 }),
        ),
      }),
      { maxLength: 3 },
    ),
    cuts: fc.array(fc.nat(400), { maxLength: 6 }),
  });
  let count = 0;
  const property = fc.asyncProperty(noise, async ({ text, edits, cuts }) => {
    const edited = edits.reduce(
      (so, { at, drop, put }) => so.slice(0, at) + put + so.slice(at + drop),
      text,
    );
    const bytes = Buffer.from(edited, 'latin1');
    const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
    const pieces = at.slice(1).map((end, nth) => bytes.subarray(at[nth], end));
    checked(await exchange(port, pieces, 50), JSON.stringify(edited));
    count += 1;
  });
  await fc.assert(property, { numRuns: Math.ceil(wanted / 4), seed });
  t.diagnostic(`${count} exchanges`);
  assert.deepEqual(await say(next), [200, 200]);
});
