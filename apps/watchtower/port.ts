// The parts that the watchtower is given. It knows chains by their adapters, and the market by this
// port alone: which escrows are due, what is stored of them, whether a gate lets something be sent,
// and whom to tell that something was sent. The server implements the port (settle/watched.ts).

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { GasAccount } from '@parley/chains/gas/account.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import type { ChainKey, Family } from '@parley/core/families.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import type { Clocks, SwapState } from '@parley/core/swap.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { Tx } from '@parley/host/postgres/statements.ts';

export type { Tx };
export type Database = Tx & {
  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
};

export type Graces = {
  /** How long a party that could claim is waited for, less as its timelock nears. */
  readonly claimSeconds: number;
  readonly refundSeconds: number;
};

/** A gas key on a chain, and how much of it a day may cost. */
export type Gas = {
  readonly account: GasAccount;
  /** Base units of the native coin that a UTC day may cost; 0 = nothing is sent. */
  readonly dailyCap: bigint;
  /** Whether it sends for who asks: its cap has room for the dearest request. */
  readonly takesRequests: boolean;
  /** Base units: below it the log warns. */
  readonly lowBalance: bigint;
  readonly graces: Graces;
};

/** Time as those who sign have it: real, unless whoever simulates the rest brings another. */
export type SigningTime = {
  /** Milliseconds from some moment on. */
  elapsedMs(): number;
  /** Throws when the signal ends first. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
  limit(ms: number): AbortSignal;
  /** By which a lease ends; null = the database's own, which all processes share. */
  leaseClock(): Date | null;
};

/** Encrypts what is stored; `version` names the key. */
export type Seal = {
  encrypt(plain: Uint8Array): { version: number; sealed: Buffer };
  /** Null when the key is not held any more or the bytes were altered. */
  decrypt(version: number, sealed: Uint8Array): Buffer | null;
};

type Write = (facts: object, message: string) => void;
export type Log = { readonly info: Write; readonly warn: Write; readonly error: Write };

type Gauge<Label extends string> = { set(labels: Record<Label, string>, value: number): void };
export type Gauges = {
  /** Open jobs, by purpose. */
  readonly jobs: Gauge<'chain' | 'purpose'>;
  readonly balance: Gauge<'chain'>;
  /** Settings: below the one little is left, and the other is the most of a day. */
  readonly lowBalance: Gauge<'chain'>;
  readonly dailyCap: Gauge<'chain'>;
  /** Kept for what is promised or in flight. */
  readonly reserved: Gauge<'chain'>;
  /** Counted against the cap since midnight UTC. */
  readonly spentToday: Gauge<'chain'>;
};

export type PlannedEscrow = WatchedEscrow & {
  /** The payee's, for a lane of its own. */
  readonly laneSignature?: string;
};

/** One escrow as the market stores it, with the swap that it is of. */
export type Case = {
  readonly swapId: string;
  readonly leg: LegName;
  readonly escrow: PlannedEscrow;
  readonly state: SwapState;
  /** The clock of its chain as last seen, Unix seconds; 0 = never. */
  readonly clock: number;
  /** The swap has ended. */
  readonly done: boolean;
};

export type Asking = {
  readonly accountId: string;
  readonly swapId: string;
  readonly leg: string;
  readonly signal: AbortSignal;
  /** Asked before chains are read for it; throws where this account has had enough of that. */
  readonly admit: () => Promise<void>;
  /** In the transaction that keeps what was signed; an error of it is thrown, and nothing kept. */
  readonly keep?: (tx: Tx, relayed: Relayed) => Promise<void>;
};
export type ClaimAsking = Asking & { readonly secret: Secret };
export type FundAsking = Asking & {
  /** 65 bytes in hex with 0x, by the refund address over the escrow's authorization. */
  readonly signature: string;
  /** The escrow that was signed for: `escrow_moved` where it is the leg's no more. */
  readonly escrow: string;
};

/** The leg that was asked about, which pays or is funded by who asks. No chain was asked. */
export type AskedLeg = {
  readonly swapId: string;
  readonly leg: LegName;
  readonly chain: ChainKey;
  readonly family: Family;
  readonly token: string | null;
  readonly escrow: string | null;
};

/** A claim that the gates let pass. */
export type Passed = {
  readonly swapId: string;
  readonly leg: LegName;
  readonly escrow: PlannedEscrow;
  readonly state: SwapState;
  readonly clocks: Clocks;
};

export type Reopening = {
  /** Claims that blocks took without effect: as many are not followed by another. */
  readonly mostFailed: number;
  /** By chain, Unix seconds: a timelock above it is surely not what dropped a job. */
  readonly above: ReadonlyMap<ChainKey, number>;
};

export type TakenUp = {
  /** The larger count of the two kinds; the limit where there is more. */
  readonly most: number;
  /** Escrows of these chains are followed: more may come to be due at any moment. */
  readonly mayCome: boolean;
};

type Leg = { readonly swapId: string; readonly leg: LegName };

export type Market = {
  /** Makes jobs for what is due. */
  takeUp(
    tx: Tx,
    of: { readonly chains: readonly ChainKey[]; readonly now: Date },
    limit: number,
  ): Promise<TakenUp>;
  takeUpMissed(tx: Tx, of: Reopening, now: Date, limit: number): Promise<number>;
  /** Takes up again what was taken up while a chain had no key; jobs that exist stay. */
  takeUpAnew(tx: Tx): Promise<void>;
  caseOf(chain: ChainKey, escrow: string): Promise<Case | null>;
  /** Until when a claim lands there and from when on a refund, Unix seconds. */
  timelocksOf(chain: ChainKey, escrows: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Locks the swap until the end of the transaction. False: its secret is public. */
  lockWithoutSecret(tx: Tx, swapId: string): Promise<boolean>;
  /** Whether time since then may be missing from the database: a backup was restored. */
  lacksTimeSince(since: Date): Promise<boolean>;
  /** Throws what the gate of a claim refuses; before the secret is public, what a reveal does. */
  mustMayClaim(
    of: Pick<Case, 'swapId' | 'leg' | 'escrow'>,
    payer: string,
    signal: AbortSignal,
  ): Promise<void>;
  /** Whether a gate of a funding refuses it now. */
  isBarred(of: Leg & { readonly escrow: string }, signal: AbortSignal): Promise<boolean>;
  claimAsked(asking: ClaimAsking): Promise<AskedLeg>;
  mayClaim(
    asking: ClaimAsking,
    payer: string,
    signal: AbortSignal,
  ): Promise<Passed & { readonly secret: Secret }>;
  fundAsked(asking: FundAsking): Promise<AskedLeg>;
  mayFund(asking: FundAsking, signal: AbortSignal): Promise<Passed>;
  /** Until the end of the transaction the leg stays there. Throws `escrow_moved`. */
  pin(tx: Tx, of: Leg & { readonly escrow: string }): Promise<void>;
  /** A claim that shows the secret leaves: from then on the leg is not released. Throws `given_up`. */
  showSecret(tx: Tx, of: Leg): Promise<void>;
  /** For watchtowers of other processes, once the transaction has committed. */
  ringWatchtower(tx: Tx): Promise<void>;
  /** Reads and stores what the chain shows of the swap, after something was sent. */
  reconcile(swapId: string, chain: ChainKey, signal: AbortSignal): Promise<void>;
};

/** A pass again and again, one at a time. A ring ends the pause before the next. */
export type Loop = { start(): void; ring(): void; stop(): Promise<void> };
type LoopOf = {
  readonly name: string;
  /** Default: the server's usual poll. */
  readonly everyMs?: number;
  /** By `Market.ringWatchtower`, too. */
  readonly isBump?: true;
  /** Returns when the next is to be, where that is sooner. */
  readonly pass: (signal: AbortSignal) => Promise<'now' | number | undefined>;
};

export type Parts = {
  readonly db: Database;
  readonly market: Market;
  readonly adapters: ReadonlyMap<ChainKey, ChainAdapter>;
  readonly gas: ReadonlyMap<ChainKey, Gas>;
  readonly seal: Seal;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly gauges: Gauges;
  readonly log: Log;
  readonly loop: (of: LoopOf) => Loop;
  /** Absent = real time. */
  readonly signingTime?: SigningTime;
};

export type Relayed = { readonly relayed: true; readonly txid: string };

/** Where the server asks for what its customers want to have sent. */
export type Desk = {
  /** Throws `relay_unavailable`, and what the gates throw. */
  claim(asking: ClaimAsking): Promise<Relayed>;
  fund(asking: FundAsking): Promise<Relayed>;
  /** Whether a funding of such a leg by signature would be sent, as far as no chain is asked. */
  fundsBySignature(): Promise<(leg: FundedLeg) => boolean>;
  /** Chains whose claims it sends for who asks, within the cap of the day. */
  claimsOn(): Promise<ReadonlySet<ChainKey>>;
};
export type FundedLeg = Pick<AskedLeg, 'chain' | 'family' | 'token'>;
