// Where the legs of a swap pay: which wallets of an account may receive, and the escrow that
// follows as soon as both destinations of a leg are known.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import {
  addressesOfPubkey,
  keySignatureText,
  verifyKeySignature,
} from '@parley/chains/bitcoin/keys.ts';
import { bitcoinNetworkOf } from '@parley/chains/bitcoin/networks.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { has, type Network } from '@parley/core/families.ts';
import type { Destination } from '@parley/core/terms.ts';
import type { PayableWallet } from '../db/legs.ts';

/** The destination that the account's payout wallet determines by itself; null: it does not. */
export function destinationOfPayout(
  wallets: readonly PayableWallet[],
  about: { accountId: string; adapter: ChainAdapter; network: Network },
): Destination | null {
  const own = wallets.find(
    (each) =>
      each.accountId === about.accountId && each.family === about.adapter.family && each.paid,
  );
  if (own === undefined) return null;
  if (!has(about.adapter, 'coins')) {
    return { address: about.adapter.parseAddress(own.address), pubkey: null };
  }
  if (own.pubkey === null || !/^0[23][0-9a-f]{64}$/.test(own.pubkey)) return null;
  const { p2wpkh, p2shP2wpkh } = addressesOfPubkey(own.pubkey, bitcoinNetworkOf(about.network));
  // A Taproot wallet shows an x-only key, whose parity only a signature can tell.
  if (own.address !== p2wpkh && own.address !== p2shP2wpkh) return null;
  return { address: own.address, pubkey: own.pubkey };
}

/**
 * An address that receives on a family of plain addresses. Throws `not_payable` when it is none of
 * the account's that may receive.
 */
export function mustBePayable(
  wallets: readonly PayableWallet[],
  address: string,
  parse: (text: string) => string,
): void {
  const own = wallets.some((each) => each.receives && parse(each.address) === address);
  if (own) return;
  throw new ParleyError(
    'not_payable',
    `${address} may not be paid: it is neither a wallet you sign in with nor one that your login ` +
      'wallet authorised, or it still waits because it was added a short while ago',
    { address },
  );
}

export type BitcoinKey = {
  readonly pubkey: string;
  readonly keySignature: string | null;
  readonly swapId: string;
  readonly productName: string;
  readonly network: Network;
};

/**
 * The destination of a Bitcoin key: the account's own wallet address of that key. Throws
 * `not_payable` when no wallet of the account that may receive has it, `bad_public_key` when a
 * Taproot wallet's key comes without a signature, `bad_signature` when that is not by this key.
 */
export function destinationOfKey(wallets: readonly PayableWallet[], key: BitcoinKey): Destination {
  const { pubkey } = key;
  const { p2wpkh, p2shP2wpkh, p2tr } = addressesOfPubkey(pubkey, bitcoinNetworkOf(key.network));
  const own = (address: string) =>
    wallets.some((each) => each.address === address && each.receives);
  if (key.keySignature !== null) verifyKeySignature(key, key.keySignature);
  for (const address of [p2wpkh, p2shP2wpkh]) {
    if (own(address)) return { address, pubkey };
  }
  if (!own(p2tr)) {
    throw new ParleyError(
      'not_payable',
      `key ${pubkey} belongs to none of your Bitcoin wallets that may receive: sign in with ` +
        `${p2wpkh}, or prove it with an authorization of your login wallet`,
      { pubkey },
    );
  }
  if (key.keySignature === null) {
    throw new ParleyError(
      'bad_public_key',
      `a key of a Taproot wallet comes with keySignature, the base64 ECDSA signature (BIP 137) by ` +
        `${pubkey} itself over "${keySignatureText(key.productName, pubkey, key.swapId)}": its ` +
        `address ${p2tr} hides the parity of the key`,
      { pubkey },
    );
  }
  return { address: p2tr, pubkey };
}
