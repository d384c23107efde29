// Keys of all four families from one BIP-39 phrase, at the places where other wallets look for
// them: BIP-44 (EVM, TRON), BIP-84 (Bitcoin), SLIP-0010 (Solana).

import { hmac } from '@noble/hashes/hmac.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Family } from '@parley/core/families.ts';
import type { PhraseStoreOptions } from '@parley/sdk/rescue/store.ts';
import { HDKey } from '@scure/bip32';
import { entropyToMnemonic, mnemonicToSeed, validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { needsYou } from '../failures.ts';

export type Network = PhraseStoreOptions['network'];

export type WalletKeys = Readonly<Record<Family, string>>;

/** The contents of an opened keystore or key file. */
export type Keys = {
  /** 64 hex each; on Solana the seed. */
  readonly wallets: WalletKeys;
  /** Twelve words: secrets of swaps and keys of Bitcoin escrows (docs/rescue.md). */
  readonly rescue: string;
};

const lengths: readonly number[] = [12, 15, 18, 21, 24];
const mostCharacters = 1_000;
/** The mark of every hardened step (BIP-32). */
const hard = 0x8000_0000;

/** In canonical form. Throws Failure `bad_words`, which names no word. */
export function mustBeWords(typed: string): string {
  const words = typed.slice(0, mostCharacters).normalize('NFKD').toLowerCase().match(/\S+/g) ?? [];
  if (!lengths.includes(words.length)) {
    const sentence = `a phrase has 12, 15, 18, 21 or 24 words (BIP-39), and this has ${words.length}`;
    throw needsYou('bad_words', sentence);
  }
  const strange = words.findIndex((word) => !wordlist.includes(word));
  if (strange !== -1) {
    throw needsYou('bad_words', `word ${strange + 1} is not of the English list of BIP-39`);
  }
  const phrase = words.join(' ');
  if (validateMnemonic(phrase, wordlist)) return phrase;
  throw needsYou('bad_words', 'the checksum is wrong: one word is another, or two changed places');
}

/** The words of documents and development tools, by how they begin: everybody has their coins. */
const published: readonly string[] = [
  // Vectors of BIP-39: entropy of one byte again and again.
  'abandon abandon abandon',
  'legal winner thank',
  'letter advice cage',
  'zoo zoo zoo',
  // Hardhat and anvil; Ganache; Truffle.
  'test test test',
  'myth like bonus',
  'candy maple cake',
];

/** Throws Failure `published_words` on a real network. */
export function mustBeSecret(words: string, network: Network): void {
  const known = published.find((each) => words.startsWith(`${each} `));
  if (network !== 'mainnet' || known === undefined) return;
  const sentence = `the words "${known} …" are published: anybody takes what comes to them`;
  throw needsYou('published_words', `${sentence}. Make others with "parley login --new"`);
}

/** Twelve new words, from the platform's randomness. */
export function newWords(): string {
  return entropyToMnemonic(randomBytes(16), wordlist);
}

/** `imported` takes the place of what the words give for its family. */
export async function keysOf(
  words: string,
  network: Network,
  imported: Partial<WalletKeys> = {},
): Promise<Keys> {
  const seed = await mnemonicToSeed(mustBeWords(words));
  try {
    const root = HDKey.fromMasterSeed(seed);
    const at = (path: string) => privateKeyOf(root.derive(path));
    const coin = network === 'mainnet' ? 0 : 1;
    const wallets = {
      bitcoin: at(`m/84'/${coin}'/0'/0/0`),
      evm: at("m/44'/60'/0'/0/0"),
      tron: at("m/44'/195'/0'/0/0"),
      solana: bytesToHex(ed25519Key(seed, [44, 501, 0, 0])),
      ...imported,
    };
    return { wallets, rescue: words.split(' ').length === 12 ? words : childWords(root) };
  } finally {
    seed.fill(0);
  }
}

function privateKeyOf({ privateKey }: HDKey): string {
  if (privateKey === null) throw new Error('a key of a phrase is private');
  return bytesToHex(privateKey);
}

/** BIP-85, application 39: twelve English words, index 0. The rescue page takes twelve. */
export function childWords(root: HDKey): string {
  const { privateKey } = root.derive("m/83696968'/39'/0'/12'/0'");
  if (privateKey === null) throw new Error('a key of a phrase is private');
  const entropy = hmac(sha512, utf8ToBytes('bip-entropy-from-k'), privateKey);
  return entropyToMnemonic(entropy.slice(0, 16), wordlist);
}

/** SLIP-0010: every step is hardened. */
export function ed25519Key(seed: Uint8Array, path: readonly number[]): Uint8Array {
  const split = (bytes: Uint8Array) => [bytes.slice(0, 32), bytes.slice(32)] as const;
  let [key, chain] = split(hmac(sha512, utf8ToBytes('ed25519 seed'), seed));
  for (const step of path) {
    const index = new Uint8Array(4);
    new DataView(index.buffer).setUint32(0, hard + step);
    [key, chain] = split(hmac(sha512, chain, concatBytes(Uint8Array.of(0), key, index)));
  }
  return key;
}
