// Reads a Web3 keystore of version 3, as geth, ethers and many wallets write it: one EVM key.
// Source: https://ethereum.org/developers/docs/data-structures-and-encoding/web3-secret-storage

import { decrypt, type Keystore, toKey } from 'ox/Keystore';
import { z } from 'zod';
import { Failure } from '../failures.ts';

/**
 * Some ten seconds, and 1 GiB. Wallets write up to 2^21 of scrypt (n × r × p), or 262 144 rounds of
 * PBKDF2.
 */
const most = { scrypt: 2 ** 23, pbkdf2: 10_000_000 };

const shape = z.object({
  version: z.literal(3),
  crypto: z.object({
    cipher: z.literal('aes-128-ctr'),
    kdfparams: z.object({
      c: z.int().positive().default(0),
      n: z.int().positive().default(0),
      r: z.int().positive().default(0),
      p: z.int().positive().default(0),
    }),
  }),
});

/** 64 hex. Throws Failure `wrong_passphrase`, `bad_keystore`. */
export function openWeb3(file: string, password: string): string {
  try {
    const read: unknown = JSON.parse(file);
    const { c, n, r, p } = shape.parse(read).crypto.kdfparams;
    mustEnd({ pbkdf2: c, scrypt: n * r * p });
    const keystore = read as Keystore;
    const key = decrypt(keystore, toKey(keystore, { password })).slice(2);
    if (/^[0-9a-f]{64}$/.test(key)) return key;
    throw new Error('another length');
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    const sentence = 'the passphrase is wrong, or the file is no Web3 keystore of version 3';
    throw new Failure('needs_you', 'wrong_passphrase', sentence, { cause });
  }
}

/** Throws before the work begins: a foreign file may ask for hours. */
function mustEnd(asked: typeof most): void {
  for (const kdf of ['scrypt', 'pbkdf2'] as const) {
    if (asked[kdf] <= most[kdf]) continue;
    const sentence = `the Web3 keystore asks for ${asked[kdf]} of ${kdf}, above ${most[kdf]}`;
    throw new Failure('needs_you', 'bad_keystore', sentence);
  }
}
