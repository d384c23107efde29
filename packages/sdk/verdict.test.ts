// Each error of a run has one verdict, which every face goes by.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ParleyError,
  type RefusalCode,
  type RefusalKind,
  refusalKinds,
} from '@parley/core/errors.ts';
import {
  ClockError,
  CodedError,
  ParleyApiError,
  QuoteError,
  type RescueCode,
  RescueError,
  RulesError,
  type SettleCode,
  SettleError,
  StoreError,
  type StoreFault,
  VerificationError,
  WalletError,
  type WalletFault,
} from './errors.ts';
import { type Verdict, verdictOf } from './verdict.ts';

type Verdicts<Code extends string> = Readonly<Record<Code, Verdict>>;

/** A code that is missing here is a compile error. */
function table<Code extends string>(
  name: string,
  made: (code: Code) => unknown,
  wanted: Verdicts<Code>,
) {
  for (const [code, verdict] of Object.entries(wanted)) {
    test(`${name} ${code}: ${verdict}`, () => {
      assert.equal(verdictOf(made(code as Code)), verdict);
    });
  }
}

table('SettleError', (code: SettleCode) => new SettleError(code, 's'), {
  funding_replaced: 'person',
  secret_lost: 'person',
  hashlock_used: 'over',
  price_ended: 'person',
  acceptance_lapsed: 'over',
  in_use: 'person',
  terms_outdated: 'over',
  clock_wrong: 'person',
  no_wallet: 'person',
  no_source: 'person',
  unknown_record: 'person',
  bad_record: 'person',
});

table('StoreError', (code: StoreFault) => new StoreError(code, 's'), {
  unsupported: 'person',
  blocked: 'person',
  newer: 'person',
  gone: 'person',
  full: 'person',
  failed: 'again',
});

table('RescueError', (code: RescueCode) => new RescueError(code, 's'), {
  bad_phrase: 'person',
  clock_unset: 'person',
  too_fast: 'again',
  store_busy: 'again',
  bad_file: 'person',
  foreign_file: 'person',
  newer_file: 'person',
  other_phrase: 'person',
  other_network: 'person',
  too_large: 'person',
  not_as_text: 'person',
});

table('WalletError', (code: WalletFault) => new WalletError(code, 's'), {
  declined: 'again',
  silent: 'again',
  wrong_network: 'again',
  wrong_account: 'again',
  lied: 'again',
  unseen: 'again',
  failed: 'again',
});

table('the market answers', (status: string) => apiError(Number(status)), {
  0: 'again',
  400: 'person',
  401: 'person',
  403: 'person',
  404: 'person',
  408: 'again',
  409: 'again',
  415: 'person',
  422: 'person',
  429: 'again',
  500: 'again',
  503: 'again',
  504: 'again',
});

function apiError(status: number) {
  return new ParleyApiError({ status, code: 'no_answer', message: 's' });
}

const kinds: Verdicts<RefusalKind> = {
  invalid: 'person',
  forbidden: 'person',
  absent: 'person',
  conflict: 'again',
  timeout: 'again',
  unavailable: 'again',
};

test('a refusal of an adapter goes by its kind, for every code', () => {
  const codes = Object.keys(refusalKinds) as RefusalCode[];
  assert.ok(codes.length > 100);
  for (const code of codes.filter((each) => each !== 'refused_by_node')) {
    const verdict = kinds[refusalKinds[code]];
    assert.equal(verdictOf(new ParleyError(code, 's')), verdict, code);
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
