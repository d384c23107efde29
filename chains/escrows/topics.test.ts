// The contract's own logs, on a TVM, against the topics by which they are looked for.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { type Hex, hexToBytes, toEventSelector } from 'viem';
import { initCode } from '../../contracts/escrows/artifacts/abi.ts';
import { type Escrow, escrowId } from '../../contracts/escrows/ids.ts';
import { createTvm } from '../../contracts/tron/tvm/engine.ts';
import { TvmState } from '../../contracts/tron/tvm/state.ts';
import {
  claimData,
  claimedTopic,
  fundData,
  fundedTopic,
  noToken,
  refundData,
  refundedTopic,
  topicOfVerb,
} from './calls.ts';

const chainId = 7;
const start = 1_800_000_000n;
const contract: Hex = `0x${'e5'.repeat(20)}`;
const funder: Hex = `0x${'f0'.repeat(20)}`;
const secret = '5e'.repeat(32);
const hash = createHash('sha256').update(Buffer.from(secret, 'hex')).digest('hex');
const escrowIn = (lane: bigint): Escrow => ({
  terms: {
    hashlock: `0x${hash}`,
    payout: `0x${'aa'.repeat(20)}`,
    refund: funder,
    token: noToken,
    amount: 1_000n,
    timelock: start + 86_400n,
    fundBefore: start + 3_600n,
  },
  lane,
  counter: 1,
});

test('what the contract logs has these topics, the id, and what is read of the data', async () => {
  const state = new TvmState();
  state.set(`account/${funder.slice(2)}`, '1000000');
  const tvm = await createTvm(state, chainId, { cancun: true });
  const run = async (data: Hex, { value = 0n, at = start, to = contract as Hex | null } = {}) => {
    const { failure, logs } = await tvm.run({
      caller: hexToBytes(funder),
      to: to === null ? null : hexToBytes(to),
      ...(to === null ? { creates: hexToBytes(contract) } : {}),
      value,
      data: hexToBytes(data),
      energyLimit: 10_000_000n,
      txid: new Uint8Array(32),
      block: { number: 1n, timestamp: at },
    });
    assert.equal(failure, 'none');
    const hex = (some: Uint8Array) => `0x${Buffer.from(some).toString('hex')}`;
    return logs.map(({ topics, data: said }) => ({ topics: topics.map(hex), data: hex(said) }));
  };
  await run(initCode, { to: null });
  const [one, other] = [escrowIn(1n), escrowIn(2n)];
  const [funded] = await run(fundData(one), { value: 1_000n });
  assert.deepEqual(funded?.topics, [fundedTopic, escrowId(chainId, contract, one)]);
  assert.equal(funded?.data.slice(0, 66), `0x${hash}`);
  const [claimed] = await run(claimData(one, secret));
  assert.deepEqual(claimed?.topics, [claimedTopic, escrowId(chainId, contract, one)]);
  assert.equal(claimed?.data, `0x${secret}`);
  await run(fundData(other), { value: 1_000n });
  const [refunded] = await run(refundData(other), { at: other.terms.timelock });
  assert.deepEqual(refunded?.topics, [refundedTopic, escrowId(chainId, contract, other)]);
  assert.deepEqual(topicOfVerb, {
    fund: fundedTopic,
    claim: claimedTopic,
    refund: refundedTopic,
  });
});

test('they are hashes of the events as they are written', () => {
  const terms = '(bytes32,address,address,address,uint256,uint256,uint256)';
  assert.equal(fundedTopic, toEventSelector(`Funded(bytes32,${terms},uint96,uint32)`));
  assert.equal(claimedTopic, toEventSelector('Claimed(bytes32,bytes32)'));
  assert.equal(refundedTopic, toEventSelector('Refunded(bytes32)'));
});
