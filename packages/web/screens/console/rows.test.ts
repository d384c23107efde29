// The console's list: its order, what holds still, and where keys lead.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Asset, Rfq } from '@parley/sdk/types.ts';
import { choices, type Filters, type Row, rowByKey, shownRows } from './rows.ts';

const asset = (id: string) => ({ id, symbol: id.toUpperCase(), chain: 'c' }) as Asset;
const assets = new Map(['btc', 'usd', 'eth'].map((id) => [id, asset(id)]));
const rfqOf = (id: string, direction: Rfq['direction'] = 'sell_base', pair = 'btc usd') => {
  const [baseAssetId, quoteAssetId] = pair.split(' ');
  return { id, direction, baseAssetId, quoteAssetId } as Rfq;
};
const none: Filters = { give: null, get: null };
const show = (before: readonly Row[], rfqs: readonly Rfq[], isHeld = false, filters = none) =>
  shownRows(before, { rfqs, assets, filters }, isHeld);
const idsOf = (rows: readonly Row[]) => rows.map((row) => (row.isGone ? '-' : '') + row.rfq.id);

test('newest first, whatever order they came in; a row that is as it was is the same object', () => {
  const rfqs = ['2', '3', '1'].map((id) => rfqOf(id));
  const { rows } = show([], rfqs);
  assert.deepEqual(idsOf(rows), ['3', '2', '1']);
  const next = show(rows, [...rfqs, rfqOf('4')]).rows;
  assert.deepEqual(idsOf(next), ['4', '3', '2', '1']);
  for (const row of rows) assert.ok(next.includes(row));
  assert.ok(!show(rows, [rfqOf('2')]).rows.includes(rows[1] as Row), 'another RFQ is another row');
});

test('while somebody is in the list nothing moves: new ones are counted, what left is gone', () => {
  const one = rfqOf('1');
  const two = rfqOf('2');
  const three = rfqOf('3');
  const { rows } = show([], [one, two]);
  const held = show(rows, [one, three, rfqOf('4')], true);
  assert.deepEqual([idsOf(held.rows), held.held], [['-2', '1'], 2]);
  const back = show(held.rows, [one, two], true);
  assert.deepEqual([idsOf(back.rows), back.held], [['2', '1'], 0]);
  const free = show(held.rows, [one, three], false);
  assert.deepEqual([idsOf(free.rows), free.held], [['3', '1'], 0]);
});

test('filters are by what the maker gives and gets; what is of no asset known here is left out', () => {
  const sells = rfqOf('1');
  const buys = rfqOf('2', 'buy_base');
  const other = rfqOf('3', 'sell_base', 'eth usd');
  const all = [sells, buys, other, rfqOf('4', 'sell_base', 'btc gold')];
  const ids = (filters: Partial<Filters>) =>
    idsOf(show([], all, false, { ...none, ...filters }).rows);
  assert.deepEqual(ids({}), ['3', '2', '1']);
  assert.deepEqual(ids({ give: 'usd' }), ['3', '1']);
  assert.deepEqual(ids({ give: 'usd', get: 'btc' }), ['1']);
  assert.deepEqual(ids({ get: 'usd' }), ['2']);
  const offered = (side: 'give' | 'get') => choices({ rfqs: all, assets }, side).map((a) => a.id);
  assert.deepEqual(
    [offered('give'), offered('get')],
    [
      ['btc', 'usd'],
      ['btc', 'eth', 'usd'],
    ],
  );
});

test('keys lead through the list and stop at its ends', () => {
  const rows = show(
    [],
    Array.from({ length: 30 }, (_, at) => rfqOf(String(10 + at))),
  ).rows;
  for (const [from, key, to] of [
    [null, 'ArrowDown', '39'],
    ['39', 'ArrowDown', '38'],
    ['39', 'ArrowUp', '39'],
    ['38', 'ArrowUp', '39'],
    ['39', 'PageDown', '29'],
    ['12', 'PageDown', '10'],
    ['30', 'Home', '39'],
    ['30', 'End', '10'],
    ['gone', 'ArrowUp', '39'],
    ['30', 'x', null],
  ] as const) {
    assert.equal(rowByKey(rows, from, key), to, `${from} ${key}`);
  }
  assert.equal(rowByKey([], null, 'ArrowDown'), null);
});
