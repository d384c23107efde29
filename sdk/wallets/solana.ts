// A Solana key that signs texts (ed25519 over the plain text), to sign in and to prove its wallet.
// It signs no transactions: no Solana chain is settled on yet.

import { base58 } from '@scure/base';
import { signSolanaMessage, solanaAddressOfSeed } from '../../chains/solana/proof.ts';
import type { MessageSigner } from '../keys.ts';

export type SolanaSignerOptions = {
  /**
   * What wallets export: 64 bytes, the seed and then the public key, in base58 or as bytes (the
   * numbers in a `solana-keygen` file); or the seed alone, 32 bytes.
   */
  readonly secretKey: string | Uint8Array;
};

const seedBytes = 32;

/** Throws when the key is none, or its two halves do not belong together. */
export function solanaMessageSigner(options: SolanaSignerOptions): MessageSigner {
  const { secretKey } = options;
  const bytes = typeof secretKey === 'string' ? base58.decode(secretKey) : secretKey;
  if (bytes.length !== seedBytes && bytes.length !== 2 * seedBytes) {
    throw new Error(`a Solana secret key has 64 bytes, or 32 as a seed, not ${bytes.length}`);
  }
  const seed = bytes.slice(0, seedBytes);
  const address = solanaAddressOfSeed(seed);
  if (bytes.length > seedBytes && base58.encode(bytes.subarray(seedBytes)) !== address) {
    throw new Error('the public key in this Solana secret key is not that of its seed');
  }
  return {
    family: 'solana',
    address,
    signMessage: async (message) => signSolanaMessage(seed, message),
  };
}
