// Mints made as their issuers make them, by the token programs' own instructions, with the powers
// and Token-2022 extensions that a test asks for.

import { createHash } from 'node:crypto';
import {
  AccountRole,
  type Address,
  createAddressWithSeed,
  getAddressEncoder,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
} from '@solana/kit';
import { getCreateAccountWithSeedInstruction } from '@solana-program/system';
import {
  AuthorityType,
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintToInstruction,
  getSetAuthorityInstruction,
} from '@solana-program/token';
import { TOKEN, TOKEN_2022 } from '../accounts.ts';
import { signed, signer, type TestChain } from './chain.ts';

type Chain = Pick<TestChain, 'rpc' | 'give' | 'mine'>;

/**
 * The extensions of a mint: its type, the bytes of its value, and what sets it up, by tag and so
 * on.
 */
const extensions = {
  transferFee: {
    bytes: 108,
    data: (by: Address) => [[26, 0, 1], key(by), [1], key(by), [100, 0], word(1_000_000n)],
  },
  closeAuthority: { bytes: 32, data: (by: Address) => [[25, 1], key(by)] },
  metadataPointer: { bytes: 64, data: (by: Address, to: Address) => [[39, 0], key(by), key(to)] },
} as const;
export type ExtensionName = keyof typeof extensions;

export type MintOptions = {
  /** A new one for every name. */
  readonly name: string;
  /** With any, it is a mint of Token-2022. */
  readonly extensions?: readonly ExtensionName[];
  readonly isToken2022?: boolean;
  /** Kept in the mint itself; with it comes the pointer. */
  readonly metadata?: { readonly name: string; readonly symbol: string };
  readonly decimals?: number;
  /** Whether the issuer keeps the right to make more. */
  readonly isMintable?: boolean;
  readonly isFreezable?: boolean;
  /** The holder of the whole supply; without one there is no supply. */
  readonly holder?: Address;
};

const wholeSupply = 1_000_000_000_000n;
const baseBytes = { plain: 82, extended: 166 };
const metadataInitialize = createHash('sha256')
  .update('spl_token_metadata_interface:initialize_account')
  .digest()
  .subarray(0, 8);

const key = (of: Address): Uint8Array => Uint8Array.from(getAddressEncoder().encode(of));

function word(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

/** A text behind its length. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([word(BigInt(bytes.length)).subarray(0, 4), bytes]);
}

const bytesOf = (parts: readonly (readonly number[] | Uint8Array)[]): Buffer =>
  Buffer.concat(parts.map((part) => Uint8Array.from(part)));

export const issuerOf = (): Promise<KeyPairSigner> => signer('an issuer of mints');

/** Makes the mint and gives all of it to its holder; confirmed when it returns. */
export async function makeMint(chain: Chain, options: MintOptions): Promise<Address> {
  const issuer = await issuerOf();
  await chain.give({ address: issuer.address, token: null, amount: 2_000_000_000n });
  const names = [...(options.extensions ?? [])];
  if (options.metadata !== undefined && !names.includes('metadataPointer')) {
    names.push('metadataPointer');
  }
  const is2022 = names.length > 0 || options.isToken2022 === true;
  const program = is2022 ? TOKEN_2022 : TOKEN;
  const seed = options.name.slice(0, 32);
  const mint = await createAddressWithSeed({
    baseAddress: issuer.address,
    programAddress: program,
    seed,
  });
  const place = { issuer, mint, program };
  await send(chain, issuer, setUp(options, { ...place, seed, names }));
  await send(chain, issuer, await issue(options, place));
  return mint;
}

type Place = {
  readonly issuer: KeyPairSigner;
  readonly mint: Address;
  readonly program: Address;
};

function setUp(
  { decimals = 6, isFreezable = false, metadata }: MintOptions,
  at: Place & { readonly seed: string; readonly names: readonly ExtensionName[] },
): Instruction[] {
  const { issuer, mint, program, seed, names } = at;
  const space = names.reduce(
    (sum, name) => sum + 4 + extensions[name].bytes,
    names.length === 0 ? baseBytes.plain : baseBytes.extended,
  );
  const own = (
    parts: readonly (readonly number[] | Uint8Array)[],
    others: Instruction['accounts'] = [],
  ): Instruction => ({
    programAddress: program,
    accounts: [{ address: mint, role: AccountRole.WRITABLE }, ...others],
    data: bytesOf(parts),
  });
  return [
    getCreateAccountWithSeedInstruction({
      payer: issuer,
      newAccount: mint,
      baseAccount: issuer,
      base: issuer.address,
      seed,
      // Enough for the metadata that come later.
      amount: 50_000_000n,
      space,
      programAddress: program,
    }),
    ...names.map((name) => own(extensions[name].data(issuer.address, mint))),
    getInitializeMint2Instruction(
      {
        mint,
        decimals,
        mintAuthority: issuer.address,
        freezeAuthority: isFreezable ? issuer.address : null,
      },
      { programAddress: program },
    ),
    ...(metadata === undefined
      ? []
      : [
          own(
            [metadataInitialize, text(metadata.name), text(metadata.symbol), text('')],
            [
              { address: issuer.address, role: AccountRole.READONLY },
              { address: mint, role: AccountRole.READONLY },
              { address: issuer.address, role: AccountRole.READONLY_SIGNER },
            ],
          ),
        ]),
  ];
}

async function issue(
  { holder, isMintable = false }: MintOptions,
  { issuer, mint, program }: Place,
): Promise<Instruction[]> {
  const config = { programAddress: program };
  const instructions: Instruction[] = [];
  if (holder !== undefined) {
    const ata = await holdingOf(holder, mint, program);
    const holding = { ata, owner: holder, mint, tokenProgram: program };
    instructions.push(getCreateAssociatedTokenIdempotentInstruction({ payer: issuer, ...holding }));
    const minted = { mint, token: ata, mintAuthority: issuer, amount: wholeSupply };
    instructions.push(getMintToInstruction(minted, config));
  }
  if (!isMintable) {
    const none = { authorityType: AuthorityType.MintTokens, newAuthority: null };
    instructions.push(getSetAuthorityInstruction({ owned: mint, owner: issuer, ...none }, config));
  }
  return instructions;
}

export async function holdingOf(owner: Address, mint: Address, program: Address): Promise<Address> {
  const [holding] = await findAssociatedTokenPda({ owner, tokenProgram: program, mint });
  return holding;
}

async function send(chain: Chain, payer: KeyPairSigner, instructions: readonly Instruction[]) {
  if (instructions.length === 0) return;
  const transaction = await signed(chain, payer, instructions);
  const wire = getBase64EncodedWireTransaction(transaction);
  await chain.rpc
    .sendTransaction(wire, { encoding: 'base64', preflightCommitment: 'processed' })
    .send();
  await chain.mine(2);
}
