// The maker's words on its threads, and the end of acceptances whose answer was lost. A market
// notes what it hears. The acceptances in earnest: verify/test/maker.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import type { Thread } from '@parley/sdk/types.ts';
import { type AcceptingInput, createAccepting } from './accepting.ts';
import type { Deal } from './journal.ts';
import type { Mode } from './rules/decide.ts';
import { btc, dealOf, pair, partsOf, pricedPair, sol } from './testing/stage.ts';

/** 0.01 BTC; at 400 SOL each the maker gives 3.96 SOL. */
function threadAt(quoteAmount: string, more: Partial<Thread> = {}): Thread {
  const rfq = {
    id: 'rfq',
    creatorId: 'taker',
    direction: 'sell_base',
    baseAmount: '1000000',
    baseAssetId: 'id-btc',
    quoteAssetId: 'id-sol',
  };
  return {
    id: 'thread',
    rfqId: 'rfq',
    rfq,
    makerId: 'me',
    takerId: 'taker',
    status: 'open',
    quoteAmount,
    proposedBy: 'maker',
    makerAccepted: false,
    takerAccepted: false,
    swapId: null,
    ...more,
  } as Thread;
}

/** One whose swap is not known yet. */
const acceptedOf = (threadId: string, acceptedAt: number): Deal => ({
  ...dealOf(threadId, '', acceptedAt),
  rfqId: 'rfq',
  takerId: 'taker',
  gives: 'quote',
  swapId: null,
});

function stage(thread: Thread, price = '400', mostOpen: bigint | null = null, of = pair) {
  const heard: string[] = [];
  const at = { ms: 1_000_000, thread, mode: 'open' as Mode, price, refuses: null as number | null };
  const parts = partsOf({ at, assets: [btc, { ...sol, mostOpen }] });
  const { promises, deals } = parts;
  /** Besides it, and until when a question about one thread has no answer. */
  const more = { threads: [] as Thread[], answers: Promise.resolve() };
  const client = {
    baseUrl: 'https://one.example',
    thread: async () => {
      await more.answers;
      return at.thread;
    },
    swaps: async () => ({ swaps: [{ id: 's', threadId: 'thread', status: 'agreed' }] }),
    quotes: async () => ({ threads: [at.thread, ...more.threads], nextCursor: null }),
    propose: async (_: string, amount: string) => {
      heard.push(`propose ${amount}`);
      if (at.refuses !== null) {
        throw new ParleyApiError({ status: at.refuses, code: 'no', message: 'no' });
      }
    },
    withdrawQuote: async () => void heard.push('withdraw'),
  };
  const settling = {
    begin: ({ swapId }: Deal) => void heard.push(`settle ${swapId}`),
    drop: async (deal: Deal, how: 'lapsed' | 'refused') => {
      promises.ended({ ...deal, end: how });
      heard.push(how);
    },
  };
  const pinned = { token: null, highValueFrom: null };
  const accepting = createAccepting({
    ...parts,
    userId: 'me',
    isHedged: false,
    chains: {},
    pairs: [{ ...of, quote: { ...sol, mostOpen } }],
    journal: {
      deals,
      keep: async (deal) => void deals.set(deal.threadId, deal),
      close: async () => undefined,
    },
    assets: new Map([
      ['btc', { id: 'id-btc', chain: 'bitcoin', decimals: 8, ...pinned }],
      ['sol', { id: 'id-sol', chain: 'solana', decimals: 9, ...pinned }],
    ]),
    ...({ client, settling, store: { getSwap: async () => null } } as unknown as Pick<
      AcceptingInput,
      'client' | 'settling' | 'store'
    >),
  });
  const look = async () => {
    await accepting.look();
    await new Promise(setImmediate);
    return heard.splice(0);
  };
  return { at, accepting, heard, look, more, ...parts };
}

test('a proposal that is good enough is named as the own price, another is answered with it', async () => {
  const proposed = { proposedBy: 'taker' } as const;
  for (const [amount, answered] of [
    // The quote, what leaves 76 basis points, and what leaves 74: 75 are enough.
    ['3960000000', ['propose 3960000000']],
    ['3969800000', ['propose 3969800000']],
    ['3970300000', ['propose 3960000000']],
  ] as const) {
    const { look, promises } = stage(threadAt(amount, proposed));
    assert.deepEqual(await look(), answered, amount);
    assert.equal(promises.quotes.get('rfq')?.threadId, 'thread', 'it is promised');
  }
  const { at, look } = stage(threadAt('3970300000', proposed));
  at.mode = 'paused';
  assert.deepEqual(await look(), [], 'nothing new is said when quoting is paused');
});

test('answers and acceptances have the spread of their size and of what is held', async () => {
  const by = (amount: string, more: Partial<Thread>) =>
    stage(threadAt(amount, more), '400', null, pricedPair).look();
  const proposed = { proposedBy: 'taker' } as const;
  assert.deepEqual(await by('3970300000', proposed), ['propose 3920000000']);
  // 175 basis points are enough, which 3.9311 SOL leave.
  assert.deepEqual(await by('3931100000', proposed), ['propose 3931100000']);
  assert.deepEqual(await by('3931400000', proposed), ['propose 3920000000']);
  const accepted = { takerAccepted: true } as const;
  assert.deepEqual(await by('3942000000', accepted), ['withdraw'], '147, and 150 are enough');
});

test('an acceptance at a price that moved is none; unless it is quoted anew it is withdrawn', async () => {
  // Two per cent less: 3.96 SOL for 3.92 is a loss.
  const { at, deals, look } = stage(threadAt('3960000000', { takerAccepted: true }), '392');
  assert.deepEqual(await look(), ['withdraw']);
  assert.deepEqual(await look(), [], 'once');
  assert.equal(deals.size, 0);
  at.mode = 'killed';
  assert.deepEqual(await look(), ['withdraw'], 'the kill switch does, whoever quoted it');
});

test('an acceptance whose answer was lost is followed to its swap, or until it has lapsed', async () => {
  const accepted = { makerAccepted: true };
  for (const [what, thread, agoSeconds, becomes] of [
    ['it may still be on its way', threadAt('1'), 119, []],
    ['it never came', threadAt('1'), 121, ['lapsed']],
    ['it waits for the taker', threadAt('1', accepted), 899, []],
    ['for too long', threadAt('1', accepted), 901, ['lapsed']],
    ['the thread is closed', threadAt('1', { ...accepted, status: 'closed' }), 5, ['lapsed']],
    ['there is the swap', threadAt('1', { status: 'agreed', swapId: 's' }), 901, ['settle s']],
  ] as const) {
    const { accepting, deals, heard, promises } = stage(thread);
    promises.dealt(acceptedOf('thread', 1_000 - agoSeconds), null);
    await accepting.followUp();
    assert.deepEqual(heard, becomes, what);
    const swapId = becomes[0] === 'settle s' ? 's' : undefined;
    assert.equal(deals.get('thread')?.swapId, swapId, 'a swap is kept before it is settled');
  }
});

test('a swap of an acceptance that was called over is settled where the caps allow it', async () => {
  for (const [mostOpen, becomes] of [
    [1n, ['settle s']],
    [0n, []],
  ] as const) {
    const { accepting, deals, heard } = stage(threadAt('1'), '400', mostOpen);
    deals.set('thread', { ...acceptedOf('thread', 990), end: 'lapsed', endedAt: 999 });
    await accepting.adopt();
    assert.deepEqual(heard, becomes);
  }
});

test('swaps of one RFQ on many threads count beside each other', async () => {
  for (const [threadId, heard] of [
    ['thread', ['lapsed']],
    ['another', ['withdraw']],
  ] as const) {
    const accepted = threadAt('3960000000', { takerAccepted: true });
    const { deals, look, promises } = stage(accepted, '400', 5_000_000_000n);
    const amounts = { base: 1_000_000n, quote: 3_960_000_000n };
    promises.dealt({ ...acceptedOf(threadId, 999), ...amounts }, null);
    assert.deepEqual(await look(), heard, threadId);
    assert.equal(deals.size, threadId === 'thread' ? 1 : 0);
  }
});

test('an answer waits for the price of its RFQ that is on its way, and counts from when it is heard', async () => {
  const { at, heard, look, promises, turns } = stage(
    threadAt('3960000000', { proposedBy: 'taker' }),
  );
  turns.take('rfq');
  assert.deepEqual(await look(), []);
  turns.end('rfq');
  await new Promise(setImmediate);
  assert.deepEqual(heard, ['propose 3960000000']);
  assert.ok(!turns.isTaken('rfq'));
  assert.equal(promises.quotes.get('rfq')?.untilMs, at.ms + 92_000);
});

test('an answer that the market refuses promises nothing; one without an answer may stand', async () => {
  for (const [status, isPromised] of [
    [409, false],
    [0, true],
  ] as const) {
    const { at, look, promises, turns } = stage(threadAt('3960000000', { proposedBy: 'taker' }));
    at.refuses = status;
    await look();
    assert.equal(promises.quotes.has('rfq'), isPromised);
    assert.ok(!turns.isTaken('rfq'));
  }
});

test('an acceptance that has no answer yet is said once, and holds up no other thread', async () => {
  const { deals, look, more } = stage(threadAt('3960000000', { takerAccepted: true }));
  const { promise, resolve } = Promise.withResolvers<void>();
  more.answers = promise;
  const rfq = { ...threadAt('1').rfq, id: 'other' } as Thread['rfq'];
  const asks = { id: 'other', rfqId: 'other', rfq, proposedBy: 'taker' } as const;
  more.threads = [threadAt('3960000000', asks)];
  assert.deepEqual(await look(), ['propose 3960000000']);
  const [accepted] = [...deals.values()];
  more.threads = [];
  assert.deepEqual(await look(), []);
  assert.equal(deals.get('thread'), accepted, 'it is kept once');
  assert.deepEqual(accepted?.value, { over: 400n, under: 1n, decimals: { base: 8, quote: 9 } });
  resolve();
  await look();
  assert.deepEqual(deals.size, 1);
});

test('a thread that another market has too is left alone', async () => {
  const accepted = threadAt('3960000000', { takerAccepted: true });
  const { deals, look } = stage(accepted);
  const other = { ...acceptedOf('thread', 999), market: 'https://other.example' };
  deals.set('thread', other);
  assert.deepEqual(await look(), []);
  assert.equal(deals.get('thread'), other);
});
