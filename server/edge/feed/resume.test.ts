// What a maker gets that asked for more: numbers, what it missed, what is gone, and pongs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { someAddress, type Trader } from '../../../test/support/trading.ts';
import { parseAddress } from '../../market/addresses.ts';
import { mostReplayed } from '../../market/bounds.ts';
import { prune } from '../../market/prune.ts';
import { type FeedClient, type Frame, openFeed } from '../testing/feed-client.ts';
import { anotherProcess, type FeedMarket, feedMarket } from '../testing/feed-market.ts';

let market: FeedMarket;
let taker: Trader;

before(async () => {
  market = await feedMarket();
  taker = await market.trader();
});
after(() => market.close());

const resume = { resume: true };
const about =
  (id: string, kind = 'created') =>
  (frame: Frame) =>
    frame.type === 'rfq' && frame.kind === kind && frame.rfq.id === id;
const gone = (id: string) => (frame: Frame) => frame.type === 'gone' && frame.rfqId === id;

/** Comes back with what it has seen, and waits until it is ready. */
async function back(trader: Trader, since: number): Promise<FeedClient> {
  const client = await openFeed(market.at);
  client.send({ apiKey: trader.key, resume: true, since });
  await client.of('ready');
  return client;
}

async function agree(rfqId: string, maker: Trader): Promise<void> {
  const { body } = await maker.post(`/v1/rfqs/${rfqId}/quotes`, { quoteAmount: '65000000' });
  const { id, initiator } = body.thread;
  const hashlock = Buffer.from(market.deps.randomBytes(32)).toString('hex');
  for (const [by, side] of [
    [taker, 'taker'],
    [maker, 'maker'],
  ] as const) {
    const words = { quoteAmount: '65000000', ...(initiator === side ? { hashlock } : {}) };
    assert.equal((await by.post(`/v1/threads/${id}/accept`, words)).status, 200);
  }
}

test('a ping comes back with its own words; a refusal names its RFQ and its code', async () => {
  const client = await market.maker(await market.trader(), resume);
  client.send({ ping: 'here' });
  assert.equal((await client.of('pong')).pong, 'here');
  client.send({ quote: { rfqId: 'nothing', quoteAmount: '1' } });
  const { code, rfqId } = await client.of('error');
  assert.deepEqual([code, rfqId], ['unknown_rfq', 'nothing']);
  client.send({ ping: 7 });
  await client.frame((frame) => frame.code === 'bad_field');
  client.send({ ping: 'x'.repeat(65) });
  await client.frame(() => client.frames.filter(({ code }) => code === 'bad_field').length === 2);
  client.close();
});

test('gone says that an RFQ has expired or was agreed, to all but its creator', async () => {
  const maker = await market.trader();
  const [one, two] = [await market.maker(maker, resume), await market.maker(taker, resume)];
  const agreed = await market.rfq(taker);
  await one.frame(about(agreed.id));
  await agree(agreed.id, maker);
  const { type, rfqId, reason } = await one.frame(gone(agreed.id));
  assert.deepEqual([type, rfqId, reason], ['gone', agreed.id, 'agreed']);
  const short = await market.rfq(taker, { ttlSeconds: 30 });
  await one.frame(about(short.id));
  market.deps.advance(30_001);
  assert.equal((await one.frame(gone(short.id))).reason, 'expired');
  // Nobody is told of its own.
  assert.ok(!JSON.stringify(two.frames).includes(short.id));
  one.close();
  two.close();
});

test('who comes back is sent exactly what it missed, in order, and then goes on', async () => {
  const maker = await market.trader();
  const address = parseAddress(someAddress('evm'), 'dev').address;
  const holder = await market.trader({ wallets: [{ family: 'evm', address }] });
  const always = await market.maker(holder, resume);
  const first = await market.maker(holder, resume);
  const seen = first.frames.at(-1).seq;
  first.close();
  await first.closed;
  const expected: [string, string][] = [];
  for (let count = 0; count < 30; count += 1) {
    const fields = count % 7 === 3 ? { visibility: 'private', targetAddress: address } : {};
    const { id } = await market.rfq(taker, fields);
    expected.push(['created', id]);
    if (count % 3 === 0) {
      await taker.post(`/v1/rfqs/${id}/cancel`);
      expected.push(['cancelled', id]);
    } else if (count % 5 === 1 && fields.visibility === undefined) {
      await agree(id, maker);
      expected.push(['gone', id]);
    }
  }
  const named = (frame: Frame): [string, string][] =>
    frame.type === 'rfq'
      ? [[frame.kind, frame.rfq.id]]
      : frame.type === 'gone'
        ? [['gone', frame.rfqId]]
        : [];
  await always.frame(() => always.frames.flatMap(named).length >= expected.length);
  const again = await back(holder, seen);
  assert.deepEqual([again.frames[0].type, again.frames[0].seq], ['resumed', seen]);
  assert.deepEqual(again.frames.flatMap(named), expected);
  assert.equal(again.frames.at(-1).type, 'ready');
  assert.deepEqual(
    again.frames.filter(({ type }) => type === 'rfq' || type === 'gone'),
    always.frames.filter(({ type }) => type === 'rfq' || type === 'gone'),
  );
  const { id } = await market.rfq(taker);
  await again.frame(about(id));
  // From the middle, and from the end.
  const middle = again.frames[20].seq;
  const later = await back(holder, middle);
  assert.deepEqual(
    later.frames.flatMap(named),
    again.frames.filter(({ seq }) => seq > middle).flatMap(named),
  );
  const end = await back(holder, later.frames.at(-1).seq);
  assert.deepEqual(end.frames.flatMap(named), []);
  for (const each of [always, again, later, end]) each.close();
});

test('a private RFQ that was missed is sent only to who holds its address now', async () => {
  const address = parseAddress(someAddress('evm'), 'dev').address;
  const holder = await market.trader({
    wallets: [{ family: 'evm', address, standing: 'proven' }],
  });
  const client = await market.maker(holder, resume);
  const seen = client.frames.at(-1).seq;
  client.close();
  const posted = await market.rfq(taker, { visibility: 'private', targetAddress: address });
  const mark = await market.rfq(taker);
  const isTold = async () => {
    const again = await back(holder, seen);
    await again.frame(about(mark.id));
    again.close();
    return again.frames.some(about(posted.id));
  };
  assert.equal(await isTold(), true);
  await market.sql('delete from wallets where account_id = $1', holder.accountId);
  assert.equal(await isTold(), false, 'by the process that told it then');
  const restarted = await anotherProcess(market);
  const again = await openFeed(restarted.at);
  again.send({ apiKey: holder.key, resume: true, since: seen });
  await again.frame(about(mark.id));
  assert.equal(again.frames.some(about(posted.id)), false);
  again.close();
  await restarted.close();
});

test('what cannot be replayed is said to be so, and the book comes anew', async () => {
  const maker = await market.trader();
  const client = await market.maker(maker, resume);
  const { seq } = await client.of('ready');
  client.close();
  for (const since of [seq + 1_000_000, Number.MAX_SAFE_INTEGER]) {
    const again = await back(maker, since);
    assert.deepEqual(
      again.frames.slice(0, 3).map(({ type }) => type),
      ['reset', 'snapshot', 'ready'],
    );
    assert.ok(again.frames[1].seq >= seq);
    again.close();
  }
  const live = await market.maker(await market.trader(), { resume: true });
  await market.sql(
    `insert into feed_log (kind, rfq_id, creator_id, body, at)
      select 'gone', gen_random_uuid(), gen_random_uuid(), 'expired', now()
      from generate_series(1, $1)`,
    mostReplayed + 1,
  );
  const { id } = await market.rfq(taker);
  await live.frame(about(id));
  live.close();
  const long = await back(maker, seq);
  assert.equal(long.frames[0].type, 'reset');
  assert.ok(long.frames[1].rfqs.some((each: Frame) => each.id === id));
  const most = await back(maker, long.frames[0].seq - mostReplayed + 1);
  assert.equal(most.frames[0].type, 'resumed');
  assert.ok(most.frames.length >= mostReplayed);
  long.close();
  most.close();
});

test('the log is kept for a day, and what is older is a reset', async () => {
  const maker = await market.trader();
  const client = await market.maker(maker, resume);
  const { seq } = client.frames.at(-1);
  client.close();
  const old = await market.rfq(taker, { ttlSeconds: 604_800 });
  const before = await back(maker, seq);
  assert.ok((await before.frame(about(old.id))).seq > seq);
  before.close();
  market.deps.advance(86_400_001);
  const posted = await market.rfq(taker);
  const known = await market.maker(maker);
  await known.frame((frame) => JSON.stringify(frame).includes(posted.id));
  while ((await prune(market.deps)).feedLog > 0);
  const other = await anotherProcess(market);
  const again = await openFeed(other.at);
  again.send({ apiKey: maker.key, resume: true, since: seq });
  assert.ok(['reset'].includes((await again.frame(() => true)).type));
  known.close();
  again.close();
  await other.close();
});

test('private RFQs for the account are in the snapshot of who resumes, and in REST', async () => {
  const address = parseAddress(someAddress('evm'), 'dev').address;
  const holder = await market.trader({ wallets: [{ family: 'evm', address }] });
  const posted: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    const fields = { visibility: 'private', targetAddress: address };
    posted.unshift((await market.rfq(taker, fields)).id);
  }
  const client = await market.maker(holder, resume);
  const [snapshot] = client.frames;
  assert.deepEqual(
    snapshot.addressed.map(({ id }: Frame) => id),
    posted,
  );
  assert.ok(snapshot.addressed.every(({ targetAddress }: Frame) => targetAddress === address));
  assert.ok(!JSON.stringify(snapshot.rfqs).includes(posted[0] ?? ''));
  const page = await holder.get('/v1/rfqs?addressed=true&limit=2');
  assert.deepEqual(page.body.rfqs, snapshot.addressed.slice(0, 2));
  const { nextCursor } = page.body;
  const next = await holder.get(`/v1/rfqs?addressed=true&limit=2&cursor=${nextCursor}`);
  assert.deepEqual(next.body, { rfqs: snapshot.addressed.slice(2), nextCursor: null });
  const stranger = await market.trader();
  assert.deepEqual((await stranger.get('/v1/rfqs?addressed=true')).body.rfqs, []);
  assert.deepEqual((await taker.get('/v1/rfqs?addressed=true')).body.rfqs, []);
  const foreign = await stranger.get(`/v1/rfqs?addressed=true&cursor=${nextCursor}`);
  assert.deepEqual([foreign.status, foreign.code], [400, 'bad_cursor']);
  const elsewhere = await holder.get(`/v1/rfqs?cursor=${nextCursor}`);
  assert.equal(elsewhere.status, 400);
  await taker.post(`/v1/rfqs/${posted[0]}/cancel`);
  const after = await holder.get('/v1/rfqs?addressed=true');
  assert.deepEqual(
    after.body.rfqs.map(({ id }: Frame) => id),
    posted.slice(1),
  );
  client.close();
});

test('an answer carries the idempotencyKey of its quote', async () => {
  const client = await market.maker(await market.trader(), resume);
  const { id: rfqId } = await market.rfq(taker);
  const quote = (quoteAmount: string, idempotencyKey: string) =>
    client.send({ quote: { rfqId, quoteAmount, idempotencyKey } });
  quote('65000000', 'one');
  quote('x', 'two');
  quote('64000000', 'one');
  const answer = (key: string, type: string) =>
    client.frame((frame) => frame.idempotencyKey === key && frame.type === type);
  assert.equal((await answer('one', 'quoted')).rfqId, rfqId);
  assert.equal((await answer('two', 'error')).code, 'bad_amount');
  assert.equal((await answer('one', 'error')).code, 'key_reused');
  client.close();
});

test('the error before a close carries seq like every other frame', async () => {
  const maker = await market.trader();
  const client = await market.maker(maker, resume);
  client.send('x'.repeat(20_000));
  await client.closed;
  const { type, seq } = client.frames.at(-1);
  assert.deepEqual([type, seq], ['error', client.frames[0].seq]);
});

test('who comes back to a process that is behind waits for it, and is not reset', async () => {
  const maker = await market.trader();
  const client = await market.maker(maker, resume);
  const { id } = await market.rfq(taker);
  const { seq } = await client.frame(about(id));
  client.close();
  let held: (() => void) | null = null;
  const slow: typeof market.db = {
    ...market.db,
    rows: async (statement) => {
      // Until it is let go, its end of the log is the one before.
      if (statement.name === 'feed_ends' && held === null) {
        held = () => {};
        const text = 'select seq, number from feed_log, generate_series(1, 2) where number = $1';
        return market.sql(text, seq - 1);
      }
      if (statement.name === 'feed_read') await new Promise((resolve) => setTimeout(resolve, 300));
      return market.db.rows(statement);
    },
  };
  const app = await anotherProcess(market, slow);
  const again = await openFeed(app.at);
  again.send({ apiKey: maker.key, resume: true, since: seq });
  await again.of('ready');
  assert.deepEqual(
    again.frames.map(({ type }) => type),
    ['resumed', 'ready'],
  );
  again.close();
  await app.close();
});

test('what is pruned while it is replayed is no hole: the book comes anew', async () => {
  const own = await feedMarket();
  const [asks, maker] = [await own.trader(), await own.trader()];
  const client = await own.maker(maker, resume);
  const first = await own.rfq(asks);
  const { seq } = await client.frame(about(first.id));
  client.close();
  for (let count = 0; count < 5; count += 1) await own.rfq(asks);
  const known = await own.maker(maker, resume);
  await known.frame(() => known.frames.at(-1).seq > seq || known.frames[0].seq > seq);
  known.close();
  const pruning: typeof own.db = {
    ...own.db,
    rows: async (statement) => {
      if (statement.name === 'feed_read' && statement.values[0] === seq) {
        const rows = await own.sql('select 1 from feed_log');
        assert.ok(rows.length >= 5);
        const text = 'delete from feed_log where seq < (select max(seq) from feed_log)';
        await own.sql(text);
      }
      return own.db.rows(statement);
    },
  };
  const app = await anotherProcess(own, pruning);
  const again = await openFeed(app.at);
  again.send({ apiKey: maker.key, resume: true, since: seq });
  const { rfqs } = await again.of('snapshot');
  assert.equal(rfqs.length, 6);
  const types = again.frames.map(({ type }) => type);
  assert.deepEqual(types.slice(0, 3), ['resumed', 'reset', 'snapshot']);
  again.close();
  await app.close();
  await own.close();
});

test('a database that fails now and then makes no hole, sends nothing twice and no seq back', async () => {
  const own = await feedMarket();
  const [asks, maker] = [await own.trader(), await own.trader()];
  const client = await own.maker(maker, resume);
  const first = await own.rfq(asks);
  const { seq } = await client.frame(about(first.id));
  client.close();
  const posted: string[] = [];
  for (let count = 0; count < 5; count += 1) posted.push((await own.rfq(asks)).id);
  const known = await own.maker(maker, resume);
  await known.frame(() => known.frames.at(-1).seq > seq || known.frames[0].seq > seq);
  known.close();
  for (const name of ['find_live_keys', 'feed_place', 'feed_read', 'rfqs_book']) {
    for (const since of name === 'rfqs_book' ? [seq + 1_000_000] : [seq]) {
      let failures = 0;
      const failing: typeof own.db = {
        ...own.db,
        rows: (statement) => {
          const isReplay = statement.name !== 'feed_read' || statement.values[0] === seq;
          // The first of a key is that of its first frame.
          const from = name === 'find_live_keys' ? 1 : 0;
          if (statement.name === name && isReplay) failures += 1;
          const fails = statement.name === name && isReplay && failures === from + 1;
          if (fails) return Promise.reject(new Error('now and then'));
          return own.db.rows(statement);
        },
      };
      const app = await anotherProcess(own, failing);
      const again = await openFeed(app.at);
      again.send({ apiKey: maker.key, resume: true, since });
      await again.of('ready');
      const types = again.frames.map(({ type }) => type);
      const told = again.frames.flatMap(({ rfq }) => (rfq === undefined ? [] : [rfq.id]));
      if (name === 'rfqs_book') {
        assert.deepEqual([types.at(-2), types.includes('resumed')], ['snapshot', false], name);
      } else {
        assert.deepEqual([types.indexOf('resumed'), types.lastIndexOf('resumed')], [0, 0], name);
        assert.deepEqual(told, posted, name);
      }
      const numbers = again.frames.map((frame) => frame.seq);
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => a - b),
        name,
      );
      again.close();
      await app.close();
    }
  }
  await own.close();
});
