// A TRON key: it signs texts and transactions, and reads what became of them. settle sends.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { digestOf } from '@parley/chains/escrows/typed-data.ts';
import type { SignedTron, TronTransaction } from '@parley/chains/interface/material.ts';
import { readTronSigned, signTronTransaction } from '@parley/chains/tron/broadcast.ts';
import { type Http, httpClient, type TronSource } from '@parley/chains/tron/http.ts';
import { headBlock, infoOf } from '@parley/chains/tron/node.ts';
import { signTronMessage, tronAddressOfKey } from '@parley/chains/tron/proof.ts';
import { messageOf, WalletError } from '../errors.ts';
import type { MessageSigner } from '../keys.ts';
import { type Kept, versionsOf } from '../stores/store.ts';
import {
  type Asks,
  oneOfManyTimeoutMs,
  outcomeByAll,
  type TronWallet,
  type TxOutcome,
} from './wallet.ts';

export type TronSignerOptions = {
  readonly privateKey: string;
};

/** A wallet of a person, such as TronLink: its answer is checked here. */
export type TronAccount = {
  readonly address: string;
  readonly asks: Asks;
  signMessage(message: string): Promise<string>;
  /** The transaction with its `signature`, as wallets give it. Throws WalletError. */
  signTransaction(transaction: TronTransaction, signal: AbortSignal): Promise<unknown>;
};

export type TronWalletOptions = (TronSignerOptions | { readonly account: TronAccount }) & {
  readonly chain: string;
  readonly sources: readonly TronSource[];
};

export function tronMessageSigner(options: TronSignerOptions): MessageSigner {
  const privateKey = hexToBytes(options.privateKey.replace(/^0x/, ''));
  return {
    family: 'tron',
    address: tronAddressOfKey(privateKey),
    signMessage: async (message) => signTronMessage(privateKey, message),
  };
}

export function tronWallet(options: TronWalletOptions): TronWallet & MessageSigner {
  const { chain, sources } = options;
  const nodes = nodesOf(chain, sources);
  return {
    ...('account' in options ? askedSigner(options.account) : keySigner(options)),
    outcome: (kept, signal) => outcomeByAll(nodes, signal, (http) => outcomeOf(http, kept, signal)),
  };
}

type Signer = MessageSigner & Pick<TronWallet, 'family' | 'sign' | 'signTypedData' | 'asks'>;

function keySigner(options: TronSignerOptions): Signer {
  const privateKey = hexToBytes(options.privateKey.replace(/^0x/, ''));
  return {
    ...tronMessageSigner(options),
    family: 'tron',
    sign: async ({ raw_data_hex }) => {
      const txID = idOf(raw_data_hex);
      const signed = signTronTransaction(privateKey, { txID, raw_data_hex });
      // Also finds a transaction of another's account.
      const { raw, txid } = readTronSigned(signed);
      return { raw, txid };
    },
    signTypedData: async (data) => {
      const digest = { txID: digestOf(data).slice(2) };
      return `0x${signTronTransaction(privateKey, digest).signature[0]}`;
    },
  };
}

const idOf = (rawDataHex: string) => bytesToHex(sha256(hexToBytes(rawDataHex)));

function askedSigner({ address, asks, signMessage, signTransaction }: TronAccount): Signer {
  return {
    family: 'tron',
    address,
    asks,
    signMessage,
    sign: async (transaction, signal) => {
      const txID = idOf(transaction.raw_data_hex);
      const answer = await signTransaction({ ...transaction, txID }, signal);
      const { raw, txid, owner } = readAnswer(answer);
      const lies = (what: string) => new WalletError('lied', `the wallet has signed ${what}`);
      if (txid !== txID) throw lies(`transaction ${txid} in place of ${txID}: nothing was sent`);
      if (owner !== address) throw lies(`for ${owner}, and not for ${address}: nothing was sent`);
      return { raw, txid };
    },
  };
}

function readAnswer(answer: unknown) {
  try {
    if (typeof answer !== 'object' || answer === null) throw new Error('it is no transaction');
    return readTronSigned(answer as SignedTron);
  } catch (cause) {
    const sentence = `the answer of the wallet is not what was asked: ${messageOf(cause)}`;
    throw new WalletError('lied', sentence, { cause });
  }
}

function nodesOf(chain: string, sources: readonly TronSource[]): readonly Http[] {
  if (sources.length < 2) return [httpClient({ chain, sources })];
  const short = { rounds: 1, attemptTimeoutMs: oneOfManyTimeoutMs };
  return sources.map((source) => httpClient({ chain, sources: [source], ...short }));
}

/**
 * No block takes it after its expiration: a solid block past it without the transaction is its end.
 */
async function outcomeOf(http: Http, kept: Kept, signal: AbortSignal): Promise<TxOutcome> {
  // Asked first: a transaction that enters a block between the two questions only looks as if it
  // waited.
  const solid = await headBlock(http, 'solid', signal);
  for (const txid of versionsOf(kept)) {
    const info = await infoOf(http, txid, 'head', signal);
    if (info?.succeeded) return { state: 'succeeded' };
  }
  const { txid, expiration } = readTronSigned(kept.raw);
  const settled = await infoOf(http, txid, 'solid', signal);
  if (settled !== null) return { state: settled.succeeded ? 'succeeded' : 'reverted' };
  const isHeld = (await infoOf(http, txid, 'head', signal)) !== null;
  if (!isHeld && solid.timestampMs > expiration) return { state: 'lost' };
  return { state: 'waiting', next: true, gap: false };
}
