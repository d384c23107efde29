// The audience of a thread's events: the other side, and nobody who did not ask for it by name.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Trader } from '@parley/verify/test/support/trading.ts';
import { negotiating, price, secretLock } from '../edge/testing/negotiating.ts';
import { sequenceFeed } from './feed-log.ts';

const market = await negotiating();
const { taker, maker } = market;
const other = await market.trader();
const named = ['thread.accepted', 'thread.proposed', 'thread.closed'];

for (const each of [taker, maker, other]) await asks(each, named);

async function asks(trader: Trader, events: readonly string[]): Promise<void> {
  const url = 'https://example.com/hooks';
  const { status, body } = await trader.post('/v1/webhooks', { url, events });
  assert.equal(status, 201, JSON.stringify(body));
}

/** The events of this thread and their readers, which are then gone. */
async function told(threadId: string): Promise<unknown[]> {
  const rows = await market.sql(
    `delete from outbox where topic like 'thread.%' and payload ->> 'threadId' = $1
      returning id, topic, account_id, payload`,
    threadId,
  );
  rows.sort((a, b) => a.id - b.id);
  const names = new Map([taker, maker, other].map((each, at) => [each.accountId, at]));
  const who = ['taker', 'maker', 'other'];
  return rows.map(({ topic, account_id: to, payload }) => {
    const { threadId: _, rfqId: __, ...rest } = payload;
    return [topic, who[names.get(to) ?? -1], rest];
  });
}

const closed = (role: string, reason: string) => ['thread.closed', role, { role, reason }];

test('each side is told of the other, and the losing maker of nothing but its loss', async () => {
  const { rfqId, threadId } = await market.negotiation();
  const lost = (await market.quote(other, rfqId, '64000000')).body.thread.id;
  const offered = { quoteAmount: '66000000', validForSeconds: 60 };
  const { thread } = (await taker.post(`/v1/threads/${threadId}/propose`, offered)).body;
  const { quoteExpiresAt } = thread;
  assert.ok(quoteExpiresAt);
  await market.propose(maker, threadId, price);
  const at = (await market.accept(taker, threadId, { hashlock: secretLock() })).body.thread;
  const agreed = await market.accept(maker, threadId);
  const { swapId } = agreed.body.thread;
  assert.ok(swapId);
  const { acceptanceExpiresAt } = at;
  assert.ok(acceptanceExpiresAt);
  assert.deepEqual(await told(threadId), [
    ['thread.proposed', 'maker', { quoteAmount: '66000000', quoteExpiresAt }],
    [
      'thread.accepted',
      'maker',
      { role: 'maker', quoteAmount: price, acceptanceExpiresAt, swapId: null },
    ],
    [
      'thread.accepted',
      'taker',
      { role: 'taker', quoteAmount: price, acceptanceExpiresAt: null, swapId },
    ],
  ]);
  assert.deepEqual(await told(lost), [
    ['thread.closed', 'other', { role: 'maker', reason: 'agreed' }],
  ]);
});

test('an acceptance that is said again tells nobody again', async () => {
  const { threadId } = await market.negotiation();
  const hashlock = secretLock();
  for (const _ of [1, 2]) await market.accept(taker, threadId, { hashlock });
  assert.equal((await told(threadId)).length, 1);
});

test('makers are told of a cancelled RFQ, and of an expired one whose threads close', async () => {
  const cancelled = await market.negotiation();
  await taker.post(`/v1/rfqs/${cancelled.rfqId}/cancel`);
  assert.deepEqual(await told(cancelled.threadId), [closed('maker', 'cancelled')]);

  const expired = await market.negotiation({ ttlSeconds: 30 });
  market.deps.advance(30_000);
  await sequenceFeed(market.deps);
  assert.deepEqual(await told(expired.threadId), [closed('maker', 'expired')]);
  const [row] = await market.sql('select status from threads where id = $1', expired.threadId);
  assert.equal(row.status, 'closed');
});

test('a caller that does not name an event is written none: not with a webhook for all either', async () => {
  const silent = await market.trader();
  await asks(silent, []);
  await asks(silent, ['quote.created']);
  const { rfqId, threadId } = await market.negotiation({}, silent);
  await market.propose(taker, threadId, '66000000');
  await market.accept(taker, threadId, { quoteAmount: '66000000', hashlock: secretLock() });
  market.deps.advance(market.deps.settings.acceptTtlSeconds * 1_000);
  const { status } = await taker.post(`/v1/rfqs/${rfqId}/cancel`);
  assert.equal(status, 200);
  assert.deepEqual(await told(threadId), []);
});
