// Addresses as the market compares them: EVM hex and bech32 without regard to case, base58 exactly.

import { sha256 } from '@noble/hashes/sha2.js';
import { base58, createBase58check } from '@scure/base';
import { Address, NETWORK, TEST_NETWORK } from '@scure/btc-signer';
import { ParleyError } from '../../core/errors.ts';
import type { Family, Network } from '../../core/families.ts';

const longest = 128;
const base58check = createBase58check(sha256);
const regtest = { ...TEST_NETWORK, bech32: 'bcrt' };

/** What two spellings of one address have in common. */
export function comparable(address: string): string {
  return /^(0x|bc1|tb1|bcrt1)/i.test(address) ? address.toLowerCase() : address;
}

/** Whether one of `held` is `address`. */
export function holds(held: readonly string[], address: string): boolean {
  const wanted = comparable(address);
  return held.some((each) => comparable(each) === wanted);
}

/** The family whose address this is in this world. Throws `bad_address`. */
export function familyOfAddress(text: string, network: Network): Family {
  if (text.length <= longest) {
    if (/^0x[0-9a-f]{40}$/i.test(text)) return 'evm';
    if (isBitcoin(text, network)) return 'bitcoin';
    if (isTron(text)) return 'tron';
    if (isSolana(text)) return 'solana';
  }
  throw new ParleyError(
    'bad_address',
    `"${text.slice(0, longest)}" is not an EVM, Bitcoin, TRON or Solana address of this network`,
  );
}

function isBitcoin(text: string, network: Network): boolean {
  const rules = { mainnet: [NETWORK], testnet: [TEST_NETWORK], dev: [regtest, TEST_NETWORK] };
  return rules[network].some((each) => reads(() => Address(each).decode(text)));
}

function isTron(text: string): boolean {
  const bytes = reads(() => base58check.decode(text));
  return bytes !== null && bytes.length === 21 && bytes[0] === 0x41;
}

function isSolana(text: string): boolean {
  return reads(() => base58.decode(text))?.length === 32;
}

/** What the decoder says, or null where it throws: these libraries refuse by throwing. */
function reads<T>(decode: () => T): T | null {
  try {
    return decode();
  } catch {
    return null;
  }
}
