// A payee's signature of its release, as the contract reads it: by its key, or by whatever its code
// takes (EIP-1271). Pure.

import { ParleyError } from '@parley/core/errors.ts';
import type { Hex } from 'viem';
import type { TypedData } from '../interface/material.ts';
import { bareSignature, hexIn, notIn } from '../kit/signature-text.ts';
import { serialized, signerOf } from './typed-data.ts';

/** More than owners' signatures and passkeys take. */
const mostBytes = 8_192;

export type Given = {
  /** For the call, with v 27 or 28 where a key signed. */
  readonly bytes: Hex;
  /** Whether the payee's key did: else its code is to be asked. */
  readonly isByKey: boolean;
};

/** `payout`: its 20 bytes. Throws `bad_signature` for what is no signature of anybody. */
export function readRelease(text: TypedData, payout: Hex, signature: string): Given {
  const refuse = (why: string) => new ParleyError('bad_signature', `the release ${why}`);
  const bare = bareSignature(signature);
  const hex = hexIn(bare);
  if (hex === null) throw refuse(notIn('hex', bare));
  if (hex.length > 2 * mostBytes) throw refuse(`is longer than ${mostBytes} bytes`);
  const bytes: Hex = `0x${hex}`;
  const isByKey = hex.length === 130 && keyOf(text, bytes) === payout.toLowerCase();
  return { bytes: isByKey ? serialized(bytes) : bytes, isByKey };
}

function keyOf(text: TypedData, bytes: Hex): string | null {
  try {
    return signerOf(text, bytes).toLowerCase();
  } catch {
    return null;
  }
}
