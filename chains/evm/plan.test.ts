import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { erc20Abi, type Hex } from 'viem';
import { decodeFunctionData, encodeFunctionData, parseAbi } from 'viem/utils';
import { escrowsAbi } from '../../contracts/escrows/artifacts/abi.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import { runs } from '../../test/support/runs.ts';
import type { Allowance } from '../interface/fund-ways.ts';
import { refuses } from '../testing/refusals.ts';
import { parseEvmAddress } from './address.ts';
import {
  callsIn,
  claimCall,
  contractEscrow,
  decodeCall,
  evmDeployment,
  evmEscrow,
  fundCalls,
  refundCall,
  standingAllowance,
} from './plan.ts';

const payout = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const refund = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const token = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const secret = 'ab'.repeat(32);
const deployment = evmDeployment(31_337);

function terms(over: Partial<EscrowTerms> = {}): EscrowTerms {
  return {
    chain: 'evm-dev',
    hashlock: '11'.repeat(32),
    payout: { address: payout, pubkey: null },
    refund: { address: refund, pubkey: null },
    token,
    amount: 1_000n,
    timelock: 1_800_000_000,
    fundBefore: 1_799_990_000,
    lane: { number: 'a5'.repeat(12), counter: 3 },
    ...over,
  };
}

test('every field of the terms, the lane, the contract and the chain move the escrow', () => {
  const addresses = [
    terms(),
    terms({ hashlock: '22'.repeat(32) }),
    terms({ payout: { address: refund, pubkey: null } }),
    terms({ refund: { address: payout, pubkey: null } }),
    terms({ token: null }),
    terms({ amount: 1_001n }),
    terms({ timelock: 1_800_000_001 }),
    terms({ fundBefore: 1_799_990_001 }),
    terms({ lane: { number: 'a5'.repeat(12), counter: 4 } }),
    terms({ lane: { number: 'a6'.repeat(12), counter: 3 } }),
  ].map((each) => evmEscrow(each, deployment).address);
  addresses.push(evmEscrow(terms(), evmDeployment(31_338)).address);
  const elsewhere = { ...deployment, contract: `0x${'ab'.repeat(20)}` };
  addresses.push(evmEscrow(terms(), elsewhere).address);
  assert.equal(new Set(addresses).size, addresses.length);
});

test('destinations where money would be lost are refused', () => {
  const zero = { address: `0x${'0'.repeat(40)}`, pubkey: null };
  const contract = { address: deployment.contract, pubkey: null };
  const itself = { address: token.toLowerCase(), pubkey: null };
  for (const bad of [zero, contract, itself]) {
    for (const field of ['payout', 'refund']) {
      const given = terms({ [field]: bad });
      assert.throws(() => evmEscrow(given, deployment), refuses('bad_address'), bad.address);
    }
  }
});

test('funding native is one call with the value; a token is approved exactly, then funded', () => {
  const native = fundCalls(terms({ token: null }), deployment, 0n);
  assert.deepEqual(
    native.map(({ to, value }) => [to, value]),
    [[deployment.contract, '0x3e8']],
  );
  const approvals = (allowance: bigint, wanted?: Allowance) =>
    fundCalls(terms(), deployment, allowance, wanted).flatMap(({ to, data, value }) => {
      assert.equal(value, '0x0');
      if (to === deployment.contract) return [];
      const { args } = decodeFunctionData({ abi: erc20Abi, data: data as Hex });
      assert.equal(args?.[0], deployment.contract);
      return [args?.[1]];
    });
  assert.deepEqual(approvals(0n), [1_000n]);
  assert.deepEqual(approvals(1n), [0n, 1_000n]);
  assert.deepEqual(approvals(999n), [0n, 1_000n]);
  assert.deepEqual(approvals(1_000n), []);
  assert.deepEqual(approvals(5_000n), []);
  assert.deepEqual(approvals(999n, 'standing'), [0n, standingAllowance]);
  assert.deepEqual(approvals(1_000n, 'standing'), []);
});

test('a call reads back into its verb, terms and secret', () => {
  const address = fc
    .uint8Array({ minLength: 20, maxLength: 20 })
    .map((bytes) => parseEvmAddress(`0x${Buffer.from(bytes).toString('hex')}`));
  const hex32 = fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .map((bytes) => Buffer.from(bytes).toString('hex'));
  const any = fc.record({
    payout: address,
    refund: address,
    token: fc.option(address),
    hashlock: hex32,
    amount: fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }),
    timelock: fc.nat(),
  });
  fc.assert(
    fc.property(any, hex32, (random, shown) => {
      const given = terms({
        ...random,
        payout: { address: random.payout, pubkey: null },
        refund: { address: random.refund, pubkey: null },
      });
      const { address: escrow } = evmEscrow(given, deployment);
      const plain = contractEscrow(given);
      const lower = (each: string) => each.toLowerCase();
      const { terms: told } = plain;
      const of = {
        ...plain,
        terms: {
          ...told,
          payout: lower(told.payout),
          refund: lower(told.refund),
          token: lower(told.token),
        },
      };
      const expect = { escrow, of };
      const fund = fundCalls(given, deployment, 2n ** 256n - 1n)[0]!;
      const claim = claimCall(given, deployment, shown);
      const back = refundCall(given, deployment);
      assert.deepEqual(
        [fund, claim, back].map(({ to, data }) => decodeCall(to, data, deployment)),
        [
          { ...expect, verb: 'fund', secret: null },
          { ...expect, verb: 'claim', secret: shown },
          { ...expect, verb: 'refund', secret: null },
        ],
      );
      assert.equal(decodeCall(refund, fund.data, deployment), null, 'sent elsewhere');
      assert.equal(decodeCall(claim.to, `${claim.data}00`, deployment), null, 'something more');
    }),
    { numRuns: runs(50) },
  );
});

test('a claim inside a multicall is found, and its secret with it', () => {
  const { data } = claimCall(terms(), deployment, secret);
  const wrapped = encodeFunctionData({
    abi: parseAbi(['function multicall(bytes[])']),
    args: [[`0x1234`, data as Hex]],
  });
  const found = callsIn(wrapped, deployment);
  assert.deepEqual(
    found.map(({ verb, escrow, secret: shown }) => [verb, escrow, shown]),
    [['claim', evmEscrow(terms(), deployment).address, secret]],
  );
  assert.deepEqual(callsIn(data.slice(0, -2), deployment), [], 'a truncated claim');
});

test('the decoded selectors are those of the contracts', () => {
  for (const { data } of fundCalls(terms(), deployment, 1_000n)) {
    assert.equal(decodeFunctionData({ abi: escrowsAbi, data: data as Hex }).functionName, 'fund');
  }
  const claim = claimCall(terms(), deployment, secret).data as Hex;
  assert.equal(decodeFunctionData({ abi: escrowsAbi, data: claim }).functionName, 'claim');
});
