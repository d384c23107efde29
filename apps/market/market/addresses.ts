// Addresses whose family nobody named, and addresses as the market compares them: EVM hex and
// bech32 without regard to case, base58 exactly.

import { ParleyError } from '@parley/core/errors.ts';
import { type Family, factsOf, families, type Network } from '@parley/core/families.ts';
import { canonicalAddress } from './proofs.ts';

const shownCharacters = 128;
const titles = families
  .map((each) => factsOf[each].title)
  .join(', ')
  .replace(/, (?=\S+$)/, ' or ');

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
  for (const family of families) {
    try {
      return { family, address: canonicalAddress(family, text, network) };
    } catch (error) {
      if (!(error instanceof ParleyError) || error.code !== 'bad_address') throw error;
    }
  }
  throw new ParleyError(
    'bad_address',
    `"${text.slice(0, shownCharacters)}" is not an ${titles} address`,
  );
}
