// Texts of EIP-712, and of TIP-712 in the same bytes: as they are signed, and who signed them. Pure.

import { ParleyError } from '@parley/core/errors.ts';
import { domainSeparator, type Hex, hashTypedData, type TypedDataDomain } from 'viem';
import { getAddress, hexToBytes, toHex } from 'viem/utils';
import type { TokenDomain, TypedData } from '../interface/material.ts';
import { recoverKeyHash } from '../kit/recoverable.ts';

export type Signature = { readonly v: 27 | 28; readonly r: Hex; readonly s: Hex };

/** 65 bytes in hex with 0x: r, s, and v as 27, 28, 0 or 1. Throws `bad_signature`. */
export function parseSignature(text: string): Signature {
  const refuse = (why: string) => new ParleyError('bad_signature', `the signature ${why}`);
  if (!/^0x[0-9a-fA-F]{130}$/.test(text)) {
    const bytes = Math.max(0, Math.floor((text.length - 2) / 2));
    throw refuse(`must be 65 bytes of hex with 0x (r, s, v); it has ${bytes}`);
  }
  const v = Number.parseInt(text.slice(130), 16);
  const recovery = v >= 27 ? v - 27 : v;
  if (recovery !== 0 && recovery !== 1) throw refuse(`has v ${v}, not 27, 28, 0 or 1`);
  const word = (at: number): Hex => `0x${text.slice(at, at + 64).toLowerCase()}`;
  return { v: recovery === 0 ? 27 : 28, r: word(2), s: word(66) };
}

export function typedDataToSign({ domain, types, primaryType, message }: TypedData) {
  const fields = types[primaryType] ?? [];
  const isInteger = (name: string) =>
    fields.some((field) => field.name === name && field.type === 'uint256');
  const values = Object.entries(message).map(([name, value]): [string, unknown] => [
    name,
    isInteger(name) ? BigInt(value) : value,
  ]);
  return {
    domain: domainToSign(domain),
    types,
    primaryType,
    message: Object.fromEntries(values),
  };
}

function domainToSign({ chainId, ...rest }: TokenDomain): TypedDataDomain {
  const numbered = chainId === undefined ? rest : { ...rest, chainId: BigInt(chainId) };
  return numbered as TypedDataDomain;
}

export function digestOf(typedData: TypedData): Hex {
  return hashTypedData(typedDataToSign(typedData));
}

/** Its 65 bytes: r, s and v. */
export function serialized(signature: string): Hex {
  const { v, r, s } = parseSignature(signature);
  return `${r}${s.slice(2)}${v.toString(16)}` as Hex;
}

export function signerOf(typedData: TypedData, signature: string): string {
  const bytes = hexToBytes(serialized(signature));
  const recovered = recoverKeyHash(hexToBytes(digestOf(typedData)), bytes);
  if ('why' in recovered) throw new ParleyError('bad_signature', recovered.why);
  return getAddress(toHex(recovered.keyHash));
}

export function separatorOf(domain: TokenDomain): Hex {
  return domainSeparator({ domain: domainToSign(domain) });
}
