// The customer's store: secrets, and all it takes to claim and refund alone. A bot may bring its
// own database.

import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import type { EvmCall } from '@parley/chains/interface/material.ts';
import type { ScheduledVerb } from '@parley/chains/interface/scheduled.ts';
import { type EscrowFacts, isUnknown, nothingSeen, type Sighting } from '@parley/core/facts.ts';
import { type Hashlock, hashlockOf, type Secret } from '@parley/core/hashlock.ts';
import type { BaseUnits, Millis, UnixSeconds } from '@parley/core/nominal.ts';
import type { Leg } from '@parley/core/swap.ts';
import type { LegName } from '@parley/core/trade.ts';
import { SettleError } from '../errors.ts';
import type { Evidence } from '../evidence/judge.ts';
import type { Marks } from '../evidence/memory.ts';
import type { OwnTrade, VerifiedLeg, VerifiedSwap } from '../trade.ts';

export type SecretStore = {
  /** Returns when the secret survives a power cut. */
  putSecret(hashlock: Hashlock, secret: Secret): Promise<void>;
  getSecret(hashlock: Hashlock): Promise<Secret | null>;
  /** Where secrets are derived: makes one, kept as by `putSecret`. Absent: they are random. */
  newHashlock?(): Promise<Hashlock>;
};

/** A signed transaction, kept before it is sent, so that it is sent again and not made again. */
export type Kept = {
  readonly txid: string;
  readonly raw: string;
  /** Ids of versions it was signed to replace, any of which may be mined. Oldest first. */
  readonly former?: readonly string[];
  /** By the machine's clock, right before it was first sent: its wait counts from then. */
  readonly keptAtMs?: Millis;
  /** Bitcoin: when the next step of its fee bump schedule comes. */
  readonly raiseAt?: UnixSeconds;
  /** Solana: no block above this height takes it. */
  readonly lastValidBlockHeight?: number;
  /** The swaps that this one transaction funds. It is sent once each of them keeps it. */
  readonly batch?: readonly string[];
};

export function keptNow<T extends object>(signed: T): T & { readonly keptAtMs: Millis } {
  return { ...signed, keptAtMs: Date.now() };
}

/** Ids under which it may be mined, the newest first. */
export function versionsOf({ txid, former = [] }: Kept): string[] {
  return [txid, ...former.toReversed()];
}

/** Whether one takes the place of the other, or both that of a third. */
export function haveOneVersion(one: Kept, other: Kept): boolean {
  const versions = versionsOf(one);
  return versionsOf(other).some((txid) => versions.includes(txid));
}

/** Most former versions kept: so many raises of an eighth are a fee 10 000 times the first. */
const mostVersions = 80;

export function inPlaceOf(kept: Kept, signed: Kept): Kept {
  const former = [...(kept.former ?? []), kept.txid, ...(signed.former ?? [])];
  return { ...signed, former: former.slice(-mostVersions) };
}

/** By it anybody may fund the own leg (EIP-3009): this side signs no other funding in its place. */
export type Authorization = {
  readonly escrow: string;
  readonly signature: string;
  readonly call: EvmCall;
  /** No block takes it from then on, by the chain's clock. */
  readonly validBefore: UnixSeconds;
  readonly keptAtMs: Millis;
};

/**
 * EVM: the funding that a wallet was asked to sign and send by itself. Kept before it is asked:
 * from then on it may have been sent, whatever the wallet answers.
 */
export type AskedFunding = {
  readonly escrow: string;
  /** The id that the wallet reports as sent; null: no answer is known. */
  readonly txid: string | null;
  readonly keptAtMs: Millis;
};

/** The outcome of the market's claim for this side. */
export type Relay = {
  readonly askedAtMs: Millis;
  /** null: it was not taken on yet. */
  readonly txid: string | null;
  /** When it was asked once more for one that nobody sees. */
  readonly againAtMs?: Millis;
  /** Why the last question was refused. */
  readonly refused?: string;
};

/** This side's word that it will not go on, and how far it has gone. */
export type GivenUp = {
  readonly keptAtMs: Millis;
  /** A person wants it: a leg is then released although the own one is still open. */
  readonly byPerson: boolean;
  /** EVM, TRON: the release of the leg that would have paid. */
  readonly signature?: string;
  /** Solana: the transaction that releases it. */
  readonly sent?: Kept;
  /** The part of it that the market has. */
  readonly told?: 'wish' | 'release';
};

type EscrowOf = NonNullable<VerifiedLeg['escrow']>;

export type LeftWithMarket = {
  /** The payments that they spend, by their outpoints, and where they pay. */
  readonly about: string;
  /** All that was final in the escrow at the last poll. */
  readonly sats: BaseUnits;
  /** Their highest rate, sat per vbyte. */
  readonly upTo: number;
};

export type SwapRecord = {
  readonly trade: OwnTrade;
  readonly swap: VerifiedSwap;
  readonly funding: Kept | null;
  readonly claim: Kept | null;
  /** Bitcoin: when the other side was first asked to sign it, for whom this side waits a moment. */
  readonly claimAskedAtMs?: Millis;
  readonly refund: Kept | null;
  /** EVM: the signed funding that anybody may send; null: its time is over, and it never came. */
  readonly authorization?: Authorization | null;
  /** null: the person was not asked, the answer is kept as `funding`, or its time is over. */
  readonly asked?: AskedFunding | null;
  readonly relay?: Relay;
  /** Bitcoin: a person was told to pay the escrow by hand, and may do so at any time. */
  readonly byHand?: boolean;
  /** The approval before a token's funding, while it may be unmined: its nonce holds up others. */
  readonly approval?: Kept | null;
  /** The approval that was mined last: a reorganisation may take it back, with the funding. */
  readonly approved?: Kept;
  /** The transaction that takes the nonce, or a coin, of a late funding, so that it never comes. */
  readonly cancel?: Kept | null;
  /** Bitcoin: the signed claims and refunds that the market keeps. */
  readonly left?: { readonly [Verb in ScheduledVerb]?: LeftWithMarket };
  /** Whether an own claim was mined and has failed: the next one gets more gas, on EVM. */
  readonly claimFailed?: boolean;
  /** The last state of its escrows on which all nodes agreed, as far as anything was seen. */
  readonly seen?: SeenFacts;
  /** The blocks of what was seen at depth, by escrow: only others there take it back. */
  readonly marks?: Readonly<Record<string, Marks>>;
  /** Escrows that a leg moved off, the newest first: still watched, and claimed with the secret. */
  readonly former?: Partial<Record<LegName, readonly EscrowOf[]>>;
  /** The payer that still owes the own claim; null: it is final or will never be sent. */
  readonly owedBy?: string | null;
  /** Kept before any of it leaves, and never taken back. */
  readonly givenUp?: GivenUp;
  /** The other side's release of the own leg, for this escrow. */
  readonly released?: { readonly escrow: string; readonly signature: string };
  /** The escrow whose lane this side has signed for, or will not sign for again. */
  readonly laneOpened?: string;
  /** Seen in public, or sent by this side; never forgotten. */
  readonly publicSecret: Secret | null;
  /** From a rescue: the lost device may have funded it, so nothing is signed to fund it here. */
  readonly restored?: true;
};

/** Whether something of this side may fund its leg, sent by itself, by others or by hand. */
export function mayBeFunded(record: SwapRecord): boolean {
  return isFundingSigned(record) || record.byHand === true;
}

/** Whether there is, or may be, a signature that funds the own leg, and whose time ends. */
export function isFundingSigned({ funding, authorization, asked }: SwapRecord): boolean {
  return funding !== null || (authorization ?? null) !== null || (asked ?? null) !== null;
}

export type SwapStore = {
  /** Returns when the record survives a power cut. */
  putSwap(record: SwapRecord): Promise<void>;
  getSwap(swapId: string): Promise<SwapRecord | null>;
  /** Ids of the swaps kept; those kept last before that moment (Unix ms) may be left out. */
  swapIds(sinceMs?: Millis): Promise<string[]>;
};

export type TradeStore = {
  /** Returns when the trade survives a power cut. Called before it is accepted. */
  putTrade(trade: OwnTrade): Promise<void>;
  getTrade(threadId: string): Promise<OwnTrade | null>;
};

/** Secret nonces of one request to sign together, and the id of what they are for. */
export type Nonces = { readonly id: string; readonly secrets: readonly string[] };

/**
 * A nonce that signs twice shows the key. Copies of a store, such as backups, must not hold them.
 */
export type SwapNonces = {
  /** Returns when they survive a power cut, in the place of those before. */
  putNonces(swapId: string, nonces: Nonces): Promise<void>;
  /**
   * Returns when they are there no more, whatever comes: one of several callers gets them, and the
   * others null.
   */
  takeNonces(swapId: string): Promise<Nonces | null>;
};

/** Ends by itself with its process, however that ends. */
export type StoreLock = { release(): Promise<void> };

export type Store = SecretStore &
  TradeStore &
  SwapStore &
  /** Absent: this side never asks the other one to sign with it, and answers all the same. */
  Partial<SwapNonces> & {
    /** For a store of several processes. null when another still has it as the signal aborts. */
    lock?(name: string, signal: AbortSignal): Promise<StoreLock | null>;
  };

/** A new secret, kept before its hashlock is told to anyone. */
export async function newHashlock(store: SecretStore): Promise<Hashlock> {
  if (store.newHashlock !== undefined) return store.newHashlock();
  const secret = bytesToHex(randomBytes(32));
  const hashlock = hashlockOf(secret);
  await store.putSecret(hashlock, secret);
  return hashlock;
}

type Of = {
  readonly hashlock: Hashlock | null;
  readonly threadId: string;
  /** null: any RFQ. */
  readonly rfqId: string | null;
};

/** Records of any of these. Reads every record: there is no index to be wrong. */
export async function recordsOf(store: SwapStore, of: Of): Promise<SwapRecord[]> {
  const found: SwapRecord[] = [];
  for (const swapId of await store.swapIds()) {
    const record = await store.getSwap(swapId);
    if (record === null) continue;
    const { swap, trade } = record;
    const { threadId, rfqId } = trade;
    const isOf = swap.hashlock === of.hashlock || threadId === of.threadId || rfqId === of.rfqId;
    if (isOf) found.push(record);
  }
  return found;
}

/**
 * With a second swap the secret that opens the first opens both. An RFQ has one swap: a taker that
 * accepted on several of its threads wants one. Throws SettleError `hashlock_used`.
 */
export async function mustBeOnly(
  store: SwapStore,
  { swap, trade, restored }: Pick<SwapRecord, 'swap' | 'trade' | 'restored'>,
): Promise<void> {
  const { id, hashlock } = swap;
  const { threadId } = trade;
  // A restored swap is not funded here.
  const rfqId = restored === true ? null : trade.rfqId;
  const others = await recordsOf(store, { hashlock, threadId, rfqId });
  const other = others.find((each) => each.swap.id !== id);
  if (other === undefined) return;
  const isOfThread = other.trade.threadId === threadId;
  const what = other.swap.hashlock === hashlock ? 'hashlock' : isOfThread ? 'thread' : 'RFQ';
  const sentence = `swap ${id} has the ${what} of swap ${other.swap.id}: never fund it`;
  throw new SettleError('hashlock_used', sentence);
}

/**
 * A market may give two swaps one id: the second one would never be polled. Throws SettleError
 * `hashlock_used`.
 */
export function mustBeOfThread(
  { swap, trade: kept }: Pick<SwapRecord, 'swap' | 'trade'>,
  { threadId }: Pick<OwnTrade, 'threadId'>,
): void {
  if (kept.threadId === threadId) return;
  const sentence = `swap ${swap.id} is of thread ${kept.threadId}: never fund it for ${threadId}`;
  throw new SettleError('hashlock_used', sentence);
}

/** A record, trade or more of them as text: amounts are bigint, which JSON has no word for. */
export function writeKept(value: object): string {
  return JSON.stringify(
    value,
    (_, part: unknown) => (typeof part === 'bigint' ? { bigint: part.toString() } : part),
    1,
  );
}

export function readKept<T extends object>(text: string): T {
  return JSON.parse(text, (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || !('bigint' in part)) return part;
    return BigInt(String(part.bigint));
  }) as T;
}

/** By the escrow's address: a leg that moved has another one. */
export type SeenFacts = Readonly<Record<string, EscrowFacts>>;

/** null: no news. A fact that no node reports any more stays as it was last known. */
export function newsOf(
  record: SwapRecord,
  legs: readonly { readonly leg: Leg; readonly evidence?: Pick<Evidence, 'marks'> }[],
): Pick<SwapRecord, 'seen' | 'marks'> | null {
  const { a, b } = record.swap.legs;
  const own = [a, b].flatMap(({ escrow }) => (escrow === null ? [] : [escrow.address]));
  const seen: Record<string, EscrowFacts> = {};
  const marks: Record<string, Marks> = {};
  for (const address of own) {
    const found = legs.find(({ leg }) => leg.escrow === address);
    const shown = found?.leg.facts;
    const before = record.seen?.[address];
    const isNew = before === undefined && shownBy(shown) === shownBy(nothingSeen);
    const facts = shown === undefined || isUnknown(shown) || isNew ? before : shown;
    if (facts !== undefined) seen[address] = facts;
    const blocks = found?.evidence?.marks ?? record.marks?.[address];
    if (blocks !== undefined && Object.keys(blocks).length > 0) marks[address] = blocks;
  }
  const isNews = own.some(
    (each) =>
      shownBy(seen[each]) !== shownBy(record.seen?.[each]) ||
      JSON.stringify(marks[each]) !== JSON.stringify(record.marks?.[each]),
  );
  return isNews ? { seen, marks } : null;
}

/** More confirmations of what is final are no news. */
function shownBy(facts: EscrowFacts = nothingSeen): string {
  const { funded, claimed, refunded, secret, balance, empty } = facts;
  const shown = (each: Sighting | null) =>
    each === null ? '' : `${each.txid} ${each.deep ? 'deep' : each.confirmations > 0}`;
  return [shown(funded), shown(claimed), shown(refunded), secret, balance, empty].join();
}
