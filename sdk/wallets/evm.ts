// A wallet on one EVM chain: a viem account, with nonces, gas and fees from the customer's own
// node. It signs and reads; settle sends.

import {
  type Account,
  createPublicClient,
  defineChain,
  type Hex,
  http,
  keccak256,
  type PublicClient,
  TransactionReceiptNotFoundError,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { EvmCall } from '../../chains/material.ts';
import type { MessageSigner } from '../keys.ts';
import type { Kept } from '../stores/store.ts';
import type { EvmWallet } from './wallet.ts';

export type EvmWalletOptions = {
  readonly rpcUrl: string;
  readonly chainId: number;
} & ({ readonly privateKey: string } | { readonly account: Account });

/** Gas beyond the estimate: the state may change between the two. */
const gasSharePercent = 125n;

/** One wallet object a key and chain: it gives out nonces. */
export function evmWallet(options: EvmWalletOptions): EvmWallet & MessageSigner {
  const account =
    'account' in options ? options.account : privateKeyToAccount(options.privateKey as Hex);
  const { signTransaction, signMessage } = account;
  if (signTransaction === undefined || signMessage === undefined) {
    throw new Error(`the account ${account.address} cannot sign by itself`);
  }
  const { chainId, rpcUrl } = options;
  const node = createPublicClient({
    chain: defineChain({
      id: chainId,
      name: `chain ${chainId}`,
      nativeCurrency: { name: 'native', symbol: 'NATIVE', decimals: 18 },
      rpcUrls: { default: { http: [rpcUrl] } },
    }),
    transport: http(rpcUrl, { timeout: 10_000, retryCount: 2 }),
  });
  const nonces = nonceSource(node, account.address);
  return {
    alone: oneByOne(),
    family: 'evm',
    address: account.address,
    signMessage: (message) => signMessage({ message }),
    sign: (wanted, call, signal) =>
      nonces.next(async (nonce): Promise<Kept> => {
        signal.throwIfAborted();
        if (wanted !== chainId) throw new Error(`this wallet signs for ${chainId}, not ${wanted}`);
        const sending = { ...(await priced(node, account.address, call)), chainId, nonce };
        signal.throwIfAborted();
        const raw = await signTransaction({ type: 'eip1559', ...sending });
        return { raw, txid: keccak256(raw) };
      }),
    mined: async (txid) => {
      try {
        const { status } = await node.getTransactionReceipt({ hash: txid as Hex });
        return status === 'success' ? 'succeeded' : 'reverted';
      } catch (error) {
        if (error instanceof TransactionReceiptNotFoundError) return null;
        throw error;
      }
    },
    forget: nonces.forget,
  };
}

async function priced(node: PublicClient, from: Hex, call: EvmCall) {
  const to = call.to as Hex;
  const data = call.data as Hex;
  const value = BigInt(call.value);
  const [gas, fees] = await Promise.all([
    node.estimateGas({ account: from, to, data, value }),
    node.estimateFeesPerGas(),
  ]);
  return {
    to,
    data,
    value,
    gas: (gas * gasSharePercent) / 100n,
    maxFeePerGas: fees.maxFeePerGas,
    maxPriorityFeePerGas: fees.maxPriorityFeePerGas,
  };
}

/** Nonces in order, one signature at a time; a failed signature gives its nonce back. */
function nonceSource(node: PublicClient, address: Hex) {
  let last = -1;
  const queued = oneByOne();
  const take = async <T>(use: (nonce: number) => Promise<T>): Promise<T> => {
    const pending = await node.getTransactionCount({ address, blockTag: 'pending' });
    const nonce = Math.max(pending, last + 1);
    const result = await use(nonce);
    last = nonce;
    return result;
  };
  return {
    next: <T>(use: (nonce: number) => Promise<T>): Promise<T> => queued(() => take(use)),
    forget: () => {
      last = -1;
    },
  };
}

/** A queue of work: each begins when the one before has ended, however it did. */
function oneByOne() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const run = last.then(work);
    last = run.catch(() => undefined);
    return run;
  };
}
