// The interface in Codama's form says what layout.json says. It reads the bytes and accounts of the
// examples as they are meant, by a reader of a few lines.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { addressOf } from './testing/instructions.ts';
import { errors } from './testing/vm.ts';

type Type = {
  readonly kind: string;
  readonly size?: number;
  readonly format?: string;
  readonly name?: string;
  readonly fields?: readonly Named[];
};
type Named = { readonly name: string; readonly type: Type };
type Argument = Named & {
  readonly defaultValue?: { readonly number?: number; readonly data?: string };
};
type Instruction = {
  readonly name: string;
  readonly accounts: readonly {
    readonly name: string;
    readonly isWritable: boolean;
    readonly isSigner: boolean | 'either';
    readonly isOptional: boolean;
    readonly defaultValue?: { readonly publicKey: string };
  }[];
  readonly arguments: readonly Argument[];
  readonly discriminators: readonly { readonly kind: string; readonly size?: number }[];
};
type Row = {
  readonly data: string;
  readonly accounts: readonly { readonly address: string; readonly role: string }[];
};

const json = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8'));
const { program } = json('idl.json');
const layout = json('layout.json');
const { vectors, secret } = json('vectors.json');

/** Reads a type from bytes as Codama has it; gives the value and what is left. */
function take(type: Type, data: Buffer): readonly [unknown, Buffer] {
  switch (type.kind) {
    case 'numberTypeNode': {
      const size = Number(type.format?.slice(1)) / 8;
      const bytes = Buffer.from(data.subarray(0, size)).reverse();
      const unsigned = BigInt(`0x${bytes.toString('hex')}`);
      const value = type.format?.startsWith('i') ? BigInt.asIntN(size * 8, unsigned) : unsigned;
      return [String(value), data.subarray(size)];
    }
    case 'fixedSizeTypeNode':
      return [data.toString('hex', 0, type.size), data.subarray(type.size)];
    case 'publicKeyTypeNode':
      return [addressOf(data.subarray(0, 32)), data.subarray(32)];
    case 'definedTypeLinkNode':
      return take(program.definedTypes.find(({ name }: Named) => name === type.name).type, data);
    case 'structTypeNode':
      return takeAll(type.fields ?? [], data);
    default:
      throw new Error(`no type ${type.kind}`);
  }
}

function takeAll(
  fields: readonly Named[],
  data: Buffer,
): readonly [Record<string, unknown>, Buffer] {
  const found: Record<string, unknown> = {};
  let rest = data;
  for (const { name, type } of fields) [found[name], rest] = take(type, rest);
  return [found, rest];
}

const instructionNamed = (name: string): Instruction =>
  program.instructions.find((each: Named) => each.name === name);

test('it names the program, every error, verb and account that layout.json has', () => {
  assert.equal(program.publicKey, json('deployment.json').program);
  const listed = program.errors.map(({ name, code }: { name: string; code: number }) => [
    name.charAt(0).toUpperCase() + name.slice(1),
    code,
  ]);
  assert.deepEqual(listed, Object.entries(errors));
  for (const { name, message } of program.errors) {
    assert.notEqual(message.toLowerCase(), name.toLowerCase(), 'it has a sentence');
  }
  const verbs = program.instructions.map((each: Instruction) => {
    const [verb] = each.arguments;
    return verb?.defaultValue?.number;
  });
  const known = Object.values<{ verb: number }>(layout.instructions).map(({ verb }) => verb);
  assert.deepEqual([...new Set(verbs)], known);
  const sizes = program.accounts.map(({ size }: { size: number }) => size);
  assert.deepEqual(sizes, [layout.constants.stateBytes, layout.constants.tombstoneBytes]);
});

test('the escrow account has its fields where layout.json says', () => {
  const [escrow] = program.accounts;
  let at = 0;
  for (const [index, { name, type }] of (escrow.data.fields as Named[]).entries()) {
    const field = layout.state.fields[index];
    assert.deepEqual([name, at], [field.name, field.offset]);
    at += 1_000 - take(type, Buffer.alloc(1_000))[1].length;
  }
  assert.equal(at, layout.state.bytes);
});

const forms: readonly (readonly [row: string, sol: string, token: string])[] = [
  ['fund', 'fund', 'fundTokens'],
  ['claim', 'claim', 'claimTokens'],
  ['claimWithoutRefund', 'claim', 'claimTokens'],
  ['claimSigned', '', 'claimTokens'],
  ['refund', 'refund', 'refundTokens'],
  ['refundSigned', '', 'refundTokens'],
  ['refundAfterClaim', 'refund', 'refund'],
  ['close', 'close', 'close'],
];

for (const vector of vectors) {
  const isToken = vector.tokenProgram !== undefined;

  test(`${vector.name}: it reads data and accounts of each example`, () => {
    for (const [name, sol, token] of forms) {
      const row: Row | undefined = vector[name];
      if (row === undefined) continue;
      const form = instructionNamed(isToken ? token : sol);
      const data = Buffer.from(row.data, 'hex');
      const [read, rest] = takeAll(form.arguments, data);
      assert.equal(rest.length, 0, name);
      const sized = form.discriminators.find(({ kind }) => kind === 'sizeDiscriminatorNode');
      assert.equal(sized?.size, data.length);
      for (const { name: field, defaultValue } of form.arguments) {
        const fixed = defaultValue?.number ?? defaultValue?.data;
        if (fixed !== undefined) assert.equal(read[field], String(fixed), `${name}: ${field}`);
      }
      if (read.terms !== undefined) assert.deepEqual(read.terms, vector.terms);
      if (name.startsWith('claim')) assert.equal(read.secret, secret);
      if (read.terms !== undefined) assert.equal(read.bump, String(vector.bump));
      const isFit = row.accounts.length >= form.accounts.filter((each) => !each.isOptional).length;
      assert.ok(isFit && row.accounts.length <= form.accounts.length, name);
      for (const [at, { address, role }] of row.accounts.entries()) {
        const { isWritable, isSigner, defaultValue, name: what } = form.accounts[at]!;
        assert.equal(role.includes('w'), isWritable, `${name}: ${what}`);
        if (isSigner !== 'either') assert.equal(role.includes('s'), isSigner, `${name}: ${what}`);
        if (defaultValue !== undefined) assert.equal(address, defaultValue.publicKey);
        const same = {
          escrow: vector.escrow,
          refund: vector.terms.refund,
          mint: vector.terms.mint,
        };
        const others = { payout: vector.terms.payout, vault: vector.vault };
        const expected = { ...same, ...others, tokenProgram: vector.tokenProgram };
        const meant = (expected as Record<string, string | undefined>)[what];
        if (meant !== undefined) assert.equal(address, meant, `${name}: ${what}`);
      }
    }
  });
}
