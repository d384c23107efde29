// Nonces of one EVM account over all swaps of a store, on a real anvil: what is lost is filled, and
// nobody's claim waits for what others look at or keep.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { serializeTransaction } from 'viem';
import { ParleyError } from '../core/errors.ts';
import { sleep } from './http.ts';
import { contextOf } from './settle/context.ts';
import { evmHand } from './settle/hands/evm.ts';
import type { Hand } from './settle/hands/hand.ts';
import { withNonceLock } from './settle/hands/nonces.ts';
import { legOf } from './settle/record.ts';
import { type SettleInput, settle } from './settle.ts';
import { fileStore } from './stores/file.ts';
import { type Kept, keptNow, type Store } from './stores/store.ts';
import {
  type Account,
  accountOn,
  chainId,
  ether,
  keepOn,
  limits,
  type Other,
  onChains,
  type Pattern,
  patternOf,
} from './testing/evm-account.ts';
import { evmKey, gwei, isFunded, running, sideOf, until, withAdapter } from './testing/stuck.ts';
import type { EvmWallet, Gap } from './wallets/wallet.ts';

let pattern: Pattern;
const on = onChains(async (there) => {
  pattern = await patternOf(there);
});

const account = (...more: [Partial<SettleInput>?]) => accountOn(on, pattern, ...more);
const keep = (store: Store, id: string, slots: Other) =>
  keepOn(on, pattern, store, { ...slots, id });
const known = (txid: string) => on.anvil.call<object | null>('eth_getTransactionReceipt', [txid]);

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

/** A claim with the nonce after the lost ones, looked after until a block has it. */
async function claimBehind({ keepOwn, hand, signed }: Account, nonce: number): Promise<void> {
  const claim = await signed(nonce);
  await keepOwn({ party: 'taker', claim });
  await hand.tendSpend('claim');
  while ((await known(claim.txid)) === null) await sleep(20);
}

/** Its funding is sent while no block is made: it stays in the pool. */
function holding(input: SettleInput): SettleInput {
  const { client, store, swapId } = input;
  assert.ok(client);
  const broadcast: typeof client.broadcast = async (...args) => {
    const record = await store.getSwap(swapId);
    if (record?.funding?.raw === args[1]) await on.anvil.hold();
    return client.broadcast(...args);
  };
  return { ...input, client: { ...client, broadcast } };
}

const cases: [string, 'again' | 'nothing', (lost: Kept) => Other][] = [
  ['a funding in time', 'nothing', (funding) => ({ funding })],
  ['an approval that waits', 'nothing', (approval) => ({ approval })],
  ['an approval that was mined', 'nothing', (approved) => ({ approved })],
  ['a funding whose claim was sent', 'again', (funding) => ({ funding, past: 'a' })],
  [
    'a late funding whose late claim was sent',
    'nothing',
    (own) => ({ funding: own, past: 'both' }),
  ],
  ['what cancels a funding', 'again', (cancel) => ({ cancel, past: 'a' })],
  ['a claim before its timelock', 'again', (claim) => ({ party: 'taker', claim })],
  ['a claim past its timelock', 'nothing', (claim) => ({ party: 'taker', claim, past: 'a' })],
  ['a refund', 'again', (refund) => ({ refund, past: 'a' })],
];

for (const [what, filling, slots] of cases) {
  const by = filling === 'again' ? 'with it' : 'with a payment of nothing';
  test(`a lost nonce for which another swap keeps ${what} is filled ${by}`, limits, async () => {
    const own = await account();
    const lost = await own.signed(0);
    const other = slots(lost);
    const claimed = what.endsWith('was sent') ? { claim: await own.signed(7) } : {};
    await keep(own.store, '01', { ...other, ...claimed });
    await claimBehind(own, 1);
    assert.equal((await known(lost.txid)) !== null, filling === 'again');
    assert.match(own.texts(), filling === 'again' ? /are sent again/ : /1 nonces .* of nothing/);
  });
}

test(
  'what the node refuses or pays too little gives way to nothing, and is told',
  limits,
  async () => {
    const own = await account();
    const refused = await own.signed(0, { value: 100n * ether });
    const cheap = await own.signed(1, { gwei: 0n });
    await keep(own.store, '01', { refund: refused });
    await keep(own.store, '02', { cancel: cheap });
    await claimBehind(own, 2);
    assert.deepEqual([await known(refused.txid), await known(cheap.txid)], [null, null]);
    assert.match(own.texts(), /refused the transaction/);
    assert.match(own.texts(), /2 nonces .* payments of nothing/);
    assert.doesNotMatch(own.texts(), /are sent again/);
  },
);

test(
  'the claim of another swap that its node still takes is displaced by nothing',
  limits,
  async () => {
    const sent: string[] = [];
    const { sources } = withAdapter(pattern.input, evmKey, () => ({
      broadcast: async ({ txid }) => {
        sent.push(txid);
        return txid;
      },
    }));
    const own = await account({ sources });
    const [cheap, claim] = [await own.signed(0, { gwei: 0n }), await own.signed(1)];
    await keep(own.store, '01', { party: 'taker', claim: cheap });
    await own.keepOwn({ party: 'taker', claim });
    await own.hand.tendSpend('claim');
    assert.deepEqual(sent, [cheap.txid, claim.txid]);
  },
);

test(
  'where it is unclear whether a node has what was sent again, the next nonce is tried',
  limits,
  async () => {
    const sent: string[] = [];
    const { sources } = withAdapter(pattern.input, evmKey, () => ({
      broadcast: async ({ txid }) => {
        sent.push(txid);
        if (sent.length === 1) throw new ParleyError('chain_unavailable', 'no node answers');
        return txid;
      },
    }));
    const own = await accountOn(on, pattern, { sources });
    const kept = await Promise.all([0, 1, 2].map((nonce) => own.signed(nonce)));
    const [unclear, next, claim] = kept;
    assert.ok(unclear && next && claim);
    await keep(own.store, '01', { party: 'taker', claim: unclear });
    await keep(own.store, '02', { party: 'taker', claim: next });
    await own.keepOwn({ party: 'taker', claim });
    await own.hand.tendSpend('claim');
    assert.deepEqual(
      sent,
      kept.map(({ txid }) => txid),
    );
    assert.match(own.texts(), /no node answers/);
  },
);

test('of all history only what has a missing nonce is asked whose it is', limits, async () => {
  const own = await account();
  const mined = await own.signed(0);
  await on.anvil.call('eth_sendRawTransaction', [mined.raw]);
  while ((await known(mined.txid)) === null) await sleep(20);
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

test(
  'a funding that the pool dropped gives way to the claim behind it, and its swap funds anew',
  limits,
  async () => {
    const scene = on.chains.swap();
    const taker = await sideOf(scene, 'taker');
    await until(taker, isFunded);
    const maker = await sideOf(scene, 'maker');
    const { evm } = on.chains.purses.maker;
    try {
      await until(holding(maker), isFunded);
      const funding = (await maker.store.getSwap(maker.swapId))?.funding;
      assert.ok(funding);
      await on.anvil.call('anvil_dropTransaction', [funding.txid]);
      const idle = { to: evm.address, data: '0x', value: '0x0' };
      const signed = await evm.sign(chainId, idle, AbortSignal.timeout(30_000));
      const claim = { ...signed, keptAtMs: Date.now() - 60_000 };
      await keep(maker.store, '01', { party: 'taker', claim });
      const context = contextOf({ ...maker, swapId: '01', client: null });
      const other = await context.store.getSwap('01');
      assert.ok(other);
      // Its own side stays away meanwhile.
      await evmHand(context, legOf(other, 'a'), evm).tendSpend('claim');
      await on.anvil.go();
      while ((await known(claim.txid)) === null) await sleep(20);
      assert.equal(await known(funding.txid), null);
      const [end, theirs] = await Promise.all([settle(maker), settle(taker)]);
      assert.deepEqual([end.end, theirs.end], ['received', 'received']);
      assert.notEqual(end.txids.a.fund, funding.txid);
    } finally {
      await on.anvil.go();
    }
  },
);

/** The hand of the account whose gap is filled so. */
function filledBy({ on }: Account, fill: (gap: Gap) => Gap['fill']): Hand {
  const gapBefore: EvmWallet['gapBefore'] = async (...about) => {
    const gap = await on.wallet.gapBefore(...about);
    return gap && { ...gap, fill: fill(gap) };
  };
  return evmHand(on.context, on.leg, { ...on.wallet, gapBefore });
}

test('what is kept for a nonce while it is filled is displaced by nothing', limits, async () => {
  const own = await account();
  const [urgent, claim] = [await own.signed(0), await own.signed(1)];
  await own.keepOwn({ party: 'taker', claim });
  const hand = filledBy(own, ({ fill }) => async (...about) => {
    await keep(own.store, '01', { party: 'taker', claim: keptNow(urgent) });
    return fill(...about);
  });
  await on.anvil.hold();
  try {
    await hand.tendSpend('claim');
    const [one] = await pooled(own.address);
    assert.equal(one, '1', 'the nonce of the other one is left to it');
    // And sent again at the next look, which does not wait for long.
    own.context.sentAtMs.clear();
    await hand.tendSpend('claim');
    assert.deepEqual(await pooled(own.address), ['0', '1']);
    assert.ok(await on.anvil.call('eth_getTransactionByHash', [urgent.txid]));
  } finally {
    await on.anvil.go();
  }
});

test('without the lock what is kept is sent again, and no nonce is used up', limits, async () => {
  const own = await account({ chainTimeoutMs: 300 });
  const [other, claim] = [await own.signed(0), await own.signed(2)];
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
  while ((await known(claim.txid)) === null) await sleep(20);
});

test('whoever fills nonces has ended before another goes on without the lock', limits, async () => {
  const looked = Promise.withResolvers<void>();
  const { sources } = withAdapter(pattern.input, evmKey, () => ({
    broadcast: async (_, signal) => {
      if (signal.reason === undefined) await new Promise((end) => (signal.onabort = end));
      throw signal.reason;
    },
  }));
  const own = await account({ sources, chainTimeoutMs: 2_000 });
  const fate: EvmWallet['fate'] = async (...about) => {
    const found = await own.wallet.fate(...about);
    fates += 1;
    if (fates === 2) looked.resolve();
    return found;
  };
  let fates = 0;
  const claim = await own.signed(1);
  const lost = await own.signed(0);
  await keep(own.store, '01', { party: 'taker', claim: lost });
  await own.keepOwn({ party: 'taker', claim });
  const hand = evmHand(own.context, own.leg, { ...own.wallet, fate });
  const filling = hand.tendSpend('claim').catch(() => {});
  await looked.promise;
  assert.equal(await withNonceLock(own.on, async (alone) => alone, true), true);
  await filling;
});

test(
  'a record of another swap that cannot be read keeps no claim from being sent, and is told once',
  limits,
  async () => {
    const dir = await mkdtemp(join(tmpdir(), 'parley-sdk-store-'));
    try {
      const scene = on.chains.swap();
      const store = await fileStore(dir);
      const taker = await sideOf(scene, 'taker', { store });
      await until(taker, isFunded);
      await writeFile(join(dir, 'swaps', 'broken'), '{"trade":');
      await writeFile(join(dir, 'swaps', 'empty'), '{}');
      const side = running(taker);
      const [end, theirs] = await Promise.all([side.end, settle(await sideOf(scene, 'maker'))]);
      assert.deepEqual([end.end, theirs.end], ['received', 'received']);
      const about = side.told.filter(({ text }) => /is left out where nonces/.test(text));
      const swaps = about.map(({ text }) => /swap (\w+)/.exec(text)?.[1]);
      assert.deepEqual(swaps.toSorted(), ['broken', 'empty']);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  },
);
