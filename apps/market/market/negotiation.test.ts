// The negotiation of one RFQ against a small model: the real market (HTTP, PostgreSQL) answers and
// shows the same as the model for all acts of both sides and the clock.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '@parley/verify/test/support/runs.ts';
import type { Answer } from '@parley/verify/test/support/trading.ts';
import fc from 'fast-check';
import { negotiating, secretLock } from '../edge/testing/negotiating.ts';

const acceptTtl = 600_000;
/** The life of a price that has an end of its own. */
const life = 30_000;
const ttlSeconds = 1_800;

const market = await negotiating();
const { taker, maker } = market;

type Side = 'maker' | 'taker';

/** Everything there is to know. Instants in milliseconds; the taker is the initiator. */
type Model = {
  readonly endsAt: number;
  now: number;
  price: number;
  /** When the price ends. */
  until: number | null;
  withdrawn: boolean;
  by: Side;
  accepted: Record<Side, number | null>;
  lock: string | null;
  state: 'live' | 'agreed' | 'cancelled';
  history: { by: Side; price: number }[];
};

type Real = { rfqId: string; threadId: string };

const live = (model: Model) => model.state === 'live' && model.now < model.endsAt;
const open = (model: Model) => live(model) && !model.withdrawn;
const over = ({ until, now }: Model) => until !== null && now >= until;
const stands = (model: Model, side: Side) => {
  const at = model.accepted[side];
  return at !== null && !over(model) && !model.withdrawn && model.now < at + acceptTtl;
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

/** The first that holds is what it is refused with; true when none does. */
function passes({ status, code }: Answer, refusals: readonly (readonly [boolean, string])[]) {
  const refusal = refusals.find(([isSo]) => isSo);
  assert.deepEqual([status, code], refusal === undefined ? [200, null] : [409, refusal[1]]);
  return refusal === undefined;
}

function moves(model: Model, side: Side, price: number, lasts: boolean) {
  model.price = price;
  model.until = lasts ? null : model.now + life;
  model.withdrawn = false;
  model.by = side;
  model.accepted = { maker: null, taker: null };
  model.lock = null;
  model.history.push({ by: side, price });
}

const priced = (price: number, lasts: boolean) => ({
  quoteAmount: String(price),
  ...(!lasts && { validForSeconds: life / 1_000 }),
});

const quote = (price: number, lasts: boolean, unlessAccepted: boolean) =>
  new Step(`quote ${price} ${lasts} ${unlessAccepted}`, async (model, { rfqId, threadId }) => {
    const body = { ...priced(price, lasts), ...(unlessAccepted && { unlessAccepted }) };
    const answer = await maker.post(`/v1/rfqs/${rfqId}/quotes`, body);
    const isQuoted = passes(answer, [
      [!live(model), 'rfq_gone'],
      [unlessAccepted && stands(model, 'taker'), 'taker_accepted'],
      [stands(model, 'maker'), 'committed'],
    ]);
    if (!isQuoted) return;
    assert.equal(answer.body.thread.id, threadId);
    moves(model, 'maker', price, lasts);
  });

const propose = (side: Side, price: number, lasts: boolean) =>
  new Step(`${side} proposes ${price} ${lasts}`, async (model, { threadId }) => {
    const body = priced(price, lasts);
    const answer = await trader(side).post(`/v1/threads/${threadId}/propose`, body);
    const isMoved = passes(answer, [
      [model.state === 'agreed', 'thread_closed'],
      [!live(model), 'rfq_gone'],
      [model.withdrawn, 'thread_closed'],
      [stands(model, side), 'committed'],
    ]);
    if (isMoved) moves(model, side, price, lasts);
  });

const withdraw = () =>
  new Step('withdraw', async (model, { threadId }) => {
    const answer = await maker.post(`/v1/threads/${threadId}/withdraw`);
    const isWithdrawn = passes(answer, [
      [model.state === 'agreed', 'thread_closed'],
      [!model.withdrawn && !live(model), 'rfq_gone'],
      [stands(model, 'maker'), 'committed'],
    ]);
    if (isWithdrawn) model.withdrawn = true;
  });

const accept = (side: Side, words: { price: number | 'current'; lock: 'same' | 'new' }) =>
  new Step(`${side} accepts ${JSON.stringify(words)}`, async (model, { threadId }) => {
    const price = words.price === 'current' ? model.price : words.price;
    const lock = words.lock === 'same' && model.lock !== null ? model.lock : secretLock();
    const answer = await market.accept(trader(side), threadId, {
      quoteAmount: String(price),
      ...(side === 'taker' ? { hashlock: lock } : {}),
    });
    const isAgreed = model.state === 'agreed';
    const bound = isAgreed || (live(model) && stands(model, side));
    const isAccepted = passes(answer, [
      [!isAgreed && !live(model), 'rfq_gone'],
      [model.withdrawn, 'thread_closed'],
      [price !== model.price, 'terms_moved'],
      [!isAgreed && over(model), 'quote_expired'],
      [bound && side === 'taker' && lock !== model.lock, 'hashlock_differs'],
    ]);
    if (!isAccepted || bound) return;
    model.accepted[side] = model.now;
    if (side === 'taker') model.lock = lock;
    if (stands(model, 'maker') && stands(model, 'taker')) model.state = 'agreed';
  });

const cancel = () =>
  new Step('cancel', async (model, { rfqId }) => {
    const answer = await taker.post(`/v1/rfqs/${rfqId}/cancel`);
    const isOver = model.state === 'cancelled';
    const isCancelled = passes(answer, [
      [!isOver && !live(model), 'rfq_gone'],
      [!isOver && stands(model, 'taker'), 'committed'],
    ]);
    if (isCancelled) model.state = 'cancelled';
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
  const { status, quoteAmount, proposedBy, makerAccepted, takerAccepted, swapId } = body;
  const { quoteExpiresAt, withdrawnAt } = body;
  assert.equal(quoteExpiresAt === null ? null : Date.parse(quoteExpiresAt), model.until);
  assert.equal(withdrawnAt !== null, model.withdrawn);
  const told: { by: string; quoteAmount: string }[] = body.messages;
  const shown = { status, quoteAmount, proposedBy, makerAccepted, takerAccepted };
  assert.deepEqual(shown, {
    status: agreed ? 'agreed' : open(model) ? 'open' : 'closed',
    quoteAmount: String(model.price),
    proposedBy: model.by,
    makerAccepted: shows('maker'),
    takerAccepted: shows('taker'),
  });
  assert.equal(swapId !== null, agreed);
  assert.deepEqual(
    told.map((each) => [each.by, each.quoteAmount]),
    model.history.map((each) => [each.by, String(each.price)]),
  );
  const rfq = (await maker.get(`/v1/rfqs/${rfqId}`)).body;
  const ended = model.state === 'live' ? 'expired' : model.state;
  assert.equal(rfq.status, live(model) ? 'negotiating' : ended);
}

async function begin(): Promise<{ model: Model; real: Real }> {
  market.deps.freeze();
  const { id: rfqId } = await market.rfq({ ttlSeconds });
  const { thread } = (await market.quote(maker, rfqId, '1000')).body;
  const now = market.deps.now();
  return {
    real: { rfqId, threadId: thread.id },
    model: {
      endsAt: now + ttlSeconds * 1_000,
      now,
      price: 1_000,
      until: null,
      withdrawn: false,
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
  // Most prices have no end of their own, so that acceptances of them get old.
  const lasts = fc.constantFrom(true, true, false);
  const commands = [
    fc.tuple(prices, lasts, fc.boolean()).map((said) => quote(...said)),
    fc.tuple(sides, prices, lasts).map((said) => propose(...said)),
    fc.tuple(sides, words).map(([side, said]) => accept(side, said)),
    fc.tuple(sides, words).map(([side, said]) => accept(side, said)),
    fc.constantFrom(cancel, withdraw, withdraw).map((ends) => ends()),
    fc.constantFrom(1, life - 1, life, acceptTtl - 1, acceptTtl, ttlSeconds * 500).map(wait),
  ];
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { size: 'medium' }), async (steps) => {
      const { model, real } = await begin();
      await fc.asyncModelRun(() => ({ model, real }), steps);
    }),
    { numRuns: runs(15) },
  );
});
