// The off-chain message envelope, which hardware wallets put around a text: the published formats
// 0 and 1 of version 0, its header before October 2023, and version 1. Pure.
// https://docs.anza.xyz/proposals/off-chain-message-signing

import { equalBytes } from '@noble/curves/utils.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';

type Header = {
  readonly applicationDomain: Uint8Array;
  readonly signers: readonly Uint8Array[];
};

const domain = concatBytes(Uint8Array.of(0xff), utf8ToBytes('solana offchain'));
const keyBytes = 32;
const signatureBytes = 64;
/** Where version, application domain and count of signers of version 0 stand. */
const at = { version: 16, applicationDomain: 17, count: 50 } as const;

/** Each that may stand for a text. `format` 0 is ASCII, 1 UTF-8: the text is the same. */
function envelopesOf(text: Uint8Array, { applicationDomain, signers }: Header): Uint8Array[] {
  const count = Uint8Array.of(signers.length);
  const length = Uint8Array.of(text.length & 0xff, text.length >> 8);
  const version0 = [0, 1].flatMap((format) => {
    const written = Uint8Array.of(format);
    return [
      concatBytes(written, length),
      concatBytes(applicationDomain, written, count, ...signers, length),
    ].map((header) => concatBytes(Uint8Array.of(0), header));
  });
  const version1 = concatBytes(Uint8Array.of(1), count, ...signers);
  return [...version0, version1].map((header) => concatBytes(domain, header, text));
}

/** Each that a wallet may have signed for this text where its signature alone is known. */
export function envelopesOfSigner(text: Uint8Array, key: Uint8Array): Uint8Array[] {
  return envelopesOf(text, { applicationDomain: new Uint8Array(keyBytes), signers: [key] });
}

/**
 * The signature of `key` in a whole envelope: a count, signatures, and the bytes that were signed.
 * null: it is none of this text and key.
 */
export function openEnvelope(
  bytes: Uint8Array,
  text: Uint8Array,
  key: Uint8Array,
): { readonly signature: Uint8Array; readonly signed: Uint8Array } | null {
  const count = bytes[0] ?? 0;
  const signed = bytes.subarray(1 + count * signatureBytes);
  const start = signed[at.version] === 0 ? at.count : at.applicationDomain;
  const slice = (from: number) => signed.subarray(from, from + keyBytes);
  const signers = Array.from({ length: count }, (_, each) => slice(start + 1 + each * keyBytes));
  const place = signers.findIndex((each) => equalBytes(each, key));
  const header = { applicationDomain: slice(at.applicationDomain), signers };
  const isOfText = envelopesOf(text, header).some((each) => equalBytes(each, signed));
  if (place === -1 || !isOfText) return null;
  const from = 1 + place * signatureBytes;
  return { signature: bytes.subarray(from, from + signatureBytes), signed };
}

/**
 * A wallet that shows which bytes it signed has this handed on: its signature, or the whole
 * envelope where the signature does not tell which it is.
 */
export function signatureOrEnvelope(
  signature: Uint8Array,
  signed: Uint8Array,
  text: Uint8Array,
  key: Uint8Array,
): Uint8Array {
  const envelope = concatBytes(Uint8Array.of(1), signature, signed);
  const isTold = [text, ...envelopesOfSigner(text, key)].some((each) => equalBytes(each, signed));
  return isTold || openEnvelope(envelope, text, key) === null ? signature : envelope;
}
