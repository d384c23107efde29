// Whether a wallet signed a text: the address in its one form, and each family's own check.

import { bitcoinNetworkOf, parseBitcoinAddress } from '@parley/chains/bitcoin/networks.ts';
import { verifyBitcoinProof } from '@parley/chains/bitcoin/proof.ts';
import { parseEvmAddress } from '@parley/chains/evm/address.ts';
import { verifyEvmProof } from '@parley/chains/evm/proof.ts';
import { parseSolanaAddress } from '@parley/chains/solana/address.ts';
import { verifySolanaProof } from '@parley/chains/solana/proof.ts';
import { parseTronAddress, tronHex } from '@parley/chains/tron/address.ts';
import { verifyTronProof } from '@parley/chains/tron/proof.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type Family, has, type Network } from '@parley/core/families.ts';
import type { Deps } from '../ports/deps.ts';

/** Throws `bad_address`, and `wrong_network` on Bitcoin: other addresses name no network. */
export function canonicalAddress(family: Family, text: string, network: Network): string {
  switch (family) {
    case 'evm':
      return parseEvmAddress(text);
    case 'tron':
      return parseTronAddress(text);
    case 'bitcoin':
      return parseBitcoinAddress(text, bitcoinNetworkOf(network)).address;
    case 'solana':
      return parseSolanaAddress(text);
  }
}

/**
 * The spelling of a canonical address that a message uses. A TRON wallet may show itself in
 * 41-hex: both name the same 20 bytes.
 */
export function spellingIn(message: string, family: Family, address: string): string {
  if (!has(family, 'hexSpelling')) return address;
  const hex = tronHex(address);
  return message.toLowerCase().includes(hex) ? hex : address;
}

export type SignedText = {
  readonly family: Family;
  readonly address: string;
  readonly message: string;
  readonly signature: string;
};

export type ProofDeps = Pick<Deps, 'settings' | 'evmNodes'>;

/** Throws `bad_signature`. On Bitcoin returns the key where the signature shows it. */
export async function checkSignature(
  deps: ProofDeps,
  signed: SignedText,
  signal: AbortSignal,
): Promise<{ pubkey: string | null }> {
  const { family, address, message, signature } = signed;
  switch (family) {
    case 'evm': {
      const { evmNodes: nodes = [] } = deps;
      const checking = verifyEvmProof({ address, message, signature, nodes }, signal);
      await checking.catch((error: unknown) => {
        throw signal.aborted ? timedOut(error) : error;
      });
      return { pubkey: null };
    }
    case 'tron':
      verifyTronProof({ address, message, signature });
      return { pubkey: null };
    case 'solana':
      verifySolanaProof({ address, message, signature });
      return { pubkey: null };
    case 'bitcoin': {
      const network = bitcoinNetworkOf(deps.settings.network);
      return verifyBitcoinProof({ address, message, signature, network });
    }
  }
}

function timedOut(cause: unknown): ParleyError {
  const sentence =
    'the chain did not answer in time whether this wallet signed; the market changed nothing';
  return new ParleyError('chain_timeout', sentence, {}, { cause });
}
