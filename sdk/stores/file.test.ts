import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { hashlockOf } from '../../core/hashlock.ts';
import { honestSwap, now, swapId, tradeOf, views } from '../testing/honest.ts';
import { timed } from '../testing/timed.ts';
import { verifySwap } from '../verify.ts';
import { fileStore } from './file.ts';
import { memoryStore } from './memory.ts';
import { newHashlock, type Store, type SwapRecord } from './store.ts';

async function withDir(work: (dir: string) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-store-'));
  try {
    await work(join(dir, 'store'));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function record(): SwapRecord {
  const trade = tradeOf('taker');
  const swap = verifySwap(honestSwap('taker'), trade, views, { swapId, now });
  const funding = { txid: 'ab'.repeat(32), raw: '00' };
  return { trade, swap, funding, claim: null, refund: null, publicSecret: null };
}

async function keeps(store: Store): Promise<void> {
  const hashlock = await newHashlock(store);
  const secret = await store.getSecret(hashlock);
  assert.ok(secret !== null && hashlockOf(secret) === hashlock);
  assert.equal(await store.getSecret('00'.repeat(32)), null);
  assert.equal(await store.getSwap(swapId), null);
  await store.putSwap(record());
  assert.deepEqual(await store.getSwap(swapId), record());
  assert.equal(await store.getTrade(tradeOf('taker').threadId), null);
  await store.putTrade(tradeOf('taker'));
  assert.deepEqual(await store.getTrade(tradeOf('taker').threadId), tradeOf('taker'));
  assert.deepEqual(await store.swapIds(), [swapId]);
}

test('the memory store gives back what was kept', () => keeps(memoryStore()));

test('the file store gives back what was kept, also to another process', async () => {
  await withDir(async (dir) => {
    await keeps(await fileStore(dir));
    const again = await fileStore(dir);
    assert.deepEqual(await again.getSwap(swapId), record());
  });
});

test('secrets are readable by their owner only, and never overwritten', async () => {
  await withDir(async (dir) => {
    const store = await fileStore(dir);
    const hashlock = await newHashlock(store);
    assert.equal((await stat(dir)).mode & 0o777, 0o700);
    assert.equal((await stat(join(dir, 'secrets', hashlock))).mode & 0o777, 0o600);
    await assert.rejects(store.putSecret(hashlock, '00'.repeat(32)), /already has a secret/);
    await assert.rejects(store.putSecret('11'.repeat(32), '00'.repeat(32)), /does not open/);
  });
});

test('a file left half-written by a crash is no record, and a damaged one is said to be so', async () => {
  await withDir(async (dir) => {
    const store = await fileStore(dir);
    await store.putSwap(record());
    await writeFile(join(dir, 'swaps', `.${swapId}.1.x`), '{"half');
    assert.deepEqual(await store.swapIds(), [swapId]);
    assert.equal((await readdir(join(dir, 'swaps'))).length, 2);
    await writeFile(join(dir, 'swaps', swapId), '{"half');
    await assert.rejects(store.getSwap(swapId), { code: 'bad_record' });
  });
});

test('an id that could leave the folder is refused', async () => {
  await withDir(async (dir) => {
    const store = await fileStore(dir);
    await assert.rejects(store.getSwap('../secrets/x'), { code: 'bad_record' });
  });
});

timed('a lock is held against another process, and free once that was killed', async () => {
  await withDir(async (dir) => {
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
      const waiting = store.lock?.('nonces', new AbortController().signal);
      other.kill('SIGKILL');
      const lock = await waiting;
      assert.ok(lock);
      await lock.release();
    } finally {
      other.kill('SIGKILL');
    }
  });
});

test('swaps kept last before a moment may be left out, and others never', async () => {
  await withDir(async (dir) => {
    const store = await fileStore(dir);
    await store.putSwap(record());
    const hour = 3_600;
    const nowMs = Date.now();
    assert.deepEqual(await store.swapIds(nowMs), [swapId]);
    const before = nowMs / 1_000 - hour;
    await utimes(join(dir, 'swaps', swapId), before, before);
    assert.deepEqual(await store.swapIds(nowMs - hour * 1_000), [swapId]);
    assert.deepEqual(await store.swapIds(nowMs), []);
    assert.deepEqual(await store.swapIds(), [swapId]);
  });
});

test('of two who open one folder, one at a time has a lock, and whoever waits gets it', async () => {
  await withDir(async (dir) => {
    const [one, other] = [await fileStore(dir), await fileStore(dir)];
    const never = new AbortController().signal;
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
  });
});
