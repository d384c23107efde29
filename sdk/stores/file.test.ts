import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { hashlockOf } from '../../core/hashlock.ts';
import { keptRecord, swapId, tradeOf } from '../testing/honest.ts';
import { timed } from '../testing/timed.ts';
import { fileStore } from './file.ts';
import { memoryStore } from './memory.ts';
import { newHashlock, type Store } from './store.ts';

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

async function keeps(store: Store): Promise<void> {
  const hashlock = await newHashlock(store);
  const secret = await store.getSecret(hashlock);
  assert.ok(secret !== null && hashlockOf(secret) === hashlock);
  assert.equal(await store.getSecret('00'.repeat(32)), null);
  assert.equal(await store.getSwap(swapId), null);
  await store.putSwap(record);
  assert.deepEqual(await store.getSwap(swapId), record);
  const trade = tradeOf('taker');
  assert.equal(await store.getTrade(trade.threadId), null);
  await store.putTrade(trade);
  assert.deepEqual(await store.getTrade(trade.threadId), trade);
  assert.deepEqual(await store.swapIds(), [swapId]);
}

test('a store gives back what was kept, a file store also to another process', async () => {
  await keeps(memoryStore());
  await withStore(async (store, dir) => {
    await keeps(store);
    assert.deepEqual(await (await fileStore(dir)).getSwap(swapId), record);
  });
});

test('secrets are readable by their owner only, and never overwritten', () =>
  withStore(async (store, dir) => {
    const hashlock = await newHashlock(store);
    assert.equal((await stat(dir)).mode & 0o777, 0o700);
    assert.equal((await stat(join(dir, 'secrets', hashlock))).mode & 0o777, 0o600);
    await assert.rejects(store.putSecret(hashlock, '00'.repeat(32)), /already has a secret/);
    await assert.rejects(store.putSecret('11'.repeat(32), '00'.repeat(32)), /does not open/);
  }));

test('a file left half-written by a crash is no record, and a damaged one is said to be so', () =>
  withStore(async (store, dir) => {
    await store.putSwap(record);
    await writeFile(join(dir, 'swaps', `.${swapId}.1.x`), '{"half');
    assert.deepEqual(await store.swapIds(), [swapId]);
    assert.equal((await readdir(join(dir, 'swaps'))).length, 2);
    await writeFile(join(dir, 'swaps', swapId), '{"half');
    await assert.rejects(store.getSwap(swapId), { code: 'bad_record' });
    // Nor is an id taken that could leave the folder.
    await assert.rejects(store.getSwap('../secrets/x'), { code: 'bad_record' });
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
      await once(other.stdout, 'data');
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

test('swaps kept last before a moment may be left out, and others never', () =>
  withStore(async (store, dir) => {
    await store.putSwap(record);
    const hour = 3_600;
    const nowMs = Date.now();
    assert.deepEqual(await store.swapIds(nowMs), [swapId]);
    const before = nowMs / 1_000 - hour;
    await utimes(join(dir, 'swaps', swapId), before, before);
    assert.deepEqual(await store.swapIds(nowMs - hour * 1_000), [swapId]);
    assert.deepEqual(await store.swapIds(nowMs), []);
    assert.deepEqual(await store.swapIds(), [swapId]);
  }));

test('of two who open one folder, one at a time has a lock, and whoever waits gets it', () =>
  withStore(async (one, dir) => {
    const other = await fileStore(dir);
    const first = await one.lock?.('nonces', never);
    assert.ok(first);
    assert.equal(await other.lock?.('nonces', AbortSignal.abort()), null);
    const beside = await other.lock?.('of another account', AbortSignal.abort());
    assert.ok(beside);
    const waiting = other.lock?.('nonces', never);
    await first.release();
    const second = await waiting;
    assert.ok(second);
    await Promise.all([second.release(), beside.release()]);
  }));
