// scrypt (RFC 7914) as OpenSSL computes it, off the main thread.

import { scrypt as openssl, type ScryptOptions } from 'node:crypto';
import { promisify } from 'node:util';

const derive: (
  passphrase: string | Uint8Array,
  salt: Uint8Array,
  bytes: number,
  options: ScryptOptions,
) => Promise<Uint8Array> = promisify(openssl);

/** 32 bytes. `maxmem` in bytes: OpenSSL refuses what takes more. */
export function scrypt(
  passphrase: string | Uint8Array,
  salt: Uint8Array,
  options: Required<Pick<ScryptOptions, 'N' | 'r' | 'p' | 'maxmem'>>,
): Promise<Uint8Array> {
  return derive(passphrase, salt, 32, options);
}
