// A wallet of a person on one EVM chain that sends what it signs (`eth_sendTransaction`). Its sent
// transactions are known by one's own nodes alone.

import { typedDataToSign } from '@parley/chains/escrows/typed-data.ts';
import { sameAddress } from '@parley/chains/evm/address.ts';
import { asked, object } from '@parley/chains/evm/node.ts';
import { oneTransaction } from '@parley/chains/nodes/rpc.ts';
import { foundBySome } from '@parley/chains/nodes/sources.ts';
import { sleep } from '@parley/chains/nodes/turn.ts';
import {
  formatTransaction,
  getTypesForEIP712Domain,
  type Hex,
  keccak256,
  type RpcTransaction,
  serializeTransaction,
  serializeTypedData,
  type Transaction,
} from 'viem';
import { WalletError } from '../errors.ts';
import type { MessageSigner } from '../keys.ts';
import type { Kept } from '../stores/store.ts';
import { defaultMostFeePerGas, nonceOf, priced, sentAs } from './evm.ts';
import {
  countsOf,
  type EvmNodes,
  isNonceDeep,
  nodesAt,
  outcomeOf,
  type RpcUrls,
} from './evm-nodes.ts';
import type { Asks, EvmSending, EvmWallet } from './wallet.ts';

/** As `eth_sendTransaction` takes it, quantities in hex with 0x. */
export type EvmSendRequest = {
  readonly from: string;
  readonly to: string;
  readonly data: string;
  readonly value: string;
  readonly gas: string;
  /** Wallets refuse where it is not the one that they are on. */
  readonly chainId: string;
};

/** The wallet's answers are unchecked. Each throws WalletError. */
export type EvmSendingAccount = {
  readonly address: string;
  readonly asks: Asks;
  signMessage(message: string): Promise<string>;
  /** Resolves when it is on this account and this chain. Asked before each prompt. */
  ready(): Promise<void>;
  sendTransaction(request: EvmSendRequest, signal: AbortSignal): Promise<unknown>;
  /** `json`: as `eth_signTypedData_v4` takes it. */
  signTypedData(json: string, signal: AbortSignal): Promise<unknown>;
};

export type EvmSenderOptions = {
  /** A node of the chain, or several: the sent transaction is looked up at each. */
  readonly rpcUrl: RpcUrls;
  readonly chainId: number;
  readonly account: EvmSendingAccount;
};

/** How long one's own nodes may take to hear of it. */
const seenWithinMs = 8_000;
const lookEveryMs = 400;

export function evmSender(options: EvmSenderOptions): EvmWallet & MessageSigner {
  const { rpcUrl, chainId, account } = options;
  const { asks, signMessage } = account;
  const { address } = account;
  const nodes = { rpc: nodesAt(rpcUrl, chainId), chainId, address };
  return {
    family: 'evm',
    address,
    asks,
    signMessage,
    sends: {
      bytesOf: (txid, signal) => bytesOf(nodes, txid, null, signal),
      waiting: async (signal) => {
        const count = async (at: 'latest' | 'pending') =>
          Math.max(...(await countsOf(nodes, at, signal)));
        const [used, next] = await Promise.all([count('latest'), count('pending')]);
        return Math.max(0, next - used);
      },
    },
    sign: async (wanted, call, signal) => {
      if (wanted !== chainId) throw new Error(`this wallet signs for ${chainId}, not ${wanted}`);
      await account.ready();
      // Tried by one's own nodes first: a person is never asked to pay for a call that fails.
      const mostFeePerGas = defaultMostFeePerGas;
      const sending = await priced({ nodes, mostFeePerGas }, call, signal);
      const { to, data, value, gas } = sending;
      const request = {
        from: address,
        to,
        data,
        value: hex(value),
        gas: hex(gas),
        chainId: hex(chainId),
      };
      const txid = mustBeId(await account.sendTransaction(request, signal));
      return shown(nodes, txid, call);
    },
    signTypedData: async (data, signal) => {
      await account.ready();
      const { domain, types, primaryType, message } = typedDataToSign(data);
      const whole = { EIP712Domain: getTypesForEIP712Domain({ domain }), ...types };
      const json = serializeTypedData({ domain, types: whole, primaryType, message } as never);
      return String(await account.signTypedData(json, signal));
    },
    raise: async () => null,
    outcome: (kept, signal) => outcomeOf(nodes, sentAs(kept), signal),
    isNonceDeep: (kept, confirmations, signal) =>
      isNonceDeep(nodes, nonceOf(kept), confirmations, signal),
    forget: () => {},
  };
}

const hex = (value: bigint | number) => `0x${value.toString(16)}`;

function mustBeId(said: unknown): Hex {
  if (typeof said === 'string' && /^0x[0-9a-fA-F]{64}$/.test(said))
    return said.toLowerCase() as Hex;
  const sentence = 'the wallet says that it has sent it, and names no transaction';
  throw new WalletError('unseen', `${sentence}: the chain will show whether it has`);
}

/** Its bytes, once one of one's own nodes has them. Throws `unseen`, `lied`. */
async function shown(nodes: EvmNodes, txid: Hex, call: EvmSending): Promise<Kept> {
  const until = performance.now() + seenWithinMs;
  do {
    const limit = AbortSignal.timeout(seenWithinMs);
    const kept = await bytesOf(nodes, txid, call, limit).catch(onlyRefusals);
    if (kept !== null) return kept;
    await sleep(lookEveryMs);
  } while (performance.now() < until);
  const sentence = `the wallet has sent ${txid}, and your node does not show it yet`;
  throw new WalletError('unseen', `${sentence}: the chain will show it`, { txid });
}

/** A node that fails does not unsend it. */
function onlyRefusals(error: unknown): null {
  if (error instanceof WalletError) throw error;
  return null;
}

/** `call`: the required call; null: it was checked before. it was checked before. Throws `lied`. */
async function bytesOf(
  nodes: EvmNodes,
  txid: string,
  call: EvmSending | null,
  signal: AbortSignal,
): Promise<Kept | null> {
  const found = await transactionOf(nodes, txid, signal);
  if (found === null) return null;
  const { to, input, value, from, chainId = nodes.chainId } = found;
  const isOwn = sameAddress(from, nodes.address) && chainId === nodes.chainId;
  const isAsked =
    call === null ||
    (sameAddress(to ?? '', call.to) && input === call.data && value === BigInt(call.value));
  // The account of a contract is called by others, who wrap what it was asked for.
  if (!isOwn) return null;
  if (!isAsked) {
    const sentence = `the wallet has sent ${txid}, which is not what it was asked for`;
    throw new WalletError('lied', `${sentence}: it calls ${to ?? 'nothing'} with ${value} wei`, {
      txid,
    });
  }
  const raw = rawOf(found);
  return raw !== null && keccak256(raw) === found.hash ? { txid: found.hash, raw } : null;
}

function transactionOf(
  { rpc }: EvmNodes,
  txid: string,
  signal: AbortSignal,
): Promise<Transaction | null> {
  const read = (answer: unknown) =>
    answer === null ? null : formatTransaction(object(answer) as Partial<RpcTransaction>);
  const find = (one: typeof rpc) =>
    asked(one, 'eth_getTransactionByHash', [txid], signal, read, oneTransaction);
  return foundBySome(rpc, find, signal) as Promise<Transaction | null>;
}

/** null: a kind without such bytes, as those of a rollup's own. */
function rawOf(found: Transaction): Hex | null {
  const { r, s, v, yParity, input, type, gasPrice, maxFeePerGas, maxPriorityFeePerGas, ...rest } =
    found;
  const { nonce, gas, to, value, chainId, accessList } = rest;
  const common = { nonce, gas, to, value, data: input };
  const signature = { r, s, ...(yParity === undefined ? { v } : { yParity, v }) };
  try {
    switch (type) {
      case 'eip1559': {
        const fees = { maxFeePerGas, maxPriorityFeePerGas };
        const whole = { ...common, ...fees, type, chainId, accessList };
        return serializeTransaction(whole as never, signature as never);
      }
      case 'eip2930': {
        const whole = { ...common, type, chainId, gasPrice, accessList };
        return serializeTransaction(whole as never, signature as never);
      }
      case 'legacy': {
        const whole = { ...common, type, gasPrice, ...(chainId === undefined ? {} : { chainId }) };
        return serializeTransaction(whole as never, signature as never);
      }
      default:
        return null;
    }
  } catch {
    return null;
  }
}
