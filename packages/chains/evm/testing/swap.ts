import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { freshLane } from '@parley/core/testing.ts';
import type { Abi, Hex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import type { WatchedEscrow } from '../../interface/reading.ts';
import { type EvmAdapter, type EvmAdapterOptions, evmAdapter } from '../adapter.ts';
import { claimCall, evmDeployment, evmEscrow, fundCalls, refundCall } from '../plan.ts';
import { evmChains } from '../policy.ts';
import { lentOpen } from '../simulate.ts';
import { accounts, deploy, type Sender, send, type TestChain } from './anvil.ts';

export const funder = accounts[1]!;
export const receiver = accounts[2]!;
export const anyone = accounts[3]!;

const artifacts = join(import.meta.dirname, '../../../../contracts/evm/artifacts');
type DevToken = 'DevDollar' | 'DevTether' | 'ReturnsFalse' | 'FeeToken';

export function artifact(name: DevToken): { readonly abi: Abi; readonly bytecode: Hex } {
  return JSON.parse(readFileSync(join(artifacts, `${name}.json`), 'utf8'));
}

export function deployToken(chain: TestChain, name: DevToken): Promise<Hex> {
  return deploy(chain, artifact(name).bytecode);
}

const mintAbi = [
  {
    type: 'function',
    name: 'mint',
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
    ],
    outputs: [],
  },
] as const;

export async function mint(chain: TestChain, token: Hex, to: Hex, amount: bigint): Promise<void> {
  const data = encodeFunctionData({ abi: mintAbi, functionName: 'mint', args: [to, amount] });
  await send(chain, accounts[9]!, { to: token, data });
}

export function adapterOn(
  { rpcUrl, chainId }: TestChain,
  over: Partial<EvmAdapterOptions> = {},
): EvmAdapter {
  const { policy } = evmChains['evm-dev'];
  return evmAdapter({ chain: 'evm-dev', chainId, rpcUrls: [rpcUrl], policy, ...over });
}

export type Leg = {
  readonly secret: string;
  readonly terms: EscrowTerms;
  readonly escrow: WatchedEscrow;
};

export async function newLeg(chain: TestChain, over: Partial<EscrowTerms> = {}): Promise<Leg> {
  const { timestamp } = await chain.client.getBlock();
  const secret = randomBytes(32).toString('hex');
  const terms: EscrowTerms = {
    chain: 'evm-dev',
    hashlock: hashlockOf(secret),
    payout: { address: receiver.address, pubkey: null },
    refund: { address: funder.address, pubkey: null },
    token: null,
    amount: 1_000n,
    timelock: Number(timestamp) + 7_200,
    fundBefore: Number(timestamp) + 3_600,
    lane: freshLane(),
    ...over,
  };
  const { address } = evmEscrow(terms, evmDeployment(chain.chainId));
  const since = Number(timestamp);
  return { secret, terms, escrow: { address, terms, requiredConfirmations: 2, since } };
}

export async function fund(chain: TestChain, leg: Leg, from: Sender = funder): Promise<Hex> {
  let txid: Hex = '0x';
  for (const call of fundCalls(leg.terms, evmDeployment(chain.chainId), 0n)) {
    txid = await send(chain, from, call);
  }
  return txid;
}

export function claim(chain: TestChain, leg: Leg, from: Sender = anyone): Promise<Hex> {
  return send(chain, from, claimCall(leg.terms, evmDeployment(chain.chainId), leg.secret));
}

export function refund(chain: TestChain, leg: Leg, from: Sender = anyone): Promise<Hex> {
  return send(chain, from, refundCall(leg.terms, evmDeployment(chain.chainId)));
}

/** Writes that the escrow is open, with nothing behind it. */
export async function openByStorage(chain: TestChain, terms: EscrowTerms): Promise<void> {
  const deployment = evmDeployment(chain.chainId);
  const words = lentOpen(terms, deployment)[deployment.contract]?.stateDiff ?? {};
  const address = deployment.contract as Hex;
  for (const [index, value] of Object.entries(words)) {
    await chain.client.setStorageAt({ address, index: index as Hex, value: value as Hex });
  }
}

export async function later(chain: TestChain, seconds: number): Promise<void> {
  await chain.client.increaseTime({ seconds });
  await chain.client.mine({ blocks: 1 });
}
