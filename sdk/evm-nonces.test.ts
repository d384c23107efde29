// Nonces of one EVM account over all swaps of a store, on a real anvil: what is lost is filled, and
// nobody's claim waits for what others look at or keep.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { type Hex, keccak256, parseTransaction, serializeTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Hex32 } from '../core/hashlock.ts';
import { sleep } from './http.ts';
import { signAndKeep } from './settle/before-sending.ts';
import { contextOf, legOf } from './settle/context.ts';
import { evmHand } from './settle/hands/evm.ts';
import { type Progress, type SettleInput, settle } from './settle.ts';
import { fileStore } from './stores/file.ts';
import { memoryStore } from './stores/memory.ts';
import { type Kept, keptNow, type Store, type SwapRecord } from './stores/store.ts';
import {
  type Anvil,
  anvilOf,
  evmKey,
  isFunded,
  rpcUrlOf,
  running,
  sideOf,
  until,
  withAdapter,
} from './testing/stuck.ts';
import { type TwoChains, twoChains } from './testing/two-chains.ts';
import { evmWallet } from './wallets/evm.ts';
import type { Wallet } from './wallets/wallet.ts';

const limits = { timeout: 120_000 };
const chainId = 31_337;
const ether = 10n ** 18n;
let chains: TwoChains;
let anvil: Anvil;
/** A verified swap whose taker is paid on EVM: all others are made of it. */
let pattern: { readonly input: SettleInput; readonly record: SwapRecord };

before(async () => {
  chains = await twoChains();
  anvil = await anvilOf(chains);
  const input = await sideOf(chains.swap(), 'taker');
  await until(input, ({ step }) => step === 'verified');
  const record = await input.store.getSwap(input.swapId);
  assert.ok(record);
  pattern = { input, record };
}, limits);
after(async () => {
  await chains?.stop();
}, limits);

const known = (txid: string) => anvil.call<object | null>('eth_getTransactionReceipt', [txid]);
const nonceIn = ({ raw }: Kept) => parseTransaction(raw as Hex).nonce;

/** An account with money, what it signs, and its hand on the chain. */
async function account(more: Partial<SettleInput> = {}) {
  const privateKey: Hex = `0x${randomBytes(32).toString('hex')}`;
  const { address, signTransaction } = privateKeyToAccount(privateKey);
  await anvil.call('anvil_setBalance', [address, `0x${(10n * ether).toString(16)}`]);
  const rpcUrl = await rpcUrlOf(chains, 'evm');
  const newWallet = () => evmWallet({ rpcUrl, chainId, privateKey });
  const told: Progress[] = [];
  const onProgress = (progress: Progress) => void told.push(progress);
  const wallets = new Map<string, Wallet>([...pattern.input.wallets, [evmKey, newWallet()]]);
  const own = { client: null, wallets, store: memoryStore(), onProgress };
  const input = { ...pattern.input, ...own, ...more };
  const context = contextOf(input);
  const leg = legOf(pattern.record, 'a');
  const newHand = () => evmHand(context, leg, newWallet());
  const hand = newHand();
  const idle = { to: address, data: '0x', value: '0x0' };
  const built = { sign: 'evm-tx', chain: evmKey, chainId, txs: [idle] } as never;
  const signing = (by = hand) => {
    const [sign] = by.signFunding(built);
    assert.ok(sign);
    return sign;
  };
  const signed = async (nonce: number, { gwei = 20n, value = 0n } = {}): Promise<Kept> => {
    const fees = { maxFeePerGas: gwei * 1_000_000_000n, maxPriorityFeePerGas: 1n };
    const call = { to: address, value, gas: 21_000n };
    const raw = await signTransaction({ type: 'eip1559', chainId, nonce, ...call, ...fees });
    return { raw, txid: keccak256(raw), keptAtMs: Date.now() - 60_000 };
  };
  const texts = () => told.map(({ text }) => text).join('\n');
  return { address, context, leg, hand, newHand, signing, signed, texts, store: input.store };
}

type Other = Partial<SwapRecord> & { readonly party?: 'maker' | 'taker'; readonly past?: boolean };

/** Another swap: of the maker who funds on EVM, or of the taker who claims there. */
async function keep(store: Store, id: string, { party = 'maker', past, ...slots }: Other) {
  const { trade, swap } = pattern.record;
  const by = chains.now() - 600;
  const { a } = swap.legs;
  const late = past
    ? {
        deadlines: { ...swap.deadlines, counterpartyFundBy: by },
        legs: { ...swap.legs, a: { ...a, timelock: by } },
      }
    : {};
  const record: SwapRecord = {
    trade: { ...trade, party, threadId: id },
    swap: { ...swap, ...late, id, hashlock: keccak256(`0x${id}`).slice(2) as Hex32 },
    ...{ funding: null, claim: null, refund: null, publicSecret: null },
    ...slots,
  };
  await store.putSwap(record);
  return record;
}

type Account = Awaited<ReturnType<typeof account>>;

/** A claim with the nonce after the lost ones, looked after until a block has it. */
async function claimBehind({ store, hand, signed }: Account, nonce: number): Promise<void> {
  const claim = await signed(nonce);
  const own = await keep(store, '00', { party: 'taker', claim });
  await hand.tendSpend(own, 'claim', claim);
  while ((await known(claim.txid)) === null) await sleep(20);
}

/** Its funding is sent while no block is made: it stays in the pool. */
function holding(input: SettleInput): SettleInput {
  const { client, store, swapId } = input;
  assert.ok(client);
  const broadcast: typeof client.broadcast = async (...args) => {
    const record = await store.getSwap(swapId);
    if (record?.funding?.raw === args[1]) await anvil.hold();
    return client.broadcast(...args);
  };
  return { ...input, client: { ...client, broadcast } };
}

const cases: [string, 'again' | 'nothing', (lost: Kept) => Other][] = [
  ['a funding in time', 'again', (funding) => ({ funding })],
  ['an approval that was mined', 'again', (approved) => ({ approved })],
  ['a late funding', 'nothing', (funding) => ({ funding, past: true })],
  ['a late funding whose claim was sent', 'again', (own) => ({ funding: own, past: true })],
  ['a claim before its timelock', 'again', (claim) => ({ party: 'taker', claim })],
  ['a claim past its timelock', 'nothing', (claim) => ({ party: 'taker', claim, past: true })],
  ['a refund', 'again', (refund) => ({ refund, past: true })],
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
    await keep(own.store, '02', { funding: cheap });
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
    const record = await keep(own.store, '00', { party: 'taker', claim });
    await own.hand.tendSpend(record, 'claim', claim);
    assert.deepEqual(sent, [cheap.txid, claim.txid]);
  },
);

test('of all history only what has a missing nonce is asked whose it is', limits, async () => {
  const own = await account();
  const mined = await own.signed(0);
  await anvil.call('eth_sendRawTransaction', [mined.raw]);
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
  'a funding that the pool dropped is sent again by the claim behind it, and its swap goes on',
  limits,
  async () => {
    const scene = chains.swap();
    const taker = await sideOf(scene, 'taker');
    await until(taker, isFunded);
    const maker = await sideOf(scene, 'maker');
    const { evm } = chains.purses.maker;
    try {
      await until(holding(maker), isFunded);
      const funding = (await maker.store.getSwap(maker.swapId))?.funding;
      assert.ok(funding);
      await anvil.call('anvil_dropTransaction', [funding.txid]);
      const idle = { to: evm.address, data: '0x', value: '0x0' };
      const signed = await evm.sign(chainId, idle, AbortSignal.timeout(30_000));
      const claim = { ...signed, keptAtMs: Date.now() - 60_000 };
      const other = await keep(maker.store, '01', { party: 'taker', claim });
      const context = contextOf({ ...maker, client: null });
      // Its own side stays away meanwhile.
      await evmHand(context, legOf(other, 'a'), evm).tendSpend(other, 'claim', claim);
      await anvil.go();
      while ((await known(claim.txid)) === null) await sleep(20);
      assert.ok(await known(funding.txid));
      const [end, theirs] = await Promise.all([settle(maker), settle(taker)]);
      assert.deepEqual([end.end, theirs.end], ['received', 'received']);
      assert.equal(end.txids.a.fund, funding.txid);
    } finally {
      await anvil.go();
    }
  },
);

test('swaps that sign at once, with a wallet object each, take a nonce each', limits, async () => {
  const { store, newHand, signing } = await account();
  const signed = async (id: string): Promise<Kept> => {
    const hand = newHand();
    const work = async () => {
      const claim = keptNow(await signing(hand)());
      await keep(store, id, { party: 'taker', claim });
      return claim;
    };
    return hand.keeping(work, { isUrgent: true });
  };
  const nonces = (await Promise.all(['01', '02', '03'].map(signed))).map(nonceIn);
  assert.deepEqual(nonces, [0, 1, 2]);
});

test('a funding that looks at its chains for long holds up no claim', limits, async () => {
  const { context, leg, hand, signing, store } = await account();
  const order: string[] = [];
  const hanging = Promise.withResolvers<void>();
  const looking = Promise.withResolvers<void>();
  const funding = signAndKeep(context, leg, {
    sign: signing(),
    next: (kept) => ({ ...pattern.record, funding: kept }),
    gate: async () => {
      looking.resolve();
      await hanging.promise;
      return async () => void order.push('funding');
    },
    turn: { isUrgent: false },
  });
  funding.catch(() => {});
  await looking.promise;
  const claim = async () => {
    const kept = keptNow(await signing()());
    await keep(store, '01', { party: 'taker', claim: kept });
    order.push('claim');
  };
  await hand.keeping(claim, { isUrgent: false });
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
    const slow = hand.keeping(() => hanging.promise, { isUrgent: false });
    const refused = hand.keeping(async () => {}, { isUrgent: false });
    await assert.rejects(refused, { code: 'chain_timeout' });
    assert.equal(nonceIn(await hand.keeping(signing(), { isUrgent: true })), 0);
    const ended = hand.keeping(async () => 'after it', { isUrgent: false });
    hanging.resolve();
    await slow;
    assert.equal(await ended, 'after it');
  },
);

test('a lock that cannot be freed changes nothing of what was kept', limits, async () => {
  const release = async () => {
    throw new Error('the lock is gone');
  };
  const store: Store = { ...memoryStore(), lock: async () => ({ release }) };
  const { hand, signing } = await account({ store });
  assert.equal(nonceIn(await hand.keeping(signing(), { isUrgent: false })), 0);
});

test(
  'a record of another swap that cannot be read keeps no claim from being sent, and is told once',
  limits,
  async () => {
    const dir = await mkdtemp(join(tmpdir(), 'parley-sdk-store-'));
    try {
      const scene = chains.swap();
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
