// The swap that an agreement makes, and how escrows are taken up: a real PostgreSQL, and the real
// adapters without their nodes, which nothing here asks.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { addressesOfPubkey } from '@parley/chains/bitcoin/keys.ts';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { parseEvmAddress } from '@parley/chains/evm/address.ts';
import { evmChains } from '@parley/chains/evm/policy.ts';
import { solanaChains } from '@parley/chains/solana/policy.ts';
import { nothingSeen } from '@parley/core/facts.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import type { TestDeps } from '@parley/verify/test/support/deps.ts';
import type { Asset } from '../db/assets.ts';
import { insertPayout } from '../db/payouts.ts';
import { swapById } from '../db/swaps.ts';
import { findThread, type Thread } from '../db/threads.ts';
import { upsertWebProof } from '../db/wallets.ts';
import { prepareAddress } from './addresses.ts';
import { type LegsPreview, previewLegs, type TradeTerms } from './preview.ts';
import { fromTheStart, takeUp } from './take-up.ts';
import { insertAccount, type Wallet } from './testing/account.ts';
import {
  agreedSwap,
  insertAgreed,
  insertAsset,
  nodelessAdapters,
  nodelessDeps,
  someWallets,
  swapBetween,
} from './testing/rows.ts';

let database: TestDatabase;
let deps: TestDeps;
let assets: { btc: Asset; usd: Asset; other: Asset };

before(async () => {
  database = await testDatabase();
  deps = nodelessDeps(database.db);
  const dollar = parseEvmAddress(`0x${'d0'.repeat(20)}`);
  assets = {
    btc: await insertAsset(deps, 'bitcoin', null, 5_000_000n),
    usd: await insertAsset(deps, 'evm-dev', dollar, null),
    other: await insertAsset(deps, 'evm-dev-2', null, null),
  };
});
after(() => database?.drop());

const account = async ({ evm, bitcoin } = someWallets()) =>
  (await insertAccount(deps, [evm, bitcoin])).accountId;

const terms = (more: Partial<TradeTerms> = {}): TradeTerms => ({
  direction: 'sell_base',
  base: assets.btc,
  quote: assets.usd,
  baseAmount: 1_000_000n,
  quoteAmount: 650_000_000n,
  ...more,
});

const made = (more: Partial<TradeTerms> = {}, wallets: Wallet[][] = []) =>
  agreedSwap(deps, terms(more), wallets);

test('the bitcoin leg is long in both directions; its funder is the initiator', async () => {
  const sold = await made();
  assert.deepEqual([sold.long, sold.initiator], ['b', 'taker']);
  assert.equal(sold.state.legs.b.amount, 1_000_000n);
  const bought = await made({ direction: 'buy_base' });
  assert.deepEqual([bought.long, bought.initiator], ['a', 'maker']);
  assert.equal(bought.state.legs.b.amount, 650_000_000n);
});

test('login wallets fill the addresses in, and both escrows are planned', async () => {
  const maker = someWallets();
  const taker = someWallets();
  const swap = await made(
    {},
    [maker, taker].map(({ evm, bitcoin }) => [evm, bitcoin]),
  );
  const { a, b } = swap.state.legs;
  assert.deepEqual(
    [a.payoutAddress, a.refundAddress, b.payoutAddress, b.refundAddress],
    [taker.evm.address, maker.evm.address, maker.bitcoin.address, taker.bitcoin.address],
  );
  assert.deepEqual([b.payoutPubkey, b.refundPubkey], [maker.bitcoin.pubkey, taker.bitcoin.pubkey]);
  assert.notEqual(a.escrow, null);
  assert.notEqual(b.escrow, null);
  assert.equal(typeof swap.redeemScripts.b, 'string');
});

test('a swap keeps its addresses when another wallet is paid, and the next one has the new one', async () => {
  const taker = someWallets();
  const other = someWallets();
  const makerId = await account();
  const takerId = await account(taker);
  const agree = async () => {
    const { id } = await swapBetween(deps, terms(), { makerId, takerId });
    return async () => (await swapById(deps.db, id))?.state.legs.a.payoutAddress;
  };
  const first = await agree();
  const at = new Date(deps.now());
  const paid = { accountId: takerId, family: 'evm', address: other.evm.address } as const;
  await upsertWebProof(deps.db, { ...paid, pubkey: null, at, waitsUntil: null });
  await insertPayout(deps.db, { ...paid, id: randomUUID(), askedAt: at, fromAt: at, told: true });
  const next = await agree();
  assert.deepEqual([await first(), await next()], [taker.evm.address, other.evm.address]);
});

test('a Taproot login, or one without a key, leaves the bitcoin addresses open', async () => {
  const { evm, bitcoin } = someWallets();
  const { p2tr } = addressesOfPubkey(bitcoin.pubkey as string, bitcoinNetworks.regtest);
  const taproot = { ...bitcoin, address: p2tr };
  const keyless = { ...bitcoin, pubkey: null };
  const { b } = (await made({}, [[evm, taproot], [keyless]])).state.legs;
  assert.deepEqual([b.payoutAddress, b.refundAddress, b.escrow], [null, null, null]);
});

test('an amount’s depth may make the other leg long; the thread says so, and after as its swap', async () => {
  const adapters = new Map(deps.adapters);
  const of = (chain: string, policy: ChainPolicy) =>
    adapters.set(chain, { ...adapters.get(chain)!, policy });
  of('evm-dev', evmChains.base.policy);
  of('evm-dev-2', solanaChains.solana.policy);
  const at = { ...deps, adapters };
  const base = { ...assets.other, highValueFrom: 1_000n };
  const usual = terms({ base, quote: assets.usd, baseAmount: 999n });
  const high = { ...usual, baseAmount: 1_000n };
  assert.equal(previewLegs(at, usual).initiator, 'maker');
  const preview = previewLegs(at, high);
  assert.equal(preview.initiator, 'taker');
  const { long, threadId } = await agreedSwap(at, high);
  assert.equal(long, 'b');
  // By policies of today, whatever they are, the thread has been agreed.
  const { agreed } = (await findThread(deps.db, threadId)) as Thread;
  assert.deepEqual(previewLegs(deps, usual, agreed).initiator, 'taker');
  const seconds = (legs: LegsPreview['legs']) => [legs.a, legs.b].map((leg) => leg.timelockSeconds);
  assert.deepEqual(seconds(previewLegs(deps, usual, agreed).legs), seconds(preview.legs));
});

test('escrows are taken up once, also those whose transaction commits last', async () => {
  const adapter = deps.adapters.get('evm-dev')!;
  const position = fromTheStart();
  const taken = async () => (await takeUp(deps, adapter, position)).fresh.map((row) => row.swapId);
  while ((await takeUp(deps, adapter, position)).full);
  assert.deepEqual(await taken(), []);
  const makerId = await account();
  const takerId = await account();
  const gate = Promise.withResolvers<void>();
  const inside = Promise.withResolvers<string>();
  const slow = deps.db.transaction(async (tx) => {
    inside.resolve(await insertAgreed(tx, deps, terms(), { makerId, takerId }));
    await gate.promise;
  });
  const slowId = await inside.promise;
  const quick = (await made()).id;
  assert.deepEqual([await taken(), await taken()], [[quick], []]);
  gate.resolve();
  await slow;
  assert.deepEqual([await taken(), await taken()], [[slowId], []]);
});

for (const [family, who] of [
  ['evm', 'names the funder alone'],
  ['tron', 'names the funder alone'],
  // Its program pays a refund to the account that is named.
  ['solana', 'receives'],
] as const) {
  test(`on ${family} a refund address ${who}, and a payout is the account’s own`, async () => {
    const [bitcoin, evm] = nodelessAdapters() as [ChainAdapter, ChainAdapter];
    const shown: Partial<ChainAdapter> = {
      parseAddress: (text) => text,
      plan: ({ refund }) => ({ address: `escrow of ${refund.address}`, redeemScript: null }),
      readEscrow: async () => nothingSeen,
      preflight: async () => {},
    };
    const there = nodelessDeps(database.db, [bitcoin, { ...evm, ...shown, family }]);
    const own = randomUUID();
    const stranger = randomUUID();
    const wallets: Wallet[] = [{ family, address: own, pubkey: null }];
    const {
      id: swapId,
      makerId,
      takerId,
    } = await agreedSwap(there, terms(), [wallets, wallets.slice(1)]);
    const named = async (accountId: string, address: string) => {
      const about = { accountId, swapId, address };
      const request = { ...about, chain: 'evm-dev', leg: null, keySignature: null };
      const prepared = prepareAddress(there, request, AbortSignal.timeout(60_000));
      return prepared.then(
        ({ destination }) => destination.address,
        ({ code }: { code?: string }) => code,
      );
    };
    assert.equal(await named(makerId, own), own);
    assert.equal(await named(makerId, stranger), who === 'receives' ? 'not_payable' : stranger);
    assert.equal(await named(takerId, stranger), 'not_payable');
  });
}
