// A wallet on one EVM chain, by the customer's own node. It signs and reads; settle sends.

import {
  type Account,
  createPublicClient,
  defineChain,
  type EstimateGasParameters,
  type Hex,
  http,
  keccak256,
  type LocalAccount,
  type PublicClient,
  parseTransaction,
  TransactionReceiptNotFoundError,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { evmTransactionGas, untriedGas } from '../../chains/evm/gas-policy.ts';
import { callsIn, evmDeployment } from '../../chains/evm/plan.ts';
import { typedDataToSign } from '../../chains/evm/ways.ts';
import type { TypedData } from '../../chains/interface/material.ts';
import { larger, smaller } from '../../core/amounts.ts';
import type { MessageSigner } from '../keys.ts';
import { inPlaceOf, type Kept, versionsOf } from '../stores/store.ts';
import { inTime, oneByOne } from '../waiting.ts';
import type { EvmSending, EvmWallet, Gap, Raise, TxOutcome } from './wallet.ts';

export type EvmWalletOptions = {
  readonly rpcUrl: string;
  readonly chainId: number;
  /** Most that a transaction may ever offer, wei a unit of gas; default 500 gwei. */
  readonly mostFeePerGas?: bigint;
} & ({ readonly privateKey: string } | { readonly account: Account });

export const defaultMostFeePerGas = 500_000_000_000n;
/** Gas beyond the estimate: the state may change between the two. */
const gasSharePercent = 125n;
/** More nonces than this are not lost by a crash. */
const mostMissing = 64;

type Sending = EvmFees & {
  readonly to: Hex;
  readonly data?: Hex;
  readonly value: bigint;
  readonly gas: bigint;
  readonly nonce: number;
};

/** What an account can: one that a node holds signs nothing by itself. */
type Signs = {
  readonly [Verb in 'signTransaction' | 'signMessage' | 'signTypedData']?:
    | LocalAccount[Verb]
    | undefined;
};

type Signing = {
  readonly node: PublicClient;
  readonly chainId: number;
  readonly address: Hex;
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
  const node = nodeAt(rpcUrl, chainId);
  const { address } = account;
  const sign = async (sending: Sending, signal: AbortSignal): Promise<Kept> => {
    const signed = () => signTransaction({ type: 'eip1559', chainId, ...sending });
    const raw = await inTime(signed, signal);
    return { raw, txid: keccak256(raw) };
  };
  const signing = { node, chainId, address, mostFeePerGas, sign };
  const nonces = nonceSource(node, address);
  return {
    family: 'evm',
    address,
    signMessage: (message) => signMessage({ message }),
    sign: async (wanted, call, signal, taken = new Set()) => {
      if (wanted !== chainId) throw new Error(`this wallet signs for ${chainId}, not ${wanted}`);
      // Before it has a nonce: a call that fails gets none.
      const sending = await inTime(() => priced(signing, call), signal);
      return nonces.next(taken, signal, (nonce) => sign({ ...sending, nonce }, signal));
    },
    ...(signTypedData === undefined
      ? {}
      : {
          signTypedData: (data: TypedData, signal: AbortSignal) =>
            inTime(() => signTypedData(typedDataToSign(data)), signal),
        }),
    raise: (kept, how, signal) => raise(signing, kept, how, signal),
    outcome: (kept, signal) => outcomeOf(node, address, kept, signal),
    isNonceDeep: (kept, confirmations, signal) =>
      isNonceDeep(node, address, { kept, confirmations }, signal),
    gapBefore: (kept, signal) => gapBefore(signing, nonceOf(kept), signal),
    forget: nonces.forget,
  };
}

export function nodeAt(rpcUrl: string, chainId: number): PublicClient {
  return createPublicClient({
    chain: defineChain({
      id: chainId,
      name: `chain ${chainId}`,
      nativeCurrency: { name: 'native', symbol: 'NATIVE', decimals: 18 },
      rpcUrls: { default: { http: [rpcUrl] } },
    }),
    transport: http(rpcUrl, { timeout: 10_000, retryCount: 2 }),
  });
}

export async function priced(
  { node, chainId, address, mostFeePerGas }: Omit<Signing, 'sign'>,
  { gas: limit, ...call }: EvmSending,
) {
  const to = call.to as Hex;
  const data = call.data as Hex;
  const value = BigInt(call.value);
  const known = limit ?? claimGasOf(data, chainId);
  const [gas, fees] = await Promise.all([
    known ?? estimated(node, { account: address, to, data, value }),
    node.estimateFeesPerGas(),
  ]);
  return { to, data, value, gas, ...bounded(fees, mostFeePerGas) };
}

/** No node hears a secret before it is sent, whoever asks for a signature. */
function claimGasOf(data: Hex, chainId: number): bigint | null {
  const claims = callsIn(data, evmDeployment(chainId)).filter(({ verb }) => verb === 'claim');
  if (claims.length === 0) return null;
  const gasOf = ({ of }: (typeof claims)[number]) =>
    untriedGas(chainId, BigInt(of.terms.token) === 0n ? 'token' : 'reveal', 'either');
  const gas = claims.reduce((sum, claim) => sum + gasOf(claim), 0n);
  return smaller(gas, evmTransactionGas);
}

async function estimated(node: PublicClient, call: EstimateGasParameters): Promise<bigint> {
  return ((await node.estimateGas(call)) * gasSharePercent) / 100n;
}

/**
 * On some chains it is not 21 000. A node that tells nothing must not stop what stands before a
 * claim.
 */
async function nothingTo(node: PublicClient, address: Hex, chainId: number) {
  const call = { account: address, to: address, value: 0n };
  const gas = await estimated(node, call).catch(() => untriedGas(chainId, 'nothing', 'either'));
  return { to: address, value: 0n, gas };
}

async function raise(
  { node, chainId, address, mostFeePerGas, sign }: Signing,
  kept: Kept,
  { cancel = false, mostFeeWei }: Raise,
  signal: AbortSignal,
): Promise<Kept | null> {
  const former = parseTransaction(kept.raw as Hex);
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n, nonce = 0, to, value = 0n } = former;
  if (!to) throw new Error(`the transaction ${kept.txid} calls nothing`);
  const call = cancel
    ? await nothingTo(node, address, chainId)
    : { to, value, gas: former.gas ?? 0n, ...(former.data ? { data: former.data } : {}) };
  const estimate = await node.estimateFeesPerGas();
  signal.throwIfAborted();
  const affordable = mostFeeWei === null ? mostFeePerGas : mostFeeWei / call.gas;
  const most = affordable < mostFeePerGas ? affordable : mostFeePerGas;
  const fees = replacementFees({ maxFeePerGas, maxPriorityFeePerGas }, estimate, most);
  if (fees === null) return null;
  return inPlaceOf(kept, await sign({ ...call, ...fees, nonce }, signal));
}

export async function isNonceDeep(
  node: PublicClient,
  address: Hex,
  { kept, confirmations }: { readonly kept: Kept; readonly confirmations: number },
  signal: AbortSignal,
): Promise<boolean> {
  const { number } = await node.getBlock({ blockTag: 'latest' });
  signal.throwIfAborted();
  const blockNumber = number - BigInt(confirmations) + 1n;
  if (blockNumber < 0n) return false;
  return (await node.getTransactionCount({ address, blockNumber })) > nonceOf(kept);
}

export async function outcomeOf(
  node: PublicClient,
  address: Hex,
  kept: Kept,
  signal: AbortSignal,
): Promise<TxOutcome> {
  const nonce = nonceOf(kept);
  // Asked first: a version that is mined between the two questions only looks as if it waited.
  const used = await node.getTransactionCount({ address, blockTag: 'latest' });
  signal.throwIfAborted();
  if (used <= nonce) {
    const pending = await node.getTransactionCount({ address, blockTag: 'pending' });
    return { state: 'waiting', next: used === nonce, gap: pending <= used && used < nonce };
  }
  for (const txid of versionsOf(kept)) {
    signal.throwIfAborted();
    const mined = await receiptOf(node, txid as Hex);
    if (mined !== null) return { state: mined };
  }
  return { state: 'lost' };
}

async function receiptOf(node: PublicClient, hash: Hex): Promise<'succeeded' | 'reverted' | null> {
  try {
    const { status } = await node.getTransactionReceipt({ hash });
    return status === 'success' ? 'succeeded' : 'reverted';
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return null;
    throw error;
  }
}

async function gapBefore(
  { node, chainId, address, mostFeePerGas, sign }: Signing,
  until: number,
  signal: AbortSignal,
): Promise<Gap | null> {
  const count = (blockTag: 'latest' | 'pending') => node.getTransactionCount({ address, blockTag });
  const [used, pending] = await Promise.all([count('latest'), count('pending')]);
  signal.throwIfAborted();
  if (pending > used || used >= until) return null;
  if (until - used > mostMissing) {
    throw new Error(`nonce ${until} was kept, and the account ${address} is at ${used}`);
  }
  const nonces = Array.from({ length: until - used }, (_, at) => used + at);
  const [estimate, block, nothing] = await Promise.all([
    node.estimateFeesPerGas(),
    node.getBlock({ blockTag: 'latest' }),
    nothingTo(node, address, chainId),
  ]);
  signal.throwIfAborted();
  // Nobody raises a filler later.
  const fees = bounded(
    {
      maxFeePerGas: estimate.maxFeePerGas * 4n,
      maxPriorityFeePerGas: estimate.maxPriorityFeePerGas * 2n,
    },
    mostFeePerGas,
  );
  const baseFeePerGas = block.baseFeePerGas ?? 0n;
  const fill = (nonce: number, limit: AbortSignal) => sign({ ...nothing, ...fees, nonce }, limit);
  return { nonces, baseFeePerGas, fill };
}

/** Nonces in order, one signature at a time; a failed or late one gives its nonce back. */
function nonceSource(node: PublicClient, address: Hex) {
  let last = -1;
  const queued = oneByOne();
  type Use<T> = (nonce: number) => Promise<T>;
  return {
    next: <T>(taken: ReadonlySet<number>, signal: AbortSignal, use: Use<T>): Promise<T> =>
      queued(async () => {
        signal.throwIfAborted();
        const pending = await node.getTransactionCount({ address, blockTag: 'pending' });
        signal.throwIfAborted();
        let nonce = Math.max(pending, last + 1);
        while (taken.has(nonce)) nonce += 1;
        const result = await use(nonce);
        signal.throwIfAborted();
        last = nonce;
        return result;
      }, signal),
    forget: () => {
      last = -1;
    },
  };
}

export type EvmFees = {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
};

/** Nodes want an eighth more at most (geth and Nethermind a tenth), on both fees. Rounds up. */
function raised(fee: bigint): bigint {
  return fee + fee / 8n + 1n;
}

export function bounded(fees: EvmFees, mostFeePerGas: bigint): EvmFees {
  const maxFeePerGas = smaller(fees.maxFeePerGas, mostFeePerGas);
  return {
    maxFeePerGas,
    maxPriorityFeePerGas: smaller(fees.maxPriorityFeePerGas, maxFeePerGas),
  };
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
