// The plan against the program's own vectors, and its transactions against @solana/kit.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { bytesToHex } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import {
  decompileTransactionMessage,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  isSignerRole,
  isWritableRole,
} from '@solana/kit';
import type { SolanaMaterial } from '../interface/material.ts';
import { solanaAddressBytes, solanaAddressOf } from './address.ts';
import { readTransaction } from './message.ts';
import {
  encodeTerms,
  escrowAddress,
  materialProblems,
  mostPriorityLamports,
  mostRentLamports,
  solanaDeployment,
  solanaEscrow,
  solanaTransaction,
  unitLimits,
  vaultAddress,
  type Wanted,
} from './plan.ts';
import {
  associatedTokenAccount,
  associatedTokenProgram,
  systemProgram,
  type TokenProgram,
  tokenProgram,
} from './programs.ts';
import { solanaAddressOfSeed } from './proof.ts';

type Row = {
  readonly data: string;
  readonly accounts: readonly { readonly address: string; readonly role: string }[];
};
type Vector = {
  readonly name: string;
  readonly terms: Readonly<
    Record<'hashlock' | 'payout' | 'refund' | 'mint' | 'amount' | 'timelock', string>
  >;
  readonly encodedTerms: string;
  readonly escrow: string;
  readonly bump: number;
  readonly tokenProgram?: TokenProgram;
  readonly vault?: string;
} & Readonly<
  Record<
    'fund' | 'claim' | 'claimWithoutRefund' | 'refund' | 'refundAfterClaim' | 'close' | 'release',
    Row
  >
>;

const { vectors, program, secret } = JSON.parse(
  readFileSync(new URL('../../../contracts/solana/vectors.json', import.meta.url), 'utf8'),
) as { vectors: Vector[]; program: string; secret: string };
const deployment = { ...solanaDeployment, program };
const blockhash = solanaAddressOf(new Uint8Array(32).fill(9));

function termsOf({ terms }: Vector): EscrowTerms {
  return {
    chain: 'solana-dev',
    hashlock: terms.hashlock,
    payout: { address: terms.payout, pubkey: null },
    refund: { address: terms.refund, pubkey: null },
    token: terms.mint === systemProgram ? null : terms.mint,
    amount: BigInt(terms.amount),
    timelock: Number(terms.timelock),
  };
}

const wallet = (name: string) => solanaAddressOfSeed(createHash('sha256').update(name).digest());
const goodTerms: EscrowTerms = {
  chain: 'solana-dev',
  hashlock: hashlockOf('11'.repeat(32)),
  payout: { address: wallet('payout'), pubkey: null },
  refund: { address: wallet('refund'), pubkey: null },
  token: null,
  amount: 5_000_000n,
  timelock: 1_800_007_200,
};
const dollarTerms: EscrowTerms = { ...goodTerms, token: wallet('mint') };

function decompiled(text: string) {
  const { messageBytes } = getTransactionDecoder().decode(getBase64Encoder().encode(text));
  const compiled = getCompiledTransactionMessageDecoder().decode(messageBytes);
  return decompileTransactionMessage(compiled as never);
}

function rowOf(instruction: ReturnType<typeof decompiled>['instructions'][number]): Row {
  return {
    data: bytesToHex(Uint8Array.from(instruction.data ?? [])),
    accounts: (instruction.accounts ?? []).map(({ address, role }) => ({
      address,
      role: `${isWritableRole(role) ? 'w' : ''}${isSignerRole(role) ? 's' : ''}`,
    })),
  };
}

for (const vector of vectors) {
  const terms = termsOf(vector);
  const owner = vector.tokenProgram ?? null;

  test(`${vector.name}: terms, escrow and vault are those of the program's vectors`, () => {
    assert.equal(bytesToHex(encodeTerms(terms)), vector.encodedTerms);
    const { address, bump } = escrowAddress(encodeTerms(terms), deployment);
    assert.deepEqual([address, bump], [vector.escrow, vector.bump]);
    if (owner !== null) assert.equal(vaultAddress(address, owner), vector.vault);
  });

  const verbs: readonly (readonly [keyof Vector & string, Wanted])[] = [
    ['fund', { verb: 'fund' }],
    ['claim', { verb: 'claim', secret }],
    ['claimWithoutRefund', { verb: 'claim', secret, withoutRefund: true }],
    ['refund', { verb: 'refund' }],
    ['refundAfterClaim', { verb: 'refund', afterClaim: true }],
    ['close', { verb: 'close' }],
    ['release', { verb: 'release' }],
  ];
  for (const [name, wanted] of verbs) {
    test(`${vector.name}: kit reads from our ${name} what the vectors say`, () => {
      const text = solanaTransaction(terms, deployment, wanted, {
        tokenProgram: owner,
        blockhash,
        unitPrice: 7n,
      });
      const message = decompiled(text);
      const isPayees = wanted.verb === 'claim' || wanted.verb === 'release';
      const payer = isPayees ? terms.payout.address : terms.refund.address;
      assert.equal(message.feePayer.address, payer);
      const own = message.instructions.at(-1);
      assert.equal(own?.programAddress, program);
      const expected = vector[name] as Row;
      const got = rowOf(own!);
      assert.equal(got.data, expected.data);
      // A vector's token accounts are made up; ours are the wallets' associated ones.
      const isHolding = (at: number) =>
        owner !== null &&
        ((wanted.verb === 'fund' && at === 4) ||
          (wanted.verb === 'claim' && at === 1) ||
          ((wanted.verb === 'refund' || wanted.verb === 'release') && at === 2));
      assert.equal(got.accounts.length, expected.accounts.length);
      for (const [at, account] of got.accounts.entries()) {
        const wantedAccount = expected.accounts[at]!;
        // The message gives an account one role: the payer's stays with it everywhere.
        const isPayer = account.address === payer;
        assert.equal(isPayer ? 'ws' : account.role, isPayer ? 'ws' : wantedAccount.role);
        const holder = wanted.verb === 'claim' ? terms.payout.address : terms.refund.address;
        const holding = isHolding(at) && associatedTokenAccount(holder, terms.token!, owner!);
        assert.equal(account.address, holding || wantedAccount.address);
      }
      const made = message.instructions.filter(
        ({ programAddress }) => programAddress === associatedTokenProgram,
      );
      const makes = owner !== null && ['claim', 'claimWithoutRefund', 'refund'].includes(name);
      assert.equal(made.length, makes ? 1 : 0);
    });
  }
}

const refused = (change: Partial<EscrowTerms>, code: string) => {
  assert.throws(
    () => solanaEscrow({ ...goodTerms, ...change }, deployment),
    (error: unknown) => error instanceof ParleyError && error.code === code,
    JSON.stringify(change, (_, each) => (typeof each === 'bigint' ? String(each) : each)),
  );
};

test('destinations where money would be lost are refused', () => {
  const at = (address: string) => ({ address, pubkey: null });
  const holding = associatedTokenAccount(wallet('payout'), wallet('mint'), tokenProgram);
  for (const field of ['payout', 'refund'] as const) {
    refused({ [field]: at(systemProgram) }, 'bad_address');
    refused({ [field]: at(wallet('mint')), token: wallet('mint') }, 'bad_address');
    refused({ [field]: at(holding) }, 'bad_address');
    refused({ [field]: at('nonsense') }, 'bad_address');
  }
  refused({ payout: goodTerms.refund }, 'bad_address');
  refused({ token: systemProgram }, 'bad_address');
});

test('an amount is 1 to 2^64-1', () => {
  refused({ amount: 0n }, 'bad_amount');
  refused({ amount: 2n ** 64n }, 'bad_amount');
  solanaEscrow({ ...goodTerms, amount: 2n ** 64n - 1n }, deployment);
});

function material(
  terms: EscrowTerms,
  wanted: Wanted,
  unitPrice = 0n,
  missingRent = 0n,
): SolanaMaterial {
  const owner = terms.token === null ? null : tokenProgram;
  return {
    chain: terms.chain,
    family: 'solana',
    sign: 'solana-tx',
    transaction: solanaTransaction(terms, deployment, wanted, {
      tokenProgram: owner,
      blockhash,
      unitPrice,
      missingRent,
    }),
    lastValidBlockHeight: 1_000,
    escrow: solanaEscrow(terms, deployment).address,
  };
}

const claim: Wanted = { verb: 'claim', secret: '11'.repeat(32) };

test('honest material has no problem, in each of its forms', () => {
  for (const terms of [goodTerms, dollarTerms]) {
    for (const wanted of [
      { verb: 'fund' },
      claim,
      { verb: 'refund' },
      { verb: 'release' },
    ] as Wanted[]) {
      for (const price of [0n, 1n, 50_000n]) {
        assert.deepEqual(
          materialProblems(material(terms, wanted, price), wanted, terms, deployment),
          [],
        );
      }
    }
    for (const added of [0n, 1n, mostRentLamports]) {
      const whole = material(terms, claim, 7n, added);
      assert.deepEqual(materialProblems(whole, claim, terms, deployment), []);
      const short = material(terms, { ...claim, withoutRefund: true }, 0n, added);
      assert.deepEqual(materialProblems(short, claim, terms, deployment), []);
    }
  }
});

test('rent is added to the escrow alone, by its claimer, once, and no more than any need', () => {
  const problems = (of: SolanaMaterial, wanted: Wanted = claim) =>
    materialProblems(of, wanted, goodTerms, deployment);
  const most = material(goodTerms, claim, 0n, mostRentLamports);
  const beyond = material(goodTerms, claim, 0n, mostRentLamports + 1n);
  assert.match(problems(beyond).join(), /adds 20000001 lamports of rent, beyond any need/);
  // No other verb adds any.
  assert.equal(
    material(goodTerms, { verb: 'refund' }, 0n, 5n).transaction,
    material(goodTerms, { verb: 'refund' }).transaction,
  );
  const { keys, instructions } = readTransaction(most.transaction);
  const transfer = instructions.find((each) => each.program === systemProgram) ?? assert.fail();
  const { address: escrow } = solanaEscrow(goodTerms, deployment);
  assert.deepEqual(
    transfer.accounts.map((at) => keys[at]),
    [goodTerms.payout.address, escrow],
  );
  assert.equal(bytesToHex(transfer.data), '02000000002d310100000000');
});

test('any byte of a transaction that differs is noticed, but for the blockhash and less rent', () => {
  for (const [wanted, added] of [
    [{ verb: 'fund' }, 0n],
    [{ verb: 'release' }, 0n],
    [claim, 0n],
    [claim, mostRentLamports],
  ] as const) {
    const honest = material(dollarTerms, wanted, 0n, added);
    const bytes = Buffer.from(honest.transaction, 'base64');
    const hash = Buffer.from(solanaAddressBytes(blockhash));
    const from = bytes.indexOf(hash);
    const transfer = Buffer.from('0200000000', 'hex').fill(Number(added & 0xffn), 4);
    const lamports = added === 0n ? bytes.length : bytes.indexOf(transfer) + 4;
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      const transaction = changed.toString('base64');
      const problems = materialProblems(
        { ...honest, transaction },
        wanted,
        dollarTerms,
        deployment,
      );
      const isHash = at >= from && at < from + 32;
      // Any sum up to the most may be added.
      const isLess = at >= lamports && changed.readBigUInt64LE(lamports) < added;
      assert.equal(problems.length === 0, isHash || isLess, `byte ${at}: ${problems.join()}`);
    }
  }
});

test('other terms, another verb, another secret and a wild price are noticed', () => {
  const problems = (of: SolanaMaterial, wanted: Wanted, terms = goodTerms) =>
    materialProblems(of, wanted, terms, deployment).length > 0;
  const fund = material(goodTerms, { verb: 'fund' });
  assert.ok(problems(fund, { verb: 'refund' }));
  // The funder asks for the balance that is there: three verbs bring it, and pay nobody else.
  for (const wanted of [
    { verb: 'refund' },
    { verb: 'refund', afterClaim: true },
    { verb: 'close' },
  ] as const) {
    assert.ok(!problems(material(goodTerms, wanted), { verb: 'refund' }), wanted.verb);
    const { payout: refund, refund: payout } = goodTerms;
    assert.ok(problems(material({ ...goodTerms, refund, payout }, wanted), { verb: 'refund' }));
    assert.ok(problems(material(goodTerms, wanted), { verb: 'claim', secret }));
  }
  // A release is asked for by its name, and stands for nothing else.
  const release = material(goodTerms, { verb: 'release' });
  for (const wanted of [{ verb: 'refund' }, { verb: 'close' }, claim] as const) {
    assert.ok(problems(release, wanted));
    assert.ok(problems(material(goodTerms, wanted), { verb: 'release' }));
  }
  assert.ok(!problems(material(goodTerms, { verb: 'close' }), { verb: 'close' }));
  assert.ok(problems(material(goodTerms, { verb: 'refund' }), { verb: 'close' }));
  assert.ok(problems(fund, { verb: 'fund' }, { ...goodTerms, amount: 4n }));
  assert.ok(problems(material(goodTerms, claim), { verb: 'claim', secret: '12'.repeat(32) }));
  const most = (mostPriorityLamports * 1_000_000n) / BigInt(unitLimits.sol);
  assert.ok(!problems(material(goodTerms, { verb: 'fund' }, most), { verb: 'fund' }));
  assert.ok(problems(material(goodTerms, { verb: 'fund' }, most + 1n), { verb: 'fund' }));
  assert.ok(problems({ ...fund, chain: 'solana' }, { verb: 'fund' }));
  assert.ok(problems({ ...fund, escrow: wallet('other') }, { verb: 'fund' }));
  assert.ok(problems({ ...fund, transaction: 'AAAA' }, { verb: 'fund' }));
});
