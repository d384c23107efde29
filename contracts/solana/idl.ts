// The program's interface in the form of Codama, for whoever generates a client or shows
// transactions: writes idl.json.
//
//   node contracts/solana/idl.ts
//
// It is made from layout.json, which a test compares with the program; another walks it over the
// examples of vectors.json. An instruction whose accounts differ by the asset stands there once for
// each form, with the same data: the program tells them apart by the escrow, a reader by the
// accounts.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isEntry } from './entry.ts';

export const IDL_FILE = join(import.meta.dirname, 'idl.json');
const layout = JSON.parse(readFileSync(join(import.meta.dirname, 'layout.json'), 'utf8'));
const { program } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'deployment.json'), 'utf8'),
) as { program: string };

const VERSION = '1.5.0';

type Json = { readonly [key: string]: unknown };

const number = (format: string): Json => ({ kind: 'numberTypeNode', format, endian: 'le' });
const bytes = (size: number): Json => ({
  kind: 'fixedSizeTypeNode',
  size,
  type: { kind: 'bytesTypeNode' },
});
const key: Json = { kind: 'publicKeyTypeNode' };

function typeOf(type: string): Json {
  if (type === 'key') return key;
  if (type === 'terms') return { kind: 'definedTypeLinkNode', name: 'terms' };
  const sized = /^bytes(\d+)$/.exec(type);
  return sized === null ? number(type) : bytes(Number(sized[1]));
}

type Field = { readonly name: string; readonly type: string };

const struct = (fields: readonly Field[]): Json => ({
  kind: 'structTypeNode',
  fields: fields.map(({ name, type }) => ({
    kind: 'structFieldTypeNode',
    name,
    docs: [],
    type: typeOf(type),
  })),
});

/** Its type, fields that a caller gives, and those that are always the same. */
type Argument = { readonly name: string; readonly type: string; readonly fixed?: number };

function argument({ name, type, fixed }: Argument): Json {
  const base = { kind: 'instructionArgumentNode', name, docs: [], type: typeOf(type) };
  if (fixed === undefined) return base;
  const sized = /^bytes(\d+)$/.exec(type);
  const value =
    sized === null
      ? { kind: 'numberValueNode', number: fixed }
      : { kind: 'bytesValueNode', data: '00'.repeat(Number(sized[1])), encoding: 'base16' };
  return { ...base, defaultValueStrategy: 'omitted', defaultValue: value };
}

const zeros = (size: number): Argument => ({ name: 'zero', type: `bytes${size}`, fixed: 0 });
const bump: Argument = { name: 'bump', type: 'u8' };
const terms: Argument = { name: 'terms', type: 'terms' };
const tails: Readonly<Record<string, readonly Argument[]>> = {
  fund: [bump, zeros(6), terms],
  claim: [bump, zeros(6), { name: 'secret', type: 'bytes32' }],
  refund: [zeros(7)],
  close: [bump, zeros(6), terms],
};

const camel = (words: string): string =>
  words.replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase());

const publicKeys: Readonly<Record<string, string>> = {
  'system program': layout.constants.solMint,
};

/** From a line of layout.json, such as "refund w, may be left out". */
function account(line: string): Json {
  const [head = '', left] = line.split(', ');
  const [, name = '', roles = ''] = /^(.*?)(?: (ws?))?$/.exec(head) ?? [];
  const publicKey = publicKeys[name];
  return {
    kind: 'instructionAccountNode',
    name: camel(name),
    isWritable: roles.includes('w'),
    // A payout that signs may be paid anywhere.
    isSigner: name === 'payout' && roles === '' ? 'either' : roles.includes('s'),
    isOptional: left !== undefined,
    docs: [],
    ...(publicKey && { defaultValue: { kind: 'publicKeyValueNode', publicKey } }),
  };
}

function instruction(name: string, verb: string, accounts: readonly string[]): Json {
  const { verb: value, bytes: size } = layout.instructions[verb];
  return {
    kind: 'instructionNode',
    name,
    docs: [],
    optionalAccountStrategy: 'omitted',
    accounts: accounts.map(account),
    arguments: [{ name: 'verb', type: 'u8', fixed: value }, ...tails[verb]!].map(argument),
    discriminators: [
      { kind: 'fieldDiscriminatorNode', name: 'verb', offset: 0 },
      { kind: 'sizeDiscriminatorNode', size },
    ],
  };
}

const sentences: Readonly<Record<string, string>> = {
  BadInstruction: 'The instruction data is of no form that there is',
  BadAccounts: 'Another number of accounts is needed, each another one',
  NotSigned: 'The funder has not signed',
  WrongFunder: 'The account is not the refund address of the terms',
  ZeroTerm: 'The amount, the hashlock or the payout is zero',
  PayoutIsRefund: 'The payout is the refund address',
  TimelockTooNear: 'The timelock is less than 30 minutes ahead',
  TimelockTooFar: 'The timelock is more than 30 days ahead',
  WrongEscrow: 'The terms make another address',
  AlreadyFunded: 'The terms were funded before',
  WrongTokenProgram: 'The token program is not that of the mint or vault',
  WrongMint: 'The account is not the mint of the terms',
  UnsafeMint: 'The mint has an extension that could take or stop what a vault holds',
  AmountNotGained: 'The vault did not gain the amount',
  NotOpen: 'The escrow holds nothing that this could take',
  TooLate: 'The timelock has passed',
  TooEarly: 'The timelock has not passed',
  WrongSecret: 'The secret does not open the hashlock',
  WrongPayout: 'The account is not the payout, nor where the payout is to have its tokens',
  WrongRefund: 'The account is not the refund address, nor a token account of it',
  WrongVault: 'The account is not the vault of the escrow',
  AmountNotPaid: 'Less than the amount would have arrived',
  WrongSystemProgram: 'The account is not the system program',
  StillOpen: 'The escrow is open: it is refunded, not closed',
  Empty: 'There is nothing at the address',
};

const accountNode = (name: string, size: number, doc: string, fields: readonly Field[]): Json => ({
  kind: 'accountNode',
  name,
  size,
  docs: [doc],
  data: struct(fields),
  discriminators: [{ kind: 'sizeDiscriminatorNode', size }],
});

function accounts(): readonly Json[] {
  const { state, constants } = layout;
  const open = 'An escrow that is open, or whose claim left out the funder.';
  const left = `What a claim leaves: ${state.tombstone}.`;
  return [
    accountNode('escrow', state.bytes, open, state.fields),
    accountNode('tombstone', constants.tombstoneBytes, left, [{ name: 'status', type: 'u8' }]),
  ];
}

function instructions(): readonly Json[] {
  const { fund, claim, refund, close } = layout.instructions;
  return [
    instruction('fund', 'fund', fund.sol),
    instruction('fundTokens', 'fund', fund.token),
    instruction('claim', 'claim', claim.sol),
    instruction('claimTokens', 'claim', claim.token),
    instruction('refund', 'refund', refund.sol),
    instruction('refundTokens', 'refund', refund.token),
    instruction('close', 'close', close.accounts),
  ];
}

const escrowPda = (): Json => ({
  kind: 'pdaNode',
  name: 'escrow',
  docs: [layout.addresses.escrow],
  seeds: [
    {
      kind: 'variablePdaSeedNode',
      name: 'termsHash',
      docs: ['SHA-256 of the terms.'],
      type: bytes(32),
    },
  ],
});

const errors = (): readonly Json[] =>
  Object.entries(layout.errors as Record<string, number>).map(([name, code]) => ({
    kind: 'errorNode',
    name: name.charAt(0).toLowerCase() + name.slice(1),
    code,
    message: sentences[name] ?? name,
    docs: [],
  }));

export function idl(): Json {
  const terms = {
    kind: 'definedTypeNode',
    name: 'terms',
    docs: ['What the address commits to. A mint of zeros is SOL.'],
    type: struct(layout.terms.fields),
  };
  return {
    kind: 'rootNode',
    standard: 'codama',
    version: VERSION,
    program: {
      kind: 'programNode',
      name: 'parleyEscrow',
      publicKey: program,
      version: '1.0.0',
      docs: ['The escrow of one swap leg. The address is that of dev networks.'],
      accounts: accounts(),
      instructions: instructions(),
      definedTypes: [terms],
      pdas: [escrowPda()],
      events: [],
      errors: errors(),
    },
    additionalPrograms: [],
  };
}

if (isEntry(import.meta.url)) writeFileSync(IDL_FILE, `${JSON.stringify(idl(), null, 2)}\n`);
