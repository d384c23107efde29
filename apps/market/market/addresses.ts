// Addresses whose family nobody named, and addresses as the market compares them: EVM hex and
// bech32 without regard to case, base58 exactly.

import { ParleyError } from '@parley/core/errors.ts';
import type { Family, Network } from '@parley/core/families.ts';
import { canonicalAddress } from './proofs.ts';

/**
 * Solana comes last, because its addresses have no checksum: a bech32 regtest address in capitals
 * can also be 32 bytes of base58, and its checksum says what it is. No other two families share a
 * text: base58 of 25 bytes with TRON's leading byte is no Bitcoin address, and 42 hex characters
 * hold fewer than 32 bytes.
 */
const byChecksum: readonly Family[] = ['evm', 'tron', 'bitcoin', 'solana'];
const shownCharacters = 128;

/** The common part of two spellings of one address. */
export function comparable(address: string): string {
  if (/^0x/i.test(address)) return address.toLowerCase();
  // Bech32 is of one case; in both cases it is base58 that begins alike.
  const lower = address.toLowerCase();
  return /^(bc1|tb1|bcrt1)/.test(lower) && address === address.toUpperCase() ? lower : address;
}

/** Whether one of `held` is `address`. */
export function holds(held: readonly string[], address: string): boolean {
  const wanted = comparable(address);
  return held.some((each) => comparable(each) === wanted);
}

/**
 * The family whose address this is, and its canonical form. Throws `bad_address`, and
 * `wrong_network` for Bitcoin of another network.
 */
export function parseAddress(text: string, network: Network): { family: Family; address: string } {
  if (/^0x/i.test(text)) return { family: 'evm', address: canonicalAddress('evm', text, network) };
  for (const family of byChecksum) {
    try {
      return { family, address: canonicalAddress(family, text, network) };
    } catch (error) {
      if (!(error instanceof ParleyError) || error.code !== 'bad_address') throw error;
    }
  }
  throw new ParleyError(
    'bad_address',
    `"${text.slice(0, shownCharacters)}" is not an EVM, TRON, Bitcoin or Solana address`,
  );
}
