// A keystore: words, sealed by a passphrase in one file. scrypt makes the key, XChaCha20-Poly1305
// seals. An altered head gives another key, and nothing opens.

import { type ScryptOptions, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { bytesToHex, hexToBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { Failure, needsYou } from '../failures.ts';
import type { WalletKeys } from './words.ts';

/** The contents that are sealed. */
export type Sealed = { readonly words: string; readonly imported?: Partial<WalletKeys> };

/** As OpenSSL computes it (RFC 7914), off the main thread. */
const derive: (
  passphrase: string,
  salt: Uint8Array,
  bytes: number,
  options: ScryptOptions,
) => Promise<Uint8Array> = promisify(scrypt);

const format = 'parley-keystore';
const version = 1;
/** 128 MiB, about half a second: OWASP's least for scrypt. More is opened, up to 1 GiB. */
const leastN = 2 ** 17;
const mostN = 2 ** 20;
const r = 8;
const mostP = 4;
const leastPassphrase = 8;
const mostPassphrase = 1_024;
/** So that a file's length does not tell how many words are in it. */
const padding = 512;
export const mostKeystoreBytes = 16_384;

const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`));
const shape = z.object({
  format: z.literal(format),
  version: z.literal(version),
  kdf: z.object({
    name: z.literal('scrypt'),
    n: z
      .int()
      .min(leastN)
      .max(mostN)
      .refine((n) => Number.isInteger(Math.log2(n))),
    r: z.literal(r),
    p: z.int().min(1).max(mostP),
    salt: hex(32),
  }),
  cipher: z.object({ name: z.literal('xchacha20-poly1305'), nonce: hex(24) }),
  ciphertext: z.string().regex(/^[A-Za-z0-9+/]{24,12000}={0,2}$/),
});
type Head = Omit<z.infer<typeof shape>, 'ciphertext'>;

/** Throws Failure `short_passphrase`. */
export function mustBePassphrase(text: string): string {
  const { length } = [...text];
  if (length >= leastPassphrase && length <= mostPassphrase) return text;
  const sentence = `a passphrase has ${leastPassphrase} to ${mostPassphrase} characters, not ${length}`;
  throw needsYou('short_passphrase', sentence);
}

/** The whole file. `fixed`: for test vectors alone. */
export async function sealed(
  content: Sealed,
  passphrase: string,
  fixed: { readonly salt?: Uint8Array; readonly nonce?: Uint8Array } = {},
): Promise<string> {
  const { salt = randomBytes(32), nonce = randomBytes(24) } = fixed;
  const head: Head = {
    format,
    version,
    kdf: { name: 'scrypt', n: leastN, r, p: 1, salt: bytesToHex(salt) },
    cipher: { name: 'xchacha20-poly1305', nonce: bytesToHex(nonce) },
  };
  const key = await derived(mustBePassphrase(passphrase), head.kdf);
  const text = JSON.stringify(content);
  const padded = text.padEnd(Math.ceil(text.length / padding) * padding);
  const box = xchacha20poly1305(key, nonce);
  const ciphertext = Buffer.from(box.encrypt(utf8ToBytes(padded))).toString('base64');
  key.fill(0);
  return `${JSON.stringify({ ...head, ciphertext }, null, 2)}\n`;
}

/** Throws Failure `wrong_passphrase`, `foreign_keystore`, `newer_keystore`, `bad_keystore`. */
export async function opened(file: string, passphrase: string): Promise<Sealed> {
  const { head, ciphertext } = read(file);
  const key = await derived(passphrase, head.kdf);
  try {
    const box = xchacha20poly1305(key, hexToBytes(head.cipher.nonce));
    return JSON.parse(new TextDecoder().decode(box.decrypt(ciphertext))) as Sealed;
  } catch (cause) {
    const sentence = 'the passphrase is wrong, or the keystore was altered';
    throw new Failure('needs_you', 'wrong_passphrase', sentence, { cause });
  } finally {
    key.fill(0);
  }
}

async function derived(passphrase: string, { n, r, p, salt }: Head['kdf']): Promise<Uint8Array> {
  const maxmem = 256 * n * r;
  return derive(passphrase.normalize('NFKD'), hexToBytes(salt), 32, { N: n, r, p, maxmem });
}

function read(file: string): { readonly head: Head; readonly ciphertext: Uint8Array } {
  const bad = (code: string, sentence: string, cause?: unknown) =>
    new Failure('local', code, sentence, { cause });
  let head: Partial<Head> | null;
  try {
    head = JSON.parse(file.length > mostKeystoreBytes ? '' : file) as typeof head;
  } catch (cause) {
    const sentence = `this is no keystore: no JSON of at most ${mostKeystoreBytes} bytes`;
    throw bad('foreign_keystore', sentence, cause);
  }
  if (head?.format !== format) {
    throw bad('foreign_keystore', `this is no keystore: it has no format "${format}"`);
  }
  if (head.version !== version) {
    const sentence = `the keystore is of version ${head.version}, and this program reads ${version}`;
    throw bad('newer_keystore', sentence);
  }
  const { data, error } = shape.safeParse(head);
  if (data === undefined) throw bad('bad_keystore', `the keystore is damaged: ${error.message}`);
  return { head: data, ciphertext: Buffer.from(data.ciphertext, 'base64') };
}
