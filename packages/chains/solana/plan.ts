// From a leg's terms to its escrow and the transaction to sign, by contracts/solana/layout.json.
// Pure: server and SDK run this same code, so that a customer verifies.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import pinned from '@parley/contracts/solana/deployment.json' with { type: 'json' };
import { ParleyError } from '@parley/core/errors.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import { type Contract, digestHead } from '@parley/core/rules.ts';
import type { Escrow, EscrowTerms } from '@parley/core/terms.ts';
import { base64 } from '@scure/base';
import type { SolanaMaterial } from '../interface/material.ts';
import { comparing } from '../kit/material.ts';
import { isOnCurve, parseSolanaAddress, solanaAddressBytes, solanaAddressOf } from './address.ts';
import {
  type AccountRole,
  type Instruction,
  type ReadMessage,
  readTransaction,
  unsignedTransaction,
} from './message.ts';
import {
  associatedToken,
  associatedTokenAccount,
  associatedTokenProgram,
  computeBudgetProgram,
  programAddress,
  systemProgram,
  type TokenProgram,
  token2022Program,
  tokenProgram,
} from './programs.ts';

/** Where the escrow program is. */
export type SolanaDeployment = {
  readonly program: string;
  /** The hash of its bytes, compared before the first use. */
  readonly sha256: string;
};

/** The program in dev networks; a cluster's own is configured. */
export const solanaDeployment: SolanaDeployment = {
  program: pinned.program,
  sha256: pinned.sha256,
};

/** The program that holds the escrows of a cluster, as the rules of a swap name it. */
export function solanaContract({ program, sha256: digest }: SolanaDeployment): Contract {
  return { address: program, version: digestHead(digest) };
}

const mostLamports = 2n ** 64n - 1n;
const vaultSeed = utf8ToBytes('vault/v1');
const verbBytes = { fund: 0, claim: 1, refund: 2, close: 3, release: 4 } as const;
/** The length of a `fund` or `close`, which hold the terms from 8 on. */
const termsBytes = 152;
const claimBytes = 40;
const refundBytes = 8;
const dataHead = 8;
/** The head of the system program's transfer, before the lamports. */
const transferHead = Uint8Array.of(2, 0, 0, 0);

function word(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return bytes;
}

/** The 144 bytes that the escrow's address commits to. */
export function encodeTerms(terms: EscrowTerms): Uint8Array {
  const { amount } = terms;
  if (amount < 1n || amount > mostLamports) {
    throw new ParleyError('bad_amount', `a Solana escrow holds 1 to 2^64-1, not ${amount}`, {
      amount,
    });
  }
  const keys = [terms.payout.address, terms.refund.address, terms.token ?? systemProgram];
  return concatBytes(
    hexToBytes(terms.hashlock),
    ...keys.map((each) => solanaAddressBytes(parseSolanaAddress(each))),
    word(amount),
    word(BigInt(terms.timelock)),
  );
}

/** Address and bump of some terms. Checks no destination: for terms read from a chain. */
export function escrowAddress(encoded: Uint8Array, { program }: SolanaDeployment) {
  return programAddress([sha256(encoded)], program);
}

/** Where the escrow's tokens are. */
export function vaultAddress(escrow: string, owner: TokenProgram): string {
  const parts = [solanaAddressBytes(escrow), vaultSeed, solanaAddressBytes(owner)];
  return solanaAddressOf(sha256(concatBytes(...parts)));
}

/** `bad_address` where money would be lost: no key signs for it, mint, program, the funder. */
export function solanaEscrow(terms: EscrowTerms, deployment: SolanaDeployment): Escrow {
  const { address } = escrowAddress(encodeTerms(terms), deployment);
  const refuse = (field: string, value: string, what: string) =>
    new ParleyError('bad_address', `${field} ${value} is ${what}`, { field });
  const { payout, refund, token } = terms;
  for (const [field, { address: value }] of Object.entries({ payout, refund })) {
    if (value === systemProgram) throw refuse(field, value, 'the system program');
    if (value === token) throw refuse(field, value, 'the mint itself');
    if (value === deployment.program) throw refuse(field, value, 'the escrow program');
    if (!isOnCurve(solanaAddressBytes(value))) {
      throw refuse(field, value, 'no wallet: no key signs for it (is it a token account?)');
    }
  }
  if (payout.address === refund.address) {
    throw refuse('payout', payout.address, 'the refund address too');
  }
  if (token === systemProgram) {
    throw refuse('token', token, 'the system program; SOL has no token');
  }
  return { address, redeemScript: null };
}

const writes = (address: string): AccountRole => ({ address, signs: false, writes: true });
const reads = (address: string): AccountRole => ({ address, signs: false, writes: false });
const pays = (address: string): AccountRole => ({ address, signs: true, writes: true });
const signs = (address: string): AccountRole => ({ address, signs: true, writes: false });

/** The needs of a transaction besides the terms. */
export type Circumstances = {
  /** The owner of the mint; null for SOL. */
  readonly tokenProgram: TokenProgram | null;
  /** Base58. The transaction dies 150 blocks after it. */
  readonly blockhash: string;
  /** Offered for each compute unit, in millionths of a lamport. */
  readonly unitPrice: bigint;
  /** The lamports that the payer of a claim adds to the escrow's account, where the rent has
   * risen. */
  readonly missingRent?: bigint;
  /** The receiver's token account is there, and is not made again should it be closed. */
  readonly withoutHolding?: boolean;
};

/** The act wanted on an escrow. */
export type Wanted =
  | { readonly verb: 'fund' }
  | {
      readonly verb: 'claim';
      readonly secret: Secret;
      /** Leaves what the escrow's account cost to a later refund; see contracts/solana. */
      readonly withoutRefund?: boolean;
    }
  | {
      readonly verb: 'refund';
      /** Only what a claim without the funder's account left. */
      readonly afterClaim?: boolean;
    }
  /** From the timelock on: the rest of a claim, or a stranger's payment, to the funder. */
  | { readonly verb: 'close' }
  /** A refund at any time, by the payee. */
  | { readonly verb: 'release' };

/** More than any verb takes, the making of a token account included. */
export const unitLimits = { sol: 30_000, token: 120_000 } as const;
/** The most that a customer is asked to offer for speed: 0.01 SOL. */
export const mostPriorityLamports = 10_000_000n;

/** The most that a claim is asked to add, 0.02 SOL: for ten times the rent of 2026. */
export const mostRentLamports = 20_000_000n;

/** Our own instruction. */
function ownInstruction(
  terms: EscrowTerms,
  deployment: SolanaDeployment,
  wanted: Wanted,
  owner: TokenProgram | null,
): Instruction {
  const encoded = encodeTerms(terms);
  const { address: escrow, bump } = escrowAddress(encoded, deployment);
  const { payout, refund, token } = terms;
  const head = new Uint8Array(dataHead);
  head[0] = verbBytes[wanted.verb];
  const own = (accounts: readonly AccountRole[], data: Uint8Array): Instruction => ({
    program: deployment.program,
    accounts,
    data,
  });
  const tokens =
    token === null || owner === null
      ? null
      : {
          vault: writes(vaultAddress(escrow, owner)),
          of: (wallet: string) => writes(associatedTokenAccount(wallet, token, owner)),
          associated: associatedToken(payout.address, token, owner),
          programs: [reads(token), reads(owner)],
        };
  switch (wanted.verb) {
    case 'fund': {
      head[1] = bump;
      const accounts = [pays(refund.address), writes(escrow), reads(systemProgram)];
      if (tokens !== null) {
        accounts.push(tokens.vault, tokens.of(refund.address), ...tokens.programs);
      }
      return own(accounts, concatBytes(head, encoded));
    }
    case 'claim': {
      const accounts = [writes(escrow)];
      if (tokens === null) accounts.push(writes(payout.address));
      else {
        const { address, bump: ofHolding } = tokens.associated;
        head[1] = ofHolding;
        accounts.push(writes(address), tokens.vault, ...tokens.programs, reads(payout.address));
      }
      if (wanted.withoutRefund !== true) accounts.push(writes(refund.address));
      return own(accounts, concatBytes(head, hexToBytes(wanted.secret)));
    }
    case 'refund':
    case 'release': {
      const accounts = [writes(escrow), writes(refund.address)];
      const isShort = wanted.verb === 'refund' && wanted.afterClaim === true;
      if (tokens !== null && !isShort) {
        accounts.push(tokens.of(refund.address), tokens.vault, ...tokens.programs);
      }
      if (wanted.verb === 'release') accounts.push(signs(payout.address));
      return own(accounts, head);
    }
    case 'close':
      head[1] = bump;
      return own(
        [writes(escrow), writes(refund.address), reads(systemProgram)],
        concatBytes(head, encoded),
      );
  }
}

/** The signer and payer: the recipient claims and releases, all else is the funder's. */
export function payerOf({ payout, refund }: EscrowTerms, { verb }: Pick<Wanted, 'verb'>): string {
  return verb === 'claim' || verb === 'release' ? payout.address : refund.address;
}

/** Whether the asset arrives at its payer's. A release makes no account for another. */
function bringsAsset(wanted: Wanted): boolean {
  return wanted.verb === 'claim' || (wanted.verb === 'refund' && wanted.afterClaim !== true);
}

/** Makes the wallet's token account where there is none; does nothing where there is one. */
function makeHolding(
  payer: string,
  wallet: string,
  mint: string | null,
  owner: TokenProgram | null,
): Instruction[] {
  if (mint === null || owner === null) return [];
  const accounts = [
    pays(payer),
    writes(associatedTokenAccount(wallet, mint, owner)),
    reads(wallet),
    reads(mint),
    reads(systemProgram),
    reads(owner),
  ];
  return [{ program: associatedTokenProgram, accounts, data: Uint8Array.of(1) }];
}

/** The rest of a claim at the escrow's address: the funder's, once the timelock has passed. */
function addRent(payer: string, escrow: string, lamports: bigint): Instruction[] {
  if (lamports === 0n) return [];
  const data = concatBytes(transferHead, word(lamports));
  return [{ program: systemProgram, accounts: [pays(payer), writes(escrow)], data }];
}

/** Base64. Any payer may sign: the escrow's rent is the funder's, a token account's its owner's. */
export function solanaTransaction(
  terms: EscrowTerms,
  deployment: SolanaDeployment,
  wanted: Wanted,
  circumstances: Circumstances,
  payer: string = payerOf(terms, wanted),
): string {
  const { blockhash, tokenProgram: owner, unitPrice, withoutHolding = false } = circumstances;
  const missing = wanted.verb === 'claim' ? (circumstances.missingRent ?? 0n) : 0n;
  if ((terms.token === null) !== (owner === null)) {
    throw new Error('a token has a token program, and SOL has none');
  }
  const wallet = payerOf(terms, wanted);
  const needsHolding = bringsAsset(wanted) && !withoutHolding;
  const instructions: Instruction[] = [
    ...budget(owner, unitPrice),
    ...(needsHolding ? makeHolding(payer, wallet, terms.token, owner) : []),
    ...addRent(payer, escrowAddress(encodeTerms(terms), deployment).address, missing),
    ownInstruction(terms, deployment, wanted, owner),
  ];
  return base64.encode(unsignedTransaction(payer, instructions, blockhash));
}

/** Funds and claims at once, for a simulation only: the funder pays for all. */
export function trialTransaction(
  terms: EscrowTerms,
  deployment: SolanaDeployment,
  secret: Secret,
  { blockhash, tokenProgram: owner }: Circumstances,
): string {
  const { payout, refund, token } = terms;
  const instructions: Instruction[] = [
    ownInstruction(terms, deployment, { verb: 'fund' }, owner),
    ...makeHolding(refund.address, payout.address, token, owner),
    ownInstruction(terms, deployment, { verb: 'claim', secret }, owner),
  ];
  return base64.encode(unsignedTransaction(refund.address, instructions, blockhash));
}

function budget(owner: TokenProgram | null, unitPrice: bigint): Instruction[] {
  const limit = BigInt(owner === null ? unitLimits.sol : unitLimits.token);
  const set = (data: Uint8Array) => ({ program: computeBudgetProgram, accounts: [], data });
  return [
    set(concatBytes(Uint8Array.of(2), word(limit).subarray(0, 4))),
    ...(unitPrice === 0n ? [] : [set(concatBytes(Uint8Array.of(3), word(unitPrice)))]),
  ];
}

export type DecodedInstruction = {
  readonly verb: Wanted['verb'];
  readonly escrow: string;
  readonly secret: Secret | null;
};

const verbNames = ['fund', 'claim', 'refund', 'close', 'release'] as const;
const lengths = {
  fund: termsBytes,
  claim: claimBytes,
  refund: refundBytes,
  close: termsBytes,
  release: refundBytes,
} as const;

/** null: the program refuses its form. `accounts`: null where unknown. */
export function decodeInstruction(
  data: Uint8Array,
  accounts: readonly (string | null)[],
): DecodedInstruction | null {
  const verb = verbNames[data[0] ?? verbNames.length];
  if (verb === undefined || data.length !== lengths[verb]) return null;
  const escrow = accounts[verb === 'fund' ? 1 : 0] ?? null;
  if (escrow === null) return null;
  const secret = verb === 'claim' ? bytesToHex(data.subarray(dataHead)) : null;
  return { verb, escrow, secret };
}

/**
 * The differences from the terms, a sentence each. Open are blockhash, token program, price up to
 * `mostPriorityLamports`, rent up to `mostRentLamports`, and the forms of a verb: each pays nobody
 * else.
 */
export function materialProblems(
  material: SolanaMaterial,
  wanted: Wanted,
  terms: EscrowTerms,
  deployment: SolanaDeployment,
): string[] {
  const { chain } = terms;
  const { address: escrow } = solanaEscrow(terms, deployment);
  const expected = { chain, family: 'solana', sign: 'solana-tx', escrow } as const;
  const { problems } = comparing(material, expected);
  let shown: ReadMessage;
  try {
    shown = readTransaction(material.transaction);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    return [...problems, `transaction is unreadable: ${error.message}`];
  }
  const unitPrice = offeredPrice(shown);
  const limit = BigInt(terms.token === null ? unitLimits.sol : unitLimits.token);
  if (unitPrice * limit > mostPriorityLamports * 1_000_000n) {
    problems.push(
      `transaction offers ${unitPrice} millionths of a lamport a unit, beyond any need`,
    );
  }
  const missingRent = addedRent(shown);
  if (missingRent > mostRentLamports) {
    problems.push(`transaction adds ${missingRent} lamports of rent, beyond any need`);
  }
  const owners = terms.token === null ? [null] : [tokenProgram, token2022Program];
  const forms = owners.flatMap((owner) =>
    formsOf(wanted).map((form) => {
      const { blockhash } = shown;
      const tokenProgram = owner as TokenProgram | null;
      const circumstances = { blockhash, unitPrice, tokenProgram, missingRent };
      return solanaTransaction(terms, deployment, form, circumstances);
    }),
  );
  if (forms.includes(material.transaction)) return problems;
  return [...problems, 'transaction is none of those that the terms give'];
}

function formsOf(wanted: Wanted): Wanted[] {
  switch (wanted.verb) {
    case 'claim':
      return [false, true].map((withoutRefund) => ({ ...wanted, withoutRefund }));
    case 'refund':
      // The whole balance goes to the funder, by any verb.
      return [
        ...[false, true].map((afterClaim) => ({ ...wanted, afterClaim })),
        { verb: 'close' as const },
      ];
    case 'fund':
    case 'close':
    case 'release':
      return [wanted];
  }
}

/** The number at the end of the first instruction of this form; 0 where there is none. */
function numberIn({ instructions }: ReadMessage, wanted: string, first: Uint8Array): bigint {
  const found = instructions.find(
    ({ program, data }) =>
      program === wanted &&
      data.length === first.length + 8 &&
      first.every((byte, at) => data[at] === byte),
  );
  if (found === undefined) return 0n;
  const { buffer, byteOffset } = found.data;
  return new DataView(buffer, byteOffset + first.length, 8).getBigUint64(0, true);
}

const offeredPrice = (shown: ReadMessage) =>
  numberIn(shown, computeBudgetProgram, Uint8Array.of(3));

/** The lamports that its payer adds to an escrow before a claim, whichever escrow that is. */
export const addedRent = (shown: ReadMessage) => numberIn(shown, systemProgram, transferHead);
