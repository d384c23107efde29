// Nonces of one EVM account over all swaps of a store: those on their way, which of two kept
// transactions gives way to the other, and whom the lock holds up. Real signatures, no chain.

import assert from 'node:assert/strict';
import test from 'node:test';
import { lateClaim } from '@parley/core/deadlines.ts';
import { keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { ParleyApiError } from '../../errors.ts';
import { memoryStore } from '../../stores/memory.ts';
import { inPlaceOf, type Kept, keptNow, type SwapRecord } from '../../stores/store.ts';
import { evmView } from '../../testing/honest.ts';
import { nonceOf } from '../../wallets/evm.ts';
import type { EvmWallet, TxOutcome } from '../../wallets/wallet.ts';
import { contextOf, type SettleInput } from '../context.ts';
import { marketLimitMs } from '../market.ts';
import type { SetLeg } from '../record.ts';
import { send } from '../send.ts';
import { signAndKeep } from '../sign.ts';
import { evmHand } from './evm.ts';
import { isGivenAway, laterOfBatch, onItsWayMs, type Slot, takenNonces } from './nonces.ts';
import { handOf } from './of.ts';

const owner = privateKeyToAccount(`0x${'01'.repeat(32)}`);
const stranger = privateKeyToAccount(`0x${'02'.repeat(32)}`);
const { chain } = evmView;
const escrow = { address: 'own', terms: { token: null, fundBefore: 1_000 } };
const shownLeg = { chain, family: 'evm', leg: 'a', amount: 100n, requiredConfirmations: 1, escrow };
const leg = shownLeg as unknown as SetLeg;

type Signed = { nonce?: number; by?: typeof owner; chainId?: number };

async function signed(keptAtMs: number, how: Signed = {}): Promise<Kept> {
  const { nonce = 3, by = owner, chainId = evmView.chainId } = how;
  const fees = { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n, gas: 21_000n };
  const of = { type: 'eip1559', chainId, to: owner.address, nonce } as const;
  const raw = await by.signTransaction({ ...of, ...fees, value: BigInt(keptAtMs) });
  return { raw, txid: keccak256(raw), keptAtMs };
}

/** A record of the maker, who gives leg a and gets leg b. */
function record(id: string, slots: Partial<SwapRecord>): SwapRecord {
  const legs = { a: { chain }, b: { chain: slots.claim ? chain : 'bitcoin' } };
  const none = { funding: null, claim: null, refund: null, publicSecret: null };
  return { trade: { party: 'maker' }, swap: { id, legs }, ...none, ...slots } as never;
}

function side(more: Partial<SettleInput> = {}, by: Partial<EvmWallet> = {}) {
  const sent: string[] = [];
  const told: string[] = [];
  const adapter = {
    readSigned: async (raw: string) => ({ raw, txid: raw }),
    broadcast: async ({ raw }: Kept) => void sent.push(raw),
  };
  const forgotten: unknown[] = [];
  const wallet = {
    family: 'evm',
    address: owner.address,
    sign: async (_: number, __: unknown, ___: AbortSignal, taken = new Set<number>()) => {
      let nonce = 3;
      while (taken.has(nonce)) nonce += 1;
      return signed(Date.now(), { nonce });
    },
    forget: (isDisputed?: boolean) => void forgotten.push(isDisputed),
    ...by,
  } as unknown as EvmWallet;
  const context = contextOf({
    swapId: 'mine',
    client: null,
    store: memoryStore(),
    chains: { [chain]: { source: { view: evmView, adapter } as never, wallet } },
    onProgress: ({ text }) => void told.push(text),
    ...more,
  });
  const hand = evmHand(context, leg, wallet);
  const built = { sign: 'evm-tx', chain, chainId: evmView.chainId, txs: [{}] } as never;
  const [sign] = hand.signFunding(built);
  assert.ok(sign);
  /** The own swap, loaded as the record of its context. */
  const keepOwn = async (slots: Partial<SwapRecord>) => {
    await context.store.putSwap(record('mine', slots));
  };
  const on = { context, leg, wallet };
  return { context, on, hand, sign, sent, told, forgotten, keepOwn, store: context.store };
}

test('a nonce is on its way for longer than a market holds what it relays, and no longer', async () => {
  assert.ok(onItsWayMs > marketLimitMs);
  const { context, on } = side();
  const now = Date.now();
  for (const [id, funding] of [
    ['young', await signed(now - onItsWayMs + 5_000)],
    ['old', await signed(now - onItsWayMs - 1, { nonce: 4 })],
    ['elsewhere', await signed(now, { nonce: 5, chainId: evmView.chainId + 1 })],
  ] as const) {
    await context.store.putSwap(record(id, { funding }));
  }
  assert.deepEqual([...(await takenNonces(on))], [3]);
});

for (const isTaken of [true, false]) {
  const then = isTaken ? 'is not sent, where its nonce was given away meanwhile' : 'is sent alone';
  test(`a funding that the market kept for long and refuses ${then}`, async () => {
    const store = memoryStore();
    const broadcast = async () => {
      const refund = await signed(isTaken ? 11 : 9);
      await store.putSwap(record('other', { refund }));
      throw new ParleyApiError({ status: 0, code: 'no_answer', message: 'too long' });
    };
    const { context, sent } = side({ store, client: { broadcast } as never });
    const funding = await signed(10);
    if (isTaken) await assert.rejects(send(context, leg, funding), { code: 'refused_by_node' });
    else await send(context, leg, funding);
    assert.deepEqual(sent, isTaken ? [] : [funding.raw]);
  });
}

type Slots = Partial<Record<Slot, Kept>>;

async function givesWay(slot: Slot, kept: Kept, others: Slots, id = 'other'): Promise<boolean> {
  const { context } = side();
  await context.store.putSwap(record('mine', { [slot]: kept }));
  await context.store.putSwap(record(id, others));
  return isGivenAway(context, leg, { slot, kept });
}

test('a nonce is given away by what the same account keeps later, and by nothing else', async () => {
  const kept = await signed(10);
  const later = await signed(11);
  for (const slot of ['approval', 'funding', 'cancel', 'claim', 'refund'] as const) {
    assert.equal(await givesWay('approval', kept, { [slot]: later }), true, slot);
    assert.equal(await givesWay('approval', later, { [slot]: kept }), false, slot);
  }
  for (const how of [{ nonce: 6 }, { by: stranger }, { chainId: 2 }]) {
    assert.equal(await givesWay('funding', kept, { claim: await signed(11, how) }), false);
  }
  assert.equal(await givesWay('funding', kept, { cancel: later }, 'mine'), false, 'its own');
});

test('a batch raised by one of its swaps is that version for the others, and nothing else is', async () => {
  const batch = ['mine', 'other'];
  const kept = { ...(await signed(1)), batch };
  const cases: [string, Kept, boolean][] = [
    ['raised', { ...inPlaceOf(kept, await signed(2)), batch }, true],
    ['replaced for the other alone', inPlaceOf(kept, await signed(2)), false],
    ['at another nonce', { ...inPlaceOf(kept, await signed(2, { nonce: 4 })), batch }, false],
    ['of other bytes', { ...(await signed(2)), batch }, false],
    ['before it', { ...inPlaceOf(kept, await signed(0)), batch }, false],
  ];
  for (const [what, funding, isLater] of cases) {
    const { context } = side();
    await context.store.putSwap(record('other', { funding }));
    const later = await laterOfBatch(context, leg, kept);
    assert.equal(later?.txid, isLater ? funding.txid : undefined, what);
  }
});

test('the nonce of a batch counts once each of its swaps keeps it, or what took its place', async () => {
  const kept = { ...(await signed(Date.now())), batch: ['mine', 'other'] };
  const cases: [Kept | null, boolean][] = [
    [null, false],
    [await signed(Date.now(), { nonce: 9 }), false],
    [kept, true],
    [inPlaceOf(kept, await signed(Date.now(), { nonce: 4 })), true],
  ];
  for (const [funding, isSent] of cases) {
    const { on, keepOwn, store } = side();
    await store.putSwap(record('other', { funding }));
    await keepOwn({ funding: kept });
    assert.equal((await takenNonces(on)).has(3), isSent);
  }
});

test('a claim gives way to a later claim or refund alone', async () => {
  const kept = await signed(10);
  const later = await signed(11);
  for (const verb of ['claim', 'refund'] as const) {
    assert.equal(await givesWay(verb, kept, { funding: later, approval: later }), false);
    assert.equal(await givesWay(verb, kept, { claim: later }), true);
    assert.equal(await givesWay(verb, kept, { refund: later }), true);
  }
});

test('exactly one of two that were kept in one instant gives way', async () => {
  const one = await signed(10);
  const other = { ...one, txid: keccak256(one.txid as `0x${string}`) };
  const both = await Promise.all([
    givesWay('claim', one, { claim: other }),
    givesWay('claim', other, { claim: one }),
  ]);
  assert.deepEqual(both.toSorted(), [false, true]);
});

const waits = { state: 'waiting', next: false, gap: false } as const;
const stranded: readonly (readonly [string, TxOutcome, Partial<EvmWallet>])[] = [
  ['behind a lost transaction', { ...waits, gap: true }, {}],
  ['with a nonce that some node made up', { ...waits, isDisputed: true }, {}],
  [
    'with such a nonce and a fee that leaves no room',
    { ...waits, next: true, isDisputed: true },
    { raise: async () => null },
  ],
];
for (const [what, outcome, by] of stranded) {
  const gap = outcome.state === 'waiting' && outcome.gap;
  test(`a claim ${what} is made anew, and a funding is never forgotten`, async () => {
    for (const slot of ['claim', 'refund', 'funding'] as const) {
      const own = side({ replaceAfterMs: 0 }, { outcome: async () => outcome, ...by });
      const kept = await signed(10, { nonce: 1_000_000 });
      await own.keepOwn({ [slot]: kept });
      const isFunding = slot === 'funding';
      if (!isFunding) await own.hand.tendSpend(slot);
      // Only behind a lost one it is signed again, as another version of the kept one.
      else assert.equal(await own.hand.tendFunding(), gap ? 'dead' : 'tended');
      assert.equal(own.context.record[slot], isFunding ? kept : null);
      if (!isFunding) assert.deepEqual(own.forgotten, [!gap]);
    }
  });
}

const raises: Partial<EvmWallet> = {
  raise: async (kept, { cancel }) => {
    assert.equal(cancel, true, 'a payment of nothing to oneself');
    return inPlaceOf(kept, await signed(11));
  },
};

test('a claim that missed its timelock gives its nonce to a payment to oneself, once it has waited', async () => {
  for (const [replaceAfterMs, isRaised] of [
    [60_000, false],
    [0, true],
  ] as const) {
    const outcome = async () => ({ ...waits, next: true });
    const own = side({ replaceAfterMs }, { outcome, ...raises });
    const claim = await signed(Date.now() - 1_000);
    await own.keepOwn({ claim });
    await own.hand.withdrawClaim();
    assert.deepEqual(own.context.record.claim?.former, isRaised ? [claim.txid] : undefined);
  }
});

test('a late funding is cancelled, and forgotten once no version of it can be mined', async () => {
  for (const [outcome, isDeep, end, after = 0] of [
    [{ ...waits, next: true }, false, 'cancelled'],
    [{ state: 'lost' }, false, 'kept'],
    [{ state: 'lost' }, true, 'forgotten'],
    [{ state: 'succeeded' }, true, 'kept'],
    // Behind a lost one it is kept for as long as a chain that stood still may take it yet.
    [{ ...waits, gap: true }, false, 'kept', 0],
    [{ ...waits, gap: true }, false, 'forgotten', 1],
  ] as const) {
    const by = { outcome: async () => outcome, isNonceDeep: async () => isDeep, ...raises };
    const { policy } = evmView;
    const last = escrow.terms.fundBefore + lateClaim({ policy, depth: policy.normal });
    const own = side({ replaceAfterMs: 0, now: () => last + after }, by);
    const funding = await signed(10);
    await own.keepOwn({ funding });
    await own.hand.cancelFunding();
    const { funding: left, cancel } = own.context.record;
    assert.equal(left === null, end === 'forgotten', end);
    assert.equal(Boolean(cancel), end === 'cancelled', end);
  }
});

test('a claim is raised up to nearly all its leg once the secret is public, and no refund is', async () => {
  const most = async (slot: 'claim' | 'refund', publicSecret: string | null) => {
    const asked: unknown[] = [];
    const own = side(
      { replaceAfterMs: 0 },
      {
        outcome: async () => ({ ...waits, next: true }),
        raise: async (_, { mostFeeWei }) => {
          asked.push(mostFeeWei);
          return null;
        },
      },
    );
    await own.keepOwn({ [slot]: await signed(10), publicSecret });
    await own.hand.tendSpend(slot);
    return asked;
  };
  assert.deepEqual(await most('claim', 'ab'.repeat(32)), [95n]);
  assert.deepEqual(await most('claim', null), [25n]);
  assert.deepEqual(await most('refund', 'ab'.repeat(32)), [25n]);
});

test('a claim that one node calls mined is sent again while another says that it waits', async () => {
  const doubt = { ...waits, next: true };
  for (const [outcome, isSent] of [
    [{ state: 'succeeded' }, false],
    [{ state: 'succeeded', doubt }, true],
  ] as const) {
    const own = side({ replaceAfterMs: 60_000 }, { outcome: async () => outcome });
    const claim = await signed(Date.now());
    await own.keepOwn({ claim });
    await own.hand.tendSpend('claim');
    assert.deepEqual(own.sent, isSent ? [claim.raw] : []);
  }
});

test('swaps that sign at once, with a wallet object each, take a nonce each', async () => {
  const store = memoryStore();
  const nonces = ['01', '02', '03'].map((id) => {
    const { hand, sign } = side({ store });
    const work = async () => {
      const claim = keptNow(await sign());
      await store.putSwap(record(id, { claim }));
      return nonceOf(claim);
    };
    return hand.keeping(work, true);
  });
  assert.deepEqual(await Promise.all(nonces), [3, 4, 5]);
});

test('a funding that polls its chains for long holds up no claim', async () => {
  const { context, hand, sign, keepOwn } = side();
  await keepOwn({});
  const order: string[] = [];
  const hanging = Promise.withResolvers<void>();
  const polling = Promise.withResolvers<void>();
  const funding = signAndKeep(context, leg, {
    sign,
    keeps: (kept) => ({ funding: kept }),
    gate: async () => {
      polling.resolve();
      await hanging.promise;
      return async () => void order.push('funding');
    },
    isUrgent: false,
  });
  await polling.promise;
  await hand.keeping(async () => void order.push('claim'), false);
  hanging.resolve();
  await funding;
  assert.deepEqual(order, ['claim', 'funding']);
});

const timedOut = { code: 'chain_timeout' };

test('the urgent waits no longer than for a node for a run that hangs with the lock', async () => {
  const { hand, sign } = side({ chainTimeoutMs: 300 });
  const hanging = Promise.withResolvers<void>();
  const slow = hand.keeping(() => hanging.promise, false);
  await assert.rejects(
    hand.keeping(async () => {}, false),
    timedOut,
  );
  assert.equal(nonceOf(await hand.keeping(sign, true)), 3);
  const ended = hand.keeping(async () => 'after it', false);
  hanging.resolve();
  await slow;
  assert.equal(await ended, 'after it');
});

const locks: readonly [string, () => Promise<null>, RegExp][] = [
  ['another process holds', async () => null, /^$/],
  ['fails', async () => assert.fail('no permission'), /^the lock of the store fails.* permission$/],
];
for (const [what, lock, words] of locks) {
  test(`where the lock of the store ${what}, only what is urgent is signed`, async () => {
    const asked: AbortSignal[] = [];
    const noting = (_: string, until: AbortSignal) => {
      asked.push(until);
      return lock();
    };
    const own = side({ store: { ...memoryStore(), lock: noting }, chainTimeoutMs: 300 });
    await assert.rejects(own.hand.keeping(own.sign, false), timedOut);
    assert.equal(nonceOf(await own.hand.keeping(own.sign, true)), 3);
    assert.match(own.told.join('\n'), words);
    assert.equal(asked.length, 2);
  });
}

test('a lock that cannot be freed changes nothing of what was kept', async () => {
  const release = async () => {
    throw new Error('the lock is gone');
  };
  const { hand, sign } = side({ store: { ...memoryStore(), lock: async () => ({ release }) } });
  assert.equal(nonceOf(await hand.keeping(sign, false)), 3);
});

test('a claim that one of several nodes may have built in vain is made anew, elsewhere too', async () => {
  const stub = {
    look: async () => assert.fail('not asked'),
    readSigned: async () => ({ txid: '' }),
  };
  for (const nodes of [[stub, stub], [stub]]) {
    for (const wallet of [
      { family: 'bitcoin', signSighashes: async () => [] },
      { family: 'solana', address: 'own', outcome: async () => ({ ...waits, next: true }) },
    ]) {
      const adapter = { ...stub, broadcast: async () => '' };
      const source = { view: { chain }, adapter, nodes } as never;
      const own = side({
        replaceAfterMs: 0,
        chains: { [chain]: { source, wallet: wallet as never } },
      });
      await own.keepOwn({ claim: { txid: 'vain', raw: '', keptAtMs: 1 } });
      await handOf(own.context, leg).tendSpend('claim');
      assert.equal(own.context.record.claim === null, nodes.length > 1);
    }
  }
});
