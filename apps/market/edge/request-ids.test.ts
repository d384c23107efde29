// The name of a request, from a trusted proxy or made here, in answers, lines of the log and the
// sentence of a fault; and the trace that its caller is part of.

import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import Type from 'typebox';
import { createLog } from '../ports/log.ts';
import { read } from './command.ts';
import { createRequestIds, traceIdOf } from './request-ids.ts';
import { testEdge } from './testing/edge.ts';
import { evmWallet } from './testing/signers.ts';
import { addTestCommand, type Steps } from './testing/test-command.ts';

type Line = Readonly<Record<string, unknown>>;
const lines: Line[] = [];
const log = createLog('debug', { write: (line: string) => void lines.push(JSON.parse(line)) });
const steps: Steps = { plan: {}, runs: 0 };
const settings = { trustedProxies: ['192.0.2.7'] };
const edge = await testEdge({ log, settings }, (app, deps) => {
  addTestCommand(app, deps, steps, '/v1/test/:id');
  read({ app, deps, tag: 'test' }, '/v1/test-read', 'testRead', {
    about: 'test',
    replies: { 200: Type.Object({}) },
    handle: async () => {
      deps.log.debug('while it reads');
      return {};
    },
  });
});
const key: string = (await edge.mint(evmWallet())).body.key;
const own = /^[0-9a-f]{20}$/;
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
const of = (requestId: string) => lines.filter((line) => line.requestId === requestId);

test('a name is taken over from a trusted proxy where it is well formed, and from nobody else', async () => {
  const asked = async (given: string, ip: string) => {
    const headers = { 'x-request-id': given };
    return (await edge.call('GET', '/livez', { headers, ip })).headers['x-request-id'] ?? '';
  };
  const proxy = '192.0.2.7';
  for (const good of [randomUUID(), 'a1-B2_c3', 'Root=1-67891233-abcdef', 'x'.repeat(64)]) {
    assert.equal(await asked(good, proxy), good);
    assert.match(await asked(good, '192.0.2.8'), own);
  }
  for (const bad of [
    'short-7',
    'x'.repeat(65),
    'with space',
    'quote"quote',
    'a;b;c;d;e',
    'ünïcödé-x',
  ]) {
    assert.match(await asked(bad, proxy), own, bad);
  }
});

test('no two requests have one name, though their bytes are drawn for many at once', () => {
  const { next } = createRequestIds({ settings: { trustedProxies: [] }, randomBytes });
  const names = Array.from({ length: 1_500 }, next);
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.match(name, own);
});

test('a fault says in its sentence, its header and the log which request it was, a retry too', async () => {
  steps.plan = { run: () => Promise.reject(new Error('of ours')) };
  const headers = { 'idempotency-key': 'k1', traceparent };
  const first = await edge.call('POST', '/v1/test/1', { key, body: {}, headers });
  const requestId = first.headers['x-request-id'] ?? '';
  const error = `something failed on our side; it has been logged as request ${requestId}`;
  assert.deepEqual([first.status, first.body], [500, { error }]);
  const [line] = of(requestId).filter(({ msg }) => msg === 'request failed');
  assert.deepEqual([line?.traceId, line?.method, line?.route], [traceId, 'POST', '/v1/test/:id']);
  // The kept reply is the answer of then: its lines are those that tell.
  const again = await edge.call('POST', '/v1/test/1', { key, body: {}, headers });
  assert.deepEqual([again.status, again.body], [500, { error }]);
  assert.notEqual(again.headers['x-request-id'], requestId);
});

test('a line of the log that a request has written, in any room, has its name', async () => {
  steps.plan = {
    before: async () => edge.deps.log.info('before'),
    run: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      edge.deps.log.warn({ swapId: 'a swap' }, 'deep inside');
    },
  };
  const { headers } = await edge.call('POST', '/v1/test/2', {
    key,
    body: {},
    headers: { traceparent },
  });
  const told = of(headers['x-request-id'] ?? '').map((line) => [line.msg, line.traceId]);
  assert.deepEqual(told, [
    ['before', traceId],
    ['deep inside', traceId],
    ['request', traceId],
  ]);
  const answer = await edge.call('GET', '/v1/test-read', { key });
  assert.deepEqual(
    of(answer.headers['x-request-id'] ?? '').map(({ msg }) => msg),
    ['while it reads', 'request'],
  );
  edge.deps.log.info('of nobody');
  assert.ok(!('requestId' in (lines.at(-1) ?? {})));
});

test('a trace is taken over where it is one by W3C Trace Context, and none is made up', () => {
  const good = [
    traceparent,
    `00-${traceId}-00f067aa0ba902b7-00`,
    `cc-${traceId}-00f067aa0ba902b7-01-more`,
  ];
  for (const each of good) assert.equal(traceIdOf({ traceparent: each }), traceId, each);
  for (const bad of [
    undefined,
    '',
    traceparent.toUpperCase(),
    traceparent.slice(1),
    `${traceparent}-more`,
    `cc-${traceId}-00f067aa0ba902b7-01more`,
    `ff-${traceId}-00f067aa0ba902b7-01`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-00f067aa0ba902b7`,
  ]) {
    assert.equal(traceIdOf({ traceparent: bad }), undefined, bad);
  }
});
