// Examples for whoever encodes or reads the program's bytes elsewhere: writes vectors.json.
//
//   node contracts/solana/vectors.ts
//
// They are made without the program; a test funds, claims and refunds with them in the VM.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Address, type Instruction, isSignerRole, isWritableRole } from '@solana/kit';
import { isEntry } from './entry.ts';
import {
  claim,
  close,
  type Escrow,
  encodeTerms,
  escrowOf,
  fund,
  PROGRAM,
  refund,
  SYSTEM,
  sha256,
  type Terms,
  TOKEN,
  TOKEN_2022,
} from './testing/instructions.ts';
import { addressNamed } from './testing/tokens.ts';
import { person } from './testing/vm.ts';

export const VECTORS_FILE = join(import.meta.dirname, 'vectors.json');
const vectorSecret = sha256(Buffer.from('the secret of the vectors'));
export const VECTOR_FUNDER = 'vector funder';
export const VECTOR_PAYOUT = 'vector payout';
const NOW = 1_800_000_000n;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

type Row = {
  readonly data: string;
  readonly accounts: readonly { readonly address: string; readonly role: string }[];
};

function row({ data, accounts }: Instruction): Row {
  const listed = (accounts ?? []).map(({ address, role }) => ({
    address,
    role: `${isWritableRole(role) ? 'w' : ''}${isSignerRole(role) ? 's' : ''}`,
  }));
  return { data: hex(data as Uint8Array), accounts: listed };
}

function vector(name: string, escrow: Escrow, source: Address, destination: Address) {
  const { terms } = escrow;
  const isSol = terms.mint === SYSTEM;
  return {
    name,
    terms: {
      hashlock: hex(terms.hashlock),
      payout: terms.payout,
      refund: terms.refund,
      mint: terms.mint,
      amount: String(terms.amount),
      timelock: String(terms.timelock),
    },
    encodedTerms: hex(encodeTerms(terms)),
    termsHash: hex(sha256(encodeTerms(terms))),
    escrow: escrow.escrow,
    bump: escrow.bump,
    ...(isSol
      ? {}
      : {
          tokenProgram: escrow.tokenProgram,
          vault: escrow.vault,
          associated: escrow.associated.address,
        }),
    fund: row(fund(escrow, source)),
    claim: row(claim(escrow, vectorSecret)),
    claimWithoutRefund: row(claim(escrow, vectorSecret, { refund: false })),
    ...(isSol
      ? {}
      : { claimSigned: row(claim(escrow, vectorSecret, { signs: true, destination })) }),
    refund: row(refund(escrow, isSol ? undefined : source)),
    refundAfterClaim: row(refund(escrow)),
    close: row(close(escrow)),
  };
}

export async function vectors() {
  const base = {
    hashlock: sha256(vectorSecret),
    payout: (await person(VECTOR_PAYOUT)).address,
    refund: (await person(VECTOR_FUNDER)).address,
    timelock: NOW + 7_200n,
  };
  const source = addressNamed('vector token account of refund');
  const destination = addressNamed('another token account of payout');
  const cases: readonly [string, Terms, Address][] = [
    ['SOL', { ...base, mint: SYSTEM, amount: 1_500_000_000n }, TOKEN],
    ['SPL Token', { ...base, mint: addressNamed('vector mint'), amount: 2n ** 53n + 1n }, TOKEN],
    ['Token-2022', { ...base, mint: addressNamed('vector new mint'), amount: 1n }, TOKEN_2022],
    ['largest amount', { ...base, mint: SYSTEM, amount: 2n ** 64n - 1n }, TOKEN],
  ];
  const list = [];
  for (const [name, terms, tokenProgram] of cases) {
    list.push(vector(name, await escrowOf(terms, tokenProgram), source, destination));
  }
  return { program: PROGRAM, secret: hex(vectorSecret), now: Number(NOW), vectors: list };
}

if (isEntry(import.meta.url)) {
  writeFileSync(VECTORS_FILE, `${JSON.stringify(await vectors(), null, 2)}\n`);
}
