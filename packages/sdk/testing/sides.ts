// Tests only: sides of a swap on dev chains that stop where a crash would stop them, with wallets
// that have next to nothing, and adapters and nodes that say otherwise.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { sleep } from '@parley/chains/nodes/turn.ts';
import { showing } from '@parley/chains/testing/showing.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { Party } from '@parley/core/trade.ts';
import { rpcTo } from '@parley/dev/devnet/rpc.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { type Outcome, type Progress, type SettleInput, settle } from '../settle.ts';
import type { SwapRecord } from '../stores/store.ts';
import { sourceIn } from '../trade.ts';
import { type FourChains, fourChains, reserved, type Scene } from './four-chains.ts';
import { withChain } from './honest.ts';
import { limits } from './timed.ts';

export const evmKey = 'evm-dev';
export const gwei = 1_000_000_000n;
/** A base fee below what any wallet of the tests offers. */
export const cheapest = 1_000_000n;

export type Anvil = {
  call<T>(method: string, params?: readonly unknown[]): Promise<T>;
  /** One block at this base fee, with whatever the pool holds that pays it. */
  block(baseFeeWei: bigint): Promise<void>;
  /** No block but by `block`. */
  hold(): Promise<void>;
  /** As usual again, at a base fee that everybody pays. */
  go(): Promise<void>;
  /** null: no block has it. */
  receipt(txid: string): Promise<{ readonly status: string } | null>;
  isKnown(txid: string): Promise<boolean>;
  /** Until a block has it. */
  mined(txid: string): Promise<void>;
  /** How many transactions the account has on chain. */
  countOf(address: string): Promise<number>;
};

export function anvilOf({ dev, place }: FourChains): Anvil {
  const url = place.evm.rpcUrl;
  const call = async <T>(method: string, params: readonly unknown[] = []): Promise<T> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(60_000),
    });
    const { result, error } = (await response.json()) as { result: T; error?: unknown };
    assert.equal(error, undefined, `${method}: ${JSON.stringify(error)}`);
    return result;
  };
  const block = async (baseFeeWei: bigint) => {
    await call('anvil_setNextBlockBaseFeePerGas', [`0x${baseFeeWei.toString(16)}`]);
    await call('evm_mine');
  };
  const receipt: Anvil['receipt'] = (txid) => call('eth_getTransactionReceipt', [txid]);
  return {
    call,
    block,
    receipt,
    hold: () => dev.mining(evmKey, false),
    go: async () => {
      await block(cheapest);
      await dev.mining(evmKey, true);
    },
    isKnown: async (txid) => (await call('eth_getTransactionByHash', [txid])) !== null,
    mined: async (txid) => {
      await waitUntil(() => receipt(txid));
    },
    countOf: async (address) =>
      Number(await call<string>('eth_getTransactionCount', [address, 'latest'])),
  };
}

/** Calls of the bitcoind behind these chains. */
export const coreOf = ({ place }: FourChains) => rpcTo(place.bitcoin.rpcUrl);

/** One side with its secret in its store. */
export async function sideOf(
  scene: Scene,
  party: Party,
  more: Partial<SettleInput> = {},
): Promise<SettleInput> {
  const input = { ...scene.input(party), ...more };
  if (party === 'taker') await input.store.putSecret(hashlockOf(scene.secret), scene.secret);
  return input;
}

/** The same with patience for a second: a transaction that no block takes is replaced then. */
export const hastySide = (scene: Scene, party: Party, more: Partial<SettleInput> = {}) =>
  sideOf(scene, party, { replaceAfterMs: 1_000, ...more });

/**
 * Without spends that are signed ahead: both sides, and the market, would verify the eight claims and
 * refunds of a Bitcoin leg, for a quarter of the processor time of such a test.
 * `scheduled-spends.test.ts` has sides that sign them.
 */
export const unscheduled = { scheduleClaims: false, scheduleRefunds: false };

export async function recordOf({
  store,
  swapId,
}: Pick<SettleInput, 'store' | 'swapId'>): Promise<SwapRecord> {
  const record = await store.getSwap(swapId);
  assert.ok(record);
  return record;
}

/** Runs a side until something is told, then stops it as a crash would. Returns what was told. */
export async function until(
  input: SettleInput,
  when: (progress: Progress) => boolean,
): Promise<Progress> {
  const stop = new AbortController();
  const stopped = new Error('stopped here');
  let last: Progress | null = null;
  const onProgress = (progress: Progress) => {
    input.onProgress?.(progress);
    if (last !== null || !when(progress)) return;
    last = progress;
    stop.abort(stopped);
  };
  await assert.rejects(settle({ ...input, signal: stop.signal, onProgress }), stopped);
  assert.ok(last);
  return last;
}

export const isFunded = ({ step }: Progress) => step === 'funded';

const sides = new Set<AbortController>();

/** Sides of a test that failed stop, too: a side that runs on would ask chains that are gone. */
export function stopAll(): void {
  for (const each of sides) each.abort(new Error('the tests are over'));
  sides.clear();
}

/** A running side, and what it has told so far. */
export function running(input: SettleInput): {
  readonly emitted: Progress[];
  readonly end: Promise<Outcome>;
  /** Waits until `count` things of this kind were told; returns the last of them. */
  next(step: Progress['step'], count?: number, leg?: 'a' | 'b'): Promise<Progress>;
} {
  const emitted: Progress[] = [];
  let failed: unknown = null;
  const over = new AbortController();
  sides.add(over);
  const signal = AbortSignal.any([over.signal, ...(input.signal ? [input.signal] : [])]);
  const end = settle({ ...input, signal, onProgress: (each) => void emitted.push(each) });
  end.catch((error: unknown) => {
    failed = error ?? new Error('it ended');
  });
  const next = async (step: Progress['step'], count = 1, leg?: 'a' | 'b') => {
    const limit = performance.now() + 60_000;
    for (;;) {
      const found = emitted.filter((each) => each.step === step && (!leg || each.leg === leg));
      const wanted = found[count - 1];
      if (wanted !== undefined) return wanted;
      if (failed !== null) throw failed;
      const said = emitted.map((each) => `${each.step} ${each.leg} ${each.text}`).join('\n');
      assert.ok(performance.now() < limit, `never ${step} ${count} times:\n${said}`);
      await sleep(50);
    }
  };
  return { emitted, end, next };
}

/** The same side with its chain source altered. */
export function withAdapter(
  input: SettleInput,
  chain: string,
  alter: (adapter: ChainAdapter) => Partial<ChainAdapter>,
): SettleInput {
  const source = sourceIn(input.chains, chain);
  const adapter = showing(source.adapter, alter(source.adapter));
  return { ...input, chains: withChain(input.chains, chain, { source: { ...source, adapter } }) };
}

/** The same side with its clock and those of its chains ahead by so many seconds. */
export function later(input: SettleInput, seconds: number): SettleInput {
  let moved = input;
  for (const chain of Object.keys(input.chains)) {
    moved = withAdapter(moved, chain, ({ heads }) => ({
      heads: async (signal) => {
        const found = await heads(signal);
        return { ...found, clock: found.clock + seconds };
      },
    }));
  }
  const { now } = input;
  assert.ok(now);
  return { ...moved, now: async () => (await now()) + seconds };
}

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
