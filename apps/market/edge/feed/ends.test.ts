// How a socket ends: keys that stop being valid, readers that do not read, peers that are gone,
// frames that are too large, a database that is away, and a server that restarts.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Trader } from '@parley/verify/test/support/trading.ts';
import { revokeKeys } from '../../db/keys.ts';
import { openFeed, openMaker } from '../testing/feed-client.ts';
import { anotherProcess, feedMarket } from '../testing/feed-market.ts';

const market = await feedMarket();
after(() => market.close());
const taker = await market.trader();

const revoke = ({ accountId }: Trader) =>
  revokeKeys(market.db, accountId, new Date(market.deps.now()));

test('a revoked key is cut off in every process, and its next quote is not taken', async () => {
  const other = await anotherProcess(market);
  const maker = await market.trader();
  const { id } = await market.rfq(taker);
  const here = await market.maker(maker);
  const there = await openMaker(other.at, { apiKey: maker.key });
  await revoke(maker);
  here.send({ quote: { rfqId: id, quoteAmount: '65000000' } });
  for (const client of [here, there]) {
    assert.equal((await client.closed).code, 4401);
    assert.match(client.frames.at(-1).error, /revoked or has expired/);
  }
  await other.close();
});

test('an expired key is cut off', async () => {
  const maker = await market.trader();
  await market.sql(
    'update api_keys set expires_at = $2 where account_id = $1',
    maker.accountId,
    new Date(market.deps.now() + 60_000),
  );
  const client = await market.maker(maker);
  const stays = await market.maker(await market.trader());
  market.deps.advance(60_001);
  assert.equal((await client.closed).code, 4401);
  assert.equal(stays.ws.readyState, stays.ws.OPEN);
  stays.close();
});

test('a frame of 16 384 bytes is read, a larger one ends the socket with 1009', async () => {
  const maker = await market.trader();
  for (const [bytes, words] of [
    [16_385, /16385 bytes, more than 16384/],
    [5_000_000, /larger than 16384 bytes/],
  ] as const) {
    const client = await market.maker(maker);
    client.send(`"${'x'.repeat(16_382)}"`);
    assert.match((await client.of('error')).error, /must be object/);
    client.send(`"${'x'.repeat(bytes - 2)}"`);
    assert.equal((await client.closed).code, 1009);
    assert.match(client.frames.at(-1).error, words);
  }
});

test('a server that stops ends its sockets with 1012, says so, and takes no more', async () => {
  const own = await feedMarket();
  const maker = await own.trader();
  const clients = await Promise.all([1, 2, 3].map(() => own.maker(maker)));
  const stopping = own.close();
  await assert.rejects(openFeed(own.at), /503|ECONNREFUSED/);
  for (const { closed, frames } of clients) {
    assert.equal((await closed).code, 1012);
    assert.match(frames.at(-1).error, /restarts/);
  }
  await stopping;
});
