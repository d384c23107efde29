import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figuresOf } from './figures.ts';
import { enoughFor, gasKeys } from './gas.ts';

const paid = (transactions: number, charged: bigint) => ({
  chain: 'evm-dev',
  transactions,
  charged,
});

test('the number of transactions is rounded down, and their cost up', () => {
  assert.equal(enoughFor(100n, paid(3, 10n)), 25n);
  assert.equal(enoughFor(99n, paid(1, 10n)), 9n);
  assert.equal(enoughFor(-1n, paid(1, 10n)), 0n);
  assert.equal(enoughFor(100n, undefined), null);
  assert.equal(enoughFor(100n, paid(2, 0n)), null);
});

test('a key is low when what is free of it is below its mark, whatever it holds', () => {
  const of = (balance: number, reserved: number) => {
    const series = (value: number) => [{ labels: { chain: 'evm-dev' }, value }];
    const figures = figuresOf(
      new Map([
        ['keeper_balance', series(balance)],
        ['keeper_reserved', series(reserved)],
        ['keeper_low_balance', series(50)],
        ['keeper_jobs', [...series(2), ...series(1)]],
      ]),
    );
    return gasKeys(figures, new Map([['evm-dev', { symbol: 'ETH', decimals: 18 }]]), []);
  };
  assert.deepEqual(
    [of(100, 50), of(100, 51)].map(([key]) => key?.isLow),
    [false, true],
  );
  assert.equal(of(100, 50)[0]?.jobs, 3);
});
