// The server's own secrets: the keys that sign cursors and encrypt stored replies. From the setting
// encryptionKey (32 bytes, hex or base64; several, by commas, while one is being replaced: the
// first signs and encrypts, all are accepted), else from a file in the server's home of the same
// form, made on first use. docs/secure.md tells how one is replaced.

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Settings } from '../settings/config.ts';
import { readSecretFile } from '../settings/secret-file.ts';

const ivBytes = 12;
const tagBytes = 16;

type Keyring = {
  /** The first signs; a signature by any of them is accepted. */
  readonly cursorSecrets: readonly Uint8Array[];
  /**
   * The marks of a text that is too short for a bare hash: HMAC-SHA256 by each key, the first one's
   * first.
   */
  readonly marks: (text: string) => readonly string[];
  /** A name of each key that no other key has, the first one's first; no key follows from it. */
  readonly digests: readonly [own: string, ...others: string[]];
  /** AES-256-GCM; `version` names the key. */
  encrypt(plain: Uint8Array): { version: number; sealed: Buffer };
  /** Null when the key is not held any more or the bytes were altered. */
  decrypt(version: number, sealed: Uint8Array): Buffer | null;
};

export type KeySettings = Pick<Settings, 'home'> & Partial<Pick<Settings, 'encryptionKey'>>;
const keyrings = new WeakMap<KeySettings, Keyring>();

export function keyringOf(settings: KeySettings): Keyring {
  const known = keyrings.get(settings);
  if (known !== undefined) return known;
  const keyring =
    settings.encryptionKey == null ? fromFile(settings.home) : keyringFrom(settings.encryptionKey);
  keyrings.set(settings, keyring);
  return keyring;
}

export function keyringFrom(text: string): Keyring {
  const masters = text.split(',').map((each) => masterOf(each.trim()));
  const [first, ...others] = masters as [Buffer, ...Buffer[]];
  const ciphers = new Map<number, Buffer>();
  const marking = masters.map((master) => derive(master, 'marks'));
  for (const master of masters) ciphers.set(versionOf(master), derive(master, 'replies'));
  return {
    cursorSecrets: masters.map((master) => derive(master, 'cursors')),
    marks: (text) => marking.map((key) => createHmac('sha256', key).update(text).digest('base64')),
    digests: [digestOf(first), ...others.map(digestOf)],
    encrypt(plain) {
      const version = versionOf(first);
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', ciphers.get(version) as Buffer, iv);
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return { version, sealed: Buffer.concat([iv, cipher.getAuthTag(), body]) };
    },
    decrypt(version, sealed) {
      const key = ciphers.get(version);
      return key === undefined ? null : opened(key, sealed);
    },
  };
}

function opened(key: Buffer, sealed: Uint8Array): Buffer | null {
  const iv = sealed.subarray(0, ivBytes);
  const body = sealed.subarray(ivBytes + tagBytes);
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes });
    decipher.setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes));
    return Buffer.concat([decipher.update(body), decipher.final()]);
  } catch {
    return null;
  }
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

function digestOf(master: Buffer): string {
  return derive(master, 'digest').toString('hex');
}

/** Throws an error that names the file and what to do about it. */
function fromFile(home: string): Keyring {
  const path = join(home, 'server.key');
  const text = read(path) ?? make(path);
  try {
    return keyringFrom(text);
  } catch (error) {
    const advice = 'bring it back from a backup (without one: docs/secure.md)';
    throw new Error(`${path}: ${(error as Error).message}; ${advice}`, { cause: error });
  }
}

/** Null when there is no file. Refuses one that others may read. */
function read(path: string): string | null {
  if (!existsSync(path)) return null;
  const found = readSecretFile(path, 'nobody');
  if ('wrong' in found) throw unusable('read', new Error(found.wrong));
  return found.text;
}

/** The key that the file holds then: one of several servers that start at once makes it. */
function make(path: string): string {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    link(`${path}.${process.pid}.${randomBytes(4).toString('hex')}`, path);
    syncFolder(dirname(path));
  } catch (error) {
    throw unusable('made', error as Error);
  }
  return read(path) as string;
}

function unusable(what: 'read' | 'made', cause: Error): Error {
  const advice = 'give a PARLEY_HOME that can be written, or PARLEY_ENCRYPTION_KEY';
  return new Error(`the server's key cannot be ${what}: ${cause.message}; ${advice}`, { cause });
}

/** A link appears whole or not at all, and never over another server's key. */
function link(fresh: string, path: string): void {
  const text = `${randomBytes(32).toString('hex')}\n`;
  writeFileSync(fresh, text, { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(fresh, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(fresh);
  }
}

/** The file's name survives a loss of power too. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
