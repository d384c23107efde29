// The negotiation of one RFQ against a small model: whatever both sides and the clock do, the real
// market (HTTP, PostgreSQL) answers as the model and shows what the model shows.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../test/support/runs.ts';
import { type TestMarket, type Trader, testMarket } from '../../test/support/trading.ts';

const acceptTtl = 600_000;
const ttlSeconds = 1_800;

let market: TestMarket;
let taker: Trader;
let maker: Trader;

before(async () => {
  market = await testMarket();
  taker = await market.trader();
  maker = await market.trader();
});
after(() => market.close());

type Side = 'maker' | 'taker';

/** Everything there is to know. Instants in milliseconds; the taker is the initiator. */
type Model = {
  readonly endsAt: number;
  now: number;
  price: number;
  by: Side;
  accepted: Record<Side, number | null>;
  lock: string | null;
  state: 'live' | 'agreed' | 'cancelled';
  history: { by: Side; price: number }[];
};

type Real = { rfqId: string; threadId: string };

const live = (model: Model) => model.state === 'live' && model.now < model.endsAt;
const stands = (model: Model, side: Side) => {
  const at = model.accepted[side];
  return at !== null && model.now < at + acceptTtl;
};
const trader = (side: Side) => (side === 'maker' ? maker : taker);

class Step implements fc.AsyncCommand<Model, Real> {
  readonly name: string;
  readonly act: (model: Model, real: Real) => Promise<void>;
  constructor(name: string, act: (model: Model, real: Real) => Promise<void>) {
    this.name = name;
    this.act = act;
  }
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    await this.act(model, real);
    await compare(model, real);
  }
  toString = () => this.name;
}

function moves(model: Model, side: Side, price: number) {
  model.price = price;
  model.by = side;
  model.accepted = { maker: null, taker: null };
  model.lock = null;
  model.history.push({ by: side, price });
}

const quote = (price: number) =>
  new Step(`quote ${price}`, async (model, { rfqId, threadId }) => {
    const { status, code, body } = await maker.post(`/v1/rfqs/${rfqId}/quotes`, {
      quoteAmount: String(price),
    });
    if (!live(model)) return assert.deepEqual([status, code], [409, 'rfq_gone']);
    if (stands(model, 'maker')) return assert.deepEqual([status, code], [409, 'committed']);
    assert.deepEqual([status, body.thread.id], [200, threadId]);
    moves(model, 'maker', price);
  });

const propose = (side: Side, price: number) =>
  new Step(`${side} proposes ${price}`, async (model, { threadId }) => {
    const { status, code } = await trader(side).post(`/v1/threads/${threadId}/propose`, {
      quoteAmount: String(price),
    });
    if (model.state === 'agreed') return assert.deepEqual([status, code], [409, 'thread_closed']);
    if (!live(model)) return assert.deepEqual([status, code], [409, 'rfq_gone']);
    if (stands(model, side)) return assert.deepEqual([status, code], [409, 'committed']);
    assert.equal(status, 200);
    moves(model, side, price);
  });

const accept = (side: Side, words: { price: number | 'current'; lock: 'same' | 'new' }) =>
  new Step(`${side} accepts ${JSON.stringify(words)}`, async (model, { threadId }) => {
    const price = words.price === 'current' ? model.price : words.price;
    const fresh = randomBytes(32).toString('hex');
    const lock = words.lock === 'same' && model.lock !== null ? model.lock : fresh;
    const { status, code } = await trader(side).post(`/v1/threads/${threadId}/accept`, {
      quoteAmount: String(price),
      ...(side === 'taker' ? { hashlock: lock } : {}),
    });
    const bound = model.state === 'agreed' || (live(model) && stands(model, side));
    if (model.state !== 'agreed' && !live(model)) {
      return assert.deepEqual([status, code], [409, 'rfq_gone']);
    }
    if (price !== model.price) return assert.deepEqual([status, code], [409, 'terms_moved']);
    if (bound && side === 'taker' && lock !== model.lock) {
      return assert.deepEqual([status, code], [409, 'hashlock_differs']);
    }
    assert.equal(status, 200);
    if (bound) return;
    model.accepted[side] = model.now;
    if (side === 'taker') model.lock = lock;
    if (stands(model, 'maker') && stands(model, 'taker')) model.state = 'agreed';
  });

const cancel = () =>
  new Step('cancel', async (model, { rfqId }) => {
    const { status, code } = await taker.post(`/v1/rfqs/${rfqId}/cancel`);
    if (model.state === 'cancelled') return assert.equal(status, 200);
    if (!live(model)) return assert.deepEqual([status, code], [409, 'rfq_gone']);
    if (stands(model, 'taker')) return assert.deepEqual([status, code], [409, 'committed']);
    assert.equal(status, 200);
    model.state = 'cancelled';
  });

const wait = (ms: number) =>
  new Step(`wait ${ms}`, async (model) => {
    market.deps.advance(ms);
    model.now += ms;
  });

async function compare(model: Model, { rfqId, threadId }: Real) {
  const side: Side = model.history.length % 2 === 0 ? 'maker' : 'taker';
  const { body } = await trader(side).get(`/v1/threads/${threadId}`);
  const agreed = model.state === 'agreed';
  const shows = (each: Side) => agreed || (live(model) && stands(model, each));
  assert.deepEqual(
    {
      status: body.status,
      quoteAmount: body.quoteAmount,
      proposedBy: body.proposedBy,
      makerAccepted: body.makerAccepted,
      takerAccepted: body.takerAccepted,
      hasSwap: body.swapId !== null,
      messages: body.messages.map((each: { by: string; quoteAmount: string }) => [
        each.by,
        each.quoteAmount,
      ]),
    },
    {
      status: agreed ? 'agreed' : live(model) ? 'open' : 'closed',
      quoteAmount: String(model.price),
      proposedBy: model.by,
      makerAccepted: shows('maker'),
      takerAccepted: shows('taker'),
      hasSwap: agreed,
      messages: model.history.map((each) => [each.by, String(each.price)]),
    },
  );
  const rfq = (await maker.get(`/v1/rfqs/${rfqId}`)).body;
  const ended = model.state === 'live' ? 'expired' : model.state;
  assert.equal(rfq.status, live(model) ? 'negotiating' : ended);
}

async function begin(): Promise<{ model: Model; real: Real }> {
  market.deps.freeze();
  const { btc, usd } = market.assets;
  const { rfq } = (
    await taker.post('/v1/rfqs', {
      direction: 'sell_base',
      baseAssetId: btc.id,
      baseAmount: '100000',
      quoteAssetId: usd.id,
      ttlSeconds,
    })
  ).body;
  const { thread } = (await maker.post(`/v1/rfqs/${rfq.id}/quotes`, { quoteAmount: '1000' })).body;
  const now = market.deps.now();
  return {
    real: { rfqId: rfq.id, threadId: thread.id },
    model: {
      endsAt: now + ttlSeconds * 1_000,
      now,
      price: 1_000,
      by: 'maker',
      accepted: { maker: null, taker: null },
      lock: null,
      state: 'live',
      history: [{ by: 'maker', price: 1_000 }],
    },
  };
}

test('a negotiation goes as the model says, whatever both sides and the clock do', async () => {
  const prices = fc.constantFrom(1_000, 2_000, 3_000);
  const sides = fc.constantFrom<Side>('maker', 'taker');
  const words = fc.record({
    price: fc.oneof({ weight: 4, arbitrary: fc.constant('current' as const) }, prices),
    lock: fc.constantFrom<'same' | 'new'>('same', 'same', 'new'),
  });
  const commands = [
    prices.map(quote),
    fc.tuple(sides, prices).map(([side, price]) => propose(side, price)),
    fc.tuple(sides, words).map(([side, said]) => accept(side, said)),
    fc.tuple(sides, words).map(([side, said]) => accept(side, said)),
    fc.constant(null).map(cancel),
    fc.constantFrom(1, acceptTtl - 1, acceptTtl, ttlSeconds * 500).map(wait),
  ];
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { size: 'medium' }), async (steps) => {
      const { model, real } = await begin();
      await fc.asyncModelRun(() => ({ model, real }), steps);
    }),
    { numRuns: runs(15) },
  );
});
