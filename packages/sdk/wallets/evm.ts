// A wallet on one EVM chain, by the customer's own nodes. It signs and reads; settle sends.

import { typedDataToSign } from '@parley/chains/escrows/typed-data.ts';
import { evmTransactionGas, untriedGas } from '@parley/chains/evm/gas-policy.ts';
import { callsIn, evmDeployment } from '@parley/chains/evm/plan.ts';
import type { TypedData } from '@parley/chains/interface/material.ts';
import { larger, smaller } from '@parley/core/amounts.ts';
import { type Account, type Hex, keccak256, type LocalAccount, parseTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { MessageSigner } from '../keys.ts';
import { inPlaceOf, type Kept, versionsOf } from '../stores/store.ts';
import { inTime, oneByOne } from '../waiting.ts';
import {
  bounded,
  countsOf,
  type EvmFees,
  type EvmNodes,
  estimatedGas,
  isNonceDeep,
  type Look,
  looksOf,
  lowerFees,
  nodesAt,
  outcomeOf,
  payableFees,
  type RpcUrls,
} from './evm-nodes.ts';
import type { EvmSending, EvmWallet, Raise } from './wallet.ts';

export type EvmWalletOptions = {
  /** A node of the chain, or several: each is asked for nonces, fees and outcomes. */
  readonly rpcUrl: RpcUrls;
  readonly chainId: number;
  /** Most that a transaction may ever offer, wei a unit of gas; default 500 gwei. */
  readonly mostFeePerGas?: bigint;
} & ({ readonly privateKey: string } | { readonly account: Account });

export const defaultMostFeePerGas = 500_000_000_000n;
/** More nonces than this are not lost by a crash: such a count was made up by a node. */
const mostMissing = 64;

type Sending = EvmFees & {
  readonly to: Hex;
  readonly data?: Hex;
  readonly value: bigint;
  readonly gas: bigint;
  readonly nonce: number;
};

/** The abilities of an account: one that a node holds signs nothing by itself. */
type Signs = {
  readonly [Verb in 'signTransaction' | 'signMessage' | 'signTypedData']?:
    | LocalAccount[Verb]
    | undefined;
};

type Signing = {
  readonly nodes: EvmNodes;
  readonly mostFeePerGas: bigint;
  /** Within the signal's limit; a signature that comes later is nobody's. */
  readonly sign: (sending: Sending, signal: AbortSignal) => Promise<Kept>;
};

/** One wallet object a key and chain: it gives out nonces. */
export function evmWallet(options: EvmWalletOptions): EvmWallet & MessageSigner {
  const account =
    'account' in options ? options.account : privateKeyToAccount(options.privateKey as Hex);
  const { signTransaction, signMessage, signTypedData }: Signs = account;
  if (signTransaction === undefined || signMessage === undefined) {
    throw new Error(`the account ${account.address} cannot sign by itself`);
  }
  const { chainId, rpcUrl, mostFeePerGas = defaultMostFeePerGas } = options;
  const { address } = account;
  const nodes = { rpc: nodesAt(rpcUrl, chainId), chainId, address };
  const sign = async (sending: Sending, signal: AbortSignal): Promise<Kept> => {
    const signed = () => signTransaction({ type: 'eip1559', chainId, ...sending });
    const raw = await inTime(signed, signal);
    return { raw, txid: keccak256(raw) };
  };
  const signing = { nodes, mostFeePerGas, sign };
  const nonces = nonceSource(nodes);
  return {
    family: 'evm',
    address,
    signMessage: (message) => signMessage({ message }),
    sign: async (wanted, call, signal, taken = new Set()) => {
      if (wanted !== chainId) throw new Error(`this wallet signs for ${chainId}, not ${wanted}`);
      // Before it has a nonce: a call that fails gets none.
      const sending = await priced(signing, call, signal);
      return nonces.next(taken, signal, (nonce) => sign({ ...sending, nonce }, signal));
    },
    ...(signTypedData === undefined
      ? {}
      : {
          signTypedData: (data: TypedData, signal: AbortSignal) =>
            inTime(() => signTypedData(typedDataToSign(data)), signal),
        }),
    raise: (kept, how, signal) => raise(signing, kept, how, signal),
    outcome: (kept, signal) => outcomeOf(nodes, sentAs(kept), signal),
    isNonceDeep: (kept, confirmations, signal) =>
      isNonceDeep(nodes, nonceOf(kept), confirmations, signal),
    forget: nonces.forget,
  };
}

export async function priced(
  { nodes, mostFeePerGas: most }: Omit<Signing, 'sign'>,
  { gas: limit, ...call }: EvmSending,
  signal: AbortSignal,
) {
  const to = call.to as Hex;
  const data = call.data as Hex;
  const value = BigInt(call.value);
  const known = limit ?? claimGasOf(data, nodes.chainId);
  const [gas, looks] = await Promise.all([
    known ?? estimatedGas(nodes, { to, data, value }, signal),
    looksOf(nodes, signal),
  ]);
  return { to, data, value, gas, ...payableFees(looks, { gas, value, most }) };
}

/** The gas of claims and refunds where no node tells it; null: there are none. */
function untriedSpendGas(data: Hex, chainId: number): bigint | null {
  const spends = callsIn(data, evmDeployment(chainId)).filter(({ verb }) => verb !== 'fund');
  if (spends.length === 0) return null;
  const gasOf = ({ of }: (typeof spends)[number]) =>
    untriedGas(chainId, BigInt(of.terms.token) === 0n ? 'native' : 'token');
  return spends.reduce((sum, spend) => sum + gasOf(spend), 0n);
}

/** No node hears a secret before it is sent, whoever asks for a signature. */
function claimGasOf(data: Hex, chainId: number): bigint | null {
  const claims = callsIn(data, evmDeployment(chainId)).filter(({ verb }) => verb === 'claim');
  if (claims.length === 0) return null;
  const gasOf = ({ of }: (typeof claims)[number]) =>
    untriedGas(chainId, BigInt(of.terms.token) === 0n ? 'token' : 'reveal');
  const gas = claims.reduce((sum, claim) => sum + gasOf(claim), 0n);
  return smaller(gas, evmTransactionGas);
}

/**
 * On some chains it is not 21 000. A node that tells nothing must not stop what stands before a
 * claim.
 */
async function nothingTo(nodes: EvmNodes, signal: AbortSignal) {
  const call = { to: nodes.address as Hex, value: 0n };
  const untried = () => untriedGas(nodes.chainId, 'nothing');
  return { ...call, gas: await estimatedGas(nodes, call, signal).catch(untried) };
}

async function raise(
  { nodes, mostFeePerGas, sign }: Signing,
  kept: Kept,
  { cancel = false, mostFeeWei }: Raise,
  signal: AbortSignal,
): Promise<Kept | null> {
  const former = parseTransaction(kept.raw as Hex);
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n, nonce = 0, to, value = 0n } = former;
  if (!to) throw new Error(`the transaction ${kept.txid} calls nothing`);
  const call = cancel
    ? await nothingTo(nodes, signal)
    : { to, value, gas: former.gas ?? 0n, ...(former.data ? { data: former.data } : {}) };
  const looks = await looksOf(nodes, signal);
  signal.throwIfAborted();
  const most = mostFeeWei === null ? mostFeePerGas : smaller(mostFeeWei / call.gas, mostFeePerGas);
  const estimate = payableFees(looks, { gas: call.gas, value: call.value, most });
  const raised = replacementFees({ maxFeePerGas, maxPriorityFeePerGas }, estimate, most);
  const higher = raised && { ...call, ...raised };
  const lower = lowered(looks, call, kept, { most, chainId: nodes.chainId });
  // In turn: either may go by a lie.
  const isLowersTurn = versionsOf(kept).length % 2 === 1;
  const next = isLowersTurn ? (lower ?? higher) : (higher ?? lower);
  if (next === null) return null;
  return inPlaceOf(kept, await sign({ ...next, nonce }, signal));
}

/** See lowerFees. A claim or refund has no more gas then than one takes. */
function lowered<Call extends { readonly gas: bigint; readonly value: bigint }>(
  looks: readonly Look[],
  call: Call,
  kept: Kept,
  { most, chainId }: { readonly most: bigint; readonly chainId: number },
): (Call & EvmFees) | null {
  const former = parseTransaction(kept.raw as Hex);
  const offered = (former.gas ?? 0n) * (former.maxFeePerGas ?? 0n);
  const gas = smaller(call.gas, untriedSpendGas(former.data ?? '0x', chainId) ?? call.gas);
  const turn = Math.floor(versionsOf(kept).length / 2);
  const fees = lowerFees(looks, { gas, value: call.value, most }, { offered, turn });
  return fees && { ...call, gas, ...fees };
}

/**
 * Nonces in order, one signature at a time; a failed or late one gives its nonce back. The highest
 * count of those that answer goes, since a node may lag; where it led nowhere, the next lower one.
 */
function nonceSource(nodes: EvmNodes) {
  let last = -1;
  let passedOver = 0;
  const queued = oneByOne();
  type Use<T> = (nonce: number) => Promise<T>;
  return {
    next: <T>(taken: ReadonlySet<number>, signal: AbortSignal, use: Use<T>): Promise<T> =>
      queued(async () => {
        const counts = new Set(await countsOf(nodes, 'pending', signal));
        signal.throwIfAborted();
        const highestFirst = [...counts].sort((one, other) => other - one);
        const pending = highestFirst[passedOver % highestFirst.length] ?? 0;
        const isMadeUp = last - pending > mostMissing;
        let nonce = isMadeUp ? pending : Math.max(pending, last + 1);
        while (taken.has(nonce)) nonce += 1;
        const result = await use(nonce);
        signal.throwIfAborted();
        last = nonce;
        return result;
      }, signal),
    forget: (isDisputed = false) => {
      last = -1;
      passedOver = isDisputed ? passedOver + 1 : 0;
    },
  };
}

/** Nodes want an eighth more at most (geth and Nethermind a tenth), on both fees. Rounds up. */
function raised(fee: bigint): bigint {
  return fee + fee / 8n + 1n;
}

/**
 * Each an eighth above the former, or what the node estimates; null where `mostFeePerGas` leaves no
 * room.
 */
export function replacementFees(
  former: EvmFees,
  estimate: EvmFees,
  mostFeePerGas: bigint,
): EvmFees | null {
  const least = {
    maxFeePerGas: raised(former.maxFeePerGas),
    maxPriorityFeePerGas: raised(former.maxPriorityFeePerGas),
  };
  if (larger(least.maxFeePerGas, least.maxPriorityFeePerGas) > mostFeePerGas) return null;
  const priority = larger(least.maxPriorityFeePerGas, estimate.maxPriorityFeePerGas);
  const most = larger(larger(least.maxFeePerGas, estimate.maxFeePerGas), priority);
  return bounded({ maxFeePerGas: most, maxPriorityFeePerGas: priority }, mostFeePerGas);
}

export function sentAs(kept: Kept) {
  return { nonce: nonceOf(kept), versions: versionsOf(kept) };
}

export function nonceOf({ raw }: Pick<Kept, 'raw'>): number {
  return parseTransaction(raw as Hex).nonce ?? 0;
}

export function chainIdOf({ raw }: Pick<Kept, 'raw'>): number | null {
  return parseTransaction(raw as Hex).chainId ?? null;
}

/** Most that it pays for a unit of gas, wei. */
export function mostFeePerGasOf({ raw }: Pick<Kept, 'raw'>): bigint {
  const { maxFeePerGas, gasPrice } = parseTransaction(raw as Hex);
  return maxFeePerGas ?? gasPrice ?? 0n;
}
