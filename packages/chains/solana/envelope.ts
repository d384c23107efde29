// The off-chain message envelope, which hardware wallets put around a text: the published formats
// 0 and 1 of version 0, its header before October 2023, and version 1. Pure.
// https://docs.anza.xyz/proposals/off-chain-message-signing

import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';

const domain = concatBytes(Uint8Array.of(0xff), utf8ToBytes('solana offchain'));
const noDomain = new Uint8Array(32);
/** Each that may stand for a text of this signer. `format` 0 is ASCII, 1 UTF-8: the text is the same. */
export function envelopesOf(text: Uint8Array, key: Uint8Array): Uint8Array[] {
  const count = Uint8Array.of(1);
  const length = Uint8Array.of(text.length & 0xff, text.length >> 8);
  const version0 = [0, 1].flatMap((format) => {
    const written = Uint8Array.of(format);
    return [concatBytes(written, length), concatBytes(noDomain, written, count, key, length)].map(
      (header) => concatBytes(Uint8Array.of(0), header),
    );
  });
  const version1 = concatBytes(Uint8Array.of(1), count, key);
  return [...version0, version1].map((header) => concatBytes(domain, header, text));
}
