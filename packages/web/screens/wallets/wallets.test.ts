// One row a wallet, whichever of the market's answers knows it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitsIn, walletsView } from './wallets-view.ts';

const nobody = { login: null, proven: [] };

test('paid, login, named, waiting, leaving and proven wallets stand once each, the paid one first', () => {
  const fromAt = '2026-03-01T10:00:00.000Z';
  const view = walletsView(
    [
      {
        family: 'evm',
        paid: '0xPaid',
        receives: ['0xLogin', '0xPaid'],
        waiting: [{ address: '0xNew', fromAt, paid: true }],
        leaving: [{ address: '0xLogin', at: fromAt }],
      },
    ],
    { evm: { login: '0xPaid', proven: ['0xLogin', '0xOnly'] }, tron: nobody, ...others() },
    ['evm:0xLogin', 'evm:0xNew'],
  );
  const [{ rows }] = view.filter(({ family }) => family === 'evm') as [(typeof view)[number]];
  assert.deepEqual(
    rows.map(({ address }) => address),
    ['0xPaid', '0xLogin', '0xNew', '0xOnly'],
  );
  const [paid, login, added, only] = rows;
  assert.deepEqual([paid?.isPaid, paid?.receives, paid?.signsIn], [true, true, false]);
  assert.deepEqual([login?.signsIn, login?.leavesAt, login?.isPaid], [true, fromAt, false]);
  assert.deepEqual([added?.signsIn, added?.waits], [true, { fromAt, paid: true }]);
  assert.deepEqual([only?.isProven, only?.receives, only?.waits], [true, false, null]);
  assert.equal(waitsIn(view), 2);
  assert.deepEqual(view.find(({ family }) => family === 'tron')?.rows, []);
});

function others() {
  return { bitcoin: nobody, solana: nobody } as const;
}
