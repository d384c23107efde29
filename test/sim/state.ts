// The state of one simulated market: its servers, parties, deals and gas keys. Types alone, which
// import nothing of what happens to them: that is given as functions where it must be called.

import type { Family } from '../../core/families.ts';
import type { LegName } from '../../core/trade.ts';
import type { Database } from '../../server/db/database.ts';
import type { Metrics } from '../../server/ports/metrics.ts';
import type { Settings } from '../../server/settings/config.ts';
import type { SimChain } from './chain.ts';
import type { Chance } from './chance.ts';
import type { Node } from './facts.ts';
import type { Post } from './gas.ts';
import type { Line } from './line.ts';
import type { MarketProcess } from './process.ts';
import type { Receiver } from './receiver.ts';
import type { SimTransaction } from './transaction.ts';
import type { Doom } from './wire.ts';

export type Violation = { readonly rule: string; readonly what: string };

export type World = {
  readonly seed: number;
  readonly chance: Chance;
  readonly real: Database;
  readonly settings: Settings;
  readonly metrics: Metrics;
  /** What the first swap is to meet; null = what chance brings. */
  readonly drill: Drill | null;
  /** All parties honest, no faults: then everything must settle. */
  readonly calm: boolean;
  readonly nodes: readonly Node[];
  readonly parties: Party[];
  readonly deals: Deal[];
  readonly receiver: Receiver;
  readonly story: string[];
  readonly counts: Map<string, number>;
  readonly violations: Violation[];
  readonly agenda: Happening[];
  readonly servers: readonly Server[];
  readonly line: Line;
  readonly keeper: SimKeeper | null;
  readonly beside: Promise<unknown>[];
  /** Events begun so far: two equal numbers say that nothing began in between. */
  begun: number;
  /** Nothing else happens at the same time. */
  alone: boolean;
  /** Events that are near each other happen at once now and then. */
  readonly rushes: boolean;
  readonly startedAt: number;
  nowMs: number;
  /** Faults are over: what is left is to come home. */
  ending: boolean;
  readonly lied: Set<string>;
  /** Chains that something happened on since what is stored was held against them. */
  readonly unchecked: Set<string>;
  /** Since when each closed swap is closed, milliseconds. */
  readonly closedAt: Map<string, number>;
  /** The commit that the drill wants late was late. */
  wasLate: boolean;
  /** Until then nothing is delivered, milliseconds. */
  mutedUntil: number;
  /** Something may wait to be delivered. */
  hasNews: boolean;
};

export type Server = {
  readonly name: string;
  process: MarketProcess | null;
  /** Chains at which it is about to poll. */
  readonly planned: Set<string>;
  /** Chains at which its last poll failed, or that it never polled. */
  readonly unsure: Set<string>;
  /** Chains at which it is to poll together with others, and has not yet. */
  readonly polling: Set<string>;
  timePolledAt: number;
  readonly reopen: (world: World) => Promise<void>;
  /** What is to happen to it; a process that dies leaves the rest to the next. */
  readonly dooms: Doom[];
};

export type Happening = {
  readonly at: number;
  readonly order: number;
  readonly run: () => Promise<void>;
};

/** `hasty`: pays a Bitcoin escrow a second time, with a fee that nobody takes for hours. */
export type Kind = 'honest' | 'sleepy' | 'absent' | 'greedy' | 'hasty' | 'malicious';

export type Wallet = {
  readonly chain: string;
  readonly address: string;
  readonly pubkey: string | null;
};

export type Party = {
  readonly name: string;
  readonly kind: Kind;
  readonly accountId: string;
  readonly key: string;
  /** By chain: the login's, then others that may be paid too. */
  readonly wallets: ReadonlyMap<string, readonly Wallet[]>;
  readonly usesKeys: boolean;
  readonly chance: Chance;
  webhook: string | null;
};

export type Side = {
  readonly party: Party;
  readonly role: 'initiator' | 'counterparty';
  /** When it polls next, milliseconds; null = not before something stirs it. */
  wakesAt: number | null;
  plots: boolean;
  /** Until when a step that was taken is left alone, by its name. */
  readonly busyUntil: Map<string, number>;
  /** From when to when it does nothing, Unix seconds; null = not at all, and for ever. */
  goneAt: number | null;
  backAt: number | null;
  habits: Habits | null;
  wake: () => Promise<void>;
};

export type Deal = {
  readonly name: string;
  readonly secret: string;
  readonly hashlock: string;
  readonly taker: Party;
  readonly maker: Party;
  readonly sides: readonly Side[];
  readonly chains: readonly [string, string];
  readonly base: { readonly id: string; readonly amount: bigint };
  readonly quote: { readonly id: string; readonly amount: bigint };
  readonly direction: 'sell_base' | 'buy_base';
  readonly long: LegName;
  id: string | null;
  stage: string;
  threadId: string | null;
  rfqId: string | null;
  closed: boolean;
  /** When a party last asked to accept, milliseconds, whatever came of it. */
  readonly acceptedAt: Map<Party, number>;
  /** Until when its RFQ may be agreed, milliseconds; null = it has none yet. */
  openUntil: number | null;
  /** Seconds that pass before its last acceptance; 0 = none to speak of. */
  pause: number;
  tries: number;
  /** Somebody was told that the secret is public. */
  revealed: boolean;
  view: View | null;
  /** Every escrow that a party was ever shown as one of its legs. */
  readonly escrows: Set<string>;
};

/** Signed refunds of an escrow, as their funder reads of them. */
type Kept = { readonly count: number; readonly sentTxid: string | null };

export type LegView = {
  chain: string;
  amount: string;
  status: string;
  timelock: number;
  escrow: string | null;
  balance: string;
  formerEscrows: { escrow: string; balance: string; scheduledRefunds: Kept | null }[];
  claimTx: string | null;
  claimedBy: string | null;
  refundTx: string | null;
  refundedBy: string | null;
  scheduledRefunds: Kept | null;
};

export type StepView = {
  by: string;
  action: string;
  leg: LegName;
  before: number | null;
  why: string;
};

export type View = {
  id: string;
  status: string;
  secret: string | null;
  role: string;
  legs: { a: LegView; b: LegView };
  deadlines: {
    initiatorFundBy: number;
    expiresAt: number;
    counterpartyFundBy: number;
    revealBy: number;
    refundAt: { a: number; b: number };
  };
  next: StepView[];
};

export type Answer = {
  /** 0 = none came. */
  readonly status: number;
  readonly code: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: parties reach into answers of every shape
  readonly body: any;
};

export type Ask = {
  readonly method?: 'GET' | 'POST';
  readonly url: string;
  readonly body?: unknown;
  /** One for all tries of one write. */
  readonly once?: string;
};

export type Habits = {
  readonly relays: boolean;
  /** Asks for that in the last moment in which it may. */
  readonly late: boolean;
  /** From when it is gone for good: its leg is funded, or its secret public. */
  readonly vanishes: 'funded' | 'public' | null;
  /** Whether it does not ask yet. */
  readonly waits?: () => boolean;
};

/** What came of the requests to relay the claim of one swap. */
export type Asked = {
  /** Without an answer yet, or with none that says what became of it. */
  open: number;
  refused: number;
  /** Transactions that were promised to land, and the leg of each. */
  readonly promised: Map<string, LegName>;
};

/** What a gas key has sent, as a node first took it. */
export type GasSent = {
  readonly chain: SimChain;
  readonly txid: string;
  readonly tx: SimTransaction;
  readonly at: number;
  lost: boolean;
};

export type SimKeeper = {
  readonly chance: Chance;
  readonly posts: ReadonlyMap<string, Post>;
  readonly on: ReadonlySet<string>;
  /** When it polls next, by chain. */
  readonly planned: Map<string, number>;
  readonly sent: Map<string, GasSent>;
  readonly asked: Map<string, Asked>;
  /** Whether all that was sent had been stored by then. */
  readonly storing: Promise<void>[];
  /** Passes at one chain, by one server or by several at once. */
  readonly keep: (world: World, on: string) => Promise<void>;
  /** How often what it has just sent may still be forgotten, or pay too little. */
  troubles: number;
};

export type Drill = {
  readonly name: string;
  readonly initiator: Kind;
  readonly counterparty: Kind;
  /** What a malicious one has its mind on, by the name of its plan. */
  readonly plan?: string;
  /** The families of the two chains, the long leg's last; any where it says nothing. */
  readonly families?: readonly [Family, Family];
  /** No other faults of chains and of ours: they would keep it from coming to its moment. */
  readonly alone: boolean;
  /** The swap's agreement commits late, after that of a second one was followed. */
  readonly lateAgreement?: true;
  /** The commit that tells the secret is late, while everybody polls. */
  readonly lateReveal?: true;
  /** The long leg is on the second of its families, whichever timelock is longer. */
  readonly isOrdered?: true;
  /** So many swaps; without, as the market draws them. */
  readonly deals?: number;
  /** Both swaps are those of the drill. */
  readonly isPair?: true;
  readonly servers?: 2;
  /** Gas keys on all chains, or none; without, as the market draws them. */
  readonly keys?: 'none' | 'rich' | 'capped';
  readonly isKeyed?: true;
  readonly settles?: true;
  /** Its EVM chain is a rollup: its clock stops with it. */
  readonly isRollup?: true;
  /** No chain takes anything back. */
  readonly isSteady?: true;
  /** The market is open, and nothing has happened yet. */
  open?(world: World): void;
  begin?(world: World, deal: Deal, swap: Pick<View, 'deadlines' | 'legs'>): void;
  revealed?(world: World, deal: Deal): void;
};
