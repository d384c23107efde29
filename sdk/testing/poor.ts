// Tests only: sides with wallets that have next to nothing, and adapters that say otherwise.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { ChainAdapter } from '../../chains/adapter.ts';
import type { ChainKey } from '../../core/families.ts';
import { hashlockOf } from '../../core/hashlock.ts';
import type { LegName, Party } from '../../core/trade.ts';
import type { ChainSource } from '../settle/context.ts';
import { type Progress, type SettleInput, settle } from '../settle.ts';
import { evmWallet } from '../wallets/evm.ts';
import { solanaWallet } from '../wallets/solana.ts';
import { tronWallet } from '../wallets/tron.ts';
import type { Wallet } from '../wallets/wallet.ts';
import type { FourChains } from './four-chains.ts';
import type { Scene } from './two-chains.ts';

/** One side, with its secret in its store. */
export async function sideOf(scene: Scene, party: Party): Promise<SettleInput> {
  const input = scene.input(party);
  if (party === 'taker') await input.store.putSecret(hashlockOf(scene.secret), scene.secret);
  return input;
}

/** Runs until it has said this; what it said until then. */
export async function until(
  input: SettleInput,
  when: (progress: Progress) => boolean,
): Promise<Progress[]> {
  const stop = new AbortController();
  const stopped = new Error('stopped here');
  const told: Progress[] = [];
  const onProgress = (progress: Progress) => {
    told.push(progress);
    if (when(progress)) stop.abort(stopped);
  };
  await assert.rejects(settle({ ...input, signal: stop.signal, onProgress }), stopped);
  return told;
}

export const isFunded = ({ step }: Progress) => step === 'funded';

export type NewWallet = {
  readonly chain: ChainKey;
  readonly wallet: Wallet;
  /** Another object of the same key. */
  readonly again: () => Wallet;
};

/** One party's wallet of this family is new and has nothing, for as long as `work` takes. */
export async function withNewWallet(
  chains: FourChains,
  family: 'evm' | 'tron' | 'solana',
  party: Party,
  work: (at: NewWallet) => Promise<void>,
): Promise<void> {
  const served = (await chains.dev.status()).chains.find((each) => each.family === family);
  const { chain = '', rpcUrl = '', chainId = 0 } = served ?? {};
  const key = randomBytes(32);
  const privateKey = key.toString('hex');
  const made = {
    evm: () => evmWallet({ rpcUrl, chainId: chainId ?? 0, privateKey: `0x${privateKey}` }),
    tron: () => tronWallet({ chain, sources: [{ url: rpcUrl }], privateKey }),
    solana: () => solanaWallet({ chain, rpcUrls: [rpcUrl], secretKey: Uint8Array.from(key) }),
  };
  const again = made[family];
  const wallet = again();
  const purse = chains.purses[party] as Map<ChainKey, Wallet>;
  const had = purse.get(chain);
  purse.set(chain, wallet);
  try {
    await work({ chain, wallet, again });
  } finally {
    if (had !== undefined) purse.set(chain, had);
  }
}

/** The side with another word of its adapter on the chain of this leg. */
export function altered(
  input: SettleInput,
  scene: Scene,
  leg: LegName,
  alter: (adapter: ChainAdapter) => Partial<ChainAdapter>,
): SettleInput {
  const { chain } = scene.market.watched(leg).terms;
  const source = input.sources.get(chain) as ChainSource;
  const adapter = { ...source.adapter, ...alter(source.adapter) };
  return { ...input, sources: new Map([...input.sources, [chain, { ...source, adapter }]]) };
}
