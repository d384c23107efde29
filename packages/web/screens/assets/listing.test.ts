// The outcome of listing requests.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import { answered, refused, withAnswer } from './listing.ts';

const token = { chain: 'ethereum', address: '0xToken' };
const at = '2026-03-01T10:00:00Z';
const error = (status: number, code: string) =>
  new ParleyApiError({ status, code, message: 'no', reasons: ['transfer: 990 of 1000 arrive'] });

test('a refusal for ever is a decision with its findings; any other error is none', () => {
  for (const code of ['token_rejected', 'asset_delisted']) {
    const asked = refused(token, error(422, code), at);
    assert.equal(asked?.status, 'refused');
    assert.deepEqual(asked?.reasons, ['transfer: 990 of 1000 arrive']);
  }
  for (const other of [error(429, 'listing_rate_limited'), error(504, 'chain_timeout'), null]) {
    assert.equal(refused(token, other, at), null);
  }
});

test('a newer answer takes the place of the one before, first in the list', () => {
  const pending = answered(token, { status: 'pending', reasons: ['liquidity: 0'] }, at);
  const other = { ...pending, address: '0xOther' };
  const closed = answered(token, { status: 'closed', reasons: [], notChecked: ['age'] }, at);
  assert.deepEqual(withAnswer([other, pending], closed), [closed, other]);
});
