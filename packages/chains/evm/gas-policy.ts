// A gas key's fees on the EVM chains, as data. `reserveFeePerGas` covers 99.9 % of times; it was
// chosen from published figures, not measured.

import { measuredGas } from '@parley/contracts/escrows/artifacts/gas.ts';
import { larger } from '@parley/core/amounts.ts';
import { fewMiB, fewWords, quantity, type Rpc, RpcError } from '../nodes/rpc.ts';
import { once, saidInTime, unlessAborted } from '../nodes/sources.ts';
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
  /** Whether its blocks name one: a node that leaves it out is then not believed. */
  readonly hasBaseFee: boolean;
  /** OP stack: the contract that knows what a transaction's bytes cost on Ethereum. */
  readonly l1FeeOracle: string | null;
  readonly forks: ForkPolicy;
};

type ForkPolicy = {
  /** When Amsterdam's rules begin, or began; null: not announced, or not by Ethereum's schedule. */
  readonly amsterdamAt: number | null;
  /** Start of the last fork with Prague's rules. null: its `eth_config` says nothing of its gas. */
  readonly pragueUpTo: number | null;
};

const gwei = 1_000_000_000n;
/** A settlement takes 41 000 to 229 000; a token behind hooks may take ten times as much. */
const mostGas = 500_000n;
/** OP chains and Arbitrum take over Ethereum's changes at times that no `eth_config` names. */
const ownSchedule: ForkPolicy = { amsterdamAt: null, pragueUpTo: null };

/** Daily means above 300 gwei were single days since EIP-1559 (etherscan.io/chart/gasprice). */
const ethereum: EvmGasPolicy = {
  mostGas,
  leastTip: gwei / 100n,
  mostTip: 20n * gwei,
  reserveFeePerGas: 300n * gwei,
  hasBaseFee: true,
  l1FeeOracle: null,
  // BPO2, 7 January 2026; no later fork had a date in November 2026 (EIP-7773).
  forks: { amsterdamAt: null, pragueUpTo: 1_767_747_671 },
};

/** 6 October 2026 (blog.ethereum.org, "Glamsterdam Testnet Announcement"). */
const sepolia: EvmGasPolicy = {
  ...ethereum,
  forks: { amsterdamAt: 1_791_294_816, pragueUpTo: null },
};

// A sequencer takes 1 000 000 wei at least (docs.optimism.io); 2 gwei is above the busiest hours.
const opStack: EvmGasPolicy = {
  mostGas,
  leastTip: gwei / 1_000n,
  mostTip: gwei,
  reserveFeePerGas: 2n * gwei,
  hasBaseFee: true,
  l1FeeOracle: '0x420000000000000000000000000000000000000F',
  forks: ownSchedule,
};

/** Gas holds the bytes' cost on Ethereum too; the base fee reached some gwei (docs.arbitrum.io). */
const arbitrum: EvmGasPolicy = {
  mostGas: 5_000_000n,
  leastTip: 0n,
  mostTip: gwei / 100n,
  reserveFeePerGas: 5n * gwei,
  hasBaseFee: true,
  l1FeeOracle: null,
  forks: ownSchedule,
};

/** A test network has plenty of everything, and of coins most. anvil has one fork from block 0. */
const dev: EvmGasPolicy = {
  ...ethereum,
  reserveFeePerGas: 20n * gwei,
  forks: { amsterdamAt: null, pragueUpTo: 0 },
};

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

const unknown: EvmGasPolicy = { ...ethereum, hasBaseFee: false, forks: ownSchedule };

/** By the chain's id, whatever it is called; an unknown id has Ethereum's. */
export function evmGasPolicyOf(chainId: number): EvmGasPolicy {
  const known = Object.entries(evmChains).find(([, each]) => each.chainId === chainId);
  return evmGasPolicies[known?.[0] ?? ''] ?? unknown;
}

/** No transaction of Ethereum may have more (EIP-7825). */
export const evmTransactionGas = 2n ** 24n;

type EscrowGas = {
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

export type GasRules = 'prague' | 'amsterdam' | 'either';

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

export function dearestGas(rules: GasRules, kind: 'native' | 'token' | 'authorized'): bigint {
  const { native, token, authorized, newAccount, newWord } = gasBy[rules];
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
  rules: GasRules,
): bigint {
  const { token, newWord } = gasBy[rules];
  const untried = {
    native: (dearestGas(rules, 'native') * 5n + 3n) / 4n,
    token: larger(2n * (token.settle + newWord), (token.settle * 7n + 1n) / 2n),
    nothing: 30_000n,
    reveal: mostGas,
  };
  return gasOnChain(chainId, untried[what]);
}

type Said = {
  readonly time: number;
  readonly isAmsterdam: boolean;
  /** null: it tells nothing that can be relied on. */
  readonly config: { readonly since: number; readonly nextAt: number | null } | null;
};

type Known = { readonly amsterdam: boolean; readonly pragueUntil: number | null };

export type Forks = {
  /** The operator's word: Prague's rules hold until then (Unix seconds). */
  readonly nextForkAt: number | null;
  readonly clock: () => number;
  known: (Known & { readonly at: number }) | null;
  asking: Promise<void> | null;
  askedAt: number;
};

export const newForks = (
  nextForkAt: number | null,
  clock: Forks['clock'] = () => performance.now(),
): Forks => ({
  nextForkAt,
  clock,
  known: null,
  asking: null,
  askedAt: Number.NEGATIVE_INFINITY,
});

const againMs = 5 * 60_000;
/** Where no node answered: the other questions of a request fail then, too. */
const failedAgainMs = 30_000;
/** Earlier fees stand in so long for nodes that are silent. */
const staleMs = 24 * 3_600_000;
const waitMs = 4_000;
/** A node that hangs holds up nobody. */
const othersMs = 1_000;

type Asking = {
  readonly chain: string;
  readonly chainId: number;
  readonly rpc: Rpc;
  readonly forks: Forks;
  readonly said: Set<string>;
  readonly log: (event: string, facts: Readonly<Record<string, unknown>>) => void;
};

/** Never throws but for an abort. Nodes are asked once in five minutes. */
export async function gasRules(
  watch: Asking,
  signal: AbortSignal,
): Promise<(until: number) => GasRules> {
  const { forks } = watch;
  const isFresh = forks.known !== null && forks.clock() - forks.known.at < againMs;
  if (!isFresh && forks.clock() - forks.askedAt >= failedAgainMs) {
    forks.askedAt = forks.clock();
    forks.asking ??= askAll(watch).finally(() => {
      forks.asking = null;
    });
  }
  if (!isFresh && forks.asking !== null) await unlessAborted(forks.asking, signal);
  signal.throwIfAborted();
  const { known } = forks;
  if (known === null || forks.clock() - known.at > staleMs) return () => 'either';
  if (known.amsterdam) return () => 'amsterdam';
  const { pragueUntil } = known;
  return (until) => (pragueUntil !== null && until <= pragueUntil ? 'prague' : 'either');
}

export async function rulesUntil(
  watch: Asking,
  until: number,
  signal: AbortSignal,
): Promise<GasRules> {
  return (await gasRules(watch, signal))(until);
}

async function askAll(watch: Asking): Promise<void> {
  const { rpc, chain, chainId, forks } = watch;
  const { sources } = rpc;
  const ask = (at: number, signal: AbortSignal) => saidBy(rpc, at, chainId, signal);
  const said = await saidInTime(sources, ask, othersMs, AbortSignal.timeout(waitMs));
  if (said.length === 0) {
    once(watch, 'fork_unknown', { chain, why: 'no node answers' });
    return;
  }
  const policy = evmGasPolicyOf(chainId).forks;
  const known = mostCareful(said.map((each) => knownBy(each, policy, forks.nextForkAt)));
  if (!known.amsterdam && known.pragueUntil === null) {
    once(watch, 'fork_unknown', { chain, why: 'its nodes do not tell: the dearer gas is asked' });
  }
  forks.known = { ...known, at: forks.clock() };
}

export function knownBy(said: Said, policy: ForkPolicy, nextForkAt: number | null): Known {
  const { amsterdamAt, pragueUpTo } = policy;
  const dates = [amsterdamAt, nextForkAt].filter((each) => each !== null);
  const isOver = dates.some((at) => at <= said.time);
  if (said.isAmsterdam || isOver) return { amsterdam: true, pragueUntil: null };
  const { config } = said;
  const isTold = config !== null && pragueUpTo !== null && config.since <= pragueUpTo;
  if (!isTold && nextForkAt === null) return { amsterdam: false, pragueUntil: null };
  if (isTold && config.nextAt !== null) dates.push(config.nextAt);
  return { amsterdam: false, pragueUntil: Math.min(...dates) - 1 };
}

function mostCareful(all: readonly Known[]): Known {
  const ends = all.map(({ pragueUntil }) => pragueUntil);
  return {
    amsterdam: all.some(({ amsterdam }) => amsterdam),
    pragueUntil: ends.includes(null) ? null : Math.min(...ends.filter((end) => end !== null)),
  };
}

async function saidBy(rpc: Rpc, at: number, chainId: number, signal: AbortSignal) {
  const [head, config] = await Promise.all([
    rpc.ask(at, 'eth_getBlockByNumber', ['latest', false], signal, fewMiB),
    rpc.ask(at, 'eth_config', [], signal, fewWords).catch((error: unknown) => {
      if (error instanceof RpcError) return null;
      throw error;
    }),
  ]);
  const block = recordIn(head);
  if (block === null) return null;
  return {
    time: quantity(block.timestamp),
    isAmsterdam: block.blockAccessListHash != null || block.slotNumber != null,
    config: configIn(config, chainId),
  };
}

function configIn(answer: unknown, chainId: number): Said['config'] {
  const config = recordIn(answer);
  const current = recordIn(config?.current);
  if (config === null || current === null) return null;
  const since = current.activationTime;
  if (current.chainId !== `0x${chainId.toString(16)}` || !isTime(since)) return null;
  if (config.next === null) return { since, nextAt: null };
  const nextAt = recordIn(config.next)?.activationTime;
  return isTime(nextAt) ? { since, nextAt } : null;
}

function recordIn(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null ? { ...value } : null;
}

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
