// The program's instructions as tests send them: every account can be replaced by a wrong one.
// Written from layout.json, not from the program.

import { createHash } from 'node:crypto';
import {
  AccountRole,
  type Address,
  address,
  getAddressDecoder,
  getAddressEncoder,
  getProgramDerivedAddress,
  type Instruction,
  isOffCurveAddress,
  isSignerRole,
} from '@solana/kit';

export const SYSTEM = address('11111111111111111111111111111111');
export const TOKEN = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
export const TOKEN_2022 = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
export const ASSOCIATED_TOKEN = address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
export const WRAPPED_SOL = address('So11111111111111111111111111111111111111112');
/** Where the tests put the program. It runs at any address. */
export const PROGRAM = address('7nSKHwmJDqGUTjSWQLrgD2hfvnBoSQfpZoKNdvbJsTCk');

const VAULT_SEED = 'vault/v1';

export type Terms = {
  readonly hashlock: Uint8Array;
  readonly payout: Address;
  readonly refund: Address;
  /** The zero address for SOL. */
  readonly mint: Address;
  readonly amount: bigint;
  readonly timelock: bigint;
};

export type Escrow = {
  readonly terms: Terms;
  readonly escrow: Address;
  readonly bump: number;
  readonly vault: Address;
  readonly tokenProgram: Address;
  /** The associated token account of the payout, and its bump; unused for SOL. */
  readonly associated: Associated;
};

export type Associated = { readonly address: Address; readonly bump: number };

export const isOffCurve = isOffCurveAddress;
export const bytesOf = (of: Address): Buffer => Buffer.from(getAddressEncoder().encode(of));
export const addressOf = (bytes: Uint8Array): Address => getAddressDecoder().decode(bytes);
export const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

export function word(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, value));
  return bytes;
}

export function encodeTerms(terms: Terms): Buffer {
  const keys = [terms.payout, terms.refund, terms.mint].map(bytesOf);
  return Buffer.concat([terms.hashlock, ...keys, word(terms.amount), word(terms.timelock)]);
}

export async function escrowOf(terms: Terms, tokenProgram: Address = TOKEN): Promise<Escrow> {
  const [escrow, bump] = await getProgramDerivedAddress({
    programAddress: PROGRAM,
    seeds: [sha256(encodeTerms(terms))],
  });
  const vault = sha256(bytesOf(escrow), Buffer.from(VAULT_SEED), bytesOf(tokenProgram));
  const associated = await associatedOf(terms.payout, terms.mint, tokenProgram);
  return { terms, escrow, bump, vault: addressOf(vault), tokenProgram, associated };
}

export async function associatedOf(
  owner: Address,
  mint: Address,
  tokenProgram: Address,
): Promise<Associated> {
  const seeds = [owner, tokenProgram, mint].map(bytesOf);
  const [at, bump] = await getProgramDerivedAddress({ programAddress: ASSOCIATED_TOKEN, seeds });
  return { address: at, bump };
}

export const isSol = ({ mint }: Terms): boolean => mint === SYSTEM;

const roles = {
  read: AccountRole.READONLY,
  write: AccountRole.WRITABLE,
  sign: AccountRole.READONLY_SIGNER,
  writeSign: AccountRole.WRITABLE_SIGNER,
} as const;
type Row = readonly [Address, keyof typeof roles];

function instruction(rows: readonly Row[], data: Uint8Array): Instruction {
  const accounts = rows.map(([of, role]) => ({ address: of, role: roles[role] }));
  return { programAddress: PROGRAM, accounts, data };
}

export function fund(
  { terms, escrow, bump, vault, tokenProgram }: Escrow,
  source: Address = SYSTEM,
): Instruction {
  const rows: Row[] = [
    [terms.refund, 'writeSign'],
    [escrow, 'write'],
    [SYSTEM, 'read'],
  ];
  if (!isSol(terms)) {
    rows.push([vault, 'write'], [source, 'write'], [terms.mint, 'read'], [tokenProgram, 'read']);
  }
  return instruction(
    rows,
    Buffer.concat([Buffer.from([0, bump, 0, 0, 0, 0, 0, 0]), encodeTerms(terms)]),
  );
}

type ClaimOptions = {
  /** False leaves the funder's account out. */
  readonly refund?: boolean;
  /** Whether the payout signs, and may have the tokens anywhere. */
  readonly signs?: boolean;
  readonly destination?: Address;
};

/** To the associated token account of the payout, where nothing else is said. */
export function claim(
  { terms, escrow, vault, tokenProgram, associated }: Escrow,
  secret: Uint8Array,
  { refund: isWhole = true, signs = false, destination = associated.address }: ClaimOptions = {},
): Instruction {
  const rows: Row[] = isSol(terms)
    ? [
        [escrow, 'write'],
        [terms.payout, 'write'],
      ]
    : [
        [escrow, 'write'],
        [destination, 'write'],
        [vault, 'write'],
        [terms.mint, 'read'],
        [tokenProgram, 'read'],
        [terms.payout, signs ? 'sign' : 'read'],
      ];
  if (isWhole) rows.push([terms.refund, 'write']);
  const bump = isSol(terms) || signs ? 0 : associated.bump;
  return instruction(rows, Buffer.concat([Buffer.from([1, bump, 0, 0, 0, 0, 0, 0]), secret]));
}

/** The rest of a claim, or a stranger's payment, goes to the funder. */
export function close({ terms, escrow, bump }: Escrow): Instruction {
  return instruction(
    [
      [escrow, 'write'],
      [terms.refund, 'write'],
      [SYSTEM, 'read'],
    ],
    Buffer.concat([Buffer.from([3, bump, 0, 0, 0, 0, 0, 0]), encodeTerms(terms)]),
  );
}

/**
 * Without a destination: a refund of SOL, or of the rest after a claim. `signs`: whether the funder
 * does.
 */
export function refund(
  { terms, escrow, vault, tokenProgram }: Escrow,
  destination?: Address,
  { signs = false }: Pick<ClaimOptions, 'signs'> = {},
): Instruction {
  const rows: Row[] = [
    [escrow, 'write'],
    [terms.refund, signs ? 'writeSign' : 'write'],
  ];
  if (destination !== undefined) {
    rows.push(
      [destination, 'write'],
      [vault, 'write'],
      [terms.mint, 'read'],
      [tokenProgram, 'read'],
    );
  }
  return instruction(rows, word(2n));
}

/** A refund that the payout consents to, at any time; without a destination: of SOL. */
export function release(escrow: Escrow, destination?: Address): Instruction {
  const { accounts = [] } = refund(escrow, destination);
  const payout = { address: escrow.terms.payout, role: AccountRole.READONLY_SIGNER };
  return { programAddress: PROGRAM, accounts: [...accounts, payout], data: word(4n) };
}

/** The same instruction with one account replaced; undefined takes it away. */
export function withAccount(
  base: Instruction,
  index: number,
  replacement: Address | undefined,
): Instruction {
  const accounts = (base.accounts ?? []).flatMap((account, at) => {
    if (at !== index) return [account];
    if (replacement === undefined) return [];
    // A transaction cannot call a program and write to it; another's signature is not to be had.
    const role = replacement === PROGRAM ? roles.read : account.role;
    return [{ address: replacement, role: isSignerRole(role) ? roles.write : role }];
  });
  return { ...base, accounts };
}

/** The same instruction with one account in another role. */
export function withRole(base: Instruction, index: number, role: keyof typeof roles): Instruction {
  const accounts = (base.accounts ?? []).map((account, at) =>
    at === index ? { ...account, role: roles[role] } : account,
  );
  return { ...base, accounts };
}
