// Whether a wallet signed a text: the address in its one form, and each family's own check.

import { bitcoinNetworkOf, parseBitcoinAddress } from '../../chains/bitcoin/networks.ts';
import { verifyBitcoinProof } from '../../chains/bitcoin/proof.ts';
import { parseEvmAddress } from '../../chains/evm/address.ts';
import { verifyEvmProof } from '../../chains/evm/proof.ts';
import { ParleyError } from '../../core/errors.ts';
import type { Network } from '../../core/families.ts';
import type { Deps } from '../deps.ts';

/** The families whose wallets this deployment knows. */
export const servedFamilies = ['evm', 'bitcoin'] as const;
export type ServedFamily = (typeof servedFamilies)[number];

/** Throws `bad_address` or `wrong_network`. */
export function canonicalAddress(family: ServedFamily, text: string, network: Network): string {
  switch (family) {
    case 'evm':
      return parseEvmAddress(text);
    case 'bitcoin':
      return parseBitcoinAddress(text, bitcoinNetworkOf(network)).address;
  }
}

export type SignedText = {
  readonly family: ServedFamily;
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
    case 'evm':
      await verifyEvmProof(
        { address, message, signature, nodes: deps.evmNodes ?? [] },
        signal,
      ).catch((error: unknown) => {
        throw signal.aborted ? timedOut(error) : error;
      });
      return { pubkey: null };
    case 'bitcoin': {
      const network = bitcoinNetworkOf(deps.settings.network);
      return verifyBitcoinProof({ address, message, signature, network });
    }
  }
}

function timedOut(cause: unknown): ParleyError {
  const sentence = 'the chain did not answer in time whether this wallet signed; nothing changed';
  return new ParleyError('chain_timeout', sentence, {}, { cause });
}
