// The text that a person reads before signing follows from the terms and from the signed bytes.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Family } from '@parley/core/families.ts';
import { now, secret } from './testing/honest.ts';
import { built, outputs, termsOn, viewOf } from './testing/materials.ts';
import { type Asked, verifyMaterial } from './verify-material.ts';
import { wordsOf } from './words.ts';

const fund: Asked = { verb: 'fund' };

function said(family: Family, isToken: boolean, asked: Asked, allowed = 0n) {
  const terms = termsOn(family, isToken);
  const material = built(family, terms, asked, { allowed });
  const limits = { validUntil: null, outputs, now };
  verifyMaterial(material, asked, terms, viewOf[family], limits);
  return { terms, material, words: wordsOf(material, asked, terms) };
}

test('one row a prompt: approvals come first, and say how much they allow whom', () => {
  for (const family of ['evm', 'tron'] as const) {
    const { words, terms, material } = said(family, true, fund, 5n);
    const { amount, token } = terms;
    const [contract] = material.escrow.split(':');
    assert.deepEqual(
      words.map((each) => [each.what, each.amount, each.token, each.to]),
      [
        ['reset', 0n, token, contract],
        ['approve', amount, token, contract],
        ['fund', amount, token, contract],
      ],
    );
  }
});

test('an approval of any amount is of no amount', () => {
  const terms = termsOn('evm', true);
  const material = built('evm', terms, fund, { standing: true });
  const what = wordsOf(material, fund, terms).map((each) => [each.what, each.amount]);
  assert.deepEqual(what, [
    ['approve', null],
    ['fund', terms.amount],
  ]);
});

test('claims and refunds go to the address of the terms, and fees are those of the bytes', () => {
  for (const family of ['evm', 'tron', 'solana', 'bitcoin'] as const) {
    const { terms } = said(family, false, fund);
    for (const [asked, to] of [
      [{ verb: 'claim', secret }, terms.payout.address],
      [{ verb: 'refund' }, terms.refund.address],
    ] as const) {
      const { words, material } = said(family, false, asked);
      const [only, more] = words;
      assert.deepEqual(
        [only?.what, only?.to, only?.amount, more],
        [asked.verb, to, terms.amount, undefined],
      );
      if (material.sign === 'btc-sighash') assert.equal(only?.feeAtMost, BigInt(material.feeSats));
      if (material.sign === 'tron-txid') {
        const [transaction] = material.transactions;
        assert.equal(only?.feeAtMost, BigInt(transaction?.raw_data.fee_limit ?? 0));
        assert.equal(only?.until, Math.floor((transaction?.raw_data.expiration ?? 0) / 1_000));
      }
    }
  }
});
