// A maker may quote once an acceptance would find all that it needs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsBefore, type Prepared } from './ready.ts';

const none = { login: null, proven: [] };
const wallets = { evm: none, tron: none, bitcoin: none, solana: none } as Prepared['wallets'];
const nothing: Prepared = { vault: 'none', ownKey: null, payouts: [], wallets };
const lacks = (gives: 'evm' | 'tron' | 'bitcoin' | 'solana', gets: 'evm' | 'bitcoin', of: object) =>
  needsBefore(gives, gets, { ...nothing, ...of })
    .filter(({ isDone }) => !isDone)
    .map(({ what, family }) => (family === null ? what : `${what} ${family}`));

test('a new maker needs phrase, key and wallet; a phrase that is not checked does not count', () => {
  const all = ['phrase', 'wallet evm', 'key bitcoin'];
  assert.deepEqual(lacks('evm', 'bitcoin', {}), all);
  assert.deepEqual(lacks('evm', 'bitcoin', { vault: 'unchecked', ownKey: 'k' }), all);
});

test('a key on Bitcoin counts once the account may be paid by it, whichever side Bitcoin is', () => {
  const ready = {
    vault: 'checked',
    ownKey: 'k',
    wallets: { ...wallets, evm: { ...none, login: '0x1' } },
    payouts: [
      { family: 'bitcoin', paid: null, receives: ['k'] },
      { family: 'evm', paid: '0x1', receives: [] },
    ],
  };
  assert.deepEqual(lacks('evm', 'bitcoin', ready), []);
  assert.deepEqual(lacks('bitcoin', 'evm', ready), []);
  assert.deepEqual(lacks('bitcoin', 'evm', { ...ready, ownKey: 'other' }), ['key bitcoin']);
});

test('a proven wallet is enough to pay with, and not to be paid at', () => {
  const proven = {
    vault: 'checked',
    wallets: { ...wallets, evm: { ...none, proven: ['0x1'] }, tron: { ...none, login: 'T' } },
  };
  assert.deepEqual(lacks('tron', 'evm', proven), ['payout evm']);
  const paid = [{ family: 'evm', paid: null, receives: ['0x1'] }];
  assert.deepEqual(lacks('tron', 'evm', { ...proven, payouts: paid }), []);
  // A refund on Solana goes to an address that is paid.
  const shown = { ...wallets, solana: { ...none, proven: ['S'] } };
  assert.deepEqual(lacks('solana', 'evm', { ...proven, payouts: paid, wallets: shown }), [
    'payout solana',
  ]);
});
