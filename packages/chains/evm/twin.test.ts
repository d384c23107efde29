// This code computes what the contract does: ids, legs of batches, and which calls there are in bytes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escrowsAbi } from '@parley/contracts/escrows/artifacts/abi.ts';
import { type Escrow, escrowId, legOf } from '@parley/contracts/escrows/ids.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import { type Abi, type Hex, toFunctionSelector } from 'viem';
import { decodeFunctionResult, encodeFunctionData, getAbiItem } from 'viem/utils';
import { callsIn, settleManyData } from '../escrows/calls.ts';
import { domainOf, evmDeployment } from './plan.ts';
import { laneSlot, openWord } from './simulate.ts';
import { evmWorld } from './testing/world.ts';

const { chain } = await evmWorld();
const deployment = evmDeployment(chain.chainId);
const contract = deployment.contract as Hex;
const place = { chainId: chain.chainId, contract };
const abi = escrowsAbi as Abi;

type Lent = readonly { readonly slot: Hex; readonly value: Hex }[];

async function answered(functionName: string, data: Hex, stateDiff: Lent = []): Promise<unknown> {
  const own = { address: contract, balance: 2n ** 150n, stateDiff: [...stateDiff] };
  const { data: answer = '0x' } = await chain.client.call({
    to: contract,
    data,
    gas: 5_000_000n,
    stateOverride: [own],
  });
  return decodeFunctionResult({ abi, functionName, data: answer });
}

const ask = (functionName: string, args: readonly unknown[] = []) =>
  answered(functionName, encodeFunctionData({ abi, functionName, args }));

const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((some): Hex => {
    return `0x${Buffer.from(some).toString('hex')}`;
  });
const uint = (bits: number) =>
  fc.oneof(
    fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n }),
    fc.constantFrom(0n, 1n, (1n << BigInt(bits)) - 1n, 1n << BigInt(bits - 1)),
  );
const escrows = (timeBits: number, amountBits: number): fc.Arbitrary<Escrow> =>
  fc.record({
    terms: fc.record({
      hashlock: bytes(32),
      payout: bytes(20),
      refund: bytes(20),
      token: fc.oneof(fc.constant<Hex>(`0x${'0'.repeat(40)}`), bytes(20)),
      amount: uint(amountBits),
      timelock: uint(timeBits),
      fundBefore: uint(timeBits),
    }),
    lane: uint(96),
    counter: fc.integer({ min: 1, max: 2 ** 30 - 1 }),
  });

test('domain and ids are those of the contract', async () => {
  assert.equal(await ask('domain'), domainOf(deployment));
  await fc.assert(
    fc.asyncProperty(escrows(256, 256), async (escrow) => {
      const { terms, lane, counter } = escrow;
      const id = await ask('escrowOf', [terms, lane, counter]);
      assert.equal(id, escrowId(place.chainId, contract, escrow));
    }),
    { numRuns: runs(60) },
  );
});

/** Escrows of coins, until a timelock that is far away. */
const claimable = fc
  .tuple(escrows(38, 100), bytes(32))
  .map(([{ terms, lane, counter }, secret]) => {
    const hashlock: Hex = `0x${hashlockOf(secret.slice(2))}`;
    const payout: Hex = `0x${'5a'.repeat(20)}`;
    const token: Hex = `0x${'0'.repeat(40)}`;
    const timelock = terms.timelock + 2n ** 39n;
    const amount = terms.amount + 1n;
    return {
      escrow: { terms: { ...terms, hashlock, payout, token, timelock, amount }, lane, counter },
      secret,
    };
  });

const lentTo = (escrow: Escrow): Lent => {
  const id = escrowId(place.chainId, contract, escrow);
  return [{ slot: laneSlot(escrow), value: openWord(id, escrow.counter) }];
};

test('a leg of a batch is the escrow that the contract finds open, in a lane of either party', async () => {
  await fc.assert(
    fc.asyncProperty(claimable, async ({ escrow, secret }) => {
      const data = settleManyData('claim', [{ escrow, lock: secret }]);
      assert.equal(await answered('claimMany', data, lentTo(escrow)), 1n);
      assert.equal(await answered('claimMany', data), 0n);
      const [call] = callsIn(data.slice(2), place);
      assert.deepEqual(call?.escrow, escrow);
    }),
    { numRuns: runs(40) },
  );
});

const selector = toFunctionSelector(getAbiItem({ abi: escrowsAbi, name: 'claimMany' }));
const word = (value: bigint) => BigInt.asUintN(256, value).toString(16).padStart(64, '0');

test('where the decoder of the contract finds a batch, whatever its places, its secrets are read', async () => {
  const gap = fc.integer({ min: 0, max: 70 });
  await fc.assert(
    fc.asyncProperty(claimable, gap, fc.boolean(), async ({ escrow, secret }, bytesApart, back) => {
      const { place: own, rest } = legOf(escrow, 'claim', secret);
      const legs = word(1n) + secret.slice(2) + word(own) + word(rest);
      const to = (legsAt: bigint) => word(0n) + word(BigInt(escrow.terms.payout)) + word(legsAt);
      const gasEach = word(400_000n);
      const apart = '00'.repeat(bytesApart);
      const from = BigInt(64 + bytesApart);
      // The list first, and what it points at behind it; or all of it before the list.
      const forwards = word(from) + gasEach + apart + word(1n) + word(32n) + to(96n) + legs;
      const listAt = from + 128n + 96n;
      const backwards = word(listAt) + gasEach + apart + legs + to(-128n) + word(1n) + word(-128n);
      const data: Hex = `${selector}${back ? backwards : forwards}`;
      assert.equal(await answered('claimMany', data, lentTo(escrow)), 1n);
      const read = callsIn(data.slice(2), place).map(({ id }) => id);
      const id = escrowId(place.chainId, contract, escrow);
      assert.deepEqual(read, [id]);
    }),
    { numRuns: runs(40) },
  );
});
