// The committed program is what the source gives, and its description is true.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AccountRole, address, type Instruction } from '@solana/kit';
import { isSealed } from '../seals.ts';
import { codeOf, DIGEST_FILE, digestLine, PROGRAM_FILE } from './compile.ts';
import { PROGRAM } from './testing/instructions.ts';
import { makeHolding, makeMint } from './testing/tokens.ts';
import {
  createWorld,
  errors,
  give,
  type Person,
  person,
  SOL,
  send,
  setNow,
  type World,
} from './testing/vm.ts';

const here = import.meta.dirname;
const json = (name: string) => JSON.parse(readFileSync(join(here, name), 'utf8'));
const program = readFileSync(PROGRAM_FILE);

test('the committed program is the one of its digest and of its deployment', () => {
  assert.equal(readFileSync(DIGEST_FILE, 'utf8'), digestLine(program));
  const { sha256, bytes } = json('deployment.json');
  assert.deepEqual({ sha256, bytes }, codeOf(program));
});

test('source, compiler and program are as the build left them together', () => {
  assert.ok(isSealed('solana'), 'one of them changed: run node contracts/solana/build.ts');
});

test('layout.json lists the errors of the source, and each is said by some test', () => {
  const source = readFileSync(join(here, 'src', 'error.rs'), 'utf8');
  const listed = [...source.matchAll(/^ {4}(\w+) = (\d+),$/gm)].map(([, name, code]) => [
    name,
    Number(code),
  ]);
  assert.deepEqual(Object.entries(errors), listed);
  const tests = readdirSync(here).filter((name) => name.endsWith('.test.ts'));
  const text = tests.map((name) => readFileSync(join(here, name), 'utf8')).join('\n');
  for (const name of Object.keys(errors)) assert.match(text, new RegExp(`\\b${name}\\b`));
});

type IdlInstruction = {
  readonly name: string;
  readonly arguments: readonly [{ readonly defaultValue: { readonly number: number } }];
  readonly accounts: readonly Readonly<Record<string, unknown>>[];
  readonly discriminators: readonly { readonly kind: string; readonly size?: number }[];
};
type Verb = { readonly verb: number; readonly bytes: number } & Readonly<Record<string, string[]>>;

test('idl.json lists the errors, verbs, sizes and account roles that layout.json has', () => {
  const { program: idl } = json('idl.json');
  const { instructions, constants } = json('layout.json');
  assert.equal(idl.publicKey, PROGRAM);
  const listed = idl.errors.map(({ name, code }: { name: string; code: number }) => [
    name.charAt(0).toUpperCase() + name.slice(1),
    code,
  ]);
  assert.deepEqual(listed, Object.entries(errors));
  const sizes = idl.accounts.map(({ size }: { size: number }) => size);
  assert.deepEqual(sizes, [constants.stateBytes, constants.tombstoneBytes]);
  for (const form of idl.instructions as readonly IdlInstruction[]) {
    const verb: Verb = instructions[form.name.replace('Tokens', '')];
    assert.equal(form.arguments[0].defaultValue.number, verb.verb, form.name);
    const sized = form.discriminators.find(({ kind }) => kind === 'sizeDiscriminatorNode');
    assert.equal(sized?.size, verb.bytes, form.name);
    const accounts = form.name.endsWith('Tokens') ? verb.token : (verb.sol ?? verb.accounts);
    const roles = form.accounts.map(({ isWritable, isSigner, isOptional }) => ({
      isWritable,
      isSigner: isSigner === true,
      isOptional,
    }));
    const expected = (accounts ?? []).map((text) => ({
      isWritable: / ws?(,|$)/.test(text),
      isSigner: / w?s$/.test(text),
      isOptional: text.endsWith('may be left out'),
    }));
    assert.deepEqual(roles, expected, form.name);
  }
});

type Row = {
  readonly data: string;
  readonly accounts: readonly { address: string; role: string }[];
};

function instructionOf({ data, accounts }: Row): Instruction {
  const roles: Readonly<Record<string, AccountRole>> = {
    '': AccountRole.READONLY,
    w: AccountRole.WRITABLE,
    s: AccountRole.READONLY_SIGNER,
    ws: AccountRole.WRITABLE_SIGNER,
  };
  return {
    programAddress: PROGRAM,
    data: Buffer.from(data, 'hex'),
    accounts: accounts.map((each) => ({
      address: address(each.address),
      role: roles[each.role]!,
    })),
  };
}

type Vector = {
  readonly name: string;
  readonly terms: Readonly<Record<'payout' | 'refund' | 'mint' | 'amount' | 'timelock', string>>;
  readonly tokenProgram?: string;
  /** Rows for tokens only. */
  readonly claimSigned?: Row;
  readonly refundSigned?: Row;
} & Readonly<Record<(typeof vectorVerbs)[number], Row>>;
const vectorVerbs = [
  'fund',
  'claim',
  'claimWithoutRefund',
  'refund',
  'refundAfterClaim',
  'release',
  'close',
] as const;

/** A world in which the vector's funder and receiver have what it takes. */
async function worldOf({ name, terms, tokenProgram, ...verbs }: Vector): Promise<World> {
  const world = await createWorld();
  give(world, address(terms.refund), 10n * SOL);
  give(world, address(terms.payout), SOL);
  if (tokenProgram === undefined) return world;
  const program = address(tokenProgram);
  const mint = makeMint(world, name === 'Token-2022' ? 'vector new mint' : 'vector mint', program);
  assert.equal(mint, terms.mint);
  const rows: readonly (readonly [Row, number, string, bigint])[] = [
    [verbs.fund, 4, terms.refund, BigInt(terms.amount)],
    [verbs.claim, 1, terms.payout, 0n],
    [verbs.refund, 2, terms.refund, 0n],
    ...(verbs.claimSigned ? [[verbs.claimSigned, 1, terms.payout, 0n] as const] : []),
  ];
  for (const [{ accounts }, index, owner, amount] of rows) {
    const at = address(accounts[index]!.address);
    makeHolding(world, { mint, owner: address(owner), amount, program, at });
  }
  return world;
}

test('the program does what vectors.json says', async () => {
  const { vectors }: { vectors: readonly Vector[] } = json('vectors.json');
  const [funder, payee] = await Promise.all([person('vector funder'), person('vector payout')]);
  for (const vector of vectors) {
    // No account can have the largest amount: that one is about its bytes.
    if (vector.name === 'largest amount') continue;
    const orders = [
      ['claim', 'close'],
      ['claimWithoutRefund', 'refundAfterClaim', 'close'],
      ['claimWithoutRefund', 'close'],
      ['refund'],
      ['release', 'close'],
      ...(vector.claimSigned ? [['claimSigned', 'close'] as const] : []),
      ...(vector.refundSigned ? [['refundSigned'] as const] : []),
    ] as const;
    for (const order of orders) {
      const world = await worldOf(vector);
      const funding = await send(world, [instructionOf(vector.fund)], [funder]);
      assert.equal(funding.error, undefined, vector.name);
      for (const verb of order) {
        const isLate = verb === 'refund' || verb === 'refundSigned' || verb === 'close';
        if (isLate) setNow(world, BigInt(vector.terms.timelock));
        const row = vector[verb];
        assert.ok(row);
        const signers: Partial<Record<typeof verb, Person[]>> = {
          claimSigned: [payee],
          refundSigned: [funder],
          release: [payee],
        };
        const { error } = await send(world, [instructionOf(row)], signers[verb]);
        assert.equal(error, undefined, `${vector.name}: ${verb}`);
      }
    }
  }
});
