// Reads a Web3 keystore of version 3, as geth, ethers and many wallets write it: one EVM key.
// Source: https://ethereum.org/developers/docs/data-structures-and-encoding/web3-secret-storage

import { decrypt, type Keystore, toKey } from 'ox/Keystore';
import { z } from 'zod';
import { Failure } from '../failures.ts';

/** Some ten seconds; scrypt ends at 1 GiB of memory by itself. */
const mostRounds = 10_000_000;

const shape = z.object({
  version: z.literal(3),
  crypto: z.object({
    cipher: z.literal('aes-128-ctr'),
    kdfparams: z.object({ c: z.int().max(mostRounds).optional() }),
  }),
});

/** 64 hex. Throws Failure `wrong_passphrase`. */
export function openWeb3(file: string, password: string): string {
  try {
    const read: unknown = JSON.parse(file);
    shape.parse(read);
    const keystore = read as Keystore;
    const key = decrypt(keystore, toKey(keystore, { password })).slice(2);
    if (/^[0-9a-f]{64}$/.test(key)) return key;
    throw new Error('another length');
  } catch (cause) {
    const sentence = 'the passphrase is wrong, or the file is no Web3 keystore of version 3';
    throw new Failure('needs_you', 'wrong_passphrase', sentence, { cause });
  }
}
