// What the customer keeps: the secret of each hashlock, and of each swap everything it takes to
// claim and refund alone. Implemented by memory.ts and file.ts; a bot may bring its own database.

import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { type Hex32, hashlockOf } from '../../core/hashlock.ts';
import type { OwnTrade } from '../trade.ts';
import type { VerifiedSwap } from '../verify.ts';

export type SecretStore = {
  /** Returns when the secret survives a power cut. */
  putSecret(hashlock: Hex32, secret: Hex32): Promise<void>;
  getSecret(hashlock: Hex32): Promise<Hex32 | null>;
};

/** A signed transaction, kept before it is sent, so that it is sent again and not made again. */
export type Kept = { readonly txid: string; readonly raw: string };

/** All that is known of one side of a swap. */
export type SwapRecord = {
  readonly trade: OwnTrade;
  readonly swap: VerifiedSwap;
  readonly funding: Kept | null;
  readonly claim: Kept | null;
  readonly refund: Kept | null;
  /** The secret, once it was seen in public; never forgotten. */
  readonly publicSecret: Hex32 | null;
};

export type SwapStore = {
  /** Returns when the record survives a power cut. */
  putSwap(record: SwapRecord): Promise<void>;
  getSwap(swapId: string): Promise<SwapRecord | null>;
  /** Ids of the swaps kept. */
  swapIds(): Promise<string[]>;
};

export type TradeStore = {
  /** Returns when the trade survives a power cut. Called before it is accepted. */
  putTrade(trade: OwnTrade): Promise<void>;
  getTrade(threadId: string): Promise<OwnTrade | null>;
};

export type Store = SecretStore & TradeStore & SwapStore;

/** A new secret, kept before its hashlock is told to anyone. */
export async function newHashlock(store: SecretStore): Promise<Hex32> {
  const secret = bytesToHex(randomBytes(32));
  const hashlock = hashlockOf(secret);
  await store.putSecret(hashlock, secret);
  return hashlock;
}

/** A record or trade as text: amounts are bigint, which JSON has no word for. */
export function writeKept(value: SwapRecord | OwnTrade): string {
  return JSON.stringify(
    value,
    (_, part: unknown) => (typeof part === 'bigint' ? { bigint: part.toString() } : part),
    1,
  );
}

export function readKept<T extends SwapRecord | OwnTrade>(text: string): T {
  return JSON.parse(text, (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || !('bigint' in part)) return part;
    return BigInt(String(part.bigint));
  }) as T;
}
