// The escrow's witness script, written and read back. One template, minimal pushes, so that every
// spend can be recognised by its bytes alone:
//
//   IF SIZE 32 EQUALVERIFY SHA256 <hashlock> EQUALVERIFY <claimer>
//   ELSE <timelock> CHECKLOCKTIMEVERIFY DROP <funder> ENDIF CHECKSIG
//
// SIZE 32: a secret of another length would fit this chain only (safety.md, escrows 1). Pure.

import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { type Hashlock, opens, type Secret } from '@parley/core/hashlock.ts';
import { parsePublicKey } from './keys.ts';

export type EscrowScript = {
  readonly hashlock: Hashlock;
  readonly claimer: string;
  readonly funder: string;
  readonly timelock: number;
};

const op = {
  pushData1: 0x4c,
  pushData2: 0x4d,
  pushData4: 0x4e,
  if: 0x63,
  else: 0x67,
  endIf: 0x68,
  drop: 0x75,
  size: 0x82,
  equalVerify: 0x88,
  sha256: 0xa8,
  checkSig: 0xac,
  checkLockTimeVerify: 0xb1,
} as const;

/** Below this a lock time is a block height, not a time (BIP 65). */
const leastTime = 500_000_000;
/** nLockTime is an unsigned 32-bit number. */
const mostTime = 0xffff_ffff;

/** A number as script pushes it: little-endian, sign bit clear, no needless byte. */
function scriptNumber(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.push(rest % 256);
  if ((bytes.at(-1) ?? 0) >= 0x80) bytes.push(0);
  return Uint8Array.from(bytes);
}

function push(data: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(data.length), data);
}

/** The witness script of these values. Throws `bad_field` on a timelock that is not a time. */
export function escrowScript(values: EscrowScript): Uint8Array {
  const { timelock } = values;
  if (!Number.isInteger(timelock) || timelock < leastTime || timelock > mostTime) {
    throw new ParleyError(
      'bad_field',
      `a Bitcoin timelock must be Unix seconds from ${leastTime} to ${mostTime}; got ${timelock}`,
      { timelock },
    );
  }
  return concatBytes(
    Uint8Array.of(op.if, op.size, 1, 32, op.equalVerify, op.sha256),
    push(hexToBytes(values.hashlock)),
    Uint8Array.of(op.equalVerify),
    push(hexToBytes(values.claimer)),
    Uint8Array.of(op.else),
    push(scriptNumber(timelock)),
    Uint8Array.of(op.checkLockTimeVerify, op.drop),
    push(hexToBytes(values.funder)),
    Uint8Array.of(op.endIf, op.checkSig),
  );
}

/** Reads a script of the template; null for any other, however close. */
export function readEscrowScript(script: Uint8Array): EscrowScript | null {
  if (script.length < 112 || script.length > 128 || script[0] !== op.if) return null;
  const numberLength = script[75] ?? 0;
  const after = 76 + numberLength;
  const timelock = script.subarray(76, after).reduce((sum, byte, at) => sum + byte * 256 ** at, 0);
  const values: EscrowScript = {
    hashlock: bytesToHex(script.subarray(7, 39)),
    claimer: bytesToHex(script.subarray(41, 74)),
    funder: bytesToHex(script.subarray(after + 3, after + 36)),
    timelock,
  };
  try {
    parsePublicKey(values.claimer);
    parsePublicKey(values.funder);
    return bytesToHex(escrowScript(values)) === bytesToHex(script) ? values : null;
  } catch {
    // Keys off the curve or a lock time out of range: this code would not have written it.
    return null;
  }
}

/** Every item a script pushes, at any depth of parsing; stops quietly at malformed bytes. */
function scriptPushes(script: Uint8Array): Uint8Array[] {
  const items: Uint8Array[] = [];
  let at = 0;
  while (at < script.length) {
    const code = script[at] ?? 0;
    at += 1;
    let length = 0;
    if (code < op.pushData1) {
      length = code;
    } else if (code <= op.pushData4) {
      const width = code === op.pushData1 ? 1 : code === op.pushData2 ? 2 : 4;
      for (let byte = 0; byte < width; byte += 1) length += (script[at + byte] ?? 0) * 256 ** byte;
      at += width;
    }
    if (length > script.length - at) return items;
    if (length > 0) items.push(script.subarray(at, at + length));
    at += length;
  }
  return items;
}

/** By hash among all pushes, never by position: a claimer shapes its witness as it likes. */
export function findSecret(items: Iterable<Uint8Array>, hashlock: Hashlock): Secret | null {
  for (const item of items) {
    for (const candidate of [item, ...scriptPushes(item)]) {
      if (candidate.length !== 32) continue;
      const secret = bytesToHex(candidate);
      if (opens(secret, hashlock)) return secret;
    }
  }
  return null;
}
