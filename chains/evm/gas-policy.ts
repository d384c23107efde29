// What a gas key pays on the EVM chains, as data. `reserveFeePerGas` covers 99.9 % of times; it was
// chosen from published figures, not measured.

import { measuredGas } from '../../contracts/escrows/artifacts/gas.ts';
import { larger } from '../../core/amounts.ts';
import type { GasRules } from './forks.ts';
import { evmChains } from './policy.ts';

export type EvmGasPolicy = {
  /** Most gas of one transaction: what a hostile token or receiver can burn of the key's coins. */
  readonly mostGas: bigint;
  /** Bounds of the tip; between them it is what recent blocks were paid. */
  readonly leastTip: bigint;
  readonly mostTip: bigint;
  readonly reserveFeePerGas: bigint;
  /** Whether its blocks name one: a node that leaves it out is then not believed. */
  readonly hasBaseFee: boolean;
  /** OP stack: the contract that knows what a transaction's bytes cost on Ethereum. */
  readonly l1FeeOracle: string | null;
};

const gwei = 1_000_000_000n;

export type EscrowGas = {
  readonly native: { readonly fund: bigint; readonly settle: bigint };
  readonly token: { readonly fund: bigint; readonly settle: bigint };
  readonly approve: bigint;
  /** A funding by the funder's signature that takes a lane for the first time. */
  readonly authorized: bigint;
  /** A lane's first use, or the first balance of a token: one new word of state. */
  readonly newWord: bigint;
  /** A native payment to an address that was never used. */
  readonly newAccount: bigint;
};

const { prague, amsterdam } = measuredGas;
const gasBy: Readonly<Record<GasRules, EscrowGas>> = {
  prague,
  amsterdam,
  either: {
    native: largerOf(prague.native, amsterdam.native),
    token: largerOf(prague.token, amsterdam.token),
    approve: larger(prague.approve, amsterdam.approve),
    authorized: larger(prague.authorized, amsterdam.authorized),
    newWord: larger(prague.newWord, amsterdam.newWord),
    newAccount: larger(prague.newAccount, amsterdam.newAccount),
  },
};

function largerOf(one: EscrowGas['native'], other: EscrowGas['native']): EscrowGas['native'] {
  return { fund: larger(one.fund, other.fund), settle: larger(one.settle, other.settle) };
}

export function escrowGas(rules: GasRules): EscrowGas {
  return gasBy[rules];
}

/** A settlement takes 41 000 to 229 000; a token behind hooks may take ten times as much. */
const mostGas = 500_000n;

/** Daily means above 300 gwei were single days since EIP-1559 (etherscan.io/chart/gasprice). */
const ethereum: EvmGasPolicy = {
  mostGas,
  leastTip: gwei / 100n,
  mostTip: 20n * gwei,
  reserveFeePerGas: 300n * gwei,
  hasBaseFee: true,
  l1FeeOracle: null,
};

// A sequencer takes 1 000 000 wei at least (docs.optimism.io); 2 gwei is above the busiest hours.
const opStack: EvmGasPolicy = {
  mostGas,
  leastTip: gwei / 1_000n,
  mostTip: gwei,
  reserveFeePerGas: 2n * gwei,
  hasBaseFee: true,
  l1FeeOracle: '0x420000000000000000000000000000000000000F',
};

/** Gas holds the bytes' cost on Ethereum too; the base fee reached some gwei (docs.arbitrum.io). */
const arbitrum: EvmGasPolicy = {
  mostGas: 5_000_000n,
  leastTip: 0n,
  mostTip: gwei / 100n,
  reserveFeePerGas: 5n * gwei,
  hasBaseFee: true,
  l1FeeOracle: null,
};

/** Nothing is scarce on a test network, and least of all coins. */
const dev: EvmGasPolicy = { ...ethereum, reserveFeePerGas: 20n * gwei };

/** No transaction of Ethereum may have more (EIP-7825). */
export const evmTransactionGas = 2n ** 24n;

export function isKnownEvmChain(chainId: number): boolean {
  return Object.values(evmChains).some((each) => each.chainId === chainId);
}

const unknown: EvmGasPolicy = { ...ethereum, hasBaseFee: false };

/** By the chain's id, whatever it is called; of one that nobody here knows Ethereum's. */
export function evmGasPolicyOf(chainId: number): EvmGasPolicy {
  const known = Object.entries(evmChains).find(([, each]) => each.chainId === chainId);
  return evmGasPolicies[known?.[0] ?? ''] ?? unknown;
}

export function dearestGas(rules: GasRules, kind: 'native' | 'token' | 'authorized'): bigint {
  const { native, token, authorized, newAccount, newWord } = escrowGas(rules);
  switch (kind) {
    case 'native':
      return native.settle + newAccount;
    case 'token':
      return larger(token.settle + newWord, (token.settle * 7n) / 2n);
    case 'authorized':
      return ((authorized + newWord) * 5n) / 4n;
  }
}

/** Gas on this chain for so much on Ethereum: where gas holds the bytes too, it takes more. */
export function gasOnChain(chainId: number, gas: bigint): bigint {
  return (evmGasPolicyOf(chainId).mostGas * gas) / mostGas;
}

/** A claim that reveals gets all the gas: out of gas it would tell the secret and take nothing. */
export function untriedGas(
  chainId: number,
  what: 'native' | 'token' | 'nothing' | 'reveal',
  rules: GasRules,
): bigint {
  return gasOnChain(chainId, untriedOf(what, rules));
}

function untriedOf(what: Parameters<typeof untriedGas>[1], rules: GasRules): bigint {
  switch (what) {
    case 'native':
      return (dearestGas(rules, 'native') * 5n + 3n) / 4n;
    case 'token': {
      const { token, newWord } = escrowGas(rules);
      return larger(2n * (token.settle + newWord), (token.settle * 7n + 1n) / 2n);
    }
    case 'nothing':
      return 30_000n;
    case 'reveal':
      return mostGas;
  }
}

export const evmGasPolicies: Readonly<Record<string, EvmGasPolicy>> = {
  ethereum,
  sepolia: ethereum,
  optimism: opStack,
  'optimism-sepolia': opStack,
  base: opStack,
  'base-sepolia': opStack,
  arbitrum,
  'arbitrum-sepolia': arbitrum,
  'evm-dev': dev,
  'evm-dev-2': dev,
};
