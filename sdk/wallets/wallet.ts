// What settle needs of a customer's wallet on one chain. Keys never leave it; nothing here sends.

import type {
  EvmCall,
  SolanaMaterial,
  TronTransaction,
  TypedData,
} from '../../chains/interface/material.ts';
import type {
  BaseUnits,
  BitcoinAddress,
  EvmAddress,
  SolanaAddress,
  TronAddress,
} from '../../core/nominal.ts';
import type { Kept } from '../stores/store.ts';

/**
 * What became of a transaction in any of its versions. `waiting`: its nonce is free; `next` when it
 * is the account's next one, `gap` when nothing waits in a pool for the nonces before it.
 * `lost`: another transaction used its nonce, so none of its versions can be mined.
 */
export type Fate =
  | { readonly state: 'waiting'; readonly next: boolean; readonly gap: boolean }
  | { readonly state: 'succeeded' | 'reverted' | 'lost' };

export type Raise = {
  /** Nothing but the nonce stays: zero to oneself, which takes the place of the former one. */
  readonly cancel?: boolean;
  /** Most that gas and its price may come to, wei; null = only the wallet's own limit. */
  readonly mostFeeWei: BaseUnits | null;
};

export type Gap = {
  /** In order, 64 at most. */
  readonly nonces: readonly number[];
  /** What a block takes for a unit of gas now, wei. */
  readonly baseFeePerGas: BaseUnits;
  /** Signs zero to oneself with this nonce, at a fee that nobody has to raise later. */
  fill(nonce: number, signal: AbortSignal): Promise<Kept>;
};

/**
 * `gas`: its limit, where that is known. Nothing of such a call may be asked of any node: it may
 * hold a secret that nobody else has yet.
 */
export type EvmSending = EvmCall & { readonly gas?: bigint };

export type EvmWallet = {
  readonly family: 'evm';
  readonly address: EvmAddress;
  /**
   * Signs one call with the next nonce that is not among `taken`, fees of the customer's own node,
   * and its gas where the call says none. Whoever does not answer until the signal aborts must hold
   * up no other signature.
   */
  sign(
    chainId: number,
    call: EvmSending,
    signal: AbortSignal,
    taken?: ReadonlySet<number>,
  ): Promise<Kept>;
  /**
   * EIP-712, as `eth_signTypedData_v4`: 65 bytes in hex with 0x. Absent: nothing is funded by a
   * signature alone. What is given to it was checked.
   */
  signTypedData?(data: TypedData, signal: AbortSignal): Promise<string>;
  /**
   * Signs `kept` again: the same nonce and call, both fees raised by an eighth or to what the node
   * estimates now, whichever is more. null when a limit leaves no room for that.
   */
  raise(kept: Kept, how: Raise, signal: AbortSignal): Promise<Kept | null>;
  /** By the customer's own node. */
  fate(kept: Kept, signal: AbortSignal): Promise<Fate>;
  /** Whether the nonce of `kept` was used, by whatever transaction, so many blocks ago. */
  isNonceDeep(kept: Kept, confirmations: number, signal: AbortSignal): Promise<boolean>;
  /**
   * What is missing before the nonce of `kept`, by a node that has nothing of ours in its pool;
   * null when nothing is.
   */
  gapBefore(kept: Kept, signal: AbortSignal): Promise<Gap | null>;
  /** Forgets nonces given out for transactions that no node took. */
  forget(): void;
};

export type BitcoinWallet = {
  readonly family: 'bitcoin';
  readonly address: BitcoinAddress;
  /** The compressed key that escrows are made of, 66 hex. */
  readonly pubkey: string;
  /**
   * Taproot wallets: the ECDSA signature of exactly that key over a text (`signmessage`, BIP 137:
   * base64, 65 bytes). The market wants it before it takes the key, because a Taproot address
   * hides which of two keys it stands for.
   */
  signKey?(text: string): Promise<string>;
  /** Whether it signs without asking a person. */
  readonly signsAlone?: boolean;
  /** 64-byte compact signatures (SIGHASH_ALL), hex. */
  signSighashes(sighashHexes: readonly string[], signal: AbortSignal): Promise<string[]>;
  /** A signed payment with ONE output of exactly this amount to `payTo`; not sent. */
  signPayment(payTo: BitcoinAddress, amountSats: BaseUnits, signal: AbortSignal): Promise<Kept>;
  /** Leaves the coins of a payment signed before a restart alone. */
  reserve(raw: string): void;
  /**
   * Signs the payment `kept`, of exactly this amount to `payTo`, again: the same coins and no
   * others, so that only one of the two is ever mined, the same output, and a higher fee out of the
   * change; not sent. `no_fee` when neither the change nor the wallet's limits leave room for one,
   * `coins_gone` when a block already spends one of the coins.
   */
  signRaise(
    kept: Kept,
    payment: { readonly payTo: BitcoinAddress; readonly amountSats: BaseUnits },
    signal: AbortSignal,
  ): Promise<Kept | 'no_fee' | 'coins_gone'>;
  /**
   * Signs a transaction that spends coins of the payment `raw` back to the wallet and pays enough
   * to replace it, and `former`, an earlier try, too; not sent. `no_fee` when none within the
   * wallet's limits does, `coins_gone` when a block already spends one of them.
   */
  signCancel(
    raw: string,
    former: Kept | null,
    signal: AbortSignal,
  ): Promise<Kept | 'no_fee' | 'coins_gone'>;
  /** Blocks on a cancellation in any version, its own included; null while none has it. */
  confirmations(cancel: Kept, signal: AbortSignal): Promise<number | null>;
  /** Coins of a payment that can never be mined any more may be spent again. */
  release(raw: string, cancel: Kept): void;
};

/**
 * A wallet whose transactions die by themselves when no block takes them in their time. Nothing
 * has to be raised or cancelled there: what has died is made anew, and of two fundings of the same
 * escrow the chain takes one.
 */
type Expiring = {
  /**
   * By the customer's own node. `lost` and `reverted` only by what the chain never takes back: it
   * has died there, or has failed.
   */
  fate(kept: Kept, signal: AbortSignal): Promise<Fate>;
};

export type TronWallet = Expiring & {
  readonly family: 'tron';
  readonly address: TronAddress;
  /** Signs the hash of the bytes, which is made anew here whatever the transaction says it is. */
  sign(transaction: TronTransaction, signal: AbortSignal): Promise<Kept>;
};

export type SolanaWallet = Expiring & {
  readonly family: 'solana';
  readonly address: SolanaAddress;
  /** Signs a transaction that this wallet pays for and nobody else has to sign. */
  sign(material: SolanaMaterial, signal: AbortSignal): Promise<Kept>;
};

export type ExpiringWallet = TronWallet | SolanaWallet;
/** Wallets of accounts, which fund by calls. */
export type AccountWallet = EvmWallet | ExpiringWallet;
export type Wallet = AccountWallet | BitcoinWallet;
