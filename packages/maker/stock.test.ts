// Gas that runs low: told once, and again when it is enough; a chain that cannot be read keeps what
// was read last.

import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import type { OwnChains } from './chains.ts';
import { createDoubts } from './doubts.ts';
import { openLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { createStock } from './stock.ts';
import { sol } from './testing/stage.ts';

/** A swap that funds and settles: 20 to fund, 5 of deposit, 10 to claim and 15 to refund. */
const costs = {
  fund: { most: 20n },
  claim: { most: 10n },
  refund: { most: 15n },
  deposit: { locked: 5n },
  settlesFromAmount: false,
};

function stage() {
  const at = { units: 250n as bigint | null, differ: false };
  const out = new PassThrough();
  const adapter = {
    held: async () => {
      if (at.units === null) throw new Error('no answer');
      return at.units;
    },
    costs: async () => {
      if (at.differ) throw new ParleyError('sources_disagree', 'they differ', {});
      return costs;
    },
  };
  const chains = {
    solana: { source: { adapter }, wallet: { family: 'solana', address: 'own' } },
  } as unknown as OwnChains;
  const log = openLog(out, () => 0);
  const metrics = createMetrics();
  const doubts = createDoubts({ log, metrics, now: () => 0 });
  const stock = createStock({
    chains,
    assets: [sol],
    log,
    doubts,
    now: () => 0,
    signal: new AbortController().signal,
    warnBelow: new Map([['solana', 5]]),
  });
  const readAt = async (units: bigint | null) => {
    at.units = units;
    await stock.read();
    const lines = String(out.read() ?? '').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
  };
  const doubted = async () => (await metrics.doubted.get()).values.map(({ value }) => value);
  return { at, readAt, stock, doubted };
}

const facts = { at: '1970-01-01T00:00:00.000Z', chain: 'solana' };

test('gas for fewer swaps than are wanted is told once, with the address, and so is its end', async () => {
  const { readAt, stock } = stage();
  assert.deepEqual(await readAt(250n), [], 'five swaps are enough');
  const low = { ...facts, level: 'warn', event: 'gas_low', address: 'own', swaps: 4, least: 5 };
  assert.deepEqual(await readAt(249n), [low]);
  assert.deepEqual(await readAt(100n), []);
  assert.equal(stock.payable.get('solana'), 2);
  const enough = { ...facts, level: 'info', event: 'gas_enough', swaps: 5 };
  assert.deepEqual(await readAt(250n), [enough]);
  assert.deepEqual(await readAt(249n), [low]);
});

test('a balance that cannot be read is told once, and what was read last stands', async () => {
  const { readAt, stock } = stage();
  await readAt(250n);
  const unread = { level: 'warn', event: 'balance_unread', holding: 'solana coin' };
  assert.deepEqual(await readAt(null), [{ at: facts.at, ...unread, error: 'no answer' }]);
  assert.deepEqual(await readAt(null), []);
  assert.equal(stock.balances.get('solana coin')?.units, 250n);
});

test('nodes that differ while fees are read are counted until they agree', async () => {
  const { at, readAt, doubted } = stage();
  await readAt(250n);
  assert.deepEqual(await doubted(), []);
  at.differ = true;
  await readAt(250n);
  assert.deepEqual(await doubted(), [1]);
  at.differ = false;
  await readAt(250n);
  assert.deepEqual(await doubted(), [0]);
});
