// The costs of a taker and the balance it needs, by the market's figures of a pair.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pair } from '@parley/sdk/types.ts';
import { costsOf, feesOf, takenFrom } from './costs.ts';
import { btc, listed } from './testing.ts';

const coin = (chain: string) => ({ id: chain, chain, symbol: chain.toUpperCase(), decimals: 8 });
const coins = [coin('bitcoin'), coin('solana'), coin('evm')];
const cost = (usual: number, most: number) => ({ usual: `${usual}`, most: `${most}` });
const ofBitcoin = {
  fund: cost(10, 20),
  claim: cost(11, 21),
  refund: cost(12, 22),
  settlesFromAmount: true,
  deposit: null,
};
const ofSolana = {
  fund: cost(1, 2),
  claim: cost(3, 4),
  refund: cost(5, 6),
  settlesFromAmount: false,
  deposit: { locked: '100', keptByClaim: '40' },
};
const times = {
  initiator: { usualSeconds: 100, worstSeconds: 1_000 },
  counterparty: { usualSeconds: 200, worstSeconds: 2_000 },
};

function pair(gives: string, gets: string, more: object = {}): Pair {
  const costs = { bitcoin: ofBitcoin, solana: ofSolana, evm: null } as const;
  const leg = (chain: string) => ({
    chain,
    assetId: chain,
    long: false,
    timelockSeconds: 900,
    confirmations: 1,
    costs: costs[chain as keyof typeof costs],
  });
  const legs = { a: leg(gets), b: leg(gives) };
  return { initiator: 'taker', legs, expected: times, ...more } as unknown as Pair;
}

const shown = (found: ReturnType<typeof costsOf>) =>
  found.lines.map(({ what, coin: { chain }, units, fromAmount }) =>
    [what, chain, units, ...(fromAmount ? ['from amount'] : [])].join(' '),
  );

test('a taker funds its own chain, claims on the other, and refunds only its own', () => {
  const found = costsOf(pair('bitcoin', 'solana'), coins);
  assert.deepEqual(shown(found), [
    'fund bitcoin 10',
    'claim solana 3',
    'refund bitcoin 12 from amount',
  ]);
  const other = costsOf(pair('solana', 'bitcoin'), coins);
  assert.deepEqual(shown(other), [
    'fund solana 1',
    'claim bitcoin 11 from amount',
    'deposit solana 100',
    'refund solana 5',
  ]);
});

test('the needed balance is at most what is paid, with the deposit, and nothing that the amount pays', () => {
  const needs = (one: Pair) =>
    costsOf(one, coins).needs.map((each) => `${each.coin.chain} ${each.units}`);
  assert.deepEqual(needs(pair('bitcoin', 'solana')), ['bitcoin 20', 'solana 4']);
  assert.deepEqual(needs(pair('solana', 'bitcoin')), ['solana 108']);
});

test('a first funder waits by its own times, and a chain that tells nothing is named', () => {
  const first = costsOf(pair('bitcoin', 'solana'), coins);
  assert.deepEqual([first.usualSeconds, first.worstSeconds], [100, 1_000]);
  const second = costsOf(pair('bitcoin', 'solana', { initiator: 'maker' }), coins);
  assert.deepEqual([second.usualSeconds, second.worstSeconds], [200, 2_000]);
  const quiet = costsOf(pair('evm', 'solana', { expected: null }), coins);
  assert.deepEqual([quiet.unknown, quiet.worstSeconds, quiet.lockedSeconds], [['evm'], null, 900]);
  assert.deepEqual(costsOf(pair('bitcoin', 'solana'), []).unknown, ['bitcoin', 'solana']);
});

test('a fee is taken out of a coin that is got on Bitcoin, and out of no token and no other chain', () => {
  const got = costsOf(pair('solana', 'bitcoin'), coins);
  const token = listed('token', 'bitcoin', 8, { address: 'a' });
  assert.deepEqual([takenFrom(btc, got), takenFrom(token, got)], [11n, 0n]);
  const given = costsOf(pair('bitcoin', 'solana'), coins);
  assert.equal(takenFrom(listed('sol', 'solana', 9), given), 0n);
});

test('fees of a swap that works are those of locking and collecting, without refund and deposit', () => {
  const fees = feesOf(costsOf(pair('solana', 'bitcoin'), coins));
  assert.deepEqual(
    fees.map(({ coin: { chain }, units }) => `${chain} ${units}`),
    ['solana 1', 'bitcoin 11'],
  );
});
