// Turns in which nonces of an EVM account are chosen, on a real anvil: one at a time, and whoever
// hangs in its own is no reason for what is urgent to wait.

import assert from 'node:assert/strict';
import test from 'node:test';
import { withNonceLock } from './settle/hands/nonces.ts';
import { signAndKeep } from './settle/sign.ts';
import { memoryStore } from './stores/memory.ts';
import { type Kept, keptNow, type Store } from './stores/store.ts';
import {
  accountOn,
  keepOn,
  limits,
  nonceIn,
  type Other,
  onChains,
  type Pattern,
  patternOf,
} from './testing/evm-account.ts';
import { sleep } from './waiting.ts';

let pattern: Pattern;
const on = onChains(async (there) => {
  pattern = await patternOf(there);
});

type Rest = Parameters<typeof accountOn> extends [unknown, unknown, ...infer R] ? R : never;
const account = (...more: Rest) => accountOn(on, pattern, ...more);
const keep = (store: Store, id: string, slots: Other) =>
  keepOn(on, pattern, store, { ...slots, id });

test('swaps that sign at once, with a wallet object each, take a nonce each', limits, async () => {
  const { store, newHand, signing } = await account();
  const signed = async (id: string): Promise<Kept> => {
    const hand = newHand();
    const work = async () => {
      const claim = keptNow(await signing(hand)());
      await keep(store, id, { party: 'taker', claim });
      return claim;
    };
    return hand.keeping(work, true);
  };
  const nonces = (await Promise.all(['01', '02', '03'].map(signed))).map(nonceIn);
  assert.deepEqual(nonces, [0, 1, 2]);
});

test('a funding that looks at its chains for long holds up no claim', limits, async () => {
  const { context, leg, hand, signing, store, keepOwn } = await account();
  await keepOwn({});
  const order: string[] = [];
  const hanging = Promise.withResolvers<void>();
  const looking = Promise.withResolvers<void>();
  const funding = signAndKeep(context, leg, {
    sign: signing(),
    keeps: (funding) => ({ funding }),
    gate: async () => {
      looking.resolve();
      await hanging.promise;
      return async () => void order.push('funding');
    },
    isUrgent: false,
  });
  funding.catch(() => {});
  await looking.promise;
  const claim = async () => {
    const kept = keptNow(await signing()());
    await keep(store, '01', { party: 'taker', claim: kept });
    order.push('claim');
  };
  await hand.keeping(claim, false);
  hanging.resolve();
  await funding;
  assert.deepEqual(order, ['claim', 'funding']);
});

test(
  'whoever hangs in its turn is waited for no longer than a node by what is urgent',
  limits,
  async () => {
    const { hand, signing } = await account({ chainTimeoutMs: 300 });
    const hanging = Promise.withResolvers<void>();
    const slow = hand.keeping(() => hanging.promise, false);
    const refused = hand.keeping(async () => {}, false);
    await assert.rejects(refused, { code: 'chain_timeout' });
    assert.equal(nonceIn(await hand.keeping(signing(), true)), 0);
    const ended = hand.keeping(async () => 'after it', false);
    hanging.resolve();
    await slow;
    assert.equal(await ended, 'after it');
  },
);

const locks: [string, () => Promise<null>, RegExp][] = [
  ['another process holds', async () => null, /^$/],
  ['fails', async () => assert.fail('no permission'), /^the lock of the store fails.* permission$/],
];
for (const [what, lock, told] of locks) {
  test(
    `where the lock of the store ${what}, only what is urgent is signed, and not alone`,
    limits,
    async () => {
      const store: Store = { ...memoryStore(), lock };
      const { on, hand, signing, texts } = await account({ store, chainTimeoutMs: 300 });
      for (let tries = 2; tries > 0; tries -= 1) {
        const refused = hand.keeping(signing(), false);
        await assert.rejects(refused, { code: 'chain_timeout' });
      }
      assert.equal(nonceIn(await hand.keeping(signing(), true)), 0);
      assert.equal(await withNonceLock(on, async (alone) => alone, true), false);
      assert.match(texts(), told);
    },
  );
}

test('the turn and the lock of the store are waited for within one limit', limits, async () => {
  const asked: AbortSignal[] = [];
  const lock = async (_: string, signal: AbortSignal) => {
    asked.push(signal);
    return null;
  };
  const store: Store = { ...memoryStore(), lock };
  const { context, on } = await account({ store });
  const given: AbortSignal[] = [];
  const limit = (share?: number) => {
    const signal = context.limit(share);
    given.push(signal);
    return signal;
  };
  const counting = { ...on, context: Object.assign(Object.create(context), { limit }) };
  await withNonceLock(counting, async () => {}, true);
  assert.deepEqual(asked, given);
});

test(
  'a signature that comes late or never is nobody’s, and its nonce is given again',
  limits,
  async () => {
    for (const comes of [Promise.withResolvers<void>(), null]) {
      let signs = 0;
      const { hand, signing } = await account({ chainTimeoutMs: 300 }, ({ signTransaction }) => ({
        signTransaction: async (...args) => {
          signs += 1;
          if (signs === 1) await (comes?.promise ?? new Promise(() => {}));
          return signTransaction(...args);
        },
      }));
      const late = hand.keeping(signing(), false);
      // Who comes after it is held up no longer than that.
      const urgent = comes === null ? hand.keeping(signing(), true) : null;
      await assert.rejects(late, { name: 'TimeoutError' });
      comes?.resolve();
      await sleep(50);
      assert.equal(nonceIn(await (urgent ?? hand.keeping(signing(), false))), 0);
    }
  },
);

test('a lock that cannot be freed changes nothing of what was kept', limits, async () => {
  const release = async () => {
    throw new Error('the lock is gone');
  };
  const store: Store = { ...memoryStore(), lock: async () => ({ release }) };
  const { hand, signing } = await account({ store });
  assert.equal(nonceIn(await hand.keeping(signing(), false)), 0);
});
