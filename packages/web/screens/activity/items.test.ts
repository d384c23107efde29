// The one list: each swap once, what needs the person first, and found by words and state.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Asset, Rfq, Swap, SwapLeg } from '@parley/sdk/types.ts';
import type { SwapView } from '../../engine/types.ts';
import { agreedAt, deadlines, listed, seen, states } from '../../parts/swap/testing/views.ts';
import { itemsOf, searched } from './items.ts';
import { rowsOf } from './rows.ts';
import '../../texts/testing.ts';

const rest = { chain: 'evm-dev', address: null, decimals: 8, enabled: true, verified: true };
const assets = listed.map((each): Asset => ({ ...rest, ...each, source: 'curated' }));
const known = { now: agreedAt + 60, assets };
const iso = (at: number) => new Date(at * 1_000).toISOString();

const viewOf = (name: string, more: Partial<SwapView> = {}): SwapView => {
  const found = states.find(([each]) => each === name)?.[2] ?? assert.fail(name);
  return { ...found.swap, id: name, ...more };
};

const leg = (assetId: string, funder: string) =>
  ({ chain: 'evm-dev', assetId, amount: '100000000', funder, escrow: null }) as SwapLeg;
const marketSwap = (id: string, more: Partial<Swap> = {}) =>
  ({
    id,
    status: 'counterparty_claimed',
    makerId: 'me',
    legs: { a: leg('btc', 'maker'), b: leg('usd', 'taker') },
    createdAt: iso(agreedAt),
    updatedAt: iso(agreedAt),
    ...more,
  }) as Swap;
const order = (id: string, more: Partial<Rfq> = {}) =>
  ({
    id,
    status: 'open',
    visibility: 'public',
    direction: 'sell_base',
    baseAssetId: 'btc',
    baseAmount: '100000000',
    quoteAssetId: 'usd',
    askAmount: null,
    createdAt: iso(agreedAt),
    expiresAt: iso(agreedAt + 600),
    ...more,
  }) as Rfq;

const listOf = (found: { views?: SwapView[]; swaps?: Swap[]; orders?: Rfq[] }) => {
  const { views = [], swaps = [], orders = [] } = found;
  return itemsOf({ views, rows: rowsOf(swaps, 'me', assets), orders }, known);
};

test('a deadline of the person is first, then what goes on, then what has ended', () => {
  const later = { ...deadlines, initiatorFundBy: deadlines.initiatorFundBy + 60 };
  const items = listOf({
    views: [
      viewOf('done', { agreedAt: agreedAt + 5 }),
      viewOf('waits for the other'),
      viewOf('pay', { id: 'later', deadlines: later }),
      viewOf('pay'),
    ],
    swaps: [marketSwap('elsewhere', { status: 'agreed', createdAt: iso(agreedAt + 9) })],
    orders: [order('asked'), order('quoted', { status: 'negotiating' })],
  });
  assert.deepEqual(
    items.map(({ id, group }) => `${group} ${id}`),
    [
      'you quoted',
      'you pay',
      'you later',
      'open elsewhere',
      'open waits for the other',
      'open asked',
      'ended done',
    ],
  );
});

test('a swap that this browser settles is there once, in its own words', () => {
  const items = listOf({ views: [viewOf('pay')], swaps: [marketSwap('pay'), marketSwap('other')] });
  assert.deepEqual(
    items.map(({ id, said }) => [id, said]),
    [
      ['pay', 'Pay exactly 0.01\u00a0BTC'],
      ['other', 'Both sides collected'],
    ],
  );
});

test('a swap whose wallet was asked to pay says so, and not to pay once more', () => {
  const wallets = { pay: { is: 'asked', name: 'Verse', at: known.now } } as never;
  const [asked] = itemsOf({ views: [viewOf('pay')], rows: [], orders: [] }, { ...known, wallets });
  assert.match(asked?.said ?? '', /^Confirm in/);
});

test('an order that has ended is not in the list, and one without a price says its coin alone', () => {
  const ended = [
    order('late', { expiresAt: iso(known.now) }),
    order('gone', { status: 'cancelled' }),
  ];
  assert.deepEqual(listOf({ orders: ended }), []);
  const [open] = listOf({ orders: [order('asked')] });
  assert.deepEqual([open?.gives.amount, open?.gets.amount], ['1\u00a0BTC', 'USDX']);
  const [asking] = listOf({ orders: [order('asked', { askAmount: '640' })] });
  assert.equal(asking?.gets.amount, '0.0000064\u00a0USDX');
});

test('each end has its state, and a search looks through amounts, chains and transactions', () => {
  const views = states.map(([name]) => viewOf(name));
  const items = listOf({ views });
  assert.equal(items.length, views.length);
  const of = (state: 'settled' | 'refunded' | 'expired') =>
    searched(items, '', state).map(({ id }) => id);
  assert.deepEqual(of('settled'), ['done']);
  assert.deepEqual(of('refunded').toSorted(), ['lost', 'refunded']);
  assert.ok(of('expired').every((id) => id.startsWith('nothing')));
  const { swap } = seen({ btc: 'final' });
  const txid = swap.legs.b.facts?.funded?.txid ?? assert.fail();
  const found = searched(listOf({ views: [{ ...swap, id: 'paid' }, viewOf('pay')] }), txid, 'all');
  assert.deepEqual(
    found.map(({ id }) => id),
    ['paid'],
  );
});

test('a coin that nobody lists at that contract is never marked as known', () => {
  const [item] = listOf({ views: [viewOf('pay')] });
  assert.equal(item?.gives.coin?.verified, true);
  assert.deepEqual([item?.gets.coin?.symbol, item?.gets.coin?.verified], ['USDX', false]);
});
