// Nonces of one EVM account over all swaps of a store, on a real anvil: what is lost is filled, and
// nobody's claim waits for what others look at or keep.

import assert from 'node:assert/strict';
import test from 'node:test';
import { serializeTransaction } from 'viem';
import { ParleyError } from '../core/errors.ts';
import { evmHand } from './settle/hands/evm.ts';
import type { Hand } from './settle/hands/hand.ts';
import { withNonceLock } from './settle/hands/nonces.ts';
import type { SettleInput } from './settle.ts';
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
import { evmKey, gwei, withAdapter } from './testing/sides.ts';
import { sleep } from './waiting.ts';
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

/** What the node is sent while the gap before a claim is filled; the first of it fails so. */
async function sentAgain(before: readonly { gwei?: bigint }[], fails?: ParleyError) {
  const sent: string[] = [];
  const { sources } = withAdapter(pattern.input, evmKey, () => ({
    broadcast: async ({ txid }) => {
      if (sent.push(txid) === 1 && fails) throw fails;
      return txid;
    },
  }));
  const own = await account({ sources });
  const lost = await Promise.all(before.map((how, nonce) => own.signed(nonce, how)));
  for (const [at, claim] of lost.entries())
    await keep(own.store, `0${at + 1}`, { party: 'taker', claim });
  const claim = await own.signed(before.length);
  await own.keepOwn({ party: 'taker', claim });
  await own.hand.tendSpend('claim');
  assert.deepEqual(
    sent,
    [...lost, claim].map(({ txid }) => txid),
  );
  return own;
}

test(
  'the claim of another swap that its node still takes is displaced by nothing',
  limits,
  async () => {
    await sentAgain([{ gwei: 0n }]);
  },
);

test(
  'where it is unclear whether a node has what was sent again, the next nonce is tried',
  limits,
  async () => {
    const own = await sentAgain([{}, {}], new ParleyError('chain_unavailable', 'no node answers'));
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
