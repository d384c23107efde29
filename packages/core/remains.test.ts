// Which dust counts for nothing, and how long what strangers pay keeps a swap open.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nothingSeen } from './facts.ts';
import { isHeld, type LeastRefund, refundableOf } from './remains.ts';
import { deep, facts, seen } from './testing.ts';

/** A refund to P2WPKH at 1 sat per vbyte, of three payments at most. */
const cost: LeastRefund = { feeOf: (n) => 41n + 90n * BigInt(n), leastPaid: 294n, most: 3 };

test('an amount that no refund can bring back at the least fee counts for nothing, alone or together', () => {
  const cases: [what: string, paid: number[], counts: number[]][] = [
    ['nothing', [], []],
    ['a dust output', [330], []],
    ['a satoshi too little', [424], []],
    ['just enough', [425], [425]],
    ['each too little, together enough', [330, 330], [330, 330]],
    ['beside a payment, where it brings more than its input', [91, 90_000], [90_000, 91]],
    ['beside a payment, where it does not', [90, 90_000], [90_000]],
    ['inputs that cost what they bring, however many', Array(1_000).fill(90), []],
    ['many in refunds that each pay', Array(6).fill(202), Array(6).fill(202)],
    ['many in refunds that do not', Array(999).fill(201), []],
    ['more than one refund takes', [900, 202, 202, 202, 202], [900, 202, 202]],
  ];
  for (const [what, paid, counts] of cases) {
    const payments = paid.map((amount) => ({ amount: BigInt(amount) }));
    const found = refundableOf(payments, cost).map(({ amount }) => Number(amount));
    assert.deepEqual(found, counts, what);
  }
});

test('an escrow is followed without end for a payment in a block, and not for what anyone renews', () => {
  const amount = 1_000n;
  const beside = { balance: 9n, empty: false };
  const settled = (confirmations: number) => ({ txid: 'aa', confirmations, deep: true });
  for (const [isSo, what, shown] of [
    [false, 'nothing', nothingSeen],
    [true, 'a payment', facts({ funded: deep() })],
    [true, 'one in its first block', facts({ funded: { ...seen(), confirmations: 1 } })],
    [false, 'one in no block', { ...facts({ funded: seen() }), balance: 0n }],
    [false, 'less than a hundredth', { ...nothingSeen, ...beside }],
    [true, 'a hundredth', { ...nothingSeen, ...beside, balance: 10n }],
    [false, 'less, in no block', { ...nothingSeen, empty: false }],
    [true, 'a claim in no block', facts({ funded: deep(), claimed: seen(), empty: false })],
    [false, 'a claim that is final', facts({ funded: deep(), claimed: deep() })],
    [
      true,
      'one that a reorganisation may take back',
      facts({ funded: deep(), claimed: settled(143), ...beside }),
    ],
    [false, 'the same a day later', facts({ funded: deep(), claimed: settled(144), ...beside })],
    [
      true,
      'a second payment',
      facts({ funded: deep(), refunded: settled(144), ...beside, balance: amount }),
    ],
  ] as const) {
    assert.equal(isHeld(shown, amount), isSo, what);
  }
});
