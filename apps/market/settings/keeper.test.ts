// PARLEY_KEEPER: the fields of an entry, and the defaults.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseKeeper } from './keeper.ts';

const chains = [
  { chain: 'ethereum', family: 'evm' },
  { chain: 'solana', family: 'solana' },
] as const;
const entry = { keyFile: '/k', dailyCap: '5' };

test('an entry is read with its defaults, and a cap may be nothing at all', () => {
  const given = [
    { chain: 'ethereum', ...entry, reserveFeePerGas: '7', lowBalance: '0' },
    { chain: 'solana', ...entry, dailyCap: '0', claimGraceSeconds: 1 },
  ];
  const { values, wrong } = parseKeeper(given, chains);
  assert.deepEqual(wrong, []);
  assert.deepEqual(
    values.map(({ chain: _, keyFile: __, ...rest }) => Object.values(rest)),
    [
      [5n, 0n, 300, 3_600, 7n],
      [0n, 0n, 1, 3_600, null],
    ],
  );
});

test('a field that means nothing is refused', () => {
  for (const [given, says] of [
    [{ chain: 'ethereum', dailyCap: '-1' }, /dailyCap/],
    [{ chain: 'ethereum', dailyCap: '1.5' }, /dailyCap/],
    [{ chain: 'solana', reserveFeePerGas: '5' }, /"reserveFeePerGas" is for EVM/],
    [{ chain: 'ethereum', relayCap: '5' }, /relayCap/],
  ] as const) {
    const { wrong } = parseKeeper([{ ...entry, ...given }], chains);
    assert.equal(wrong.length, 1);
    assert.match(wrong[0] ?? '', says);
  }
});
