// The promises of every store for those of Node, and what is true of files alone. In a browser:
// indexed-db.test.ts.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { nextEvent } from '@parley/verify/test/support/waiting.ts';
import { keptRecord, swapId } from '../testing/honest.ts';
import { promisesFor, type Tried } from '../testing/store-promises.ts';
import { timed } from '../testing/timed.ts';
import { fileStore } from './file.ts';
import { memoryStore } from './memory.ts';
import { newHashlock, type Store, writeKept } from './store.ts';

async function withDir(work: (dir: string) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-store-'));
  try {
    await work(join(dir, 'store'));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
const withStore = (work: (store: Store, dir: string) => Promise<void>) =>
  withDir(async (dir) => work(await fileStore(dir), dir));

const record = keptRecord('taker', { funding: { txid: 'ab'.repeat(32), raw: '00' } });
const never = new AbortController().signal;

for (const { name, keeps } of promisesFor([])) {
  test(`memory: ${name}`, () => keeps(memoryStore(), {} as Tried));
}

for (const { name, keeps } of promisesFor(['another', 'texts', 'times', 'locks'])) {
  test(`files: ${name}`, () =>
    withStore((store, dir) =>
      keeps(store, {
        again: () => fileStore(dir),
        plant: (folder, id, text) => writeFile(join(dir, folder, id), text),
        lying: (folder, id) => readFile(join(dir, folder, id), 'utf8'),
        backdate: (id, toMs) => utimes(join(dir, 'swaps', id), toMs / 1_000, toMs / 1_000),
      }),
    ));
}

test('files are readable by their owner only', () =>
  withStore(async (store, dir) => {
    const hashlock = await newHashlock(store);
    assert.equal((await stat(dir)).mode & 0o777, 0o700);
    assert.equal((await stat(join(dir, 'secrets', hashlock))).mode & 0o777, 0o600);
  }));

test('a file left half-written by a crash is no record', () =>
  withStore(async (store, dir) => {
    await store.putSwap(record);
    await writeFile(join(dir, 'swaps', `.${swapId}.1.x`), '{"half');
    assert.deepEqual(await store.swapIds(), [swapId]);
    assert.equal((await readdir(join(dir, 'swaps'))).length, 2);
  }));

timed('a lock is held against another process, and free once that was killed', () =>
  withDir(async (dir) => {
    const file = new URL('./file.ts', import.meta.url).href;
    const script = `const { fileStore } = await import(${JSON.stringify(file)});
      const store = await fileStore(${JSON.stringify(dir)});
      await store.lock('nonces', new AbortController().signal);
      console.log('has it');
      setInterval(() => {}, 1_000);`;
    const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit'];
    const other = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio });
    try {
      await nextEvent(other.stdout, 'data');
      const store = await fileStore(dir);
      assert.equal(await store.lock?.('nonces', AbortSignal.abort()), null);
      const waiting = store.lock?.('nonces', never);
      other.kill('SIGKILL');
      await (await waiting)?.release();
      assert.ok(await waiting);
    } finally {
      other.kill('SIGKILL');
    }
  }),
);

test('two ids that differ in case alone are two files on any disk, and older names are read', () =>
  withStore(async (store, dir) => {
    const swaps = join(dir, 'swaps');
    const of = (id: string) => ({ ...record, swap: { ...record.swap, id } });
    await writeFile(join(swaps, 'Old'), writeKept(of('Old')));
    assert.equal((await store.getSwap('Old'))?.swap.id, 'Old');
    for (const id of ['AbC', 'abC', 'Old']) await store.putSwap(of(id));
    assert.deepEqual((await readdir(swaps)).sort(), ['+ab+c', '+old', 'ab+c']);
    assert.deepEqual((await store.swapIds(Date.now())).sort(), ['AbC', 'Old', 'abC']);
    assert.equal((await store.getSwap('abC'))?.swap.id, 'abC');
    const nonces = (id: string) => ({ id, secrets: [] });
    // Nonces of an older version are never used: after two kills they could be twice.
    await writeFile(join(dir, 'nonces', 'Old'), writeKept(nonces('first')));
    assert.equal(await store.takeNonces?.('Old'), null);
    assert.deepEqual(await readdir(join(dir, 'nonces')), []);
    await writeFile(join(dir, 'nonces', 'Old'), writeKept(nonces('first')));
    await store.putNonces?.('Old', nonces('second'));
    assert.equal((await store.takeNonces?.('Old'))?.id, 'second');
    assert.equal(await store.takeNonces?.('Old'), null, 'the one before is gone');
  }));
