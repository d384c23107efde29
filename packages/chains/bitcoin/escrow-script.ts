// The escrow's witness script (P2WSH), written and read back. One template, minimal pushes, so that every
// spend can be recognised by its bytes alone:
//
//   IF SIZE 32 EQUALVERIFY SHA256 <hashlock> EQUALVERIFY <claimer>
//   ELSE <timelock> CHECKLOCKTIMEVERIFY DROP <funder> ENDIF CHECKSIG
//
// SIZE 32: a secret of another length would fit this chain only (safety.md, escrows 1). Pure.

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { type Hashlock, opens, type Secret } from '@parley/core/hashlock.ts';
import { Script, ScriptNum } from '@scure/btc-signer';
import { parsePublicKey } from './keys.ts';

export type EscrowScript = {
  readonly hashlock: Hashlock;
  readonly claimer: string;
  readonly funder: string;
  readonly timelock: number;
};

/** The codes that say how long the push after them is. */
const op = { pushData1: 0x4c, pushData2: 0x4d, pushData4: 0x4e } as const;

/** Below this a lock time is a block height, not a time (BIP 65). */
const leastTime = 500_000_000;
/** nLockTime is an unsigned 32-bit number. */
const mostTime = 0xffff_ffff;

/** As a script pushes it. Throws `bad_field` on a timelock that is not a time. */
export function lockTimeOf(timelock: number): Uint8Array {
  if (!Number.isInteger(timelock) || timelock < leastTime || timelock > mostTime) {
    throw new ParleyError(
      'bad_field',
      `a Bitcoin timelock must be Unix seconds from ${leastTime} to ${mostTime}; got ${timelock}`,
      { timelock },
    );
  }
  return ScriptNum().encode(BigInt(timelock));
}

/** The witness script of these values. Throws `bad_field` on a timelock that is not a time. */
export function escrowScript(values: EscrowScript): Uint8Array {
  return Script.encode([
    'IF',
    'SIZE',
    Uint8Array.of(32),
    'EQUALVERIFY',
    'SHA256',
    hexToBytes(values.hashlock),
    'EQUALVERIFY',
    hexToBytes(values.claimer),
    'ELSE',
    lockTimeOf(values.timelock),
    'CHECKLOCKTIMEVERIFY',
    'DROP',
    hexToBytes(values.funder),
    'ENDIF',
    'CHECKSIG',
  ]);
}

/** Reads a script of the template; null for any other, however close. */
export function readEscrowScript(script: Uint8Array): EscrowScript | null {
  if (script.length > 128) return null;
  try {
    const ops = Script.decode(script);
    const pushed = (at: number) => {
      const data = ops[at];
      return data instanceof Uint8Array ? data : new Uint8Array();
    };
    const values: EscrowScript = {
      hashlock: bytesToHex(pushed(5)),
      claimer: bytesToHex(pushed(7)),
      timelock: Number(ScriptNum().decode(pushed(9))),
      funder: bytesToHex(pushed(12)),
    };
    parsePublicKey(values.claimer);
    parsePublicKey(values.funder);
    return bytesToHex(escrowScript(values)) === bytesToHex(script) ? values : null;
  } catch {
    // Malformed, keys off the curve or a lock time out of range: this code has not written it.
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
