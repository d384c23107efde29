// Each error of a run has one verdict, which every face goes by.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import {
  ClockError,
  CodedError,
  ParleyApiError,
  QuoteError,
  RescueError,
  RulesError,
  SettleError,
  StoreError,
  VerificationError,
  WalletError,
} from './errors.ts';
import { verdictOf } from './verdict.ts';

test('an error waits for a person unless it passes by itself, or the swap is another one', () => {
  const status = (code: number) =>
    new ParleyApiError({ status: code, code: 'no_answer', message: 's' });
  for (const [error, verdict] of [
    [new SettleError('no_wallet', 's'), 'person'],
    [new SettleError('hashlock_used', 's'), 'over'],
    [new SettleError('acceptance_lapsed', 's'), 'over'],
    [new SettleError('terms_outdated', 's'), 'over'],
    [new StoreError('full', 's'), 'person'],
    [new StoreError('failed', 's'), 'again'],
    [new RescueError('bad_phrase', 's'), 'person'],
    [new RescueError('too_fast', 's'), 'again'],
    [new RescueError('store_busy', 's'), 'again'],
    [new WalletError('declined', 's'), 'again'],
    [new ParleyError('bad_field', 's'), 'person'],
    [new ParleyError('chain_timeout', 's'), 'again'],
    [new ParleyError('chain_unavailable', 's'), 'again'],
    ...[0, 408, 409, 429, 500, 504].map((code) => [status(code), 'again'] as const),
    ...[400, 401, 404, 422].map((code) => [status(code), 'person'] as const),
  ] as const) {
    assert.equal(verdictOf(error), verdict, `${error.name} ${error.code}`);
  }
});

test('a transaction that one node refuses is sent again', () => {
  assert.equal(verdictOf(new ParleyError('refused_by_node', 's')), 'again');
});

test('a swap that the market changed is over, and one that a wrong clock refuses is not', () => {
  assert.equal(verdictOf(new VerificationError('legs.a.amount', '1', '2')), 'over');
  assert.equal(verdictOf(new RulesError([])), 'over');
  assert.equal(verdictOf(new ClockError('agreedAt', '1', '2', 300)), 'person');
});

test('an error of a face with a code of its own waits for a person, any other is tried again', () => {
  assert.equal(verdictOf(new CodedError('no_home', 's')), 'person');
  for (const error of [new QuoteError('closed', 's'), new TypeError('s'), 'a text', null]) {
    assert.equal(verdictOf(error), 'again');
  }
});
