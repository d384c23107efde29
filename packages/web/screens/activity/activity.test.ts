// Swaps as rows, found by their state and words, and as CSV: exact, and without formulas.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Asset, Swap, SwapLeg } from '@parley/sdk/types.ts';
import { csvOf, foundIn, rowsOf, type State } from './rows.ts';
import '../../texts/testing.ts';

const asset = (id: string, chain: string, symbol: string, decimals: number): Asset => ({
  id,
  chain,
  symbol,
  decimals,
  enabled: true,
  verified: true,
  source: 'curated',
  address: symbol === 'BTC' ? null : '0xC0ffee',
});
const btc = asset('1', 'bitcoin', 'BTC', 8);
const usd = asset('2', 'ethereum', '=HYPERLINK("x")', 6);

const leg = (over: Partial<SwapLeg>): SwapLeg =>
  ({ escrow: null, payoutAddress: null, refundAddress: null, ...over }) as SwapLeg;

function swap(over: Partial<Swap> = {}): Swap {
  return {
    id: 'swap-1',
    threadId: 't',
    rfqId: 'r',
    status: 'counterparty_claimed',
    hashlock: 'ab'.repeat(32),
    role: 'initiator',
    makerId: 'me',
    takerId: 'other',
    legs: {
      a: leg({
        chain: 'bitcoin',
        assetId: '1',
        amount: '100000001',
        funder: 'maker',
        fundTx: 'f1',
      }),
      b: leg({ chain: 'ethereum', assetId: '2', amount: '50', funder: 'taker', escrow: '0xEsc' }),
    },
    createdAt: '2026-03-01T10:00:00.500Z',
    updatedAt: '2026-03-01T11:00:00.000Z',
    ...over,
  } as Swap;
}

test('the given coin is that of the leg that one funded, as maker and as taker', () => {
  for (const [me, gave, got] of [
    ['me', 'bitcoin', 'ethereum'],
    ['other', 'ethereum', 'bitcoin'],
  ] as const) {
    const [row] = rowsOf([swap()], me, [btc, usd]);
    assert.deepEqual([row?.gives.chain, row?.gets.chain], [gave, got], me);
  }
});

test('rows are found by their state, and by all of the words, the status among them', () => {
  const swaps = [swap({ id: 'first' }), swap({ id: 'second', status: 'agreed' })];
  const rows = rowsOf(swaps, 'me', [btc, usd]);
  const found = (search: string, state: State = 'all') =>
    foundIn(rows, search, state).map(({ id }) => id);
  assert.deepEqual(found(' '), ['first', 'second']);
  assert.deepEqual(found('  0xesc  FIRST '), ['first']);
  assert.deepEqual(found('0xesc zebra'), []);
  assert.deepEqual(found('agreed'), ['second']);
  assert.deepEqual(found('', 'open'), ['second']);
  assert.deepEqual(found('0xesc', 'settled'), ['first']);
  assert.deepEqual(found('agreed', 'settled'), []);
  assert.deepEqual(found('', 'refunded'), []);
});

test('CSV has exact amounts with a point and ISO times, a line a swap', () => {
  const [head = '', line = '', end, ...more] = csvOf(rowsOf([swap()], 'me', [btc, usd])).split(
    '\r\n',
  );
  assert.deepEqual([end, more], ['', []]);
  const names = head.split(',');
  // No cell of this line has a comma but the formula, which is quoted.
  const cells = line.match(/"(?:[^"]|"")*"|[^,]+|(?<=,)(?=,|$)/g) ?? [];
  const value = (name: string) => cells[names.indexOf(name)];
  assert.equal(cells.length, names.length);
  assert.deepEqual(
    ['agreed_at', 'gave_amount', 'gave_base_units', 'gave_fund_tx', 'got_amount'].map(value),
    ['2026-03-01T10:00:00Z', '1.00000001', '100000001', 'f1', '0.00005'],
  );
  assert.equal(value('got_symbol'), `"'=HYPERLINK(""x"")"`);
});

test('an asset that is not known is told by its id, in base units', () => {
  assert.match(csvOf(rowsOf([swap()], 'me', [])), /,100000001,1,bitcoin,/);
});
