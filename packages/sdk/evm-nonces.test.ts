// Nonces of one EVM account over all swaps of a store, on a real anvil: a gap is filled, and no
// claim waits for others' polls or writes.

import assert from 'node:assert/strict';
import { sleep } from '@parley/chains/nodes/turn.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { serializeTransaction } from 'viem';
import { evmHand } from './settle/hands/evm.ts';
import { withNonceLock } from './settle/hands/nonces.ts';
import { signAndKeep } from './settle/sign.ts';
import { memoryStore } from './stores/memory.ts';
import { type Kept, keptNow, type Store, type SwapRecord } from './stores/store.ts';
import {
  type Account,
  accounts,
  chainId,
  ether,
  nonceIn,
  type Other,
} from './testing/evm-account.ts';
import { evmKey, gwei, withAdapter } from './testing/sides.ts';
import { timed } from './testing/timed.ts';
import type { EvmWallet, TxOutcome } from './wallets/wallet.ts';

const { on, pattern, account, keep } = accounts();
const isMined = async ({ txid }: Kept) => (await on.anvil.receipt(txid)) !== null;
const timedOut = { code: 'chain_timeout' };

/** The nonces of what the node has from this account and no block yet. */
async function pooled(address: string): Promise<string[]> {
  type Pool = { pending: Record<string, object>; queued: Record<string, object> };
  const { pending, queued } = await on.anvil.call<Pool>('txpool_content');
  return [pending, queued]
    .flatMap(Object.entries<object>)
    .filter(([from]) => from.toLowerCase() === address.toLowerCase())
    .flatMap(([, sent]) => Object.keys(sent))
    .toSorted();
}

/** A claim with the nonce after the lost ones, tended until a block has it. */
async function claimBehind({ keepOwn, hand, signed }: Account, nonce: number): Promise<void> {
  const claim = await signed(nonce);
  await keepOwn({ party: 'taker', claim });
  await hand.tendSpend('claim');
  await on.anvil.mined(claim.txid);
}

const cases: [string, 'again' | 'nothing', (lost: Kept) => Other][] = [
  ['a funding in time', 'nothing', (funding) => ({ funding })],
  ['an approval that waits', 'nothing', (approval) => ({ approval })],
  ['an approval that was mined', 'nothing', (approved) => ({ approved })],
  ['a funding whose claim was sent', 'again', (funding) => ({ funding, past: 'a' })],
  ['a late funding whose claim was sent', 'nothing', (own) => ({ funding: own, past: 'both' })],
  ['what cancels a funding', 'again', (cancel) => ({ cancel, past: 'a' })],
  ['a claim before its timelock', 'again', (claim) => ({ party: 'taker', claim })],
  ['a claim past its timelock', 'nothing', (claim) => ({ party: 'taker', claim, past: 'a' })],
  ['a refund', 'again', (refund) => ({ refund, past: 'a' })],
];
for (const [what, filling, slots] of cases) {
  const by = filling === 'again' ? 'with it' : 'with a payment of nothing';
  timed(`a lost nonce for which another swap keeps ${what} is filled ${by}`, async () => {
    const own = await account();
    const lost = await own.signed(0);
    const claimed = what.endsWith('was sent') ? { claim: await own.signed(7) } : {};
    await keep(own.store, '01', { ...slots(lost), ...claimed });
    await claimBehind(own, 1);
    assert.equal(await isMined(lost), filling === 'again');
    assert.match(own.texts(), filling === 'again' ? /are sent again/ : /1 nonces .* of nothing/);
  });
}

timed(
  'a transaction that the node refuses or that pays too little gives way to nothing, and is told',
  async () => {
    const own = await account();
    const refund = await own.signed(0, { value: 100n * ether });
    const cancel = await own.signed(1, { gwei: 0n });
    await keep(own.store, '01', { refund });
    await keep(own.store, '02', { cancel });
    await claimBehind(own, 2);
    assert.deepEqual([await isMined(refund), await isMined(cancel)], [false, false]);
    assert.match(own.texts(), /refused the transaction.*2 nonces .* payments of nothing/s);
    assert.doesNotMatch(own.texts(), /are sent again/);
  },
);

for (const [what, before, fails] of [
  ['another swap’s claim that its node still takes is displaced by nothing', [0n], undefined],
  [
    'where it is unclear whether a node has it, the next nonce is tried',
    [20n, 20n],
    new ParleyError('chain_unavailable', 'no node answers'),
  ],
] as const) {
  timed(what, async () => {
    const sent: string[] = [];
    const { chains } = withAdapter(pattern().input, evmKey, () => ({
      broadcast: async ({ txid }) => {
        if (sent.push(txid) === 1 && fails) throw fails;
        return txid;
      },
    }));
    const own = await account({ chains });
    const lost = await Promise.all(
      before.map((price, nonce) => own.signed(nonce, { gwei: price })),
    );
    for (const [at, claim] of lost.entries()) {
      await keep(own.store, `0${at + 1}`, { party: 'taker', claim });
    }
    const claim = await own.signed(before.length);
    await own.keepOwn({ party: 'taker', claim });
    await own.hand.tendSpend('claim');
    const all = [...lost, claim].map(({ txid }) => txid);
    assert.deepEqual(sent, all);
    assert.ok(own.texts().includes(fails?.message ?? ''));
  });
}

timed('only the history with a missing nonce is asked whose it is', async () => {
  const own = await account();
  const mined = await own.signed(0);
  await on.anvil.call('eth_sendRawTransaction', [mined.raw]);
  await on.anvil.mined(mined.txid);
  const nobodys = (nonce: number): Kept => {
    const of = { type: 'eip1559', chainId, to: own.address, nonce, gas: 21_000n } as const;
    const signature = { r: `0x${'ff'.repeat(32)}`, s: `0x${'01'.repeat(32)}`, yParity: 0 } as const;
    return { raw: serializeTransaction(of, signature), txid: `0x${nonce}`, keptAtMs: 1 };
  };
  await keep(own.store, '01', { funding: nobodys(0), refund: nobodys(3) });
  await keep(own.store, '02', { funding: nobodys(1) });
  await claimBehind(own, 2);
  assert.match(own.texts(), /of swap 02 is left out/);
  assert.doesNotMatch(own.texts(), /of swap 01 is left out/);
});

const disputed = { state: 'waiting', next: false, gap: false, isDisputed: true } as const;
const beyond = { state: 'waiting', next: false, gap: true } as const;

/** By nodes that say so of what it has sent. */
async function tended(outcome: TxOutcome, slot: 'claim' | 'funding') {
  const own = await account({ replaceAfterMs: 0 });
  const kept = await own.signed(1_000_000);
  await own.keepOwn({ party: slot === 'claim' ? 'taker' : 'maker', [slot]: kept });
  const forgotten: unknown[] = [];
  const hand = evmHand(own.context, own.leg, {
    ...own.wallet,
    outcome: async () => outcome,
    gapBefore: async () => 'too_wide',
    forget: (isDisputed) => void forgotten.push(isDisputed),
  });
  await (slot === 'claim' ? hand.tendSpend('claim') : hand.tendFunding());
  const isKept = ((await own.store.getSwap('00'))?.[slot] ?? null) !== null;
  return { isKept, forgotten, texts: own.texts() };
}

timed('a claim whose nonce some node made up is made anew', async () => {
  for (const outcome of [disputed, beyond]) {
    const { isKept, forgotten, texts } = await tended(outcome, 'claim');
    assert.deepEqual([isKept, forgotten], [false, [true]]);
    assert.match(texts, /nonce of the claim, and no block takes it: it is made anew/);
  }
});

timed(
  'a claim whose nonce some node made up, with a fee that leaves no room, is made anew',
  async () => {
    const own = await account({ replaceAfterMs: 0 });
    await own.keepOwn({ party: 'taker', claim: await own.signed(7) });
    const forgotten: unknown[] = [];
    const hand = evmHand(own.context, own.leg, {
      ...own.wallet,
      outcome: async () => ({ ...disputed, next: true }),
      raise: async () => null,
      forget: (isDisputed) => void forgotten.push(isDisputed),
    });
    await hand.tendSpend('claim');
    assert.deepEqual([(await own.store.getSwap('00'))?.claim ?? null, forgotten], [null, [true]]);
  },
);

timed(
  'a funding is made anew where no block will reach its nonce, and kept where one may',
  async () => {
    assert.equal((await tended(disputed, 'funding')).isKept, true);
    assert.equal((await tended(beyond, 'funding')).isKept, false);
  },
);

timed(
  'a claim is raised up to nearly all its leg once the secret is public, and no refund is',
  async () => {
    const raised = async (slots: Partial<SwapRecord>, slot: 'claim' | 'refund') => {
      const own = await account({ replaceAfterMs: 0 });
      await own.keepOwn({ party: 'taker', [slot]: await own.signed(0), ...slots });
      const most: unknown[] = [];
      const { escrow } = own.leg;
      const terms = { ...escrow.terms, token: null };
      const native = { ...own.leg, amount: ether, escrow: { ...escrow, terms } };
      const hand = evmHand(own.context, native, {
        ...own.wallet,
        outcome: async () => ({ state: 'waiting', next: true, gap: false }),
        raise: async (_, { mostFeeWei }) => {
          most.push(mostFeeWei);
          return null;
        },
      });
      await hand.tendSpend(slot);
      return most;
    };
    const publicSecret = 'ab'.repeat(32);
    const quarter = ether / 4n;
    const nearlyAll = (ether * 95n) / 100n;
    assert.deepEqual(await raised({ publicSecret }, 'claim'), [nearlyAll]);
    assert.deepEqual(await raised({}, 'claim'), [quarter]);
    assert.deepEqual(await raised({ publicSecret }, 'refund'), [quarter]);
  },
);

timed(
  'a claim that one node calls mined is sent again while another says that it waits',
  async () => {
    const own = await account({ replaceAfterMs: 60_000 });
    const claim = { ...(await own.signed(0)), keptAtMs: Date.now() };
    await own.keepOwn({ party: 'taker', claim });
    const doubt = { state: 'waiting', next: true, gap: false } as const;
    for (const [outcome, isSent] of [
      [{ state: 'succeeded' }, false],
      [{ state: 'succeeded', doubt }, true],
    ] as const) {
      const hand = evmHand(own.context, own.leg, { ...own.wallet, outcome: async () => outcome });
      await on.anvil.hold();
      try {
        await hand.tendSpend('claim');
        assert.equal(await on.anvil.isKnown(claim.txid), isSent);
      } finally {
        await on.anvil.go();
      }
    }
  },
);

timed('a transaction kept for a nonce while it is filled is displaced by nothing', async () => {
  const own = await account();
  const urgent = await own.signed(0);
  const claim = await own.signed(1);
  await own.keepOwn({ party: 'taker', claim });
  const gapBefore: EvmWallet['gapBefore'] = async (...about) => {
    const gap = await own.wallet.gapBefore(...about);
    if (gap === null || gap === 'too_wide') return gap;
    const fill: typeof gap.fill = async (...how) => {
      await keep(own.store, '01', { party: 'taker', claim: keptNow(urgent) });
      return gap.fill(...how);
    };
    return { ...gap, fill };
  };
  const hand = evmHand(own.context, own.leg, { ...own.wallet, gapBefore });
  await on.anvil.hold();
  try {
    await hand.tendSpend('claim');
    assert.equal((await pooled(own.address))[0], '1', 'the nonce of the other one is left to it');
    // And sent again at the next poll, which does not wait for long.
    own.context.sentAtMs.clear();
    await hand.tendSpend('claim');
    assert.deepEqual(await pooled(own.address), ['0', '1']);
    assert.ok(await on.anvil.isKnown(urgent.txid));
  } finally {
    await on.anvil.go();
  }
});

timed('without the lock what is kept is sent again, and no nonce is used up', async () => {
  const own = await account({ chainTimeoutMs: 300 });
  const other = await own.signed(0);
  const claim = await own.signed(2);
  await keep(own.store, '01', { party: 'taker', claim: other });
  await own.keepOwn({ party: 'taker', claim });
  const hanging = Promise.withResolvers<void>();
  const slow = own.hand.keeping(() => hanging.promise, false);
  await on.anvil.hold();
  try {
    await own.hand.tendSpend('claim');
    assert.deepEqual(await pooled(own.address), ['0', '2']);
    hanging.resolve();
    await slow;
    await on.anvil.block(gwei);
    own.context.sentAtMs.clear();
    await own.hand.tendSpend('claim');
  } finally {
    hanging.resolve();
    await on.anvil.go();
  }
  await on.anvil.mined(claim.txid);
});

timed('a run that fills nonces has ended before another goes on without the lock', async () => {
  const polled = Promise.withResolvers<void>();
  const { chains } = withAdapter(pattern().input, evmKey, () => ({
    broadcast: async (_, signal) => {
      if (signal.reason === undefined) await new Promise((end) => (signal.onabort = end));
      throw signal.reason;
    },
  }));
  const own = await account({ chains, chainTimeoutMs: 2_000 });
  let outcomes = 0;
  const outcome: EvmWallet['outcome'] = async (...about) => {
    const found = await own.wallet.outcome(...about);
    outcomes += 1;
    if (outcomes === 2) polled.resolve();
    return found;
  };
  await keep(own.store, '01', { party: 'taker', claim: await own.signed(0) });
  await own.keepOwn({ party: 'taker', claim: await own.signed(1) });
  const hand = evmHand(own.context, own.leg, { ...own.wallet, outcome });
  const filling = hand.tendSpend('claim').catch(() => {});
  await polled.promise;
  assert.equal(await withNonceLock(own.on, async (alone) => alone, true), true);
  await filling;
});

timed('swaps that sign at once, with a wallet object each, take a nonce each', async () => {
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

timed('a funding that polls its chains for long holds up no claim', async () => {
  const { context, leg, hand, signing, store, keepOwn } = await account();
  await keepOwn({});
  const order: string[] = [];
  const hanging = Promise.withResolvers<void>();
  const polling = Promise.withResolvers<void>();
  const funding = signAndKeep(context, leg, {
    sign: signing(),
    keeps: (kept) => ({ funding: kept }),
    gate: async () => {
      polling.resolve();
      await hanging.promise;
      return async () => void order.push('funding');
    },
    isUrgent: false,
  });
  funding.catch(() => {});
  await polling.promise;
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

timed(
  'a run that hangs with the lock is waited for no longer than a node by the urgent',
  async () => {
    const { hand, signing } = await account({ chainTimeoutMs: 300 });
    const hanging = Promise.withResolvers<void>();
    const slow = hand.keeping(() => hanging.promise, false);
    await assert.rejects(
      hand.keeping(async () => {}, false),
      timedOut,
    );
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
for (const [what, lock, emitted] of locks) {
  timed(`where the lock of the store ${what}, only what is urgent is signed`, async () => {
    const store: Store = { ...memoryStore(), lock };
    const own = await account({ store, chainTimeoutMs: 300 });
    const { hand, signing } = own;
    for (let tries = 2; tries > 0; tries -= 1) {
      await assert.rejects(hand.keeping(signing(), false), timedOut);
    }
    assert.equal(nonceIn(await hand.keeping(signing(), true)), 0);
    assert.equal(await withNonceLock(own.on, async (alone) => alone, true), false, 'not alone');
    assert.match(own.texts(), emitted);
  });
}

timed('both locks, of the process and of the store, are waited for within one limit', async () => {
  const [asked, given]: [AbortSignal[], AbortSignal[]] = [[], []];
  const lock = async (_: string, signal: AbortSignal) => {
    asked.push(signal);
    return null;
  };
  const { context, on } = await account({ store: { ...memoryStore(), lock } });
  const limit = (share?: number) => {
    const signal = context.limit(share);
    given.push(signal);
    return signal;
  };
  const counting = { ...on, context: Object.assign(Object.create(context), { limit }) };
  await withNonceLock(counting, async () => {}, true);
  assert.deepEqual(asked, given);
});

timed('a late or missing signature is nobody’s, and its nonce is given again', async () => {
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
    // A later signing is held up no longer than that.
    const urgent = comes === null ? hand.keeping(signing(), true) : null;
    await assert.rejects(late, { name: 'TimeoutError' });
    comes?.resolve();
    await sleep(50);
    assert.equal(nonceIn(await (urgent ?? hand.keeping(signing(), false))), 0);
  }
});

timed('a lock that cannot be freed changes nothing of what was kept', async () => {
  const release = async () => {
    throw new Error('the lock is gone');
  };
  const store: Store = { ...memoryStore(), lock: async () => ({ release }) };
  const { hand, signing } = await account({ store });
  assert.equal(nonceIn(await hand.keeping(signing(), false)), 0);
});
