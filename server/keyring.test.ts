// The server's own secrets.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { keyringFrom, keyringOf } from './keyring.ts';

const first = '11'.repeat(32);
const second = Buffer.alloc(32, 7).toString('base64');

test('what is encrypted decrypts, and nothing of it shows', () => {
  const keyring = keyringFrom(first);
  const { version, sealed } = keyring.encrypt(Buffer.from('the secret'));
  assert.ok(!sealed.includes('secret'));
  assert.equal(keyring.decrypt(version, sealed).toString(), 'the secret');
  const again = keyring.encrypt(Buffer.from('the secret'));
  assert.ok(!again.sealed.equals(sealed));
});

test('any altered byte is refused', () => {
  const keyring = keyringFrom(first);
  const { version, sealed } = keyring.encrypt(Buffer.from('x'));
  for (let at = 0; at < sealed.length; at += 1) {
    const altered = Buffer.from(sealed);
    altered[at] = (altered[at] as number) ^ 1;
    assert.throws(() => keyring.decrypt(version, altered));
  }
  assert.throws(() => keyring.decrypt(version, sealed.subarray(0, 20)));
});

test('a replaced key still decrypts while it is listed second, and not after', () => {
  const { version, sealed } = keyringFrom(first).encrypt(Buffer.from('old'));
  const both = keyringFrom(`${second}, ${first}`);
  assert.equal(both.decrypt(version, sealed).toString(), 'old');
  assert.notEqual(both.encrypt(Buffer.from('new')).version, version);
  assert.throws(() => keyringFrom(second).decrypt(version, sealed), /not held/);
});

test('a key that is not 32 bytes is refused', () => {
  for (const text of ['', '11', `${first}00`, 'not a key']) {
    assert.throws(() => keyringFrom(text), /32 bytes/);
  }
});

test('without a setting a file of mode 0600 is made once and kept', async () => {
  const home = await mkdtemp(join(tmpdir(), 'parley-keyring-'));
  try {
    const one = keyringOf({ home: join(home, 'new'), encryptionKey: null });
    const path = join(home, 'new', 'server.key');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    const two = keyringOf({ home: join(home, 'new') });
    assert.deepEqual(two.cursorSecret, one.cursorSecret);
    assert.deepEqual(await readdir(join(home, 'new')), ['server.key']);
    const text = await readFile(path, 'utf8');
    assert.match(text, /^[0-9a-f]{64}\n$/);
    await writeFile(path, 'broken');
    assert.throws(() => keyringOf({ home: join(home, 'new') }), /32 bytes/);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});
