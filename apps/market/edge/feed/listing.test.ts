// The frames to makers when an asset closes and reopens, and how a burst of them arrives.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connect } from '../../db/database.ts';
import { closeAsset, reopenAsset } from '../../market/listing.ts';
import type { FeedClient, Frame } from '../testing/feed-client.ts';
import { feedMarket } from '../testing/feed-market.ts';

const market = await feedMarket();
const taker = await market.trader();
/** Another program on the same database: this process does not hear of its changes at once. */
const other = connect(market.url);
after(async () => {
  await other.close();
  await market.close();
});

const change = () => ({
  assetId: market.assets.usd.id,
  by: 'checks' as const,
  at: new Date(market.deps.now()),
});
const close = () => other.transaction((tx) => closeAsset(tx, { ...change(), reasons: ['test'] }));
const reopen = () => other.transaction((tx) => reopenAsset(tx, change()));

const about = (id: string) => (frame: Frame) => frame.type === 'rfq' && frame.rfq.id === id;
const framesOf = ({ frames }: FeedClient, id: string) => frames.filter(about(id));
const kindsOf = (client: FeedClient, id: string) => framesOf(client, id).map(({ kind }) => kind);
const open = async (first?: object) => market.maker(await market.trader(), first);
const resume = { resume: true };
const several = (client: FeedClient, id: string, count: number) =>
  client.frame(() => framesOf(client, id).length >= count);

test('a maker sees an order leave with its token and come back with its id and createdAt', async () => {
  const plain = await open();
  const resuming = await open(resume);
  const posted = await market.rfq(taker);
  const elsewhere = await market.rfq(taker, { quoteAssetId: market.assets.eth.id });
  await close();
  for (const each of [plain, resuming]) await several(each, posted.id, 2);
  const shown = await taker.get('/v1/rfqs?limit=100');
  assert.ok(!shown.body.rfqs.some(({ id }: Frame) => id === posted.id));
  const late = await open();
  assert.ok(!JSON.stringify(late.frames).includes(posted.id));
  await reopen();
  for (const each of [plain, resuming]) {
    await several(each, posted.id, 3);
    assert.deepEqual(kindsOf(each, posted.id), ['created', 'cancelled', 'created']);
    for (const { rfq } of framesOf(each, posted.id)) assert.deepEqual(rfq, posted);
    assert.equal(framesOf(each, elsewhere.id).length, 1);
  }
  assert.deepEqual((await late.frame(about(posted.id))).rfq, posted);
  for (const each of [plain, resuming, late]) each.close();
});
