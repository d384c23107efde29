// The maker's feed and its key: a key that ends is replaced once, and another one by nobody.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { openLog } from './log.ts';
import { openFeed } from './market-feed.ts';
import { createMetrics, metricsAt } from './metrics.ts';

const pauseMs = 10;

type Desk = Parameters<typeof openFeed>[0];

/** A feed whose market says that its key has ended; the key that the session has after that. */
async function ended(t: TestContext, then: string) {
  const market = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  t.after(() => market.close());
  await once(market, 'listening');
  const heard: string[] = [];
  const stop = new AbortController();
  t.after(() => stop.abort());
  let key = 'first';
  market.on('connection', (socket) => {
    socket.on('message', () => {
      key = then;
      const error = 'the API key was revoked or has expired';
      socket.send(JSON.stringify({ type: 'error', error, code: 'key_invalid' }));
    });
  });
  const desk = {
    market: { url: `http://127.0.0.1:${(market.address() as AddressInfo).port}` },
    cancelSeconds: 5,
    session: { key: () => key, renew: async () => heard.push('mint') > 0 },
    metrics: metricsAt(createMetrics(), 'one'),
    log: openLog(new PassThrough().resume(), Date.now),
    signal: stop.signal,
  } as unknown as Desk;
  const hearing = { changed: () => {}, heard: () => {}, again: () => void heard.push('again') };
  const feed = openFeed(desk, hearing, pauseMs);
  t.after(() => feed.close());
  await feed.ready.catch(() => undefined);
  // Timers of the same length end in the order in which they began.
  await sleep(pauseMs);
  await turn();
  return heard;
}

test('a key that was revoked is replaced once', async (t) => {
  assert.deepEqual(await ended(t, 'first'), ['mint', 'again']);
});

test('a key that was replaced meanwhile is not replaced again', async (t) => {
  assert.deepEqual(await ended(t, 'second'), []);
});
