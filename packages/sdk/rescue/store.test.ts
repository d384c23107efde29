import assert from 'node:assert/strict';
import test from 'node:test';
import { hashlockOf, opens } from '@parley/core/hashlock.ts';
import fc from 'fast-check';
import { memoryStore } from '../stores/memory.ts';
import { newHashlock, type Store } from '../stores/store.ts';
import { phraseKeys } from './derive.ts';
import { newPhrase } from './phrase.ts';
import { findBitcoinKeys, findSecrets, keyGap } from './search.ts';
import { storeWith } from './store.ts';

const phrase = newPhrase();
const start = 1_800_000_000;
const own = await phraseKeys(phrase, 'dev');
const on = (inner: Store, now: () => number) => storeWith(own, inner, now);

test('a hashlock is told once its secret is kept, and opens it; none is random', async () => {
  const inner = memoryStore();
  const order: string[] = [];
  const watched: Store = {
    ...inner,
    putSecret: async (hashlock, secret) => {
      await inner.putSecret(hashlock, secret);
      order.push(`kept ${hashlock}`);
    },
  };
  const store = on(watched, () => start);
  const hashlock = await newHashlock(store);
  order.push(`told ${hashlock}`);
  assert.deepEqual(order, [`kept ${hashlock}`, `told ${hashlock}`]);
  const secret = await store.getSecret(hashlock);
  assert.ok(secret !== null && opens(secret, hashlock));
  const found = await findSecrets(store.keys, [{ hashlock, agreedAt: start }]);
  assert.equal(found.get(hashlock), secret);
  const full: Store = { ...inner, putSecret: async () => Promise.reject(new Error('disk full')) };
  await assert.rejects(newHashlock(on(full, () => start)), /disk full/);
});

test('no hashlock comes twice: devices lose all, or get an old copy back, or their clock', async () => {
  // Two devices at the very same ten seconds may meet (1 in 4,096 a pair): not in here.
  type Step = 'offer' | 'lose all' | 'old copy' | 'clock back';
  const steps = fc.array(
    fc.constantFrom<Step>('offer', 'offer', 'lose all', 'old copy', 'clock back'),
    {
      maxLength: 30,
    },
  );
  const property = fc.asyncProperty(steps, async (plan) => {
    const seen = new Set<string>();
    let at = start;
    const backedUp = new Map<string, string>();
    let kept = new Map<string, string>();
    const inner = (): Store => ({
      ...memoryStore(),
      putSecret: async (hashlock, secret) => void kept.set(hashlock, secret),
      getSecret: async (hashlock) => kept.get(hashlock) ?? null,
    });
    let store = storeWith(own, inner(), () => at);
    for (const step of plan) {
      if (step === 'clock back') at -= 25;
      else if (step === 'offer') {
        at += 3;
        const hashlock = await newHashlock(store);
        assert.ok(!seen.has(hashlock), `${step} of ${plan.join()}`);
        seen.add(hashlock);
      } else {
        // No restore comes within the ten seconds of the last offer; clocks may have gone back.
        at = start + 10_000 * (seen.size + 1) + 30;
        kept = step === 'lose all' ? new Map() : new Map(backedUp);
        store = storeWith(own, inner(), () => at);
      }
    }
  });
  await fc.assert(property, { numRuns: 50 });
});

test('two tabs with one store never make one secret twice, whatever they drew', async (t) => {
  const inner = memoryStore();
  const same = t.mock.method(crypto, 'getRandomValues', (array: Uint16Array) => array.fill(9));
  const tabs = [on(inner, () => start), on(inner, () => start)];
  same.mock.restore();
  const made = await Promise.all([...tabs, ...tabs].map(newHashlock));
  assert.equal(new Set(made).size, 4);
  const busy = on({ ...inner, lock: async () => null }, () => start);
  await assert.rejects(newHashlock(busy), { code: 'store_busy' });
});

test('a hundred secrets in ten seconds and no more; a clock that was never set makes none', async () => {
  let at = start;
  const store = on(memoryStore(), () => at);
  const made = new Set<string>();
  for (let nth = 0; nth < 100; nth += 1) made.add(await newHashlock(store));
  assert.equal(made.size, 100);
  await assert.rejects(newHashlock(store), {
    code: 'too_fast',
    message: /100 secrets in 10 seconds/,
  });
  at += 10;
  assert.ok(!made.has(await newHashlock(store)));
  for (const clock of [0, 1_735_689_599, start * 1_000, Number.NaN]) {
    at = clock;
    await assert.rejects(newHashlock(store), { code: 'clock_unset' });
  }
});

test('the search reaches each secret by how long before its agreement it was made', async () => {
  const agreedAt = start;
  const made = (before: number, draw: number, nth: number) => {
    const slot = Math.floor((agreedAt - before) / 10);
    return {
      agreedAt,
      hashlock: hashlockOf(Buffer.from(own.secretAt({ slot, draw, nth })).toString('hex')),
    };
  };
  const stranger = { agreedAt, hashlock: '00'.repeat(32) };
  for (const [wanted, reached] of [
    [[made(0, 0, 0)], [true]],
    // Its maker is known by another swap: seven days, and all of its ten seconds.
    [
      [made(604_799, 5, 3), made(300, 5, 99), made(30, 5, 0)],
      [true, true, true],
    ],
    [[made(20, 7, 3)], [true]],
    // As long before as after: clocks differ.
    [
      [made(-120, 4_095, 0), made(715, 5, 0)],
      [true, true],
    ],
  ] as const) {
    const found = await findSecrets(own, wanted);
    const got = wanted.map(({ hashlock }) => {
      const secret = found.get(hashlock);
      return secret !== undefined && opens(secret, hashlock);
    });
    assert.deepEqual(got, [...reached]);
  }
  const stop = AbortSignal.abort(new Error('enough'));
  await assert.rejects(findSecrets(own, [stranger], { signal: stop }), /enough/);
});

test('Bitcoin keys are found up to a hundred unknown ones after the last', async () => {
  const key = (at: number) => own.bitcoinKey(at).pubkey;
  const first = keyGap - 1;
  const far = 2 * keyGap - 1;
  const found = findBitcoinKeys(own, new Set([key(first), key(far), `02${'11'.repeat(32)}`]));
  assert.deepEqual([...found.values()], [first, far]);
  assert.equal(findBitcoinKeys(own, new Set([key(keyGap)])).size, 0);
});
