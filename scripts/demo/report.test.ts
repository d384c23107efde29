// The words of the demo: what it ended with, and what it played on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DevnetStatus } from '../../devnet/client.ts';
import { namesOf } from './place.ts';
import { type Totals, verdictOf } from './report.ts';

const totals: Totals = {
  ok: true,
  all: true,
  swaps: 16,
  asExpected: 16,
  settled: { done: 12, of: 12 },
  refunded: { done: 4, of: 4 },
  refundedOn: ['bitcoin-regtest', 'tron-dev'],
  balancesExact: true,
  durationMs: 81_240,
  problems: [],
};

test('the last line counts the pairs that settled and those that were refunded', () => {
  assert.equal(
    verdictOf(totals),
    'OK: 12 of 12 ordered pairs of families settled, 4 of 4 refunded (on bitcoin-regtest, ' +
      'tron-dev), every balance is exact, 81.2 s',
  );
  const failed = { ...totals, ok: false, all: false, settled: { done: 2, of: 3 } };
  assert.match(verdictOf(failed), /^FAILED: 2 of 3 pairs settled, 4 of 4 refunded/);
});

test('a simulator is called one, and a node by its name', () => {
  const chains = [
    { chain: 'bitcoin-regtest', node: { name: 'bitcoind', version: '29' } },
    { chain: 'tron-dev', node: { name: 'parley-tron-simulator', version: '1' } },
  ];
  assert.equal(
    namesOf({ chains } as unknown as DevnetStatus),
    'bitcoin-regtest (bitcoind), tron-dev (a SIMULATOR, no node)',
  );
});
