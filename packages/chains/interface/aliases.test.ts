// Second names stand for what is single.

import assert from 'node:assert/strict';
import test from 'node:test';
import { aliasesOf } from './aliases.ts';
import type { Material } from './material.ts';

test('a single value has a second name, and one of several has none', () => {
  const named = (material: object, secret?: string) => aliasesOf(material as Material, secret);
  const hashes = (...sighashHexes: string[]) => named({ sign: 'btc-sighash', sighashHexes });
  const sent = (...ids: string[]) =>
    named({ sign: 'tron-txid', transactions: ids.map((txID) => ({ txID })) });
  assert.deepEqual([hashes('a'), hashes('a', 'b'), hashes()], [{ sighashHex: 'a' }, {}, {}]);
  const claim = { sign: 'btc-sighash', sighashHexes: ['a', 'b'] };
  assert.deepEqual(named(claim, '5e'), { preimageHex: '5e' });
  assert.deepEqual(named({ sign: 'evm-tx' }, '5e'), {});
  assert.deepEqual([sent('a'), sent('a', 'b'), sent()], [{ txID: 'a' }, {}, {}]);
  assert.deepEqual(named({ sign: 'solana-tx', transaction: 'AQ==' }), {
    transactionBase64: 'AQ==',
  });
  assert.deepEqual([named({ sign: 'evm-tx' }), named({ sign: 'btc-payment' })], [{}, {}]);
});
