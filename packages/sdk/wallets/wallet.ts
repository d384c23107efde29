// The customer's wallet on one chain, as settle needs it. Keys never leave it; no function here
// sends.

import type { NonceStore } from '@parley/chains/bitcoin/musig.ts';
import type {
  CosignAnswer,
  CosignRequest,
  SpendTogether,
} from '@parley/chains/interface/cosigning.ts';
import type {
  EvmCall,
  SolanaMaterial,
  TronTransaction,
  TypedData,
} from '@parley/chains/interface/material.ts';
import { saidInTime } from '@parley/chains/nodes/sources.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { EachOf } from '@parley/core/families.ts';
import type {
  BaseUnits,
  BitcoinAddress,
  EvmAddress,
  Millis,
  SolanaAddress,
  TronAddress,
} from '@parley/core/nominal.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Kept } from '../stores/store.ts';
import type { Signing } from '../words.ts';

/**
 * Its nonce is free; `next`: it is the account's next; `gap`: no transaction waits for nonces
 * before it. `isDisputed`: some nodes say that it can be mined and some that it cannot.
 */
export type Waiting = {
  readonly state: 'waiting';
  readonly next: boolean;
  readonly gap: boolean;
  readonly isDisputed?: boolean;
};

/** `lost`: another transaction used its nonce. `doubt`: another node says that it waits. */
export type TxOutcome =
  | Waiting
  | { readonly state: 'succeeded' | 'reverted' | 'lost'; readonly doubt?: Waiting };

export type Raise = {
  /** Only the nonce stays: zero to oneself, which takes the place of the former one. */
  readonly cancel?: boolean;
  /** Most that gas and its price may come to, wei; null = only the wallet's own limit. */
  readonly mostFeeWei: BaseUnits | null;
};

/** No node may be asked about a call with `gas`: it may hold a secret. */
export type EvmSending = EvmCall & { readonly gas?: bigint };

/** The subject of a person's signature. */
export type AskedFor = {
  readonly swapId: string;
  readonly verb: 'fund' | 'claim' | 'refund' | 'release';
};

/** The prompts of a wallet that asks a person for each signature: absent, it signs alone. */
export type Asks = {
  /** How long a person may take, from when the wallet asks. */
  readonly withinMs: Millis;
  /** Whether the person wants to be asked now. No build and no question comes before. */
  isWanted(what: AskedFor): boolean;
  /** Called with the next signings, of checked material: one a prompt. */
  shows?(what: AskedFor, signings: readonly Signing[]): void;
  /** Asked, and not signed: it is not asked again before the person wants it again. */
  over(what: AskedFor): void;
};

export type EvmWallet = {
  readonly family: 'evm';
  readonly address: EvmAddress;
  readonly asks?: Asks;
  /**
   * `sign` sends too, with a nonce that the wallet chooses (`eth_sendTransaction`), and resolves
   * once one's own node shows the bytes. Such a transaction is neither raised nor cancelled here.
   */
  readonly sends?: {
    /** The bytes under an id that it has named before; null: one's own node does not show it. */
    bytesOf(txid: string, signal: AbortSignal): Promise<Kept | null>;
    /** Transactions of the account that wait for a block. */
    waiting(signal: AbortSignal): Promise<number>;
  };
  /**
   * With the next nonce not among `taken`. A wallet that does not answer in time holds up no other
   * signature.
   */
  sign(
    chainId: number,
    call: EvmSending,
    signal: AbortSignal,
    taken?: ReadonlySet<number>,
  ): Promise<Kept>;
  /** EIP-712: 65 bytes in hex with 0x. Absent: no escrow is funded by a signature alone. */
  signTypedData?(data: TypedData, signal: AbortSignal): Promise<string>;
  /**
   * The same nonce and call, both fees an eighth higher or as estimated; null where a limit leaves
   * no room.
   */
  raise(kept: Kept, how: Raise, signal: AbortSignal): Promise<Kept | null>;
  outcome(kept: Kept, signal: AbortSignal): Promise<TxOutcome>;
  /** Whether the nonce of `kept` was used, by whatever transaction, so many blocks ago. */
  isNonceDeep(kept: Kept, confirmations: number, signal: AbortSignal): Promise<boolean>;
  /**
   * Forgets nonces given out for transactions that no node took. `isDisputed`: nodes name several
   * next ones, and the one gone by led nowhere, so that another of theirs is tried.
   */
  forget(isDisputed?: boolean): void;
};

export type BitcoinWallet = BitcoinKey & (BitcoinCoins | NoCoins);

export type BitcoinKey = {
  readonly family: 'bitcoin';
  /** P2WPKH of the key, or whichever the market knows it by. */
  readonly address: BitcoinAddress;
  /** The in-app key of a page signs alone: a person's wallet signs no script of a swap. */
  readonly asks?: never;
  /** The compressed key that escrows are made of, 66 hex. */
  readonly pubkey: string;
  /**
   * Where claims and refunds are paid, signed ones left with the market too; default the address
   * that was agreed. Any address of the network (P2PKH, P2SH, P2WPKH, P2WSH, P2TR).
   */
  readonly payout?: BitcoinAddress;
  /**
   * Taproot: the ECDSA signature of exactly that key over a text (BIP 137): the address hides which
   * of two keys it is.
   */
  signKey?(text: string): Promise<string>;
  /** Whether it signs without asking a person. */
  readonly signsAlone?: boolean;
  signSighashes(sighashHexes: readonly string[], signal: AbortSignal): Promise<string[]>;
  /** Asks for escrows of Taproot. Never without `signLeaves`. */
  readonly form?: 'p2tr';
  /** The same by BIP 340, of Taproot leaves. */
  signLeaves?(sighashHexes: readonly string[], signal: AbortSignal): Promise<string[]>;
  /** Signs spends of Taproot escrows with the other side. Absent: it spends them by leaves alone. */
  readonly cosigns?: Cosigns;
};

/** chains/bitcoin/musig.ts with the wallet's key. */
export type Cosigns = {
  ask(terms: EscrowTerms, spend: SpendTogether, store: NonceStore): Promise<CosignRequest>;
  /** Gives the coins away: whether it may is the caller's rule. */
  answer(terms: EscrowTerms, request: CosignRequest): Promise<CosignAnswer>;
  finish(
    terms: EscrowTerms,
    request: CosignRequest,
    given: CosignAnswer,
    store: NonceStore,
  ): Promise<Kept>;
};

/** Satoshi. */
export type Standing = { readonly spendable: BaseUnits; readonly confirmed: BaseUnits };

/** The coins that fund an escrow. */
export type BitcoinCoins = {
  /** A signed payment with ONE output of exactly this amount to `payTo`; not sent. */
  signPayment(payTo: BitcoinAddress, amountSats: BaseUnits, signal: AbortSignal): Promise<Kept>;
  /** Satoshi in confirmed coins that no payment of this object spends. Absent: nobody asks. */
  spendable?(signal: AbortSignal): Promise<BaseUnits>;
  /** Beside it all confirmed coins, those too that a payment on its way spends. */
  standing?(signal: AbortSignal): Promise<Standing>;
  /** Leaves the coins of a payment signed before a restart alone. */
  reserve(raw: string): void;
  /**
   * Again with the same coins and output, and a higher fee out of the change; not sent. `no_fee`:
   * there is no room. `coins_gone`: a block spends one.
   */
  signRaise(
    kept: Kept,
    payment: {
      readonly payTo: BitcoinAddress;
      readonly amountSats: BaseUnits;
      /** Default 500, of any claim. */
      readonly mostSatPerVbyte?: number;
    },
    signal: AbortSignal,
  ): Promise<Kept | 'no_fee' | 'coins_gone'>;
  /**
   * Spends coins of the payment `raw` back to the wallet, and replaces it and `former`; not sent.
   * As `signRaise`.
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

/** A key alone: a person pays its escrows by hand, from any wallet. */
export type NoCoins = { readonly [Name in keyof BitcoinCoins]?: never };

/**
 * Transactions that die by themselves: they are never raised or cancelled, and the chain takes one
 * of two fundings.
 */
type Expiring = {
  /** `lost` and `reverted` only by what the chain never takes back. */
  outcome(kept: Kept, signal: AbortSignal): Promise<TxOutcome>;
};

export type TronWallet = Expiring & {
  readonly family: 'tron';
  readonly address: TronAddress;
  readonly asks?: Asks;
  /** Signs the hash of the bytes, which is made anew here whatever the transaction says it is. */
  sign(transaction: TronTransaction, signal: AbortSignal): Promise<Kept>;
  /** TIP-712, of the same bytes as EIP-712: 65 bytes in hex with 0x. Absent: it releases no leg. */
  signTypedData?(data: TypedData, signal: AbortSignal): Promise<string>;
};

export type SolanaWallet = Expiring & {
  readonly family: 'solana';
  readonly address: SolanaAddress;
  readonly asks?: Asks;
  /** Signs a transaction that this wallet pays for and nobody else has to sign. */
  sign(material: SolanaMaterial, signal: AbortSignal): Promise<Kept>;
};

export type ExpiringWallet = TronWallet | SolanaWallet;
/** Wallets of accounts, which fund by calls. */
export type AccountWallet = Exclude<Wallet, BitcoinWallet>;
export type Wallet = EachOf<{
  evm: EvmWallet;
  bitcoin: BitcoinWallet;
  tron: TronWallet;
  solana: SolanaWallet;
}>;

/** For one answer of a node that others stand behind. */
export const oneOfManyTimeoutMs = 4_000;
/** Once one has said what became of a transaction the others have so long. */
const othersMs = 1_500;

const waits: Waiting = { state: 'waiting', next: true, gap: false };

/**
 * Each node alone is asked about what dies by itself: one may stand still or lie, and where they
 * differ it is in doubt. A transaction that was lost or has reverted is over, whichever it was.
 */
export async function outcomeByAll<N>(
  nodes: readonly N[],
  signal: AbortSignal,
  ask: (node: N) => Promise<TxOutcome>,
): Promise<TxOutcome> {
  const askAt = (at: number) => ask(nodes[at] as N);
  const said = nodes.length < 2 ? [] : await saidInTime(nodes.length, askAt, othersMs, signal);
  signal.throwIfAborted();
  const states = new Set(said.map(({ state }) => state));
  // Where none has answered, what it fails with.
  if (states.size === 0) return byOneNode(nodes, signal, ask);
  if (states.size === 1) return said[0] ?? waits;
  if (states.has('succeeded')) return { state: 'succeeded', doubt: waits };
  if (!states.has('waiting')) return { state: 'reverted' };
  return states.has('reverted') ? { state: 'reverted', doubt: waits } : waits;
}

export async function byOneNode<N, T>(
  nodes: readonly N[],
  signal: AbortSignal,
  ask: (node: N) => Promise<T>,
): Promise<T> {
  let failure: unknown = new Error('no node to ask');
  for (const node of nodes) {
    try {
      return await ask(node);
    } catch (error) {
      if (!(error instanceof ParleyError) || signal.aborted) throw error;
      failure = error;
    }
  }
  throw failure;
}
