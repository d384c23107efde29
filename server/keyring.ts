// The server's own secrets: what signs cursors and what encrypts stored replies. From the setting
// encryptionKey (32 bytes, hex or base64; several, by commas, while one is being replaced: the
// first encrypts, all decrypt), else from a file in the server's home, made on first use.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from './config.ts';

const ivBytes = 12;
const tagBytes = 16;

export type Keyring = {
  readonly cursorSecret: Uint8Array;
  /** AES-256-GCM; `version` names the key. */
  encrypt(plain: Uint8Array): { version: number; sealed: Buffer };
  /** Throws when the key is not held any more or the bytes were altered. */
  decrypt(version: number, sealed: Uint8Array): Buffer;
};

type KeySettings = Pick<Settings, 'home' | 'encryptionKey'>;
const keyrings = new WeakMap<KeySettings, Keyring>();

export function keyringOf(settings: KeySettings): Keyring {
  const known = keyrings.get(settings);
  if (known !== undefined) return known;
  const keyring = keyringFrom(settings.encryptionKey ?? fromFile(settings.home));
  keyrings.set(settings, keyring);
  return keyring;
}

export function keyringFrom(text: string): Keyring {
  const masters = text.split(',').map((each) => masterOf(each.trim()));
  const ciphers = new Map<number, Buffer>();
  for (const master of masters) ciphers.set(versionOf(master), derive(master, 'replies'));
  const first = masters[0] as Buffer;
  return {
    cursorSecret: derive(first, 'cursors'),
    encrypt(plain) {
      const version = versionOf(first);
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', ciphers.get(version) as Buffer, iv);
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return { version, sealed: Buffer.concat([iv, cipher.getAuthTag(), body]) };
    },
    decrypt(version, sealed) {
      const key = ciphers.get(version);
      if (key === undefined) throw new Error(`encryption key ${version} is not held`);
      const iv = sealed.subarray(0, ivBytes);
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes });
      decipher.setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes));
      const body = sealed.subarray(ivBytes + tagBytes);
      return Buffer.concat([decipher.update(body), decipher.final()]);
    },
  };
}

function masterOf(text: string): Buffer {
  const bytes = /^[0-9a-f]{64}$/i.test(text)
    ? Buffer.from(text, 'hex')
    : Buffer.from(text, 'base64');
  if (bytes.length !== 32) throw new Error('an encryption key must be 32 bytes, hex or base64');
  return bytes;
}

function derive(master: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', master, '', `parley ${purpose}`, 32));
}

/** Names a key without giving anything of it away: 31 bits of a derived value. */
function versionOf(master: Buffer): number {
  return derive(master, 'version').readUInt32BE(0) >>> 1;
}

function fromFile(home: string): string {
  const path = join(home, 'server.key');
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const fresh = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(fresh, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  try {
    // A link appears whole or not at all, and never over another server's key.
    linkSync(fresh, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(fresh);
  }
  return readFileSync(path, 'utf8').trim();
}
