// The VM's accounts: plain values, null where there is none.

import { type Address, address, getAddressDecoder, type Lamports } from '@solana/kit';
import type { LiteSVM } from 'litesvm';

export type Account = {
  readonly lamports: bigint;
  readonly owner: Address;
  readonly data: Uint8Array;
  readonly executable: boolean;
};

export const SYSTEM = address('11111111111111111111111111111111');
export const TOKEN = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
export const TOKEN_2022 = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
export const CLOCK = address('SysvarC1ock11111111111111111111111111111111');

const tokenAccountBytes = 165;
const mintBytes = 82;
/** In accounts with extensions: 1 a mint, 2 a token account. */
const typeAt = 165;

export function readAccount(svm: LiteSVM, of: Address): Account | null {
  const found = svm.getAccount(of);
  if (!found.exists) return null;
  const { lamports, programAddress: owner, data, executable } = found;
  return { lamports, owner, data: Uint8Array.from(data), executable };
}

/** Null takes the account away. */
export function writeAccount(svm: LiteSVM, of: Address, account: Account | null): void {
  const { lamports, owner, data, executable } = account ?? nothing;
  svm.setAccount({
    address: of,
    programAddress: owner,
    data,
    lamports: lamports as Lamports,
    executable,
    space: BigInt(data.length),
  });
}

export const nothing: Account = {
  lamports: 0n,
  owner: SYSTEM,
  data: new Uint8Array(),
  executable: false,
};

export function sameAccount(one: Account | null, other: Account | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one.lamports === other.lamports &&
    one.owner === other.owner &&
    one.executable === other.executable &&
    Buffer.compare(one.data, other.data) === 0
  );
}

const isTokenProgram = (owner: Address) => owner === TOKEN || owner === TOKEN_2022;

export type Holding = { readonly mint: Address; readonly owner: Address; readonly amount: bigint };

/** The balance of a token account; null for anything else. */
export function holdingOf(account: Account | null): Holding | null {
  if (account === null || !isTokenProgram(account.owner)) return null;
  const { data } = account;
  if (data.length < tokenAccountBytes) return null;
  if (data.length > tokenAccountBytes && data[typeAt] !== 2) return null;
  const decode = (at: number) => getAddressDecoder().decode(data, at);
  return { mint: decode(0), owner: decode(32), amount: Buffer.from(data).readBigUInt64LE(64) };
}

export type Mint = { readonly supply: bigint; readonly decimals: number };

export function mintOf(account: Account | null): Mint | null {
  if (account === null || !isTokenProgram(account.owner)) return null;
  const { data } = account;
  const isMint = data.length === mintBytes || (data.length > typeAt && data[typeAt] === 1);
  return isMint ? { supply: Buffer.from(data).readBigUInt64LE(36), decimals: data[44] ?? 0 } : null;
}

export function amountJson(amount: bigint, decimals: number) {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const rest = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const uiAmountString = rest === '' ? whole : `${whole}.${rest}`;
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}
