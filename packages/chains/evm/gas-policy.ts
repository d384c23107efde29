// A gas key's fees on the EVM chains, as data. `reserveFeePerGas` covers 99.9 % of times; it was
// chosen from published figures, not measured.

import { measuredGas } from '@parley/contracts/escrows/artifacts/gas.ts';
import { larger } from '@parley/core/amounts.ts';
import { fewMiB, type Rpc } from '../nodes/rpc.ts';
import { evmChains } from './policy.ts';

export type EvmGasPolicy = {
  /**
   * Most gas of one transaction: the amount of the key's coins that a hostile token or receiver can
   * burn.
   */
  readonly mostGas: bigint;
  /** Bounds of the tip; between them it is what recent blocks were paid. */
  readonly leastTip: bigint;
  readonly mostTip: bigint;
  readonly reserveFeePerGas: bigint;
  /** OP stack: the contract that knows what a transaction's bytes cost on Ethereum. */
  readonly l1FeeOracle: string | null;
  /**
   * Start of the last fork with Prague's rules. null: the chain takes over Ethereum's forks at times
   * that no `eth_config` names, or has taken over Amsterdam.
   */
  readonly pragueUpTo: number | null;
};

export type Fork = keyof typeof measuredGas;

const gwei = 1_000_000_000n;
/** A settlement takes 41 000 to 229 000; a token behind hooks may take ten times as much. */
const mostGas = 500_000n;
/** Daily means above 300 gwei were single days since EIP-1559 (etherscan.io/chart/gasprice). */
const ethereum: EvmGasPolicy = {
  mostGas,
  leastTip: gwei / 100n,
  mostTip: 20n * gwei,
  reserveFeePerGas: 300n * gwei,
  l1FeeOracle: null,
  // BPO2, 7 January 2026; no later fork had a date in November 2026 (EIP-7773).
  pragueUpTo: 1_767_747_671,
};

/** Since 6 October 2026 (blog.ethereum.org, "Glamsterdam Testnet Announcement"). */
const sepolia: EvmGasPolicy = { ...ethereum, pragueUpTo: null };

// A sequencer takes 1 000 000 wei at least (docs.optimism.io); 2 gwei is above the busiest hours.
const opStack: EvmGasPolicy = {
  mostGas,
  leastTip: gwei / 1_000n,
  mostTip: gwei,
  reserveFeePerGas: 2n * gwei,
  l1FeeOracle: '0x420000000000000000000000000000000000000F',
  pragueUpTo: null,
};

/** Gas holds the bytes' cost on Ethereum too; the base fee reached some gwei (docs.arbitrum.io). */
const arbitrum: EvmGasPolicy = {
  mostGas: 5_000_000n,
  leastTip: 0n,
  mostTip: gwei / 100n,
  reserveFeePerGas: 5n * gwei,
  l1FeeOracle: null,
  pragueUpTo: null,
};

/** A test network has plenty of everything, and of coins most. anvil has one fork from block 0. */
const dev: EvmGasPolicy = { ...ethereum, reserveFeePerGas: 20n * gwei, pragueUpTo: 0 };

const policies = {
  ethereum,
  sepolia,
  optimism: opStack,
  'optimism-sepolia': opStack,
  base: opStack,
  'base-sepolia': opStack,
  arbitrum,
  'arbitrum-sepolia': arbitrum,
  'evm-dev': dev,
  'evm-dev-2': dev,
} as const satisfies Readonly<Record<keyof typeof evmChains, EvmGasPolicy>>;

export const evmGasPolicies: Readonly<Record<string, EvmGasPolicy>> = policies;

export function isKnownEvmChain(chainId: number): boolean {
  return Object.values(evmChains).some((each) => each.chainId === chainId);
}

const unknown: EvmGasPolicy = { ...ethereum, pragueUpTo: null };

/** By the chain's id, whatever it is called; an unknown id has Ethereum's. */
export function evmGasPolicyOf(chainId: number): EvmGasPolicy {
  const known = Object.entries(evmChains).find(([, each]) => each.chainId === chainId);
  return evmGasPolicies[known?.[0] ?? ''] ?? unknown;
}

/** No transaction of Ethereum may have more (EIP-7825). */
export const evmTransactionGas = 2n ** 24n;

/** The rules that gas may have until then: Amsterdam's, the dearer, unless a node rules them out. */
export async function forkUntil(
  rpc: Rpc,
  chainId: number,
  until: number,
  signal: AbortSignal,
): Promise<Fork> {
  const { pragueUpTo } = evmGasPolicyOf(chainId);
  if (pragueUpTo === null) return 'amsterdam';
  type Forked = { readonly activationTime: number };
  type Config = { readonly current: Forked; readonly next: Forked | null };
  try {
    const { current, next } = (await rpc.call('eth_config', [], signal, fewMiB)) as Config;
    const isPrague = current.activationTime <= pragueUpTo;
    return isPrague && (next === null || next.activationTime > until) ? 'prague' : 'amsterdam';
  } catch {
    signal.throwIfAborted();
    return 'amsterdam';
  }
}

export function dearestGas(fork: Fork, kind: 'native' | 'token' | 'authorized'): bigint {
  const { native, token, authorized, newAccount, newWord } = measuredGas[fork];
  const dearest = {
    native: native.settle + newAccount,
    token: larger(token.settle + newWord, (token.settle * 7n) / 2n),
    authorized: ((authorized + newWord) * 5n) / 4n,
  };
  return dearest[kind];
}

/** Gas on this chain for so much on Ethereum: where gas holds the bytes too, it takes more. */
export function gasOnChain(chainId: number, gas: bigint): bigint {
  return (evmGasPolicyOf(chainId).mostGas * gas) / mostGas;
}

/** A claim that reveals gets all the gas: out of gas it would tell the secret and take nothing. */
export function untriedGas(
  chainId: number,
  what: 'native' | 'token' | 'nothing' | 'reveal',
  fork: Fork = 'amsterdam',
): bigint {
  const { token, newWord } = measuredGas[fork];
  const untried = {
    native: (dearestGas(fork, 'native') * 5n + 3n) / 4n,
    token: larger(2n * (token.settle + newWord), (token.settle * 7n + 1n) / 2n),
    nothing: 30_000n,
    reveal: mostGas,
  };
  return gasOnChain(chainId, untried[what]);
}
