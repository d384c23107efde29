// Mints and token accounts, as far as an escrow must know them. Pure.

import layout from '@parley/contracts/solana/layout.json' with { type: 'json' };
import { solanaAddressOf } from './address.ts';
import type { Account } from './node.ts';
import { isTokenProgram, type TokenProgram } from './programs.ts';

const mintBytes = 82;
const accountBytes = 165;
/** Where accounts with extensions say what they are; the extensions follow. */
const typeAt = 165;
const extensionsAt = 166;
const isMint = 1;
const isHolding = 2;
const frozen = 2;
const memoTransfer = 8;
const cpiGuard = 11;

export type Mint = { readonly program: TokenProgram; readonly decimals: number };

/** Why the escrow program would refuse a mint; the mint where it would not. */
export function readMint(account: Account | null): Mint | string {
  if (account === null) return 'there is no such mint';
  const { owner, data } = account;
  if (!isTokenProgram(owner)) return `it belongs to ${owner}, not to a token program`;
  const isShort = data.length === mintBytes;
  if (!isShort && !(data.length > typeAt && data[typeAt] === isMint)) return 'it is no mint';
  const unsafe = extensionsOf(data).find(
    ({ type }) => !layout.constants.safeMintExtensions.includes(type),
  );
  if (unsafe !== undefined) {
    return `its Token-2022 extension ${unsafe.type} could take or stop what an escrow holds`;
  }
  return { program: owner, decimals: data[44] ?? 0 };
}

export type Extension = { readonly type: number; readonly value: Uint8Array };

/** As the escrow program reads them: type 0 ends the list. */
export function extensionsOf(data: Uint8Array): Extension[] {
  const found: Extension[] = [];
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  for (let at = extensionsAt; at + 4 <= data.length; ) {
    const type = view.getUint16(at, true);
    if (type === 0) break;
    const length = view.getUint16(at + 2, true);
    found.push({ type, value: data.subarray(at + 4, at + 4 + length) });
    at += 4 + length;
  }
  return found;
}

/** Why a token account could not take (or, for a funder, give) tokens; null where there is none. */
export function readHolding(
  account: Account | null,
  expected: { readonly mint: string; readonly owner: string; readonly program: TokenProgram },
): { readonly amount: bigint } | string | null {
  if (account === null || account.data.length === 0) return null;
  const { owner, data } = account;
  if (owner !== expected.program || data.length < accountBytes) return 'it is no token account';
  if (data.length > accountBytes && data[typeAt] !== isHolding) return 'it is no token account';
  const key = (at: number) => solanaAddressOf(data.subarray(at, at + 32));
  if (key(0) !== expected.mint) return 'it is of another mint';
  if (key(32) !== expected.owner) return `it belongs to ${key(32)} now`;
  if (data[108] === frozen) return "it is frozen by the token's issuer";
  if (extensionsOf(data).some(({ type, value }) => type === memoTransfer && value[0] === 1)) {
    return 'it takes no transfer without a memo';
  }
  return { amount: new DataView(data.buffer, data.byteOffset).getBigUint64(64, true) };
}

/** Whether a token account's owner forbids programs to move its tokens. */
export function isGuarded(account: Account | null): boolean {
  if (account === null || account.data.length <= accountBytes) return false;
  return extensionsOf(account.data).some(({ type, value }) => type === cpiGuard && value[0] === 1);
}
