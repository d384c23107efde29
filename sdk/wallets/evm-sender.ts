// A wallet of a person on one EVM chain that sends what it signs (`eth_sendTransaction`). What it
// has sent is known by one's own node alone.

import {
  getTypesForEIP712Domain,
  type Hex,
  keccak256,
  type PublicClient,
  serializeTransaction,
  serializeTypedData,
  type Transaction,
  TransactionNotFoundError,
} from 'viem';
import { sameAddress } from '../../chains/evm/address.ts';
import { typedDataToSign } from '../../chains/evm/ways.ts';
import { sleep } from '../../chains/nodes/turn.ts';
import { WalletError } from '../errors.ts';
import type { MessageSigner } from '../keys.ts';
import type { Kept } from '../stores/store.ts';
import { inTime } from '../waiting.ts';
import { defaultMostFeePerGas, isNonceDeep, nodeAt, outcomeOf, priced } from './evm.ts';
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

/** What it answers is unchecked. Each throws WalletError. */
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
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly account: EvmSendingAccount;
};

/** How long one's own node may take to hear of it. */
const seenWithinMs = 8_000;
const lookEveryMs = 400;

export function evmSender(options: EvmSenderOptions): EvmWallet & MessageSigner {
  const { rpcUrl, chainId, account } = options;
  const { asks, signMessage } = account;
  const address = account.address as Hex;
  const node = nodeAt(rpcUrl, chainId);
  const of = { node, chainId, address };
  return {
    family: 'evm',
    address,
    asks,
    signMessage,
    sends: {
      bytesOf: (txid, signal) => inTime(() => bytesOf(of, txid, null), signal),
      waiting: async (signal) => {
        const [used, next] = await inTime(
          () => Promise.all([count(of, 'latest'), count(of, 'pending')]),
          signal,
        );
        return Math.max(0, next - used);
      },
    },
    sign: async (wanted, call, signal) => {
      if (wanted !== chainId) throw new Error(`this wallet signs for ${chainId}, not ${wanted}`);
      await account.ready();
      // Tried by one's own node first: nobody is asked to pay for what fails.
      const sending = await inTime(
        () => priced({ ...of, mostFeePerGas: defaultMostFeePerGas }, call),
        signal,
      );
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
      return shown(of, txid, call);
    },
    signTypedData: async (data, signal) => {
      await account.ready();
      const { domain, types, primaryType, message } = typedDataToSign(data);
      const whole = { EIP712Domain: getTypesForEIP712Domain({ domain }), ...types };
      const json = serializeTypedData({ domain, types: whole, primaryType, message } as never);
      return String(await account.signTypedData(json, signal));
    },
    raise: async () => null,
    outcome: (kept, signal) => outcomeOf(node, address, kept, signal),
    isNonceDeep: (kept, confirmations, signal) =>
      isNonceDeep(node, address, { kept, confirmations }, signal),
    gapBefore: async () => null,
    forget: () => {},
  };
}

type Of = { readonly node: PublicClient; readonly chainId: number; readonly address: Hex };

const hex = (value: bigint | number) => `0x${value.toString(16)}`;

const count = ({ node, address }: Of, blockTag: 'latest' | 'pending') =>
  node.getTransactionCount({ address, blockTag });

function mustBeId(said: unknown): Hex {
  if (typeof said === 'string' && /^0x[0-9a-fA-F]{64}$/.test(said))
    return said.toLowerCase() as Hex;
  const sentence = 'the wallet says that it has sent it, and names no transaction';
  throw new WalletError('unseen', `${sentence}: the chain will show whether it has`);
}

/** Its bytes, once one's own node has them. Throws `unseen`, `lied`. */
async function shown(of: Of, txid: Hex, call: EvmSending): Promise<Kept> {
  const until = performance.now() + seenWithinMs;
  do {
    const kept = await bytesOf(of, txid, call).catch(onlyRefusals);
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

/** `call`: what it has to be; null: it was checked before. Throws `lied`. */
async function bytesOf(of: Of, txid: string, call: EvmSending | null): Promise<Kept | null> {
  const found = await transactionOf(of.node, txid as Hex);
  if (found === null) return null;
  const { to, input, value, from, chainId } = found;
  const isOwn = sameAddress(from, of.address) && (chainId ?? of.chainId) === of.chainId;
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

async function transactionOf(node: PublicClient, hash: Hex): Promise<Transaction | null> {
  try {
    return await node.getTransaction({ hash });
  } catch (error) {
    if (error instanceof TransactionNotFoundError) return null;
    throw error;
  }
}

/** null: of a kind that has no such bytes, as those of a rollup's own. */
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
