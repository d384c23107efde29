// Escrows with known keys and secrets, for tests.

import { randomBytes } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { hashlockOf } from '@parley/core/hashlock.ts';
import { freeRefund } from '@parley/core/remains.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { base64 } from '@scure/base';
import type { SpendTogether } from '../../interface/cosigning.ts';
import type { BtcSighash, SignedPsbt } from '../../interface/material.ts';
import type { WatchedEscrow } from '../../interface/reading.ts';
import type { WatchedBytes } from '../escrow-index.ts';
import {
  addressesOfPubkey,
  keySignatureText,
  signedMessageHash,
  signLeaves,
  signSighashes,
} from '../keys.ts';
import { answer, ask, finish, type NonceStore } from '../musig.ts';
import { type BitcoinNetwork, bitcoinNetworks } from '../networks.ts';
import { bitcoinEscrow, escrowBytes } from '../plan.ts';
import type { Assembled } from '../signed-psbt.ts';

export type TestKey = { readonly privateKey: Uint8Array; readonly pubkey: string };

export function keyOf(name: string): TestKey {
  const privateKey = sha256(utf8ToBytes(`key of ${name}`));
  return { privateKey, pubkey: bytesToHex(secp256k1.getPublicKey(privateKey, true)) };
}

export type TestSwap = {
  readonly secret: string;
  readonly claimer: TestKey;
  readonly funder: TestKey;
  readonly terms: EscrowTerms;
  readonly escrow: WatchedEscrow;
};

let count = 0;

/** A new swap each time; pays P2WPKH addresses of the two keys. */
export function testSwap(values: {
  readonly timelock: number;
  readonly since: number;
  readonly amount?: bigint;
  readonly requiredConfirmations?: number;
  readonly network?: BitcoinNetwork;
  readonly chain?: string;
  readonly form?: 'p2tr';
}): TestSwap {
  count += 1;
  const network = values.network ?? bitcoinNetworks.regtest;
  const secret = bytesToHex(sha256(utf8ToBytes(`secret ${count} ${values.timelock}`)));
  const claimer = keyOf(`claimer ${count}`);
  const funder = keyOf(`funder ${count}`);
  const terms: EscrowTerms = {
    chain: values.chain ?? 'bitcoin',
    hashlock: hashlockOf(secret),
    payout: { address: addressesOfPubkey(claimer.pubkey, network).p2wpkh, pubkey: claimer.pubkey },
    refund: { address: addressesOfPubkey(funder.pubkey, network).p2wpkh, pubkey: funder.pubkey },
    token: null,
    amount: values.amount ?? 1_000_000n,
    timelock: values.timelock,
    ...(values.form === undefined ? {} : { form: values.form }),
  };
  const escrow: WatchedEscrow = {
    address: bitcoinEscrow(terms, network).address,
    terms,
    requiredConfirmations: values.requiredConfirmations ?? 2,
    since: values.since,
  };
  return { secret, claimer, funder, terms, escrow };
}

/** All that an index knows of an escrow, where every refund costs nothing. */
export function watchedBytes(terms: EscrowTerms, network: BitcoinNetwork): WatchedBytes {
  return { ...escrowBytes(terms, network), leastRefund: freeRefund };
}

/** Signs a builder's material as a party would. */
export function signed(material: BtcSighash, key: TestKey, secret?: string): SignedPsbt {
  const { psbtBase64, sighashHexes, scheme } = material;
  const sign = scheme === 'schnorr' ? signLeaves : signSighashes;
  const signaturesHex = sign(key.privateKey, sighashHexes);
  return { psbtBase64, signaturesHex, ...(secret === undefined ? {} : { preimageHex: secret }) };
}

/** Nonces of one who asks, in memory. */
export function nonceStore(): NonceStore {
  const kept = new Map<string, readonly string[]>();
  return {
    put: async (id, secrets) => void kept.set(id, secrets),
    take: async (id) => {
      const secrets = kept.get(id) ?? null;
      kept.delete(id);
      return secrets;
    },
  };
}

/** A spend that both parties sign together. */
export async function signedTogether(
  { terms, claimer, funder }: TestSwap,
  spend: SpendTogether,
  network = bitcoinNetworks.regtest,
): Promise<Assembled> {
  const store = nonceStore();
  const [own, other] = spend.verb === 'claim' ? [claimer, funder] : [funder, claimer];
  const asking = { terms, network, privateKey: own.privateKey };
  const request = await ask(asking, spend, store, () => new Uint8Array(randomBytes(32)));
  const given = answer({ ...asking, privateKey: other.privateKey }, request);
  return finish(asking, request, given, store);
}

export const bytes = hexToBytes;

/** Signs with a key at hand for tests: the base64 form `verifyKeySignature` reads. */
export function signKeySignature(
  about: { readonly productName: string; readonly swapId: string },
  privateKey: Uint8Array,
): string {
  const pubkey = bytesToHex(secp256k1.getPublicKey(privateKey, true));
  const hash = signedMessageHash(keySignatureText(about.productName, pubkey, about.swapId));
  const signed = secp256k1.sign(hash, privateKey, { prehash: false, format: 'recovered' });
  return base64.encode(concatBytes(Uint8Array.of(31 + (signed[0] ?? 0)), signed.slice(1)));
}
