// Orders of accounts that have settled nothing: how many there may be, and who need not see them.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Trader } from '@parley/verify/test/support/trading.ts';
import { refused } from '../edge/testing/edge.ts';
import { agreeOn, feedMarket } from '../edge/testing/feed-market.ts';
import { bookOf } from './book.ts';
import { mostLiveRfqs, rfqsOfSettled } from './bounds.ts';
import { rfqPlaces } from './rfqs.ts';

const market = await feedMarket({ liveRfqs: 3 });
after(() => market.close());
const { deps, rfq } = market;
const dayMs = 86_400_000;
// No midnight comes by itself.
deps.freeze();
/** An hour past the next midnight. */
const tomorrow = () => deps.advance(dayMs - (deps.now() % dayMs) + 3_600_000);

/** So many settled swaps of its own, which count from tomorrow on. */
async function settled(own: Trader, swaps: number): Promise<void> {
  for (let count = 0; count < swaps; count += 1) {
    const { id } = await rfq(own);
    await agreeOn(market, id, own, await market.trader());
  }
  await market.sql(`update swaps set status = 'counterparty_claimed'`);
}

const idsOf = (rfqs: { id: string }[]) => rfqs.map(({ id }) => id);
const reader = await market.trader();
async function booked(query: string): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const after: string = cursor === null ? '' : `&cursor=${cursor}`;
    const { body } = await reader.get(`/v1/rfqs?limit=2${query}${after}`);
    found.push(...idsOf(body.rfqs));
    cursor = body.nextCursor;
    if (cursor === null) return found;
  }
}
/** The first frames that a maker is sent. */
async function snapshot(first: object): Promise<string[]> {
  const client = await market.maker(reader, first);
  client.close();
  return idsOf(client.frames[0].rfqs);
}

test('places for live RFQs grow with settled swaps, up to a thousand', async () => {
  for (const [swaps, free, places] of [
    [0, 20, 20],
    [1, 20, 30],
    [98, 20, 1_000],
    [500, 20, 1_000],
    [0, mostLiveRfqs, mostLiveRfqs],
  ] as const) {
    assert.equal(rfqPlaces(swaps, free), places);
  }
  const own = await market.trader();
  await settled(own, 1);
  for (let count = 0; count < 3; count += 1) await rfq(own, { ttlSeconds: 600_000 });
  const full = () => rfq(own, { ttlSeconds: 600_000 });
  await assert.rejects(full, /has 3 live RFQs, and may have 3: 3, and 10 more for/);
  await assert.rejects(full, /for each of its 0 settled swaps of the 29 days before today/);
  tomorrow();
  for (let count = 0; count < rfqsOfSettled; count += 1) await full();
  await assert.rejects(full, /has 13 live RFQs, and may have 13: 3, .* of its 1 settled swaps/);
  await market.sql(`update rfqs set status = 'cancelled'`);
});

test('a caller that asks for it gets a book and a snapshot of accounts with so many settled swaps', async () => {
  const one = await market.trader();
  const two = await market.trader();
  await settled(one, 1);
  await settled(two, 2);
  tomorrow();
  const own = [
    (await rfq(one)).id,
    (await rfq(two)).id,
    (await rfq(one, { direction: 'buy_base' })).id,
  ].reverse();
  const others: string[] = [];
  for (let account = 0; account < 35; account += 1) {
    const stranger = await market.trader();
    for (let count = 0; count < 3; count += 1) others.unshift((await rfq(stranger)).id);
  }
  const all = [...others, ...own];
  assert.deepEqual(await booked(''), all, 'the book is complete, newest first');
  assert.deepEqual(await snapshot({}), all.slice(0, 100));
  assert.deepEqual(await booked('&minSettled=1'), own);
  assert.deepEqual(await booked('&minSettled=2'), own.slice(1, 2));
  assert.deepEqual(await booked('&minSettled=1&direction=buy_base'), own.slice(0, 1));
  assert.deepEqual(await booked('&minSettled=3'), []);
  assert.deepEqual(await snapshot({ minSettled: 1 }), own);
  assert.deepEqual(await snapshot({ minSettled: 2, resume: true }), own.slice(1, 2));
  const { nextCursor } = (await reader.get('/v1/rfqs?limit=1&minSettled=1')).body;
  refused(await reader.get(`/v1/rfqs?cursor=${nextCursor}`), '400 bad_cursor');
  for (const wrong of ['0', '1001', '1.5', 'x']) {
    refused(await reader.get(`/v1/rfqs?minSettled=${wrong}`), '400 bad_field');
  }
  await market.sql(`update rfqs set status = 'cancelled'`);
});

test('an RFQ follows the standing of its creator, from the day it is counted on', async () => {
  const own = await market.trader();
  const { id } = await rfq(own, { ttlSeconds: 600_000 });
  await settled(own, 1);
  assert.deepEqual(await booked('&minSettled=1'), []);
  tomorrow();
  bookOf(market.db).touch();
  assert.deepEqual(await booked(''), [id], 'whoever is looked at is counted');
  assert.deepEqual(await booked('&minSettled=1'), [id]);
});
