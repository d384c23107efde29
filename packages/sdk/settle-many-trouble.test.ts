// Batches in trouble: a node that is away, a nonce that a claim has now, a revert on chain, a wish
// for batches of nothing. The wallet and the chain are on paper; every transaction is signed.

import assert from 'node:assert/strict';
import test from 'node:test';
import { evmTransactionGas } from '@parley/chains/evm/gas-policy.ts';
import type { Batch, BuiltBatch } from '@parley/chains/interface/batches.ts';
import type { Owed } from '@parley/chains/interface/gas.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import { type Hex, keccak256, parseTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { contextOf, type On } from './settle/context.ts';
import type { SetLeg } from './settle/record.ts';
import { settleMany } from './settle-many.ts';
import { memoryStore } from './stores/memory.ts';
import { inPlaceOf, type Kept, type Store, type SwapRecord } from './stores/store.ts';
import { evmView } from './testing/honest.ts';
import type { EvmSending, EvmWallet, TxOutcome } from './wallets/wallet.ts';

const owner = privateKeyToAccount(`0x${'01'.repeat(32)}`);
const to = `0x${'e5'.repeat(20)}` as const;
const { chain, chainId } = evmView;
const secret = 'a7'.repeat(32);
const hashlock = hashlockOf(secret);
const clock = 1_800_000_000;
const leg = { chain, family: 'evm', leg: 'a' } as SetLeg;

async function signed(nonce: number, fee: bigint, gas = 21_000n): Promise<Kept> {
  const fees = { maxFeePerGas: fee, maxPriorityFeePerGas: 1n };
  const of = { type: 'eip1559', chainId, to, nonce, gas } as const;
  const raw = await owner.signTransaction({ ...of, ...fees });
  return { raw, txid: keccak256(raw) };
}

/** A record of a swap whose leg `a` pays this side; each to another receiver. */
function record(id: string, more: Partial<SwapRecord> = {}): SwapRecord {
  const payout = { address: `0x${id.padStart(40, '0')}`, pubkey: null };
  const timelock = clock + 10_000;
  const terms = { token: null, payout, refund: payout, hashlock, amount: 1n, timelock };
  const escrow = { address: id, terms };
  const a = { leg: 'a', chain, family: 'evm', timelock, escrow };
  const swap = { id, hashlock, legs: { a, b: { chain: 'bitcoin' } } };
  const none = { funding: null, claim: null, refund: null, publicSecret: secret };
  return { trade: { party: 'taker' }, swap, ...none, ...more } as never;
}

type Side = {
  /** In the order in which they are asked; the last one goes on. */
  readonly outcomes: (TxOutcome['state'] | Error)[];
  readonly onBuild?: (batch: Batch, asked: number) => void;
  readonly onBroadcast?: (store: Store, on: On<EvmWallet>) => Promise<void>;
  readonly gas?: bigint;
  /** Gas that the wallet can pay for. */
  readonly has?: bigint;
  /** The secret that the paying leg shows. */
  readonly shown?: string;
};

function side({ outcomes, onBuild, onBroadcast, gas = 100_000n, has = 10n ** 9n, shown }: Side) {
  const store = memoryStore();
  const offered: string[] = [];
  const facts = { balance: 1n, empty: false };
  const none = { claimed: null, refunded: null };
  let built = 0;
  let count = 0;
  let raises = 0;
  const adapter = {
    heads: async () => ({ clock }),
    readEscrow: async () => ({ funded: null, ...none, ...facts, secret: shown ?? null }),
    buildBatch: async (batch: Batch): Promise<BuiltBatch> => {
      built += 1;
      onBuild?.(batch, built);
      const txs = [{ to, data: '0x', value: '0x0' }];
      const material = { chain, family: 'evm', sign: 'evm-tx', chainId, txs, escrow: to } as const;
      const settles = batch.legs.length;
      return { material, settles, gas: gas * BigInt(settles) };
    },
    fundsShortage: async ({ offered }: Owed) =>
      has >= (offered?.gas ?? 0n) ? null : { sentence: `has gas for ${has}` },
    readSigned: async (raw: string) => raw,
    broadcast: async (raw: string) => {
      offered.push(raw);
      await onBroadcast?.(store, { context: contextOf({ ...input, swapId: '2' }), leg, wallet });
    },
  };
  const wallet = {
    family: 'evm',
    address: owner.address,
    sign: (_: number, call: EvmSending) => {
      count += 1;
      return signed(2 + count, 10n, call.gas);
    },
    raise: async (kept: Kept) => {
      raises += 1;
      const { nonce = 0 } = parseTransaction(kept.raw as Hex);
      return inPlaceOf(kept, await signed(nonce, 10n + BigInt(raises)));
    },
    outcome: async () => {
      const state = outcomes.length > 1 ? outcomes.shift() : outcomes[0];
      if (state instanceof Error) throw state;
      return { state };
    },
    forget: () => {},
  } as unknown as EvmWallet;
  const input = {
    chain,
    client: null,
    store,
    pollMs: 1,
    replaceAfterMs: 5,
    chainTimeoutMs: 3_000,
    chains: { [chain]: { source: { view: evmView, adapter } as never, wallet } },
  };
  return { input, store, offered, raises: () => raises };
}

test('a batch that no block takes is raised a few times, one version in its place each', async () => {
  const { input, store, offered, raises } = side({ outcomes: ['waiting'] });
  await store.putSwap(record('1'));
  const { batches } = await settleMany(input);
  assert.deepEqual([batches[0]?.state, raises(), new Set(offered).size], ['waiting', 5, 6]);
});

test('a batch is not raised over a claim that was given its nonce meanwhile', async () => {
  const claiming = async (store: Store) => {
    const claim = { ...(await signed(3, 9n)), keptAtMs: Date.now() + 1 };
    await store.putSwap(record('2', { claim }));
  };
  const { input, store, offered, raises } = side({ outcomes: ['waiting'], onBroadcast: claiming });
  await store.putSwap(record('1'));
  const { batches } = await settleMany(input);
  assert.deepEqual([batches[0]?.state, raises(), offered.length], ['waiting', 0, 1]);
});

const shown = (batches: Awaited<ReturnType<typeof settleMany>>['batches']) =>
  batches.map(({ swapIds, state }) => `${swapIds.join(' ')} ${state}`);

test('a sent transaction is told whatever a node fails to answer later', async () => {
  const gone = new ParleyError('chain_unavailable', 'no answer', {});
  const { input, store } = side({
    outcomes: [gone, 'succeeded'],
    onBuild: ({ legs }, asked) => {
      // The second batch is tried, and fails when it is built.
      if (legs.length === 1 && asked === 4) throw new ParleyError('payout_would_fail', 'late', {});
    },
    onBroadcast: async () => {
      throw gone;
    },
  });
  for (const id of ['1', '2']) await store.putSwap(record(id));
  const { batches, left } = await settleMany({ ...input, most: 1 });
  assert.deepEqual(shown(batches), ['1 mined']);
  assert.deepEqual(left, [{ swapId: '2', leg: 'a', why: 'late' }]);
});

test('a claim from a batch that has reverted is in no other one', async () => {
  const { input, store, offered } = side({ outcomes: ['reverted'] });
  for (const id of ['1', '2']) await store.putSwap(record(id));
  const { batches } = await settleMany(input);
  assert.deepEqual(shown(batches), ['1 2 reverted']);
  const why = 'its batch has reverted: settle looks after it';
  const left = ['1', '2'].map((swapId) => ({ swapId, leg: 'a', why }));
  assert.deepEqual(await settleMany(input), { batches: [], left });
  assert.equal(offered.length, 1);
});

test('no batch may take more gas than a transaction of Ethereum has', async () => {
  const mostGas = evmTransactionGas;
  const { input, store, offered } = side({ outcomes: ['succeeded'], gas: mostGas + 1n });
  await store.putSwap(record('1'));
  await settleMany(input);
  assert.equal(parseTransaction(offered[0] as Hex).gas, mostGas);
});

test('a wallet that cannot pay for a batch sends smaller ones', async () => {
  const { input, store } = side({ outcomes: ['succeeded'], has: 250_000n });
  for (const id of ['1', '2', '3', '4']) await store.putSwap(record(id));
  const { batches, left } = await settleMany(input);
  assert.deepEqual([shown(batches), left], [['1 2 mined', '3 4 mined'], []]);
});

test('a leg of more than a batch has room for is left to settle, and holds up no other', async () => {
  const { input, store } = side({ outcomes: ['succeeded'] });
  for (const [id, amount] of [
    ['1', 2n ** 144n],
    ['2', 2n ** 144n - 1n],
  ] as const) {
    const large = record(id);
    const { a } = large.swap.legs;
    const escrow = { ...a.escrow, terms: { ...a.escrow?.terms, amount } };
    const legs = { ...large.swap.legs, a: { ...a, escrow } };
    await store.putSwap({ ...large, swap: { ...large.swap, legs } } as never);
  }
  const { batches, left } = await settleMany(input);
  assert.deepEqual(shown(batches), ['2 mined']);
  const why = 'a batch has no room for its amount or times: settle looks after it';
  assert.deepEqual(left, [{ swapId: '1', leg: 'a', why }]);
});

test('a secret that the paying chain itself has shown is public', async () => {
  const shown = side({ outcomes: ['succeeded'], shown: secret });
  await shown.store.putSwap(record('1', { publicSecret: null }));
  assert.equal((await settleMany(shown.input)).batches.length, 1);
  const other = side({ outcomes: ['succeeded'], shown: 'b8'.repeat(32) });
  await other.store.putSwap(record('1', { publicSecret: null }));
  assert.deepEqual(await settleMany(other.input), { batches: [], left: [] });
});

test('batches of no escrow are refused, and so is a chain without batches', async () => {
  const { input, store } = side({ outcomes: ['succeeded'] });
  await store.putSwap(record('1'));
  for (const most of [0, -1, Number.NaN]) {
    await assert.rejects(settleMany({ ...input, most }), RangeError);
  }
  const chains = { [chain]: { source: { view: evmView, adapter: {} } as never } };
  await assert.rejects(settleMany({ ...input, chains }), { code: 'no_source' });
});
