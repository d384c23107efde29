// Programs of the network and their bytes, as far as an escrow meets them. Pure.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { remembered } from '@parley/core/remembered.ts';
import { isOnCurve, solanaAddressBytes, solanaAddressOf } from './address.ts';

export const systemProgram = '11111111111111111111111111111111';
export const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const token2022Program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
export const associatedTokenProgram = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
export const computeBudgetProgram = 'ComputeBudget111111111111111111111111111111';
/** Metaplex's: where classic tokens keep their names. */
export const metadataProgram = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s';
/** Its tokens are the lamports of the accounts that hold them. */
export const wrappedSol = 'So11111111111111111111111111111111111111112';
export const clockSysvar = 'SysvarC1ock11111111111111111111111111111111';

export const tokenPrograms = [tokenProgram, token2022Program] as const;
export type TokenProgram = (typeof tokenPrograms)[number];

export function isTokenProgram(address: string): address is TokenProgram {
  return tokenPrograms.some((each) => each === address);
}

const marker = utf8ToBytes('ProgramDerivedAddress');

type Derived = { readonly address: string; readonly bump: number };

/** The first address off the curve, counting the bump down from 255, and that bump. */
export function programAddress(seeds: readonly Uint8Array[], program: string): Derived {
  return derived(`${bytesToHex(concatBytes(...seeds))} ${program}`);
}

const derived = remembered((text): Derived => {
  const [seeds = '', program = ''] = text.split(' ');
  const said = hexToBytes(seeds);
  const owner = solanaAddressBytes(program);
  for (let bump = 255; bump >= 0; bump--) {
    const hash = sha256(concatBytes(said, Uint8Array.of(bump), owner, marker));
    if (!isOnCurve(hash)) return { address: solanaAddressOf(hash), bump };
  }
  throw new Error(`no program address of ${program} for these seeds`);
});

/** Where a wallet usually keeps its tokens of a mint, and the bump of that address. */
export function associatedToken(owner: string, mint: string, program: TokenProgram) {
  return programAddress([owner, program, mint].map(solanaAddressBytes), associatedTokenProgram);
}

export function associatedTokenAccount(owner: string, mint: string, program: TokenProgram): string {
  return associatedToken(owner, mint, program).address;
}
