import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { erc20Abi, type Hex } from 'viem';
import { decodeFunctionData, encodeFunctionData, parseAbi } from 'viem/utils';
import { escrowsAbi } from '../../contracts/escrows/artifacts/abi.ts';
import { brokenInequalities } from '../../core/deadlines.ts';
import { ParleyError } from '../../core/errors.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import { runs } from '../../test/support/runs.ts';
import { bitcoinPolicies } from '../bitcoin/policy.ts';
import type { Allowance } from '../interface/fund-ways.ts';
import { refuses } from '../testing/refusals.ts';
import { parseEvmAddress, sameAddress } from './address.ts';
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
import { evmChains } from './policy.ts';

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

// EIP-55, "Test Cases": https://eips.ethereum.org/EIPS/eip-55
const published = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];

const refused = (sentence: RegExp) => (error: unknown) =>
  error instanceof ParleyError && error.code === 'bad_address' && sentence.test(error.message);

describe('the addresses of EIP-55', () => {
  for (const address of published) {
    test(`${address} is its own canonical form, from any spelling without a checksum`, () => {
      const digits = address.slice(2);
      for (const text of [
        address,
        `0x${digits.toLowerCase()}`,
        `0x${digits.toUpperCase()}`,
        `0X${digits.toUpperCase()}`,
      ]) {
        assert.equal(parseEvmAddress(text), address);
      }
    });
  }
});

test('a single letter in the wrong case is a wrong checksum, unless one case is left', () => {
  fc.assert(
    fc.property(fc.constantFrom(...published), fc.nat(39), (address, at) => {
      const letter = address[2 + at] as string;
      fc.pre(/[a-f]/i.test(letter));
      const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
      const text = address.slice(0, 2 + at) + other + address.slice(3 + at);
      const digits = text.slice(2);
      fc.pre(digits !== digits.toLowerCase() && digits !== digits.toUpperCase());
      assert.throws(() => parseEvmAddress(text), refused(/wrong EIP-55 checksum/));
    }),
  );
});

test('what is not 0x and 40 hex digits is refused, and shown in short', () => {
  const [address = ''] = published;
  for (const text of [
    '',
    '0x',
    address.slice(0, -1),
    `${address}0`,
    address.slice(2),
    ` ${address}`,
  ]) {
    assert.throws(() => parseEvmAddress(text), refused(/0x and 40 hex/));
  }
  assert.throws(() => parseEvmAddress('x'.repeat(100_000)), refused(/^.{1,200}$/));
});

test('two spellings are the same address', () => {
  const [address = '', other = ''] = published;
  assert.ok(sameAddress(address, address.toLowerCase()));
  assert.ok(!sameAddress(address, other));
});

const settings = Object.entries(evmChains);

test('every pair of EVM chains keeps every inequality, at either depth', () => {
  for (const [shortName, { policy: short }] of settings) {
    for (const [longName, { policy: long }] of settings) {
      for (const shortDepth of [short.normal, short.high]) {
        for (const longDepth of [long.normal, long.high]) {
          const broken = brokenInequalities(
            { policy: short, depth: shortDepth },
            { policy: long, depth: longDepth },
          );
          assert.deepEqual(broken, [], `${shortName} short, ${longName} long`);
        }
      }
    }
  }
});

test('every EVM chain keeps every inequality below Bitcoin, which is always the long leg', () => {
  for (const [name, { policy: short }] of settings) {
    for (const long of Object.values(bitcoinPolicies)) {
      for (const shortDepth of [short.normal, short.high]) {
        for (const longDepth of [long.normal, long.high]) {
          const broken = brokenInequalities(
            { policy: short, depth: shortDepth },
            { policy: long, depth: longDepth },
          );
          assert.deepEqual(broken, [], name);
        }
      }
    }
  }
});

test('more value never means less depth or less time, and chain ids are unique', () => {
  for (const [name, { policy }] of settings) {
    assert.ok(policy.high.confirmations >= policy.normal.confirmations, name);
    assert.ok(policy.high.settleSeconds >= policy.normal.settleSeconds, name);
    assert.ok(policy.high.outageSeconds >= policy.normal.outageSeconds, name);
    assert.equal(policy.floorSeconds, 4 * 3_600, name);
  }
  assert.equal(new Set(settings.map(([, { chainId }]) => chainId)).size, settings.length);
});
