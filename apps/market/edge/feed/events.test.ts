// Events on the feed: for who asks, of its own threads and RFQs, in order, and none lost between
// two connections.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Trader } from '@parley/verify/test/support/trading.ts';
import { handOut } from '../../webhooks/hand-out.ts';
import type { FeedClient, Frame } from '../testing/feed-client.ts';
import { openMaker } from '../testing/feed-client.ts';
import { agreeOn, anotherProcess, feedMarket } from '../testing/feed-market.ts';

const market = await feedMarket();
after(() => market.close());

const all = ['quote.created', 'thread.accepted', 'thread.proposed', 'thread.closed'];
const resume = { resume: true, events: all };
const isEvent = ({ type }: Frame) => all.includes(type);
const eventsOf = ({ frames }: FeedClient) => frames.filter(isEvent);
const price = { quoteAmount: '65000000' };

async function quoted(maker: Trader, rfqId: string, quoteAmount = price.quoteAmount) {
  const { body } = await maker.post(`/v1/rfqs/${rfqId}/quotes`, { quoteAmount });
  return body.thread.id as string;
}

const propose = (by: Trader, threadId: string, quoteAmount: string) =>
  by.post(`/v1/threads/${threadId}/propose`, { quoteAmount });

/** Also what other tests left. */
async function handedOut(): Promise<void> {
  while ((await handOut(market.deps)) !== 0);
}

test('each side hears of the other, with numbers of its own, and nobody else hears it', async () => {
  const taker = await market.trader();
  const maker = await market.trader();
  const other = await market.trader();
  const ofTaker = await market.maker(taker, resume);
  const ofMaker = await market.maker(maker, { events: all });
  const ofOther = await market.maker(other, resume);
  const plain = await market.maker(maker);
  const { id } = await market.rfq(taker);
  const lost = await quoted(other, id, '64000000');
  const threadId = await quoted(maker, id);
  await propose(taker, threadId, '66000000');
  await agreeOn(market, id, taker, maker);
  await handedOut();
  const closed = await ofOther.of('thread.closed');
  await ofTaker.of('thread.accepted');
  await ofMaker.of('thread.proposed');
  assert.deepEqual(
    eventsOf(ofTaker).map((each) => [each.type, each.threadId]),
    [
      ['quote.created', lost],
      ['quote.created', threadId],
      ['quote.created', threadId],
      ['thread.accepted', threadId],
    ],
  );
  assert.deepEqual(
    eventsOf(ofMaker).map(({ type }) => type),
    ['thread.proposed', 'thread.accepted'],
  );
  assert.deepEqual(eventsOf(ofOther).length, 1);
  const { createdAt, eventSeq, seq, ...rest } = closed;
  assert.deepEqual(rest, {
    type: 'thread.closed',
    threadId: lost,
    rfqId: id,
    role: 'maker',
    reason: 'agreed',
  });
  assert.ok(!Number.isNaN(Date.parse(createdAt)));
  assert.equal(typeof seq, 'number');
  assert.equal(eventsOf(ofMaker)[0].seq, undefined);
  const begun = (await ofOther.of('subscribed')).eventSeq;
  assert.equal(eventSeq, begun + 1);
  assert.deepEqual(eventsOf(plain), []);
});

test('a subscriber that comes back, to any process, gets what it missed in order and then what comes', async () => {
  const taker = await market.trader();
  const maker = await market.trader();
  const first = await market.maker(maker, resume);
  const { id } = await market.rfq(taker);
  const threadId = await quoted(maker, id);
  await propose(taker, threadId, '1000001');
  await handedOut();
  const { eventSeq: sinceEvent } = await first.of('thread.proposed');
  first.close();
  await first.closed;
  for (let n = 2; n <= 4; n += 1) await propose(taker, threadId, `100000${n}`);
  await handedOut();

  const other = await anotherProcess(market);
  const second = await openMaker(other.at, { apiKey: maker.key, ...resume, sinceEvent });
  assert.equal((await second.of('subscribed')).resumed, true);
  await propose(taker, threadId, '1000005');
  await handedOut();
  await second.frame(({ quoteAmount }) => quoteAmount === '1000005');
  assert.deepEqual(
    eventsOf(second).map(({ quoteAmount, eventSeq }) => [quoteAmount, eventSeq - sinceEvent]),
    [2, 3, 4, 5].map((n) => [`100000${n}`, n - 1]),
  );
  second.close();
  await other.close();
});
