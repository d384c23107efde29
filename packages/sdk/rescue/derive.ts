// The keys of a phrase: swap secrets, Bitcoin keys, and the seal of rescue files. By hardened steps
// of BIP-32 alone, so that no key tells another one:
//
//   m / 1347570777' / network' / 1' / 0'        secrets: HMAC-SHA256 of the index under this key
//   m / 1347570777' / network' / 1' / 1' / i'   Bitcoin key i
//   m / 1347570777' / network' / 1' / 2'        seal: HMAC-SHA256 of a rescue file under this key
//
// 1347570777 is `PRLY` in ASCII, the third step the version of this scheme.

import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { addressesOfPubkey } from '@parley/chains/bitcoin/keys.ts';
import { bitcoinNetworkOf } from '@parley/chains/bitcoin/networks.ts';
import type { Network } from '@parley/core/families.ts';
import { HARDENED_OFFSET, HDKey } from '@scure/bip32';
import { mnemonicToSeed } from '@scure/bip39';
import { RescueError } from '../errors.ts';
import { checkPhrase } from './phrase.ts';

const purpose = 0x50_52_4c_59;
const version = 1;
const networks: Readonly<Record<Network, number>> = { mainnet: 0, testnet: 1, dev: 2 };
const kinds = { secrets: 0, bitcoin: 1, seal: 2 } as const;

/** Where a secret is found again, by when and by whom it was made (decision 0023). */
export type SecretIndex = {
  /** Ten seconds of the maker's clock: Unix seconds / 10, rounded down. */
  readonly slot: number;
  /** The maker's random number of when it opened its store: below `draws`. */
  readonly draw: number;
  /** The how-manieth of the slot, from 0 on. */
  readonly nth: number;
};

export const slotSeconds = 10;
export const draws = 4_096;
export const mostInSlot = 100;

export type BitcoinKey = {
  /** 64 hex: the form that `bitcoinWallet` takes. */
  readonly privateKey: string;
  /** Compressed, 66 hex. */
  readonly pubkey: string;
  /** P2WPKH: where it is paid when nobody names another address. */
  readonly address: string;
};

/** Functions alone: printed or written as JSON it shows no key. */
export type PhraseKeys = {
  readonly network: Network;
  /** 32 bytes. */
  secretAt(index: SecretIndex): Uint8Array;
  /** From 0 to 2^31 - 1. */
  bitcoinKey(index: number): BitcoinKey;
  /** 64 hex, which only the phrase makes. */
  seal(text: string): string;
};

/** Throws RescueError `bad_phrase`, which names no word. */
export async function phraseKeys(phrase: string, network: Network): Promise<PhraseKeys> {
  const checked = checkPhrase(phrase);
  if (!checked.ok) {
    const sentence = 'these are not 12 words of a rescue phrase: checkPhrase says which is wrong';
    throw new RescueError('bad_phrase', sentence);
  }
  const seed = await mnemonicToSeed(checked.phrase);
  const steps = [purpose, networks[network], version];
  const root = steps.reduce(hardened, HDKey.fromMasterSeed(seed));
  seed.fill(0);
  const keyed = (kind: number) => hmac.create(sha256, privateKeyOf(hardened(root, kind)));
  const secrets = keyed(kinds.secrets);
  // Cloned into one place: a search makes hundreds of thousands, and a new one takes twice as long.
  const secret = secrets.clone();
  const sealing = keyed(kinds.seal);
  const bitcoin = hardened(root, kinds.bitcoin);
  const bytes = new Uint8Array(8);
  const view = new DataView(bytes.buffer);
  return {
    network,
    secretAt: ({ slot, draw, nth }) => {
      view.setUint32(0, slot);
      view.setUint16(4, draw);
      view.setUint16(6, nth);
      return secrets._cloneInto(secret).update(bytes).digest();
    },
    bitcoinKey: (index) => {
      const key = hardened(bitcoin, index);
      const pubkey = bytesToHex(key.publicKey ?? new Uint8Array());
      const { p2wpkh: address } = addressesOfPubkey(pubkey, bitcoinNetworkOf(network));
      return { privateKey: bytesToHex(privateKeyOf(key)), pubkey, address };
    },
    seal: (text) => bytesToHex(sealing.clone().update(utf8ToBytes(text)).digest()),
  };
}

function hardened(key: HDKey, index: number): HDKey {
  return key.deriveChild(HARDENED_OFFSET + index);
}

function privateKeyOf({ privateKey }: HDKey): Uint8Array {
  if (privateKey === null) throw new Error('a key of a phrase is private');
  return privateKey;
}
