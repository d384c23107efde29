// Cancel on disconnect: the quotes of a maker all of whose connections are gone for as long as they
// said are withdrawn, by whichever process is there, and no others.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Trader } from '@parley/verify/test/support/trading.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { notifyWork } from '../../db/work.ts';
import { withdrawDue } from '../../market/cancel-on-disconnect.ts';
import { handOut } from '../../webhooks/hand-out.ts';
import type { FeedClient } from '../testing/feed-client.ts';
import { feedMarket } from '../testing/feed-market.ts';

const market = await feedMarket();
after(() => market.close());
const taker = await market.trader();
const price = { quoteAmount: '65000000' };
/** The longest, so that none is over before a slow machine has looked. */
const armed = { cancelOnDisconnect: 60 };

/** A maker with an open quote. */
async function quoting() {
  const maker = await market.trader();
  return { maker, threadId: await quoted(maker) };
}

async function quoted(maker: Trader): Promise<string> {
  const { id } = await market.rfq(taker);
  return (await maker.post(`/v1/rfqs/${id}/quotes`, price)).body.thread.id;
}

const statusOf = async (threadId: string) =>
  (await taker.get(`/v1/threads/${threadId}`)).body.status;

async function closed(client: FeedClient): Promise<void> {
  client.close();
  await client.closed;
}

const graces = (maker: Trader) =>
  market.sql('select due_at from feed_switches where account_id = $1', maker.accountId);

/** When its process has stored that a connection is gone. */
const isGone = (maker: Trader, count = 1) =>
  waitUntil(async () => (await graces(maker)).filter(({ due_at: at }) => at).length === count);

/** As if so much time had passed since its connections were gone. */
async function pass(maker: Trader, seconds: number): Promise<void> {
  await market.sql(
    `update feed_switches set due_at = due_at - $2 * interval '1 second' where account_id = $1`,
    maker.accountId,
    seconds,
  );
  // The market sleeps until the moment that it knew.
  await notifyWork(market.db, 'feed switches');
}

const levelsOf = async ({ accountId }: Trader) =>
  (await market.sql('select from levels where account_id = $1', accountId)).length;

const isWithdrawn = (threadId: string) =>
  waitUntil(async () => (await statusOf(threadId)) === 'closed');
/** The withdrawals due now, and the remainder of a pass that the market itself had begun. */
const look = () => withdrawDue(market.deps, false);

test('gone for so long, and not a moment less, on the clock of the database', async () => {
  const { maker, threadId } = await quoting();
  const level = { direction: 'sell_base', baseAmount: '100000', ...price, validForSeconds: 600 };
  const pair = { baseAssetId: market.assets.btc.id, quoteAssetId: market.assets.usd.id };
  await maker.post('/v1/levels', { ...pair, levels: [level] });
  const client = await market.maker(maker, armed);
  assert.equal((await client.of('cancelOnDisconnect')).seconds, 60);
  await closed(client);
  await isGone(maker);
  // Clocks of processes say nothing.
  market.deps.advance(3_600_000);
  await look();
  market.deps.advance(-3_600_000);
  await pass(maker, 55);
  await look();
  assert.equal(await statusOf(threadId), 'open');
  assert.equal(await levelsOf(maker), 1);
  await pass(maker, 5);
  await isWithdrawn(threadId);
  assert.equal(await levelsOf(maker), 0);
  await waitUntil(async () => (await graces(maker)).length === 0);
});

test('the taker is told and so is the maker when it comes back; nobody else’s quotes end', async () => {
  const { maker, threadId } = await quoting();
  const other = await quoting();
  const events = ['thread.closed'];
  const ofTaker = await market.maker(taker, { events });
  const before = await market.maker(maker, { ...armed, events });
  const { eventSeq: sinceEvent } = await before.of('subscribed');
  const plain = await market.maker(other.maker);
  await closed(plain);
  await closed(before);
  await isGone(maker);
  await pass(maker, 60);
  await isWithdrawn(threadId);
  while ((await handOut(market.deps)) !== 0);
  const back = await market.maker(maker, { ...armed, events, sinceEvent });
  for (const [role, client] of Object.entries({ taker: ofTaker, maker: back })) {
    const { threadId: id, reason, ...told } = await client.of('thread.closed');
    assert.deepEqual([id, reason, told.role], [threadId, 'disconnected', role]);
  }
  assert.equal(await statusOf(other.threadId), 'open');
});

test('a maker back within its grace keeps its quotes, and so does one with another connection', async () => {
  const { maker, threadId } = await quoting();
  await closed(await market.maker(maker, armed));
  await isGone(maker);
  await pass(maker, 55);
  const one = await market.maker(maker, armed);
  const two = await market.maker(maker, armed);
  await closed(one);
  await isGone(maker);
  await pass(maker, 60);
  await look();
  assert.equal(await statusOf(threadId), 'open');
  // One that did not ask keeps nothing alive.
  await market.maker(maker);
  await closed(two);
  await isGone(maker, 2);
  await look();
  assert.equal(await statusOf(threadId), 'open');
  await pass(maker, 60);
  await isWithdrawn(threadId);
});

test('one that says that it asks no more keeps its quotes; a grace out of bounds is refused', async () => {
  const { maker, threadId } = await quoting();
  const client = await market.maker(maker, { ...armed, resume: true });
  client.send({ cancelOnDisconnect: 4 });
  const { error, code } = await client.of('error');
  assert.match(error, /cancelOnDisconnect.* 5/);
  assert.equal(code, 'bad_field');
  client.send({ cancelOnDisconnect: 60 });
  await client.frame(({ seconds }) => seconds === 60);
  assert.equal((await graces(maker)).length, 1);
  client.send({ cancelOnDisconnect: null });
  await client.frame(({ seconds }) => seconds === null);
  await closed(client);
  await look();
  assert.deepEqual([await graces(maker), await statusOf(threadId)], [[], 'open']);
});

test('a maker back too late finds its quotes withdrawn before it is answered, and new ones stay', async () => {
  const { maker, threadId } = await quoting();
  await closed(await market.maker(maker, armed));
  await isGone(maker);
  // Over, and somebody has begun, who does not go on.
  await market.sql(
    `update feed_switches set fired = true, due_at = clock_timestamp() + interval '10 s'
      where account_id = $1`,
    maker.accountId,
  );
  await look();
  assert.equal(await statusOf(threadId), 'open');
  const client = await market.maker(maker, armed);
  await client.of('cancelOnDisconnect');
  assert.equal(await statusOf(threadId), 'closed');
  const fresh = await quoted(maker);
  await look();
  assert.equal(await statusOf(fresh), 'open');
});

test('a process that was taken for dead ends the connections whose quotes are gone', async () => {
  const { maker, threadId } = await quoting();
  const client = await market.maker(maker, armed);
  await client.of('cancelOnDisconnect');
  await market.sql(
    `update feed_switches set fired = true, due_at = clock_timestamp() where account_id = $1`,
    maker.accountId,
  );
  assert.equal((await client.closed).code, 1012);
  assert.match((await client.of('error')).error, /your quotes were withdrawn/);
  await isWithdrawn(threadId);
});
