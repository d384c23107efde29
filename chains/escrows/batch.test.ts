// Batches as they are written, read back to their escrows; and how many go into which.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Hex } from 'viem';
import snapshot from '../../contracts/escrows/gas.snapshot.json' with { type: 'json' };
import { type Escrow, escrowId } from '../../contracts/escrows/ids.ts';
import { hashlockOf } from '../../core/hashlock.ts';
import { runs } from '../../test/support/runs.ts';
import { evmGasPolicyOf } from '../evm/gas-policy.ts';
import {
  callsIn,
  claimManyData,
  inBatches,
  mostInBatch,
  type Place,
  paymentOf,
  refundManyData,
} from './calls.ts';

const place: Place = { chainId: 31337, contract: `0x${'e5'.repeat(20)}` };

const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((some): Hex => {
    return `0x${Buffer.from(some).toString('hex')}`;
  });
const uint = (bits: number) => fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n });
const opened = fc
  .record({
    secret: bytes(32),
    payout: bytes(20),
    refund: bytes(20),
    token: bytes(20),
    amount: uint(256),
    timelock: uint(64),
    fundBefore: uint(64),
    lane: uint(96),
    counter: fc.integer({ min: 1, max: 2 ** 30 - 1 }),
  })
  .map(({ secret, lane, counter, ...terms }) => {
    const hashlock: Hex = `0x${hashlockOf(secret.slice(2))}`;
    const escrow: Escrow = { terms: { hashlock, ...terms }, lane, counter };
    return { escrow, secret: secret.slice(2) };
  });

test('a batch is read back to its escrows in their order, a claim with its secret', () => {
  const some = fc.array(opened, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(some, (legs) => {
      const claims = callsIn(claimManyData(legs).slice(2), place);
      const refunds = callsIn(refundManyData(legs.map(({ escrow }) => escrow)).slice(2), place);
      const ids = legs.map(({ escrow }) => escrowId(place.chainId, place.contract, escrow));
      assert.deepEqual(
        claims.map(({ verb, id, secret }) => [verb, id, secret]),
        legs.map(({ secret }, at) => ['claim', ids[at], secret]),
      );
      assert.deepEqual(
        refunds.map(({ verb, id, secret }) => [verb, id, secret]),
        ids.map((id) => ['refund', id, null]),
      );
    }),
    { numRuns: runs(100) },
  );
});

test('those of one payment stand side by side, and no batch is longer than it may be', () => {
  const items = ['a', 'b', 'a', 'c', 'b', 'a'].map((payment, at) => ({ payment, at }));
  const batches = inBatches(items, ({ payment }) => payment, 4);
  assert.deepEqual(
    batches.map((batch) => batch.map(({ payment, at }) => `${payment}${at}`)),
    [
      ['a0', 'a2', 'a5', 'b1'],
      ['b4', 'c3'],
    ],
  );
  assert.deepEqual(
    inBatches([], () => ''),
    [],
  );
  for (const none of [0, -1, Number.NaN]) {
    assert.throws(() => inBatches(items, ({ payment }) => payment, none), RangeError);
  }
});

test('a claim pays its payout and a refund its funder, in one token each', () => {
  const terms = {
    token: 'T',
    payout: { address: 'P', pubkey: null },
    refund: { address: 'R', pubkey: null },
  };
  assert.equal(paymentOf(terms, 'claim'), 'T P');
  assert.equal(paymentOf(terms, 'refund'), 'T R');
  assert.equal(paymentOf({ ...terms, token: null }, 'refund'), 'null R');
});

test('the longest batch of one payment costs less than a gas key spends at once, on both forks', () => {
  const { figures } = snapshot as { figures: Record<string, Record<string, { gas: number }>> };
  const ofTen = Object.entries(figures).filter(([name]) => name.includes('of ten'));
  assert.equal(ofTen.length, 4);
  for (const [name, forks] of ofTen) {
    for (const [fork, { gas }] of Object.entries(forks)) {
      assert.ok(BigInt(gas) * BigInt(mostInBatch) <= evmGasPolicyOf(1).mostGas, `${name} ${fork}`);
    }
  }
});
