// The demo on a market that runs, with four chains: four swaps settle, one with its payee away, one
// is given up, two end late, and every balance is right to the last base unit. It starts a market
// of its own as verify/test/start.test.ts does.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { sharedMarket } from './support/market.ts';

const run = promisify(execFile);
const opened = sharedMarket();
const demo = join(import.meta.dirname, '../../dev/demo.ts');

type Line = {
  pair: string;
  scenario: string;
  status: string;
  savedSeconds: Partial<Record<'a' | 'b', number>>;
};
type Totals = Record<'swaps' | 'asExpected', number> & {
  ok: boolean;
  balancesExact: boolean;
  refundedOn: string[];
  problems: string[];
};

test('the demo settles four swaps, one with its payee away, and refunds three', {
  timeout: 300_000,
}, async () => {
  const { url, dev } = (await opened()).ready;
  const args = [demo, '--json', '--url', url, '--dev', dev ?? ''];
  const { stdout } = await run(process.execPath, args, { timeout: 290_000 });
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  const totals = lines.pop() as Totals;
  assert.deepEqual(totals.problems, []);
  assert.equal(totals.ok, true);
  assert.equal(totals.balancesExact, true);
  assert.deepEqual([totals.swaps, totals.asExpected], [7, 7]);
  assert.deepEqual(
    (lines as Line[]).map(({ scenario, status }) => `${scenario}: ${status}`),
    [
      'settled: settled',
      'settled: settled',
      'settled: settled',
      'away: settled',
      'given up: refunded',
      'no show: refunded',
      'both refund: refunded',
    ],
  );
  assert.deepEqual(totals.refundedOn, ['bitcoin-regtest', 'evm-dev', 'solana-dev', 'tron-dev']);
  const early = (lines as Line[]).find(({ scenario }) => scenario === 'given up');
  const { a = 0, b = 0 } = early?.savedSeconds ?? {};
  // The timelocks are hours away, and no clock had moved.
  assert.ok(a > 3_600 && b > 3_600, `${a} and ${b}`);
});
