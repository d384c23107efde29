// The result of a text where a number is wanted, and the sentence where one of several shapes is.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { broadcastBody, buildQuery, scheduleBody } from '../edge/schemas/material.ts';
import { checkOf, coercingCheckOf } from './check.ts';

const schema = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  rate: Type.Optional(Type.Number({ minimum: 1, maximum: 10_000 })),
});
const check = coercingCheckOf(schema, 'the query');

test('a faulty value comes with the numbers: which are allowed, and how many there are', () => {
  const bumps = (count: number) =>
    checkOf(scheduleBody, 'the body')({ transactions: Array(count).fill('00') });
  const most = 'field "transactions" must NOT have more than 12 items, and has 13';
  assert.deepEqual([bumps(12), bumps(13)], [null, most]);
  assert.match(String(bumps(0)), /fewer than 1 items, and has 0$/);
  assert.equal(check({ limit: 'x' }), 'field "limit" must be integer from 1 to 100');
  assert.equal(
    coercingCheckOf(buildQuery, 'the query')({ feeRate: 'x' }),
    'field "feeRate" must be number: sat per vbyte, from 1 to 500',
  );
});

test('the sentence is about the meant one of several shapes', () => {
  const said = (signed: unknown) => checkOf(broadcastBody, 'the body')({ chain: 'tron', signed });
  const unsigned = { txID: 'aa', raw_data: {}, raw_data_hex: '0a', visible: false };
  assert.equal(said(unsigned), 'field "signed.signature" is missing');
  assert.match(
    String(said({ ...unsigned, signature: 'aa' })),
    /^field "signed\.signature" must be array/,
  );
  assert.equal(said({ signature: ['aa'] }), 'field "signed.raw_data_hex" is missing');
  assert.equal(said({ psbtBase64: 'aa' }), 'field "signed.signaturesHex" is missing');
  const one = { psbtBase64: 'aa', signatureHex: 'aa' };
  const both = { ...one, signaturesHex: [] };
  const either = 'send either "signaturesHex" or "signatureHex" of "signed", not both';
  assert.equal(said(both), either);
  assert.equal(said({ ...both, other: 1 }), either);
  assert.equal(said({ ...one, other: 1 }), 'field "signed.other" is not known');
  assert.match(String(said(5)), /^field "signed" must be string/);
  assert.equal(said({ ...unsigned, signature: ['aa'] }), null);
});
