// What a settlement works with: the trade, the market (if it is there), the customer's own chain
// sources, wallets and store. And how it reads one swap from its own chains.

import type { ChainAdapter } from '../../chains/adapter.ts';
import type { Allowance } from '../../chains/interface/fund-ways.ts';
import type { WatchedEscrow } from '../../chains/interface/reading.ts';
import { ParleyError } from '../../core/errors.ts';
import type { EscrowFacts } from '../../core/facts.ts';
import type { ChainKey, Family } from '../../core/families.ts';
import type { Hex32 } from '../../core/hashlock.ts';
import type { Clocks, Leg, SwapState } from '../../core/swap.ts';
import { type LegName, otherLeg } from '../../core/trade.ts';
import type { ParleyClient } from '../client.ts';
import { SettleError } from '../errors.ts';
import type { Store, SwapRecord } from '../stores/store.ts';
import { type ChainView, type ChainViews, givenLeg, type OwnTrade } from '../trade.ts';
import type { VerifiedLeg } from '../verify.ts';
import type { Wallet } from '../wallets/wallet.ts';
import { type KeptStore, keptStore } from './keeping.ts';
import { aborted } from './turns.ts';

/** A chain as the customer sees it, through a node of its own choice. */
export type ChainSource = { readonly view: ChainView; readonly adapter: ChainAdapter };

/** See `fundingWays`. */
export type FundingWay = 'authorization' | 'permit' | 'approval';

export type ProgressStep =
  | 'address_set'
  | 'verified'
  | 'approved'
  | 'signed'
  | 'funded'
  | 'scheduled'
  | 'seen'
  | 'claimed'
  | 'refunded'
  | 'replaced'
  | 'cancelled'
  | 'waiting'
  | 'market_refused'
  | 'market_lied'
  | 'store'
  | 'ended';

export type Progress = {
  readonly swapId: string;
  readonly step: ProgressStep;
  readonly leg: LegName | null;
  readonly txid: string | null;
  readonly text: string;
};

export type SettleInput = {
  readonly swapId: string;
  /** Absent: the swap must be in the store already (a restart). */
  readonly trade?: OwnTrade;
  /** null: the market is gone; claims and refunds need none. */
  readonly client: ParleyClient | null;
  readonly sources: ReadonlyMap<ChainKey, ChainSource>;
  readonly wallets: ReadonlyMap<ChainKey, Wallet>;
  readonly store: Store;
  /** The customer's clock, Unix seconds; default the machine's. */
  readonly now?: () => number | Promise<number>;
  /** Pause between looks at the chains; default 1 s. */
  readonly pollMs?: number;
  /** Least time between questions to the market; default 2 s. */
  readonly marketPollMs?: number;
  /**
   * How long a transaction may wait for its first block before one that pays more takes its place;
   * default 20 min on Bitcoin, 2 min elsewhere.
   */
  readonly replaceAfterMs?: number;
  /**
   * Bitcoin: leave signed refunds of the own leg with the market, to be sent if this side is away.
   * Default: where the wallet signs without asking anybody (`signsAlone`).
   */
  readonly scheduleRefunds?: boolean;
  /**
   * Has the market send the own claim where it can (not Bitcoin), so that no coin is needed for its
   * gas. The market then knows the secret before any chain does: it could delay the claim, and does
   * not get the money. Refused or not seen soon, the own claim is sent. Default false.
   */
  readonly relay?: boolean;
  /**
   * EVM: how a token may be funded; default: all ways. The first that is open is taken: the plain
   * transaction, where the allowance is enough; an authorization that the market sends, where the
   * wallet has no coin for gas; a permit; an approval. `authorization` alone is used whatever the
   * wallet holds.
   */
  readonly fundingWays?: readonly FundingWay[];
  /**
   * EVM: what an approval or a permit lets the contract take: the amount, or that of any number of
   * later fundings too. Default `exact`.
   */
  readonly allowance?: Allowance;
  /**
   * EVM and TRON: how long a claim with a public secret, or a refund, is left to `settleMany`
   * before this settlement sends its own. A claim that is short of time is not left. Default 0.
   */
  readonly leaveToBatchMs?: number;
  /**
   * Time limit of one read of a chain, and of one signature on EVM; default 15 s. A third of it is
   * that of one read or write of the store. What is not kept by then is not sent, unless it is a
   * refund or the secret is public.
   */
  readonly chainTimeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
};

export type Context = Omit<SettleInput, 'now' | 'replaceAfterMs' | 'store'> & {
  readonly now: () => Promise<number>;
  readonly store: KeptStore;
  readonly pollMs: number;
  readonly marketPollMs: number;
  readonly replaceAfterMs: (family: Family) => number;
  /** A limit for one chain read or signature, or a share of it; the caller's signal ends it too. */
  readonly limit: (share?: number) => AbortSignal;
  readonly tell: (step: ProgressStep, leg: LegName | null, text: string, txid?: string) => void;
  /** When each transaction was last sent (performance.now()). */
  readonly sentAtMs: Map<string, number>;
  /** Since when each transaction is known to wait for its first block (performance.now()). */
  readonly waitsSinceMs: Map<string, number>;
  /** Since when a claim or refund is open that is left to a batch, Unix seconds. */
  readonly openSince: Map<LegName, number>;
  /** Whom each escrow looked at is watched by. */
  readonly watching: Map<string, ChainAdapter>;
  /** What is told once and not again, however often it is met. */
  readonly toldOnce: Set<string>;
  /** Looks at legs whose chains have not answered yet. */
  readonly looks: Map<LegName, Look>;
  /** Legs as they were seen last, unless a later look has failed. */
  readonly lastSeen: Map<LegName, LegSeen>;
  /** What the market says the secret is, where it opens the hashlock; asked beside everything. */
  readonly heard: { secret: Hex32 | null; askedAtMs: number };
  /**
   * When the market was last asked where the legs are (performance.now()); -Infinity: before
   * anything is funded. `doubted`: the escrow that its last build did not fit.
   */
  readonly asking: { lastAtMs: number; doubted: string | null };
};

/** One look at one leg: what came of it, once it has ended. */
export type Look = {
  readonly ended: Promise<void>;
  found: LegSeen | null;
  error: unknown;
};

const bitcoinPatienceMs = 20 * 60_000;
const patienceMs = 2 * 60_000;
/** Of the limit of a chain, for the store. */
const storeShare = 1 / 3;

export function contextOf(input: SettleInput): Context {
  const { now = () => Math.floor(Date.now() / 1000), signal } = input;
  const limitMs = input.chainTimeoutMs ?? 15_000;
  const told = new Map<string, string>();
  const tell: Context['tell'] = (step, leg, text, txid) => {
    const [about, news] = [`${step} ${leg}`, `${text} ${txid}`];
    // A pass repeats itself until something changes.
    if (told.get(about) === news) return;
    told.set(about, news);
    input.onProgress?.({ swapId: input.swapId, step, leg, text, txid: txid ?? null });
  };
  return {
    ...input,
    store: keptStore({ ...input, limitMs: limitMs * storeShare, signal, tell }),
    now: async () => now(),
    pollMs: input.pollMs ?? 1_000,
    marketPollMs: input.marketPollMs ?? 2_000,
    replaceAfterMs: (family) =>
      input.replaceAfterMs ?? (family === 'bitcoin' ? bitcoinPatienceMs : patienceMs),
    limit: (share = 1) => {
      const limit = AbortSignal.timeout(Math.ceil(limitMs * share));
      return signal === undefined ? limit : AbortSignal.any([limit, signal]);
    },
    tell,
    sentAtMs: new Map(),
    waitsSinceMs: new Map(),
    openSince: new Map(),
    watching: new Map(),
    toldOnce: new Set(),
    looks: new Map(),
    lastSeen: new Map(),
    heard: { secret: null, askedAtMs: -Infinity },
    asking: { lastAtMs: -Infinity, doubted: null },
  };
}

export function tellOnce({ toldOnce, tell }: Context, { leg }: SetLeg, text: string): void {
  if (toldOnce.has(text)) return;
  toldOnce.add(text);
  tell('waiting', leg, text);
}

export function viewsOf(context: Pick<Context, 'sources'>): ChainViews {
  return new Map([...context.sources].map(([chain, { view }]) => [chain, view]));
}

export function sourceOf(context: Context, chain: ChainKey): ChainSource {
  const source = context.sources.get(chain);
  if (source !== undefined) return source;
  throw new SettleError('no_source', `no chain source of your own for "${chain}"`);
}

export function walletOf(context: Context, chain: ChainKey): Wallet {
  const wallet = context.wallets.get(chain);
  if (wallet !== undefined) return wallet;
  throw new SettleError('no_wallet', `no wallet of your own for "${chain}"`);
}

/** A verified leg whose destinations are known: every leg of a record. */
export type SetLeg = VerifiedLeg & { readonly escrow: NonNullable<VerifiedLeg['escrow']> };

export function legOf(record: SwapRecord, name: LegName): SetLeg {
  const leg = record.swap.legs[name];
  if (leg.escrow === null) throw new SettleError('bad_record', `leg ${name} has no escrow`);
  return { ...leg, escrow: leg.escrow };
}

/** Whether the market is to send the claim of this leg. */
export function relays({ relay = false, client }: Context, { family }: SetLeg): boolean {
  return relay && client !== null && family !== 'bitcoin';
}

/** The leg this customer funds, and the one that pays it. */
export function ownSides(record: Pick<SwapRecord, 'trade'>): { gives: LegName; gets: LegName } {
  const gives = givenLeg(record.trade.party);
  return { gives, gets: otherLeg(gives) };
}

export function watchedOf(record: SwapRecord, name: LegName): WatchedEscrow {
  const { escrow, requiredConfirmations } = legOf(record, name);
  const { address, terms } = escrow;
  const stored = record.seen?.[address];
  const watched = { address, terms, requiredConfirmations, since: record.swap.agreedAt };
  return stored === undefined ? watched : { ...watched, stored };
}

export type Seen = { readonly state: SwapState; readonly clocks: Clocks };

/** One leg as its own chain shows it, and that chain's clock. */
export type LegSeen = { readonly leg: Leg; readonly clock: number };

/** The swap as the customer's own chains show it now, both of them. Asks the market nothing. */
export async function look(context: Context, record: SwapRecord): Promise<Seen> {
  const [a, b] = await Promise.all([lookAt(context, record, 'a'), lookAt(context, record, 'b')]);
  return seenOf(record, { a, b }, await context.now());
}

/** The same swap, with one of its legs and the wall clock as they are now. */
export async function lookAgain(
  context: Context,
  record: SwapRecord,
  { state, clocks }: Seen,
  name: LegName,
): Promise<Seen> {
  const { leg, clock } = await lookAt(context, record, name);
  return {
    state: {
      ...state,
      secret: state.secret ?? leg.facts.secret,
      legs: { ...state.legs, [name]: leg },
    },
    clocks: { ...clocks, wall: await context.now(), [name]: clock },
  };
}

export function seenOf(
  record: SwapRecord,
  { a, b }: Readonly<Record<LegName, LegSeen>>,
  wall: number,
): Seen {
  const secret: Hex32 | null = record.publicSecret ?? a.leg.facts.secret ?? b.leg.facts.secret;
  const { hashlock, deadlines } = record.swap;
  const legs = { a: a.leg, b: b.leg };
  return {
    state: { hashlock, deadlines, secret, lapsed: false, legs },
    clocks: { wall, a: a.clock, b: b.clock },
  };
}

export async function lookAt(
  context: Context,
  record: SwapRecord,
  name: LegName,
): Promise<LegSeen> {
  const { chain } = legOf(record, name);
  const { adapter } = sourceOf(context, chain);
  const limit = context.limit();
  // A source of the customer's own may not heed its signal.
  const late = aborted(limit).then(() => {
    throw new ParleyError('chain_timeout', `the source of "${chain}" did not answer in time`, {});
  });
  const watched = watchedOf(record, name);
  // Looked at again and again: what is learnt of it is kept.
  adapter.watch([watched]);
  context.watching.set(watched.address, adapter);
  const { heads, facts } = await Promise.race([adapter.look([watched], limit), late]);
  return { leg: legWith(record, name, facts[0] as EscrowFacts), clock: heads.clock };
}

/** Whichever way the settlement ends; one that goes on later watches again. */
export function stopWatching({ watching }: Context): void {
  for (const [address, adapter] of watching) adapter.unwatch([address]);
}

export function legWith(record: SwapRecord, name: LegName, facts: EscrowFacts): Leg {
  const { escrow, ...leg } = legOf(record, name);
  const { payout, refund } = escrow.terms;
  return {
    ...leg,
    facts,
    // This driver funds one escrow a leg, and follows that one wherever the leg moves.
    strayed: false,
    escrow: escrow.address,
    payoutAddress: payout.address,
    payoutPubkey: payout.pubkey,
    refundAddress: refund.address,
    refundPubkey: refund.pubkey,
  };
}
