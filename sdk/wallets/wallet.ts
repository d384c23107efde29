// What settle needs of a customer's wallet on one chain. Keys never leave it; nothing here sends.

import type { EvmCall } from '../../chains/material.ts';
import type { Kept } from '../stores/store.ts';

export type EvmWallet = {
  readonly family: 'evm';
  readonly address: string;
  /** Signs one call with the next nonce, gas and fees of the customer's own node. */
  sign(chainId: number, call: EvmCall, signal: AbortSignal): Promise<Kept>;
  /** What became of a transaction; null while it is not mined. */
  mined(txid: string, signal: AbortSignal): Promise<'succeeded' | 'reverted' | null>;
  /** Runs one piece of work at a time: a token's allowance is one number for all swaps. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Forgets nonces given out for transactions that no node took. */
  forget(): void;
};

export type BitcoinWallet = {
  readonly family: 'bitcoin';
  readonly address: string;
  /** The compressed key that escrows are made of, 66 hex. */
  readonly pubkey: string;
  /** 64-byte compact signatures (SIGHASH_ALL), hex. */
  signSighashes(sighashHexes: readonly string[], signal: AbortSignal): Promise<string[]>;
  /** A signed payment with ONE output of exactly this amount to `payTo`; not sent. */
  signPayment(payTo: string, amountSats: bigint, signal: AbortSignal): Promise<Kept>;
  /** Leaves the coins of a payment signed before a restart alone. */
  reserve(raw: string): void;
};

export type Wallet = EvmWallet | BitcoinWallet;
