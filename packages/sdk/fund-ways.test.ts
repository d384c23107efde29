// A token funded by a signature, on a real anvil and bitcoind: by a permit in one transaction, or
// by an authorization that others send. The market is a stand-in that answers by the pure code.
// That no altered text passes is proved by packages/chains/evm/ways.test.ts.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import { parseSignature } from '@parley/chains/escrows/typed-data.ts';
import { evmDeployment, evmEscrow } from '@parley/chains/evm/plan.ts';
import type { Owed, Warning } from '@parley/chains/interface/gas.ts';
import type { FundAlternative, TypedData } from '@parley/chains/interface/material.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { encodeFunctionData } from 'viem/utils';
import { contextOf } from './settle/context.ts';
import { tendAuthorization } from './settle/ways.ts';
import { type Progress, type SettleInput, settle } from './settle.ts';
import type { Store, SwapRecord } from './stores/store.ts';
import { type Coin, coinAbi, newCoin, offering } from './testing/paper-ways.ts';
import { placed } from './testing/placed.ts';
import {
  evmKey,
  hastySide,
  isFunded,
  later,
  onChains,
  recordOf,
  running,
  unscheduled,
  until,
  withAdapter,
} from './testing/sides.ts';
import { limits, timed } from './testing/timed.ts';
import { sourceIn } from './trade.ts';
import { evmWallet } from './wallets/evm.ts';
import type { EvmWallet } from './wallets/wallet.ts';

const chainId = 31_337;
const { contract } = evmDeployment(chainId);
let coin: Coin;
let keeper: EvmWallet;

const on = onChains(async ({ chains, anvil }) => {
  coin = await newCoin(anvil);
  keeper = newWallet();
  await chains.dev.faucet({ chain: evmKey, address: keeper.address });
});

const newWallet = (privateKey = `0x${randomBytes(32).toString('hex')}`) =>
  evmWallet({ rpcUrl: on.chains.place.evm.rpcUrl, chainId, privateKey });
const gasFor = ({ address }: EvmWallet) => on.chains.dev.faucet({ chain: evmKey, address });

type Makes = {
  readonly key?: Hex;
  readonly gas: boolean;
  /** The balance of the coin. */
  readonly held?: bigint;
  readonly more?: Partial<SettleInput>;
  /** A stand-in for the wallet's own signing. */
  readonly signs?: (wallet: EvmWallet, data: TypedData, signal: AbortSignal) => Promise<string>;
};

/** A maker who gives 500 dollars of that coin, with a wallet of its own, and its taker. */
async function making({ gas, key, held = 1_000_000_000n, more = {}, signs }: Makes) {
  const own = newWallet(key);
  const texts: TypedData[] = [];
  const signTypedData = async (data: TypedData, signal: AbortSignal): Promise<string> => {
    texts.push(data);
    return (await (signs?.(own, data, signal) ?? own.signTypedData?.(data, signal))) ?? '';
  };
  const wallet = { ...own, signTypedData };
  if (gas) await gasFor(own);
  await coin.mint(own.address, held);
  return { ...(await swapOf(wallet, more)), wallet, texts };
}

async function swapOf(wallet: EvmWallet, more: Partial<SettleInput> = {}) {
  const scene = on.chains.swap(undefined, { token: coin, maker: wallet });
  const given = await hastySide(scene, 'maker', { ...unscheduled, ...more });
  const taker = await hastySide(scene, 'taker', unscheduled);
  const { input, relay } = offering(given, { scene, coin, keeper, party: 'maker' });
  const emitted: Progress[] = [];
  const maker = { ...input, onProgress: (each: Progress) => void emitted.push(each) };
  return { scene, maker, taker, relay, emitted };
}

/** Both to their ends. */
async function ends(...sides: readonly SettleInput[]) {
  return (await Promise.all(sides.map((side) => settle(side)))).map(({ end }) => end);
}

const received = ['received', 'received'];

timed('a permit of the amount funds in one transaction, whoever used it first', async () => {
  const frontRun = async (wallet: EvmWallet, data: TypedData, signal: AbortSignal) => {
    const signature = (await wallet.signTypedData?.(data, signal)) ?? '';
    const { v, r, s } = parseSignature(signature);
    const { owner, spender, value, deadline } = data.message;
    const args = [owner, spender, BigInt(value ?? 0), BigInt(deadline ?? 0), v, r, s];
    const call = { abi: coinAbi, functionName: 'permit', args } as never;
    const [from] = await on.anvil.call<string[]>('eth_accounts');
    const sent = { from, to: coin.address, data: encodeFunctionData(call) as Hex };
    await on.anvil.call('eth_sendTransaction', [sent]);
    return signature;
  };
  for (const signs of [undefined, frontRun]) {
    const { maker, taker, wallet, texts } = await making({ gas: true, ...(signs && { signs }) });
    assert.deepEqual(await ends(maker, taker), received);
    const signed = texts.map(({ primaryType, message }) => [primaryType, message.value]);
    assert.deepEqual(signed, [['Permit', '500000000']]);
    assert.equal(await on.anvil.countOf(wallet.address), 1);
    assert.equal(await coin.read('allowance', [wallet.address, contract]), 0n);
  }
});

timed('a permit that fails on the own node gives way to an approval', async () => {
  const { maker, taker, wallet, emitted } = await making({ gas: true });
  const refusing = withAdapter(maker, evmKey, ({ signing }) => ({
    ...(signing && { signing: { ...signing, trial: async () => 'it reverts' } }),
  }));
  await until(taker, isFunded);
  await until(refusing, isFunded);
  assert.ok(emitted.some(({ text }) => text === 'approves instead of a permit: it reverts'));
  await on.anvil.mined((await recordOf(maker)).funding?.txid ?? '');
  assert.equal(await on.anvil.countOf(wallet.address), 2);
});

test('the program of docs/funding.md makes the call that anybody may send', limits, async (t) => {
  const { signFunding } = await import(await placed(t, 'docs/funding.md', 'signFunding'));
  const key: Hex = `0x${randomBytes(32).toString('hex')}`;
  const { scene, maker, taker } = await making({ gas: false, key });
  await until(taker, isFunded);
  const trade = scene.market.trade('maker');
  const { client, swapId, chains } = maker;
  const owner = privateKeyToAccount(key);
  // A neighbour may have moved the chains' clock, and the program goes by this machine's.
  t.mock.timers.enable({ apis: ['Date'], now: on.chains.now() * 1_000 });
  const { call } = await signFunding(client, swapId, trade, chains, owner);
  t.mock.timers.reset();
  const { adapter } = sourceIn(chains, evmKey);
  const signal = AbortSignal.timeout(60_000);
  const { raw } = await keeper.sign(chainId, call, signal);
  await adapter.broadcast(await adapter.readSigned(raw, signal), signal);
  const watched = scene.market.watched('a');
  await waitUntil(async () => (await adapter.readEscrow(watched, signal)).funded);
});

timed(
  'without gas one signature funds: kept first, and handed out again after a crash',
  async () => {
    const { maker, taker, relay, texts, scene, wallet } = await making({ gas: false });
    const others = running(taker);
    let atOnce: string | undefined;
    const store: Store = {
      ...maker.store,
      putSwap: async (record) => {
        if (record.authorization) assert.deepEqual(relay.given, []);
        await maker.store.putSwap(record);
        atOnce ??= record.authorization?.signature;
      },
    };
    await until({ ...maker, store }, ({ step }) => step === 'signed');
    assert.deepEqual(relay.given, []);
    // The market's later word on the leg changes nothing.
    const { escrow } = (await recordOf(maker)).authorization ?? {};
    assert.equal(escrow, scene.market.watched('a').address);
    assert.deepEqual(await ends(maker), ['received']);
    assert.equal((await others.end).end, 'received');
    assert.deepEqual(
      texts.map(({ primaryType }) => primaryType),
      ['ReceiveWithAuthorization'],
    );
    const given = new Set(relay.given.map(({ signature }) => signature));
    assert.deepEqual([...given], [atOnce]);
    const { address } = wallet;
    const ether = await on.anvil.call<string>('eth_getBalance', [address, 'latest']);
    assert.deepEqual([Number(ether), await on.anvil.countOf(address)], [0, 0]);
  },
);

timed('where the market does not send it, this side does once it has gas', async () => {
  const { scene, maker, taker, relay, wallet, texts } = await making({ gas: false });
  relay.does = 'refuse';
  const others = running(taker);
  const own = running({ ...maker, marketPollMs: 100 });
  await own.next('market_refused');
  // Another escrow of the same hashlock is for nobody to sign now.
  const { terms, address: signed } = scene.market.watched('a');
  const lane = { number: '5a'.repeat(12), counter: 1 };
  const { address: escrow } = evmEscrow({ ...terms, lane }, evmDeployment(chainId));
  scene.market.lie((swap) => {
    const a = { ...swap.legs.a, lane, escrow };
    return { ...swap, legs: { ...swap.legs, a } };
  });
  await waitUntil(() => relay.given.length >= 4);
  assert.ok(relay.given.every((given) => given.escrow === signed));
  assert.equal((await recordOf(maker)).swap.legs.a.escrow?.address, signed);
  scene.market.lie((swap) => swap);
  // A relay's word that it has sent one is not believed for ever either.
  relay.does = 'pretend';
  await gasFor(wallet);
  assert.equal((await own.end).end, 'received');
  assert.equal((await others.end).end, 'received');
  assert.equal(await on.anvil.countOf(wallet.address), 1);
  assert.equal(texts.length, 1);
});

/** Kept, and in nobody's hands: its side was stopped right then. */
async function signedOnly() {
  const made = await making({ gas: false });
  const { maker, taker, relay } = made;
  await until(taker, isFunded);
  await until(maker, ({ step }) => step === 'signed');
  assert.deepEqual(relay.given, []);
  const record = await recordOf(maker);
  assert.ok(record.authorization);
  const tend = async (side: SettleInput, more: Partial<SwapRecord> = {}) => {
    await side.store.putSwap({ ...record, ...more });
    const context = contextOf(side);
    await context.store.getSwap(side.swapId);
    await tendAuthorization(context);
    return context.record;
  };
  return { ...made, record, tend };
}

/** Funds are short where claims are owed beside them. */
const poor = { code: 'fee_poor', verb: 'claim', sentence: 'too little for both' } as const;
const fundsShortage = async ({ claims }: Owed, address: string): Promise<Warning | null> =>
  claims.length === 0 ? null : { ...poor, address };

timed('a kept signature goes out only where a new funding would', async () => {
  const { maker, relay, record, tend } = await signedOnly();
  const differs = async () => {
    throw new ParleyError('chain_unavailable', 'its nodes differ', {});
  };
  await assert.rejects(tend(withAdapter(maker, evmKey, () => ({ mustAgree: differs }))), {
    message: 'its nodes differ',
  });
  const seconds = record.swap.deadlines.counterpartyFundBy - on.chains.now() + 60;
  await assert.rejects(tend(later(maker, seconds)), { code: 'too_late_to_fund' });
  const short = withAdapter(maker, record.swap.legs.b.chain, () => ({ fundsShortage }));
  await assert.rejects(tend(short), { code: 'claim_unpayable' });
  assert.deepEqual(relay.given, []);
});

timed('a text that differs from the own terms is never signed', async () => {
  const owner = `0x${'5a'.repeat(20)}`;
  const lie = (each: FundAlternative) => ({
    ...each,
    typedData: each.typedData && {
      ...each.typedData,
      message: { ...each.typedData.message, to: owner, owner },
    },
  });
  for (const gas of [true, false]) {
    const { maker, taker, relay, texts } = await making({ gas });
    await until(taker, isFunded);
    for (const alter of [lie, () => null]) {
      relay.alter = alter;
      await assert.rejects(settle(maker), { name: 'VerificationError' }, `${gas}: ${alter}`);
    }
    assert.deepEqual([texts, relay.given], [[], []]);
  }
});

timed('what another key has signed is handed out to nobody', async () => {
  const signs = async (_: EvmWallet, data: TypedData, signal: AbortSignal) =>
    (await keeper.signTypedData?.(data, signal)) ?? '';
  const { maker, taker, relay } = await making({ gas: false, signs });
  await until(taker, isFunded);
  await assert.rejects(settle(maker), { code: 'no_wallet' });
  assert.deepEqual(relay.given, []);
  assert.equal((await recordOf(maker)).authorization, undefined);
});

timed('a wallet with too few tokens is told both numbers before it pays an approval', async () => {
  const more = { fundingWays: ['approval'] } as const;
  const { maker, taker, wallet } = await making({ gas: true, held: 499_999_999n, more });
  await until(taker, isFunded);
  const short = / has 499999999 of token .* leg a takes 500000000$/;
  await until(maker, ({ step, text }) => step === 'waiting' && short.test(text));
  assert.equal(await on.anvil.countOf(wallet.address), 0);
  await coin.mint(wallet.address, 1n);
  await until(maker, isFunded);
});
