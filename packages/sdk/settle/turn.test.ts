// Two runs of one swap on one store with locks, as two tabs would: paper chains, a store on disk.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashlockOf } from '@parley/core/hashlock.ts';
import { type Progress, settle } from '../settle.ts';
import { fileStore } from '../stores/file.ts';
import type { Store } from '../stores/store.ts';
import { type PaperScene, paperScene, sent } from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';
import type { Context } from './context.ts';
import { takeTurn } from './turn.ts';

/** A run by its own view of the store, and what it has told. */
function begun({ input }: PaperScene, store: Store, signal = new AbortController().signal) {
  const told: Progress[] = [];
  const heard = new Map<string, PromiseWithResolvers<void>>();
  const hearing = (step: string) => {
    const found = heard.get(step) ?? Promise.withResolvers<void>();
    heard.set(step, found);
    return found;
  };
  const onProgress = (each: Progress) => {
    told.push(each);
    hearing(each.step).resolve();
  };
  const end = settle({ ...input, store, signal, onProgress, chainTimeoutMs: 9_000 });
  end.catch(() => {});
  const next = async (step: Progress['step']) => {
    const never = end.then(() => assert.fail(`it ended without ${step}`));
    await Promise.race([hearing(step).promise, never]);
  };
  return { told, end, next };
}

async function twoStores(work: (scene: PaperScene, one: Store, other: Store) => Promise<void>) {
  const dir = await mkdtemp(join(tmpdir(), 'parley-turn-'));
  try {
    const scene = await paperScene('taker');
    const one = await fileStore(dir);
    const other = await fileStore(dir);
    await one.putSecret(hashlockOf(scene.secret), scene.secret);
    await work(scene, one, other);
  } finally {
    await rm(dir, { recursive: true });
  }
}

timed('one of two runs of a swap acts, and the other tells how it ended', () =>
  twoStores(async (scene, one, other) => {
    const first = begun(scene, one);
    await first.next('verified');
    const second = begun(scene, other);
    const ends = await Promise.all([first.end, second.end]);
    assert.deepEqual(
      ends.map(({ end }) => end),
      ['received', 'received'],
    );
    assert.equal(sent(scene, scene.gives, 'fund').length, 1);
    assert.equal(sent(scene, scene.gets, 'claim').length, 1);
    assert.equal(second.told[0]?.step, 'elsewhere');
    assert.match(second.told[0]?.text ?? '', /^another tab or process settles this swap/);
    assert.ok(first.told.every(({ step }) => step !== 'elsewhere'));
  }),
);

timed('a run that waits goes on where one that was stopped has left it', () =>
  twoStores(async (scene, one, other) => {
    const stop = new AbortController();
    const first = begun(scene, one, stop.signal);
    await first.next('verified');
    const second = begun(scene, other);
    await second.next('elsewhere');
    await first.next('funded');
    stop.abort(new Error('the tab is closed'));
    await assert.rejects(first.end, { message: 'the tab is closed' });
    assert.equal((await second.end).end, 'received');
    assert.equal(sent(scene, scene.gives, 'fund').length, 1);
  }),
);

const heldByOther: NonNullable<Store['lock']> = (_, until) =>
  new Promise((resolve) => {
    if (until.aborted) resolve(null);
    else until.addEventListener('abort', () => resolve(null), { once: true });
  });

timed('a run takes over once something was open for five minutes, and not before', async () => {
  for (const { opens, looks } of [
    { opens: () => true, looks: 6 },
    // It was done meanwhile, or its chain was silent: an open act is open anew, or still.
    { opens: (look: number) => look !== 3, looks: 9 },
    { opens: (look: number) => (look === 3 ? null : true), looks: 6 },
  ]) {
    let look = 0;
    const now = async () => 1_000 + 60 * look;
    const isOpen = async () => {
      look += 1;
      const is = opens(look);
      if (is === null) throw new Error('silent');
      return is;
    };
    const parts = { store: { lock: heldByOther }, swapId: 'swap', pollMs: 0, emit: () => {}, now };
    const limit = AbortSignal.timeout(60_000);
    assert.equal(await takeTurn(parts as unknown as Context, limit, isOpen), null);
    assert.equal(look, looks);
  }
});

timed('a clock that is set back while it waits keeps no open claim from being made', async () => {
  let wall = 20_000;
  const now = async () => {
    wall -= 10_000;
    return wall;
  };
  const parts = { store: { lock: heldByOther }, swapId: 'swap', pollMs: 1, emit: () => {}, now };
  const limit = AbortSignal.timeout(60_000);
  assert.equal(await takeTurn(parts as unknown as Context, limit, async () => true), null);
});
