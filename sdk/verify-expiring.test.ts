// TRON and Solana: the honest unsigned bytes are accepted, and no other.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import test from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { base58, base64 } from '@scure/base';
import fc from 'fast-check';
import type { Material } from '../chains/interface/material.ts';
import {
  mostPriorityLamports,
  solanaDeployment,
  solanaEscrow,
  solanaTransaction,
  unitLimits,
} from '../chains/solana/plan.ts';
import { solanaChains } from '../chains/solana/policy.ts';
import { type TokenProgram, tokenProgram } from '../chains/solana/programs.ts';
import { solanaAddressOfSeed } from '../chains/solana/proof.ts';
import {
  claimCall,
  fundCalls,
  refundCall,
  type TronDeployment,
  tronEscrow,
} from '../chains/tron/plan.ts';
import { tronDevPolicy } from '../chains/tron/policy.ts';
import { tronAddressOfKey } from '../chains/tron/proof.ts';
import { type TronCall, tronTransaction } from '../chains/tron/transaction.ts';
import { hashlockOf } from '../core/hashlock.ts';
import type { EscrowTerms } from '../core/terms.ts';
import { runs } from '../test/support/runs.ts';
import { VerificationError } from './errors.ts';
import { alterations, now, secret } from './testing/honest.ts';
import type { ChainView } from './trade.ts';
import { type Asked, verifyMaterial } from './verify-material.ts';

const deployment: TronDeployment = {
  chainId: 7,
  contract: tronAddressOfKey(new Uint8Array(32).fill(9)),
};
const tronView: ChainView & { family: 'tron' } = {
  family: 'tron',
  chain: 'tron-dev',
  deployment,
  policy: tronDevPolicy,
};
const solanaView: ChainView & { family: 'solana' } = {
  family: 'solana',
  chain: 'solana-dev',
  deployment: solanaDeployment,
  policy: solanaChains['solana-dev'].policy,
};

const someone = (byte: number) => new Uint8Array(32).fill(byte);

function terms(family: 'tron' | 'solana', isToken: boolean): EscrowTerms {
  const addressOf = family === 'tron' ? tronAddressOfKey : solanaAddressOfSeed;
  return {
    chain: `${family}-dev`,
    hashlock: hashlockOf(secret),
    payout: { address: addressOf(someone(1)), pubkey: null },
    refund: { address: addressOf(someone(2)), pubkey: null },
    token: isToken ? addressOf(someone(3)) : null,
    amount: 600_000_000n,
    timelock: now + 20_000,
    ...(family === 'tron' && {
      fundBefore: now + 10_000,
      lane: { number: 'a5'.repeat(12), counter: 3 },
    }),
  };
}

const envelope = {
  refBlockBytes: '00ff',
  refBlockHash: '0123456789abcdef',
  expiration: (now + 600) * 1_000,
  timestamp: now * 1_000,
  feeLimitSun: 30_000_000n,
};

function tron(of: EscrowTerms, calls: readonly TronCall[]): Material {
  return {
    chain: 'tron-dev',
    family: 'tron',
    sign: 'tron-txid',
    from: calls[0]?.from ?? '',
    transactions: calls.map((call) => tronTransaction(call, envelope)),
    escrow: tronEscrow(of, deployment).address,
  };
}

const circumstances = { blockhash: base58.encode(someone(7)), unitPrice: 1_000n };

function solana(
  of: EscrowTerms,
  asked: Asked,
  unitPrice = 1_000n,
): Material & { sign: 'solana-tx' } {
  const owner: TokenProgram | null = of.token === null ? null : tokenProgram;
  const how = { ...circumstances, unitPrice, tokenProgram: owner };
  return {
    chain: 'solana-dev',
    family: 'solana',
    sign: 'solana-tx',
    transaction: solanaTransaction(of, solanaDeployment, asked, how),
    lastValidBlockHeight: 1_000,
    escrow: solanaEscrow(of, solanaDeployment).address,
  };
}

function callsOf(asked: Asked, of: EscrowTerms): TronCall[] {
  if (asked.verb === 'fund') return fundCalls(of, deployment, 0n);
  if (asked.verb === 'refund') return [refundCall(of, deployment)];
  return [claimCall(of, deployment, asked.secret)];
}

const fund: Asked = { verb: 'fund' };
const claim: Asked = { verb: 'claim', secret };
const refund: Asked = { verb: 'refund' };
const [trx, trc20] = [terms('tron', false), terms('tron', true)];
const [sol, spl] = [terms('solana', false), terms('solana', true)];

const cases: [string, Material, Asked, EscrowTerms, ChainView][] = [
  ['TRX funding', tron(trx, fundCalls(trx, deployment, 0n)), fund, trx, tronView],
  ['TRC-20 funding', tron(trc20, fundCalls(trc20, deployment, 0n)), fund, trc20, tronView],
  [
    'TRC-20 funding with a reset',
    tron(trc20, fundCalls(trc20, deployment, 5n)),
    fund,
    trc20,
    tronView,
  ],
  ['TRON claim', tron(trx, [claimCall(trx, deployment, secret)]), claim, trx, tronView],
  ['TRON refund', tron(trc20, [refundCall(trc20, deployment)]), refund, trc20, tronView],
  ['SOL funding', solana(sol, fund), fund, sol, solanaView],
  ['SPL funding', solana(spl, fund), fund, spl, solanaView],
  ['SOL claim', solana(sol, claim), claim, sol, solanaView],
  ['SPL claim', solana(spl, claim), claim, spl, solanaView],
  ['SPL refund', solana(spl, refund), refund, spl, solanaView],
];

/** What does not follow from the terms, within bounds: any other value is as good, see below. */
const open = [
  /^transactions\[\d\]\.raw_data\.(ref_block_bytes|ref_block_hash|expiration|timestamp|fee_limit)$/,
  /^lastValidBlockHeight$/,
];

/**
 * A refusal names the field itself, the list that has become longer or shorter, or, for what is
 * open within bounds, the id that does not belong to it any more.
 */
function isNamed(path: string, field: string): boolean {
  if (open[0]?.test(path) && field.endsWith('].txID')) return true;
  return field.startsWith(path);
}

for (const [name, honest, asked, of, view] of cases) {
  const limits = { validUntil: now, outputs: null, now };
  test(`${name}: the honest bytes are accepted`, () => {
    verifyMaterial({ ...honest, validUntil: now }, asked, of, view, limits);
  });

  test(`${name}: each altered field is refused`, () => {
    let lies = 0;
    for (const { path, how, value } of alterations(honest)) {
      // Whether approvals are due is the token's state: leaving one out only makes it fail.
      const isShorter = path === 'transactions' && how === 'shorter' && /^TRC-20/.test(name);
      if (path === '' || isShorter) continue;
      // Blocks after which it dies are numbers of the node's: see the wallet.
      if (open[1]?.test(path) && /more|less/.test(how)) continue;
      lies += 1;
      assert.throws(
        () => verifyMaterial(value as Material, asked, of, view, limits),
        (error) => error instanceof VerificationError && isNamed(path, error.field),
        `${path} (${how}) was believed`,
      );
    }
    assert.ok(lies >= 15, `only ${lies} lies were told`);
  });
}

test('a TRON transaction of another call is refused, however well its id fits', () => {
  const other = fc.record(
    {
      from: fc.integer({ min: 4, max: 9 }).map((byte) => tronAddressOfKey(someone(byte))),
      to: fc.integer({ min: 4, max: 8 }).map((byte) => tronAddressOfKey(someone(byte))),
      data: fc.uint8Array({ minLength: 4, maxLength: 300 }).map(bytesToHex),
      value: fc.bigInt({ min: 1n, max: 500_000_000n }),
    },
    { requiredKeys: [] },
  );
  const legal = fc.record({
    expiration: fc.integer({ min: now * 1_000, max: (now + 3_600) * 1_000 }),
    timestamp: fc.integer({ min: 1, max: now * 2_000 }),
    feeLimitSun: fc.bigInt({ min: 1n, max: 500_000_000n }),
  });
  const limits = { validUntil: null, outputs: null, now };
  const which = fc.constantFrom(...cases.filter(([, , , , view]) => view.family === 'tron'));
  const property = fc.property(which, other, legal, fc.nat(2), ([, , asked, of], lie, how, at) => {
    const honest = callsOf(asked, of);
    const index = at % honest.length;
    const calls = honest.map((call, place) => (place === index ? { ...call, ...lie } : call));
    const built = {
      ...tron(of, honest),
      transactions: calls.map((call) => tronTransaction(call, { ...envelope, ...how })),
    };
    const isHonest = isDeepStrictEqual(calls, honest);
    const verify = () => verifyMaterial(built as Material, asked, of, tronView, limits);
    if (isHonest) return verify();
    const named = (error: unknown) =>
      error instanceof VerificationError &&
      error.field.startsWith(`transactions[${index}].raw_data.`);
    assert.throws(verify, named);
  });
  fc.assert(property, { numRuns: 300 });
});

test('TRON bytes with a field more are refused, however well their id fits', () => {
  const limits = { validUntil: null, outputs: null, now };
  for (const [name, honest, asked, of, view] of cases) {
    if (honest.sign !== 'tron-txid') continue;
    const [first, ...rest] = honest.transactions;
    assert.ok(first);
    // A memo, an authority, a script, and a second contract.
    for (const more of ['520161', '4a0161', '620161', '5a020801']) {
      const raw_data_hex = first.raw_data_hex + more;
      const txID = bytesToHex(sha256(hexToBytes(raw_data_hex)));
      const lie = { ...honest, transactions: [{ ...first, raw_data_hex, txID }, ...rest] };
      assert.throws(
        () => verifyMaterial(lie, asked, of, view, limits),
        (error) => error instanceof VerificationError && /^transactions\[0\]/.test(error.field),
        `${name}: ${more}`,
      );
    }
  }
});

test('a difference in a Solana transaction is named by payer, program, account or data', () => {
  const limits = { validUntil: null, outputs: null, now };
  const stranger = { address: solanaAddressOfSeed(someone(5)), pubkey: null };
  const named: [string, EscrowTerms, EscrowTerms][] = [
    ['transaction.payer', sol, { ...sol, refund: stranger }],
    ['transaction.instructions[2].accounts[1]', sol, { ...sol, amount: 1n }],
    ['transaction.instructions[2].accounts[1]', sol, { ...sol, payout: stranger }],
    ['transaction.instructions[0].data', sol, { ...spl, refund: sol.refund }],
  ];
  for (const [field, of, others] of named) {
    const lie = { ...solana(others, fund), escrow: solanaEscrow(of, solanaDeployment).address };
    assert.throws(
      () => verifyMaterial(lie, fund, of, solanaView, limits),
      (error) => error instanceof VerificationError && error.field === field,
      field,
    );
  }
});

test('any other terms make other bytes: hashlock, parties, token, amount, timelock', () => {
  for (const [name, honest, asked, of, view] of cases) {
    const others: Partial<EscrowTerms>[] = [
      { payout: of.refund },
      { refund: of.payout },
      { amount: of.amount + 1n },
      { timelock: of.timelock + 1 },
      { token: of.token === null ? of.payout.address : null },
      ...(asked.verb === 'claim' ? [] : [{ hashlock: 'ab'.repeat(32) }]),
    ];
    for (const other of others) {
      const verify = () =>
        verifyMaterial(honest, asked, { ...of, ...other }, view, {
          validUntil: null,
          outputs: null,
          now,
        });
      assert.throws(verify, VerificationError, `${name}: ${Object.keys(other)} was not looked at`);
    }
  }
});

test('a contract or program of the market’s own choice is refused', () => {
  const limits = { validUntil: null, outputs: null, now };
  const contract = tronAddressOfKey(someone(8));
  const otherTron = { ...tronView, deployment: { ...deployment, contract } };
  const program = solanaAddressOfSeed(someone(8));
  const otherSolana = { ...solanaView, deployment: { ...solanaDeployment, program } };
  for (const [name, honest, asked, of, view] of cases) {
    const other = view.family === 'tron' ? otherTron : otherSolana;
    assert.throws(
      () => verifyMaterial(honest, asked, of, other, limits),
      (error) => error instanceof VerificationError && error.field === 'escrow',
      name,
    );
  }
});

// A third of the bytes, another one each time; in the soak each of them.
const step = runs(1) > 1 ? 1 : 3;
const first = randomInt(step);

test('a Solana transaction with any one byte altered but its blockhash is refused', () => {
  const limits = { validUntil: null, outputs: null, now };
  for (const [name, honest, asked, of, view] of cases) {
    if (honest.sign !== 'solana-tx') continue;
    const bytes = base64.decode(honest.transaction);
    const hash = base58.decode(circumstances.blockhash);
    const at = Buffer.from(bytes).indexOf(hash);
    const price = Buffer.from(bytes).indexOf(Uint8Array.of(3, 0xe8, 3, 0, 0, 0, 0, 0, 0));
    assert.ok(at > 0 && price > 0);
    for (const index of bytes.keys()) {
      // The price of speed is bounded: its low bytes may be any.
      if (index % step !== first || (index >= at && index < at + 32)) continue;
      if (index > price && index <= price + 4) continue;
      const other = Uint8Array.from(bytes);
      other[index] = (other[index] ?? 0) ^ 1;
      const lie = { ...honest, transaction: base64.encode(other) };
      assert.throws(
        () => verifyMaterial(lie, asked, of, view, limits),
        VerificationError,
        `${name}: byte ${index} was believed`,
      );
    }
  }
});

test('fees beyond the customer’s bound are refused: fee_limit on TRON, speed on Solana', () => {
  const limits = { validUntil: null, outputs: null, now };
  const refundOf = (feeLimitSun: bigint): Material => {
    const call = refundCall(trx, deployment);
    const honest = tron(trx, [call]) as Material & { sign: 'tron-txid' };
    return { ...honest, transactions: [tronTransaction(call, { ...envelope, feeLimitSun })] };
  };
  verifyMaterial(refundOf(500_000_000n), refund, trx, tronView, limits);
  const dear = () => verifyMaterial(refundOf(500_000_001n), refund, trx, tronView, limits);
  assert.throws(dear, /fee_limit is 500000001 sun, above 500000000/);
  const own = { ...tronView, mostFeeLimitSun: 1_000n };
  assert.throws(() => verifyMaterial(refundOf(1_001n), refund, trx, own, limits), /above 1000/);
  const most = (mostPriorityLamports * 1_000_000n) / BigInt(unitLimits.sol);
  verifyMaterial(solana(sol, refund, most), refund, sol, solanaView, limits);
  const hasty = () =>
    verifyMaterial(solana(sol, refund, most + 1n), refund, sol, solanaView, limits);
  assert.throws(hasty, /beyond any need/);
});

test('a TRON transaction that lives for more than an hour is refused', () => {
  const call = refundCall(trx, deployment);
  const hour = 3_600_000;
  const until = (expiration: number): Material => {
    const honest = tron(trx, [call]) as Material & { sign: 'tron-txid' };
    return { ...honest, transactions: [tronTransaction(call, { ...envelope, expiration })] };
  };
  const limits = { validUntil: null, outputs: null, now };
  verifyMaterial(until(now * 1_000 + hour), refund, trx, tronView, limits);
  const long = () => verifyMaterial(until(now * 1_000 + hour + 1), refund, trx, tronView, limits);
  assert.throws(long, /more than 60 minutes ahead/);
});
