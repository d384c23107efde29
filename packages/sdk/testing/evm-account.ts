// Tests only: EVM accounts with money and with swaps of their own in a store, on the chains of
// four-chains.ts; a test says which signed transactions are kept, sent or lost.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before } from 'node:test';
import type { Hashlock } from '@parley/core/hashlock.ts';
import { type Hex, keccak256, parseTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { contextOf } from '../settle/context.ts';
import { evmHand } from '../settle/hands/evm.ts';
import { legOf } from '../settle/record.ts';
import type { Progress, SettleInput } from '../settle.ts';
import { memoryStore } from '../stores/memory.ts';
import type { Kept, Store, SwapRecord } from '../stores/store.ts';
import { evmWallet } from '../wallets/evm.ts';
import { type FourChains, fourChains, reserved } from './four-chains.ts';
import { withChain } from './honest.ts';
import {
  type Anvil,
  anvilOf,
  coreOf,
  evmKey,
  hastySide,
  recordOf,
  stopAll,
  until,
} from './sides.ts';
import { limits } from './timed.ts';

export const chainId = 31_337;
export const ether = 10n ** 18n;

/** A verified swap whose taker is paid on EVM: all others are made of it. */
type Pattern = {
  readonly input: SettleInput;
  readonly record: SwapRecord;
};
export type On = {
  readonly chains: FourChains;
  readonly anvil: Anvil;
  readonly core: ReturnType<typeof coreOf>;
};

/** Chains for the tests of a file, and what `first` makes on them: there once the tests begin. */
export function onChains(first: (on: On) => Promise<void> = async () => {}): On {
  const on: Partial<{ -readonly [Name in keyof On]: On[Name] }> = {};
  // Those of other files of the process are waiting.
  const release = reserved();
  before(async () => {
    const chains = await fourChains();
    Object.assign(on, { chains, anvil: anvilOf(chains), core: coreOf(chains) });
    await first(on as On);
  }, limits);
  after(async () => {
    stopAll();
    await on.chains?.stop();
    await release();
  }, limits);
  return on as On;
}

async function patternOf({ chains }: On): Promise<Pattern> {
  const scene = chains.swap();
  const input = await hastySide(scene, 'taker');
  await until(input, ({ step }) => step === 'verified');
  return { input, record: await recordOf(input) };
}

export const nonceIn = ({ raw }: Kept) => parseTransaction(raw as Hex).nonce;

type Signs = Pick<ReturnType<typeof privateKeyToAccount>, 'signTransaction'>;

/** An account with money, what it signs, and its hand on the chain. */
async function accountOn(
  { chains, anvil }: On,
  pattern: Pattern,
  more: Partial<SettleInput> = {},
  alter: (signs: Signs) => Signs = (signs) => signs,
) {
  const owner = privateKeyToAccount(`0x${randomBytes(32).toString('hex')}`);
  const { address, signTransaction } = owner;
  await anvil.call('anvil_setBalance', [address, `0x${(10n * ether).toString(16)}`]);
  const { rpcUrl } = chains.place.evm;
  const own = { ...owner, ...alter(owner) };
  const newWallet = () => evmWallet({ rpcUrl, chainId, account: own });
  const emitted: Progress[] = [];
  const onProgress = (progress: Progress) => void emitted.push(progress);
  const withOwn = withChain(pattern.input.chains, evmKey, { wallet: newWallet() });
  const alone = { swapId: '00', client: null, chains: withOwn, store: memoryStore(), onProgress };
  const input = { ...pattern.input, ...alone, ...more };
  const context = contextOf(input);
  const leg = legOf(pattern.record, 'a');
  const wallet = newWallet();
  const newHand = () => evmHand(context, leg, newWallet());
  const hand = evmHand(context, leg, wallet);
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
  /** Its own swap, loaded as the record of its context. */
  const keepOwn = async (slots: Other): Promise<SwapRecord> => {
    await keepOn({ chains }, pattern, input.store, { ...slots, id: '00' });
    return (await context.store.getSwap('00')) as SwapRecord;
  };
  const texts = () => emitted.map(({ text }) => text).join('\n');
  const on = { context, leg, wallet };
  const { store } = input;
  return { ...on, input, address, on, hand, newHand, signing, signed, keepOwn, texts, store };
}

export type Account = Awaited<ReturnType<typeof accountOn>>;

export type Other = Partial<SwapRecord> & {
  readonly party?: 'maker' | 'taker';
  /** The legs whose time is over. */
  readonly past?: 'a' | 'both';
};

/** Another swap: one of the maker who funds on EVM, or of the taker who claims there. */
async function keepOn(
  { chains }: Pick<On, 'chains'>,
  pattern: Pattern,
  store: Store,
  { id, party = 'maker', past, ...slots }: Other & { readonly id: string },
): Promise<SwapRecord> {
  const { trade, swap } = pattern.record;
  const by = chains.now() - 600;
  const { a, b } = swap.legs;
  const over = { a: { ...a, timelock: by }, b: past === 'both' ? { ...b, timelock: by } : b };
  const deadlines = { ...swap.deadlines, counterpartyFundBy: by };
  const late = past ? { deadlines, legs: over } : {};
  const record: SwapRecord = {
    trade: { ...trade, party, threadId: id },
    swap: { ...swap, ...late, id, hashlock: keccak256(`0x${id}`).slice(2) as Hashlock },
    funding: null,
    claim: null,
    refund: null,
    publicSecret: null,
    ...slots,
  };
  await store.putSwap(record);
  return record;
}

/** Accounts on chains of their own, for the tests of a file, and swaps kept beside theirs. */
export function accounts() {
  let pattern: Pattern | null = null;
  const on = onChains(async (there) => {
    pattern = await patternOf(there);
  });
  const made = (): Pattern => pattern ?? assert.fail('before the tests');
  return {
    on,
    pattern: made,
    account: (more?: Partial<SettleInput>, alter?: (signs: Signs) => Signs) =>
      accountOn(on, made(), more, alter),
    keep: (store: Store, id: string, slots: Other) => keepOn(on, made(), store, { ...slots, id }),
  };
}
