// Texts signed by a wallet of a person: each signature is checked before it is sent anywhere.

import {
  type BitcoinNetworkName,
  bitcoinNetworks,
  parseBitcoinAddress,
} from '@parley/chains/bitcoin/networks.ts';
import { verifyBitcoinProof } from '@parley/chains/bitcoin/proof.ts';
import { parseEvmAddress } from '@parley/chains/evm/address.ts';
import { readEvmSignature, verifyEvmProof } from '@parley/chains/evm/proof.ts';
import { bareSignature } from '@parley/chains/kit/signature-text.ts';
import { parseSolanaAddress } from '@parley/chains/solana/address.ts';
import { verifySolanaProof } from '@parley/chains/solana/proof.ts';
import { parseTronAddress } from '@parley/chains/tron/address.ts';
import { verifyTronProof } from '@parley/chains/tron/proof.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { Family } from '@parley/core/families.ts';
import { messageOf, WalletError } from '../errors.ts';
import type { MessageSigner } from '../keys.ts';

export type { BitcoinNetworkName } from '@parley/chains/bitcoin/networks.ts';

/** `bitcoin`: the network that its addresses have to be of. */
export type ProofPlace = { readonly bitcoin: BitcoinNetworkName };

/** In canonical form. Throws WalletError `lied`, or `wrong_network` of a Bitcoin address. */
export function accountAddress(family: Family, said: unknown, { bitcoin }: ProofPlace): string {
  const text = typeof said === 'string' ? said : '';
  try {
    switch (family) {
      case 'evm':
        return parseEvmAddress(text);
      case 'tron':
        return parseTronAddress(text);
      case 'solana':
        return parseSolanaAddress(text);
      case 'bitcoin':
        return parseBitcoinAddress(text, bitcoinNetworks[bitcoin]).address;
    }
  } catch (cause) {
    const isOther = cause instanceof ParleyError && cause.code === 'wrong_network';
    const sentence = `the wallet names no account that can be used here: ${messageOf(cause)}`;
    throw new WalletError(isOther ? 'wrong_network' : 'lied', sentence, { cause });
  }
}

/**
 * The length of a key's signature; a contract's is longer, and only a node of its chain can tell.
 */
const keySignatureCharacters = 132;

/** As markets take it. Throws WalletError `lied`: signed by another key, or another text. */
export async function mustBeSigned(
  { family, address }: Pick<MessageSigner, 'family' | 'address'>,
  message: string,
  said: unknown,
  { bitcoin }: ProofPlace,
): Promise<string> {
  const signature = typeof said === 'string' ? bareSignature(said) : '';
  const proof = { address, message, signature };
  try {
    switch (family) {
      case 'evm': {
        const hex = readEvmSignature(signature);
        if (hex.length === keySignatureCharacters) {
          await verifyEvmProof(proof, AbortSignal.timeout(1_000));
        }
        return hex;
      }
      case 'tron':
        verifyTronProof(proof);
        break;
      case 'solana':
        verifySolanaProof(proof);
        break;
      case 'bitcoin':
        verifyBitcoinProof({ ...proof, network: bitcoinNetworks[bitcoin] });
        break;
    }
    return signature;
  } catch (cause) {
    const sentence = `the wallet has not signed this text as ${address}: ${messageOf(cause)}`;
    throw new WalletError('lied', sentence, { cause });
  }
}
