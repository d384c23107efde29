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

test('bounds of relays and fundings have defaults, and may be nothing at all', () => {
  const { relaysPerAccount, relayTokenAccounts, fundsPerAccount } = bounds;
  const none = { relayCap: '0', relaysPerAccount: 0, fundCap: '0', fundsPerAccount: 0 };
  const given = [
    { chain: 'ethereum', ...entry },
    { chain: 'base', ...entry, ...none },
    { chain: 'solana', ...entry, relayTokenAccounts: 0 },
  ];
  const { values, wrong } = parseKeeper(given, [...chains, { chain: 'base', family: 'evm' }]);
  assert.deepEqual(wrong, []);
  assert.deepEqual(
    values.map((each) => [
      ...[each.relayCap, each.relaysPerAccount, each.relayTokenAccounts],
      ...[each.fundCap, each.fundsPerAccount],
    ]),
    [
      [null, relaysPerAccount, relayTokenAccounts, null, fundsPerAccount],
      [0n, 0, relayTokenAccounts, 0n, 0],
      [null, relaysPerAccount, 0, null, fundsPerAccount],
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
