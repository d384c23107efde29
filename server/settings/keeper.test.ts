// PARLEY_KEEPER: what an entry may say of relays and fundings, and what holds where it says
// nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keeperDefaults as bounds, parseKeeper } from './keeper.ts';

const chains = [
  { chain: 'ethereum', family: 'evm' },
  { chain: 'solana', family: 'solana' },
] as const;
const entry = { keyFile: '/k', dailyCap: '5' };

test('bounds of fundings have defaults, and may be nothing at all', () => {
  const other = { chain: 'base', family: 'evm' } as const;
  const { values, wrong } = parseKeeper(
    [
      { chain: 'ethereum', ...entry },
      { chain: 'base', ...entry, fundCap: '0', fundsPerAccount: 0 },
    ],
    [...chains, other],
  );
  assert.deepEqual(wrong, []);
  assert.deepEqual(
    values.map((each) => [each.fundCap, each.fundsPerAccount]),
    [
      [null, bounds.fundsPerAccount],
      [0n, 0],
    ],
  );
});

test('bounds of relays have defaults, and may be nothing at all', () => {
  const { values, wrong } = parseKeeper(
    [
      { chain: 'ethereum', ...entry },
      { chain: 'solana', ...entry, relayCap: '0', relaysPerAccount: 0, relayTokenAccounts: 0 },
    ],
    chains,
  );
  assert.deepEqual(wrong, []);
  assert.deepEqual(
    values.map((each) => [each.relayCap, each.relaysPerAccount, each.relayTokenAccounts]),
    [
      [null, bounds.relaysPerAccount, bounds.relayTokenAccounts],
      [0n, 0, 0],
    ],
  );
});

test('bounds of relays and fundings that mean nothing are refused', () => {
  for (const [given, says] of [
    [{ chain: 'ethereum', relayTokenAccounts: 1 }, /is for Solana/],
    [{ chain: 'ethereum', relayCap: '-1' }, /relayCap/],
    [{ chain: 'ethereum', relaysPerAccount: 1.5 }, /relaysPerAccount/],
    [{ chain: 'solana', fundCap: '5' }, /"fundCap" is for EVM/],
    [{ chain: 'solana', fundsPerAccount: 5 }, /"fundsPerAccount" is for EVM/],
    [{ chain: 'ethereum', fundCap: '1.5' }, /fundCap/],
    [{ chain: 'ethereum', fundsPerAccount: -1 }, /fundsPerAccount/],
  ] as const) {
    const { wrong } = parseKeeper([{ ...entry, ...given }], chains);
    assert.equal(wrong.length, 1);
    assert.match(wrong[0] ?? '', says);
  }
});
