// What numbers of the feed tell: of private RFQs of others nothing, and who resumes by them loses
// nothing.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { someAddress } from '../../../test/support/trading.ts';
import { parseAddress } from '../../market/addresses.ts';
import { prune } from '../../market/prune.ts';
import { about, type FeedClient, type Frame, openFeed } from '../testing/feed-client.ts';
import { anotherProcess, feedMarket } from '../testing/feed-market.ts';

const resume = { resume: true };
/** A market, what it tells a stranger of private RFQs, and how to ask it as one. */
async function strangers(t: TestContext) {
  const own = await feedMarket();
  t.after(() => own.close());
  const { address } = parseAddress(someAddress('evm'), 'dev');
  const holder = await own.trader({ wallets: [{ family: 'evm', address }] });
  const [asks, stranger] = [await own.trader(), await own.trader()];
  const hidden = async () => {
    const { id } = await own.rfq(asks, { visibility: 'private', targetAddress: address });
    await asks.post(`/v1/rfqs/${id}/cancel`);
  };
  const open = async (at: string, since?: number) => {
    const client = await openFeed(at);
    client.send({ apiKey: stranger.key, ...resume, ...(since === undefined ? {} : { since }) });
    await client.of('ready');
    return client;
  };
  return { own, asks, holder, hidden, open };
}

const numbered = ({ frames }: FeedClient) => frames.map(({ type, seq }) => [type, seq]);

test('a stranger’s numbers are the same with private RFQs in between and without', async (t) => {
  const told = async (withHidden: boolean) => {
    const { own, asks, holder, hidden, open } = await strangers(t);
    const seesAll = await own.maker(holder, resume);
    let count = 0;
    /** Waits until it was told to whom it is for, so that it is in the log. */
    const between = async () => {
      if (!withHidden) return;
      await hidden();
      count += 2;
      await seesAll.frame(() => privateOnes(seesAll).length === count);
    };
    await between();
    const live = await open(own.at);
    await between();
    const posted: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const { id } = await own.rfq(asks);
      posted.push(id);
      await live.frame(about(id));
      await between();
      live.send({ ping: `${round}` });
      await live.frame(({ pong }) => pong === `${round}`);
    }
    for (const id of posted) await asks.post(`/v1/rfqs/${id}/cancel`);
    const { seq } = await live.frame(about(posted[2] ?? '', 'cancelled'));
    await between();
    const other = await anotherProcess(own);
    const all = [live];
    for (const at of [own.at, other.at]) {
      for (const since of [undefined, 0, 1, 2, seq - 1, seq, seq + 1])
        all.push(await open(at, since));
    }
    // A day in which nothing public came.
    own.deps.advance(86_400_001);
    await between();
    while ((await prune(own.deps)).feedLog > 0);
    all.push(await open(own.at, seq));
    const frames = all.map(numbered);
    for (const each of [...all, seesAll]) each.close();
    await other.close();
    return frames;
  };
  const privateOnes = ({ frames }: FeedClient) =>
    frames.filter(({ rfq }) => rfq?.visibility === 'private');
  const without = await told(false);
  assert.deepEqual(await told(true), without);
  const [live] = without;
  assert.deepEqual(live, [
    ['snapshot', 1],
    ['ready', 1],
    ...[2, 3, 4].flatMap((seq) => [
      ['rfq', seq],
      ['pong', seq],
    ]),
    ...[5, 6, 7].map((seq) => ['rfq', seq]),
  ]);
});

test('private RFQs go by the number before them: who resumes there is told them again', async (t) => {
  const own = await feedMarket();
  t.after(() => own.close());
  const { address } = parseAddress(someAddress('evm'), 'dev');
  const holder = await own.trader({ wallets: [{ family: 'evm', address }] });
  const asks = await own.trader();
  const client = await own.maker(holder, resume);
  const entry = ({ kind, rfq, seq }: Frame) => [kind, rfq.id, seq];
  const entries = ({ frames }: FeedClient) =>
    frames.filter(({ type }) => type === 'rfq').map(entry);
  const expected: unknown[] = [];
  const publicly = async (seq: number) => expected.push(['created', (await own.rfq(asks)).id, seq]);
  const privately = async (seq: number) => {
    const { id } = await own.rfq(asks, { visibility: 'private', targetAddress: address });
    expected.push(['created', id, seq]);
    return id;
  };
  await publicly(2);
  const first = await privately(2);
  await privately(2);
  await client.frame(() => entries(client).length === 3);
  client.close();
  // Missed: one that goes by the same number, and what comes after.
  await asks.post(`/v1/rfqs/${first}/cancel`);
  expected.push(['cancelled', first, 2]);
  await publicly(3);
  await privately(3);
  const other = await anotherProcess(own);
  t.after(() => other.close());
  for (const at of [own.at, other.at]) {
    for (const [since, from] of [
      [1, 0],
      [2, 1],
      [3, 5],
    ] as const) {
      const again = await openFeed(at);
      again.send({ apiKey: holder.key, ...resume, since });
      await again.frame(() => entries(again).length === expected.length - from);
      await again.of('ready');
      assert.equal(again.frames[0].type, 'resumed');
      assert.deepEqual(entries(again), expected.slice(from));
      again.close();
    }
  }
});
