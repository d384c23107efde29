// Reads a Web3 keystore of version 3, as geth, ethers and many wallets write it: one EVM key.
// Source: https://ethereum.org/developers/docs/data-structures-and-encoding/web3-secret-storage

import { createDecipheriv, pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import { equalBytes } from '@noble/curves/utils.js';
import { scrypt as anyScrypt } from '@noble/hashes/scrypt.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { Failure } from '../failures.ts';
import { scrypt } from './scrypt.ts';

type Crypto = {
  readonly cipher?: unknown;
  readonly ciphertext?: unknown;
  readonly cipherparams?: { readonly iv?: unknown };
  readonly kdf?: unknown;
  readonly kdfparams?: Readonly<Record<string, unknown>>;
  readonly mac?: unknown;
};

const mostBytes = 65_536;
/** The most that a file may make this machine do: 1 GiB of memory, and some ten seconds. */
const mostMemory = 2 ** 30;
const mostRounds = 10_000_000;

const bad = (sentence: string) => new Failure('local', 'bad_web3_keystore', sentence);

/** 64 hex. Throws Failure `wrong_passphrase`, `bad_web3_keystore`. */
export async function openWeb3(file: string, passphrase: string): Promise<string> {
  const { crypto, version } = fieldsOf(file);
  if (version !== 3) throw bad(`a Web3 keystore of version 3 is wanted, not ${String(version)}`);
  if (crypto?.cipher !== 'aes-128-ctr') throw bad('the cipher must be aes-128-ctr');
  const iv = hexOf('iv', crypto.cipherparams?.iv, 16);
  const ciphertext = hexOf('ciphertext', crypto.ciphertext, 32);
  const mac = hexOf('mac', crypto.mac, 32);
  const key = await derived(crypto, passphrase);
  if (!equalBytes(keccak_256(concatBytes(key.slice(16, 32), ciphertext)), mac)) {
    const sentence = 'the passphrase is wrong, or the Web3 keystore was altered';
    throw new Failure('needs_you', 'wrong_passphrase', sentence);
  }
  const decipher = createDecipheriv('aes-128-ctr', key.slice(0, 16), iv);
  return bytesToHex(concatBytes(decipher.update(ciphertext), decipher.final()));
}

function fieldsOf(file: string) {
  if (file.length > mostBytes) throw bad(`it has more than ${mostBytes} bytes`);
  try {
    const all = JSON.parse(file) as Record<string, unknown>;
    // Some write `Crypto`.
    return { crypto: (all.crypto ?? all.Crypto) as Crypto | undefined, version: all.version };
  } catch (cause) {
    throw new Failure('local', 'bad_web3_keystore', 'it is no JSON', { cause });
  }
}

function hexOf(name: string, value: unknown, bytes: number): Uint8Array {
  const text = String(value).replace(/^0x/, '').toLowerCase();
  if (new RegExp(`^[0-9a-f]{${2 * bytes}}$`).test(text)) return hexToBytes(text);
  throw bad(`${name} must be ${bytes} bytes in hex`);
}

async function derived(crypto: Crypto, passphrase: string): Promise<Uint8Array> {
  const given = crypto.kdfparams ?? {};
  const whole = (name: string, most: number): number => {
    const value = given[name];
    if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) {
      return value;
    }
    throw bad(`${name} must be a whole number from 1 to ${most}`);
  };
  const salt = Buffer.from(String(given.salt).replace(/^0x/, ''), 'hex');
  if (whole('dklen', 64) < 32) throw bad('dklen must be at least 32');
  // The first 32 bytes are the same, whatever more is asked for.
  if (crypto.kdf === 'pbkdf2') {
    if (given.prf !== 'hmac-sha256') throw bad('prf must be hmac-sha256');
    return promisify(pbkdf2)(passphrase, salt, whole('c', mostRounds), 32, 'sha256');
  }
  if (crypto.kdf !== 'scrypt') throw bad('the kdf must be scrypt or pbkdf2');
  const N = whole('n', 2 ** 22);
  const r = whole('r', 64);
  const p = whole('p', 64);
  const memory = 128 * N * r;
  if (memory > mostMemory) throw bad(`scrypt would take ${memory} bytes, more than ${mostMemory}`);
  // OpenSSL keeps to N < 2^(16 r) of RFC 7914, and the definition's own vector does not.
  if (N >= 2 ** (16 * r)) return anyScrypt(passphrase, salt, { N, r, p, dkLen: 32 });
  const maxmem = memory + 128 * r * (p + 2) + 2 ** 20;
  return scrypt(passphrase, salt, { N, r, p, maxmem });
}
