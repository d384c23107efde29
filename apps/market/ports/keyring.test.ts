// The server's own secrets.

import assert from 'node:assert/strict';
import { on } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { keyringFrom, keyringOf } from './keyring.ts';

const first = '11'.repeat(32);
const second = Buffer.alloc(32, 7).toString('base64');

test('an encrypted text decrypts, and nothing of it shows', () => {
  const keyring = keyringFrom(first);
  const { version, sealed } = keyring.encrypt(Buffer.from('the secret'));
  assert.ok(!sealed.includes('secret'));
  assert.equal(keyring.decrypt(version, sealed)?.toString(), 'the secret');
  const again = keyring.encrypt(Buffer.from('the secret'));
  assert.ok(!again.sealed.equals(sealed));
});

test('any altered byte is refused', () => {
  const keyring = keyringFrom(first);
  const { version, sealed } = keyring.encrypt(Buffer.from('x'));
  for (let at = 0; at < sealed.length; at += 1) {
    const altered = Buffer.from(sealed);
    altered[at] = (altered[at] as number) ^ 1;
    assert.equal(keyring.decrypt(version, altered), null);
  }
  for (const length of [0, 11, 20, sealed.length - 1]) {
    assert.equal(keyring.decrypt(version, sealed.subarray(0, length)), null);
  }
});

test('a replaced key still decrypts while it is listed second, and not after', () => {
  const { version, sealed } = keyringFrom(first).encrypt(Buffer.from('old'));
  const both = keyringFrom(`${second}, ${first}`);
  assert.equal(both.decrypt(version, sealed)?.toString(), 'old');
  assert.notEqual(both.encrypt(Buffer.from('new')).version, version);
  assert.equal(keyringFrom(second).decrypt(version, sealed), null);
});

test('a key that is not 32 bytes is refused', () => {
  for (const text of ['', '11', `${first}00`, 'not a key']) {
    assert.throws(() => keyringFrom(text), /32 bytes/);
  }
});

/** A folder for one test. */
async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'parley-keyring-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

test('without a setting a file of mode 0600 is made once and kept', async (t) => {
  const home = join(await folder(t), 'new');
  const one = keyringOf({ home, encryptionKey: null });
  const path = join(home, 'server.key');
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.equal((await stat(home)).mode & 0o777, 0o700);
  const two = keyringOf({ home });
  assert.deepEqual(two.cursorSecrets, one.cursorSecrets);
  assert.deepEqual(await readdir(home), ['server.key']);
  assert.match(await readFile(path, 'utf8'), /^[0-9a-f]{64}\n$/);
});

test('a file that is cut off, empty or no key is named, and left as it is', async (t) => {
  const home = await folder(t);
  const path = join(home, 'server.key');
  for (const text of ['', '\n', 'ab'.repeat(31), 'broken']) {
    await writeFile(path, text, { mode: 0o600 });
    assert.throws(
      () => keyringOf({ home }),
      /server\.key(: .*32 bytes.*; bring it back| is empty)/,
    );
    assert.equal(await readFile(path, 'utf8'), text);
  }
});

test('a file that other users may read or write is refused', async (t) => {
  const home = await folder(t);
  const { cursorSecrets } = keyringOf({ home });
  const path = join(home, 'server.key');
  for (const mode of [0o640, 0o604, 0o620, 0o644]) {
    await chmod(path, mode);
    const shown = new RegExp(`others may reach .*server\\.key \\(mode ${mode.toString(8)}\\)`);
    assert.throws(() => keyringOf({ home }), shown);
  }
  await chmod(path, 0o400);
  assert.deepEqual(keyringOf({ home }).cursorSecrets, cursorSecrets);
});

test('many servers that start at once in one home hold the same key', async (t) => {
  const parent = await folder(t);
  const rounds = 40;
  // Counts the rounds that were let go; the threads wait for it to pass theirs.
  const gone = new Int32Array(new SharedArrayBuffer(4));
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    const { gone, keyring, parent, rounds } = workerData;
    import(keyring).then(({ keyringOf }) => {
      for (let round = 0; round < rounds; round += 1) {
        parentPort.postMessage('ready');
        while (Atomics.load(gone, 0) <= round);
        const { cursorSecrets } = keyringOf({ home: parent + '/' + round, encryptionKey: null });
        parentPort.postMessage(Buffer.from(cursorSecrets[0]).toString('hex'));
      }
    });`;
  const keyring = new URL('./keyring.ts', import.meta.url).href;
  const workerData = { gone, keyring, parent, rounds };
  const told = Array.from({ length: 3 }, () =>
    on(new Worker(code, { eval: true, workerData }), 'message', { close: ['exit'] }),
  );
  const next = () => Promise.all(told.map(async (each) => (await each.next()).value?.[0]));
  for (let round = 0; round < rounds; round += 1) {
    assert.deepEqual(await next(), ['ready', 'ready', 'ready']);
    Atomics.store(gone, 0, round + 1);
    const secrets = await next();
    assert.match(secrets[0], /^[0-9a-f]{64}$/);
    assert.equal(new Set(secrets).size, 1);
    assert.deepEqual(await readdir(join(parent, String(round))), ['server.key']);
  }
});
