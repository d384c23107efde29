// A TRON key that signs texts (signMessageV2), to sign in and to prove its wallet. It signs no
// transactions: no TRON chain is settled on yet.

import { hexToBytes } from '@noble/hashes/utils.js';
import { signTronMessage, tronAddressOfKey } from '../../chains/tron/proof.ts';
import type { MessageSigner } from '../keys.ts';

export type TronSignerOptions = {
  /** 32 bytes, hex, with or without 0x. */
  readonly privateKey: string;
};

/** Throws when the key is none. */
export function tronMessageSigner(options: TronSignerOptions): MessageSigner {
  const privateKey = hexToBytes(options.privateKey.replace(/^0x/, ''));
  return {
    family: 'tron',
    address: tronAddressOfKey(privateKey),
    signMessage: async (message) => signTronMessage(privateKey, message),
  };
}
