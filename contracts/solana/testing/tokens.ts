// Token accounts and mints, written into the VM as the token programs lay them out.

import type { Address } from '@solana/kit';
import { addressOf, bytesOf, sha256, TOKEN, word } from './instructions.ts';
import { dataOf, setAccount, type World } from './vm.ts';

const DECIMALS = 6;

export type Extension = { readonly type: number; readonly value: Uint8Array };

/** All extension types of Token-2022, with the length of a mint's value. */
export const mintExtensions = {
  TransferFeeConfig: { type: 1, length: 108 },
  MintCloseAuthority: { type: 3, length: 32 },
  ConfidentialTransferMint: { type: 4, length: 65 },
  DefaultAccountState: { type: 6, length: 1 },
  NonTransferable: { type: 9, length: 0 },
  InterestBearingConfig: { type: 10, length: 52 },
  PermanentDelegate: { type: 12, length: 32 },
  TransferHook: { type: 14, length: 64 },
  ConfidentialTransferFeeConfig: { type: 16, length: 129 },
  MetadataPointer: { type: 18, length: 64 },
  TokenMetadata: { type: 19, length: 92 },
  GroupPointer: { type: 20, length: 64 },
  TokenGroup: { type: 21, length: 80 },
  GroupMemberPointer: { type: 22, length: 64 },
  TokenGroupMember: { type: 23, length: 72 },
  ConfidentialMintBurn: { type: 24, length: 196 },
  ScaledUiAmountConfig: { type: 25, length: 56 },
  PausableConfig: { type: 26, length: 33 },
  PermissionedBurn: { type: 28, length: 32 },
} as const;

export const safeExtensions: readonly string[] = [
  'MintCloseAuthority',
  'MetadataPointer',
  'TokenMetadata',
  'GroupPointer',
  'TokenGroup',
  'GroupMemberPointer',
  'TokenGroupMember',
];

export const addressNamed = (name: string): Address => addressOf(sha256(Buffer.from(name)));

/** A token program's account with extensions behind it: 1 a mint, 2 a holding. */
function extended(base: Buffer, kind: 1 | 2, extensions: readonly Extension[]): Buffer {
  if (extensions.length === 0) return base;
  const padded = Buffer.alloc(166);
  base.copy(padded);
  padded[165] = kind;
  const list = extensions.map(({ type, value }) => {
    const head = Buffer.alloc(4);
    head.writeUInt16LE(type, 0);
    head.writeUInt16LE(value.length, 2);
    return Buffer.concat([head, value]);
  });
  return Buffer.concat([padded, ...list]);
}

/** `authority` may mint, and may freeze: a dollar's usual powers. */
export function mintBytes(extensions: readonly Extension[] = [], authority?: Address): Buffer {
  const data = Buffer.alloc(82);
  for (const at of authority === undefined ? [] : [0, 46]) {
    data.writeUInt32LE(1, at);
    bytesOf(authority!).copy(data, at + 4);
  }
  data.writeBigUInt64LE(10n ** 18n, 36);
  data[44] = DECIMALS;
  data[45] = 1;
  return extended(data, 1, extensions);
}

export function holdingBytes(
  { mint, owner, amount = 0n, frozen = false }: Omit<Holding, 'program' | 'name' | 'at'>,
  extensions: readonly Extension[] = [],
): Buffer {
  const data = Buffer.alloc(165);
  bytesOf(mint).copy(data, 0);
  bytesOf(owner).copy(data, 32);
  word(amount).copy(data, 64);
  data[108] = frozen ? 2 : 1;
  return extended(data, 2, extensions);
}

export function makeMint(
  world: World,
  name: string,
  program: Address = TOKEN,
  extensions: readonly Extension[] = [],
): Address {
  const of = addressNamed(name);
  setAccount(world, of, program, mintBytes(extensions, issuer));
  return of;
}

export const issuer = addressNamed('issuer');

export type Holding = {
  readonly mint: Address;
  readonly owner: Address;
  readonly amount?: bigint;
  readonly frozen?: boolean;
  readonly program?: Address;
  readonly name?: string;
  readonly at?: Address;
};

/** A token account, at an address of its own. */
export function makeHolding(world: World, holding: Holding): Address {
  const { mint, owner, program = TOKEN } = holding;
  const of = holding.at ?? addressNamed(`${holding.name ?? ''} ${mint} ${owner}`);
  setAccount(world, of, program, holdingBytes(holding));
  return of;
}

export function tokensOf(world: World, account: Address): bigint | undefined {
  const data = dataOf(world, account);
  return data === undefined || data.length < 165 ? undefined : data.readBigUInt64LE(64);
}

/** Writes into an account that a token program owns. */
export function patch(world: World, account: Address, at: number, bytes: Uint8Array): void {
  const before = world.svm.getAccount(account);
  if (!before.exists) throw new Error(`no account ${account}`);
  const data = Buffer.from(before.data);
  data.set(bytes, at);
  setAccount(world, account, before.programAddress, data, before.lamports);
}

export const dust = (world: World, account: Address, more: bigint): void =>
  patch(world, account, 64, word((tokensOf(world, account) ?? 0n) + more));
