// Turns in which nonces of an EVM account are chosen, on a real anvil: one at a time, and whoever
// hangs in its own is no reason for what is urgent to wait.

import assert from 'node:assert/strict';
import test from 'node:test';
import { claimCall, evmDeployment, refundCall } from '../chains/evm/plan.ts';
import type { EvmCall, Material } from '../chains/interface/material.ts';
import { sleep } from './http.ts';
import { readLeg } from './settle/chains.ts';
import { claim, refund } from './settle/claims.ts';
import { contextOf } from './settle/context.ts';
import { withNonceLock } from './settle/hands/nonces.ts';
import { legOf } from './settle/record.ts';
import { signAndKeep } from './settle/sign.ts';
import { memoryStore } from './stores/memory.ts';
import { type Kept, keptNow, type Store } from './stores/store.ts';
import {
  accountOn,
  chainId,
  keepOn,
  limits,
  nonceIn,
  type Other,
  onChains,
  type Pattern,
  patternOf,
} from './testing/evm-account.ts';
import { evmKey, withAdapter } from './testing/stuck.ts';

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

test('a signature that never comes holds up no other of its wallet', limits, async () => {
  let signs = 0;
  const hanging = Promise.withResolvers<never>();
  const { hand, signing } = await account({ chainTimeoutMs: 500 }, ({ signTransaction }) => ({
    signTransaction: (...args) => {
      signs += 1;
      return signs === 1 ? hanging.promise : signTransaction(...args);
    },
  }));
  const never = hand.keeping(signing(), false);
  const urgent = hand.keeping(signing(), true);
  await assert.rejects(never, { name: 'TimeoutError' });
  assert.equal(nonceIn(await urgent), 0);
});

test(
  'a signature that comes too late is nobody’s, and its nonce is given again',
  limits,
  async () => {
    const slow = Promise.withResolvers<void>();
    let signs = 0;
    const { wallet, hand, signing } = await account(
      { chainTimeoutMs: 300 },
      ({ signTransaction }) => ({
        signTransaction: async (...args) => {
          signs += 1;
          if (signs === 1) await slow.promise;
          return signTransaction(...args);
        },
      }),
    );
    assert.equal(wallet.family, 'evm');
    await assert.rejects(hand.keeping(signing(), false), { name: 'TimeoutError' });
    slow.resolve();
    await sleep(50);
    assert.equal(nonceIn(await hand.keeping(signing(), false)), 0);
  },
);

for (const [what, verb] of [
  ['a claim whose secret is public', 'claim'],
  ['a refund', 'refund'],
] as const) {
  test(`${what} is signed and kept while another hangs in its turn`, limits, async () => {
    const { chain, escrow } = legOf(pattern.record, 'a');
    const { terms, address } = escrow;
    // As it is built where the escrow holds the money.
    const built = (call: EvmCall): Material => ({
      ...{ family: 'evm', sign: 'evm-tx', chain, chainId, escrow: address, txs: [call] },
    });
    const { sources } = withAdapter(pattern.input, evmKey, () => ({
      buildClaim: async () => built(claimCall(terms, evmDeployment(31_337), pattern.secret)),
      buildRefund: async () => built(refundCall(terms, evmDeployment(31_337))),
    }));
    const own = await account({ sources, chainTimeoutMs: 500 });
    const wallet = { ...own.wallet, sign: () => own.signed(0) };
    const wallets = new Map(own.context.wallets).set(own.leg.chain, wallet);
    const isClaim = verb === 'claim';
    const publicSecret = isClaim ? pattern.secret : null;
    const slots: Other = isClaim ? { party: 'taker', publicSecret } : { party: 'maker', past: 'a' };
    const kept = { ...own, context: contextOf({ ...own.input, wallets }) };
    await own.keepOwn(slots);
    await kept.context.store.getSwap('00');
    const leg = await readLeg(kept.context, 'a');
    const hanging = Promise.withResolvers<void>();
    const slow = own.hand.keeping(() => hanging.promise, false);
    try {
      if (isClaim) await claim(kept.context, leg);
      else await refund(kept.context, leg, leg.clock);
      assert.ok((await own.store.getSwap('00'))?.[verb]);
    } finally {
      hanging.resolve();
      await slow;
    }
  });
}

test('a lock that cannot be freed changes nothing of what was kept', limits, async () => {
  const release = async () => {
    throw new Error('the lock is gone');
  };
  const store: Store = { ...memoryStore(), lock: async () => ({ release }) };
  const { hand, signing } = await account({ store });
  assert.equal(nonceIn(await hand.keeping(signing(), false)), 0);
});
