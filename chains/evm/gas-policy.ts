// What an operator's gas key pays on the EVM chains, as data. Wei for each unit of gas, and gas.
//
// `reserveFeePerGas` stands for the fee that 99.9 % of times stay below. It was chosen from what is
// published, not measured block by block: an operator with a series of its own gives its own.

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

/** Gas of transactions of ours, as measured; an approval comes on top of a token's funding. */
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

/**
 * A claim or refund takes 41 000 to 66 000, and up to 229 000 where it makes a balance or an
 * account. The transfer of a token behind proxies that calls hooks may take ten times as much.
 */
const mostGas = 500_000n;

/**
 * Daily means of Ethereum's gas price were above 300 gwei on single days only since EIP-1559
 * (etherscan.io/chart/gasprice; the highest was 474, 1 May 2022): about one day in a thousand.
 */
const ethereum: EvmGasPolicy = {
  mostGas,
  leastTip: gwei / 100n,
  mostTip: 20n * gwei,
  reserveFeePerGas: 300n * gwei,
  hasBaseFee: true,
  l1FeeOracle: null,
};

/**
 * The least tip is what a sequencer takes at all (1 000 000 wei, docs.optimism.io, "Transaction
 * fees"). Base fees rose to some tenths of a gwei in the busiest hours of Base and OP Mainnet; 2
 * gwei is several times that. `GasPriceOracle` is a predeploy of every OP chain
 * (specs.optimism.io, "Predeploys").
 */
const opStack: EvmGasPolicy = {
  mostGas,
  leastTip: gwei / 1_000n,
  mostTip: gwei,
  reserveFeePerGas: 2n * gwei,
  hasBaseFee: true,
  l1FeeOracle: '0x420000000000000000000000000000000000000F',
};

/**
 * Gas holds what the bytes cost on Ethereum, so that there is much more of it, and of a tip nothing
 * reaches the sequencer (docs.arbitrum.io, "Gas and fees"). The base fee is 0.01 gwei at least; in
 * the busiest hour known, the inscriptions of December 2023, it was some gwei.
 */
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

/** Nor whether there is a base fee. */
const unknown: EvmGasPolicy = { ...ethereum, hasBaseFee: false };

/** By the chain's id, whatever it is called; of one that nobody here knows Ethereum's. */
export function evmGasPolicyOf(chainId: number): EvmGasPolicy {
  const known = Object.entries(evmChains).find(([, each]) => each.chainId === chainId);
  return evmGasPolicies[known?.[0] ?? ''] ?? unknown;
}

/**
 * With what a settlement may make besides: the receiver's account, or its first balance. A funding
 * by signature with the contract's first balance of the token, and a quarter more.
 */
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

/**
 * Gas of what a party sends by itself, where no node says how much it takes. A quarter more than
 * the dearest, and for a token, which may do more than the measured one, twice what it takes and
 * makes, or three and a half times what it takes. A claim that reveals the secret of a token's
 * escrow gets all that the policy allows: out of gas it would tell the secret and take nothing. A
 * wallet that passed `claimShortage` (fees.ts) can pay for it at a fifth above the price.
 */
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

/** By chain key, as evmChains. */
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
