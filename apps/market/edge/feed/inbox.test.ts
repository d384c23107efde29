// How many frames of a socket are answered at a time: on a real socket, with quotes that take as
// long as the test says.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import type { WebSocket } from 'ws';
import { causeNow } from '../../ports/cause.ts';
import type { Caller } from '../auth.ts';
import { socketServer } from '../testing/sockets.ts';
import { createHub } from './hub.ts';
import { openInbox } from './inbox.ts';
import type { Feed } from './maker.ts';
import { createPeer } from './peer.ts';

const key = `parley_test_${'k'.repeat(43)}`;
const caller: Caller = {
  accountId: 'an account',
  by: 'key',
  keyId: 'a key',
  scopes: ['maker'],
  expiresAtMs: Number.POSITIVE_INFINITY,
  signedInAt: null,
  isBlocked: false,
};
const connect = await socketServer();

/** A feed whose quotes end when they are let. */
function held() {
  const gate = Promise.withResolvers<void>();
  const count = { inHand: 0, most: 0, all: 0 };
  const causes = new Set<string | undefined>();
  const one = async () => {
    count.inHand += 1;
    count.all += 1;
    causes.add(causeNow()?.requestId);
    count.most = Math.max(count.most, count.inHand);
    await gate.promise;
    count.inHand -= 1;
    return {
      status: 201,
      code: null,
      replayed: false,
      body: { thread: { id: 'a', rfqId: 'b' } },
    };
  };
  const feed = {
    hub: createHub(),
    keys: { known: () => caller },
    budgets: { spendCaller: () => ({ allowed: true }) },
    uses: { note: () => {} },
    deps: { settings: { shortName: 'parley' } },
    known: () => new Promise<void>(() => {}),
    isClosing: () => false,
    commands: { one },
  };
  return { feed: feed as unknown as Feed, count, causes, release: gate.resolve };
}

const from = { client: '192.0.2.1', cause: { requestId: 'opened' }, stranger: null };

async function connected(feed: Feed, first: object = {}): Promise<WebSocket> {
  const { client, ours } = await connect((ws, socket) =>
    openInbox(feed, ws, createPeer(ws, socket), from),
  );
  client.send(JSON.stringify({ apiKey: key, ...first }));
  await waitUntil(() => ours.maker() !== null);
  return client;
}

test('64 frames of a socket are answered at a time, however many come at once', async () => {
  const { feed, count, causes, release } = held();
  const client = await connected(feed);
  let answered = 0;
  client.on('message', () => {
    answered += 1;
  });
  for (let at = 0; at < 300; at += 1) {
    client.send(JSON.stringify({ quote: { rfqId: `rfq-${at}`, quoteAmount: '1' } }));
  }
  await waitUntil(() => count.inHand >= 64);
  // More of them would come within this.
  await sleep(300);
  assert.equal(count.most, 64);
  release();
  await waitUntil(() => answered >= 300);
  assert.deepEqual([count.all, count.most, count.inHand], [300, 64, 0]);
  assert.deepEqual([...causes], ['opened'], 'lines of the log name the request that opened it');
  client.terminate();
});
