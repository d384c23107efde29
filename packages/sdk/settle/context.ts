// The inputs of a settlement, and its memory while it runs.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { Allowance } from '@parley/chains/interface/fund-ways.ts';
import type { Material } from '@parley/chains/interface/material.ts';
import { type ChainKey, type Family, has } from '@parley/core/families.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import type { BaseUnits, Millis, UnixSeconds } from '@parley/core/nominal.ts';
import type { LegName } from '@parley/core/trade.ts';
import { type ChainSource, type Chains, walletIn } from '../chains.ts';
import type { ParleyClient } from '../client.ts';
import { SettleError, WalletError } from '../errors.ts';
import type { Asking } from '../evidence/observe.ts';
import { timedText } from '../people.ts';
import type { Store, SwapRecord } from '../stores/store.ts';
import { type OwnTrade, sourceIn } from '../trade.ts';
import type { SwapLeg } from '../types.ts';
import type { Asked } from '../verify-material.ts';
import type { AskedFor, Wallet } from '../wallets/wallet.ts';
import { wordsOf } from '../words.ts';
import { keptStore } from './keeping.ts';
import type { SettleState } from './machine.ts';
import { type LegSeen, legOf, ownSides, type SetLeg, toldOf } from './record.ts';

export type FundingWay = 'authorization' | 'permit' | 'approval';

export type ProgressStep =
  /** Another tab or process settles this swap: this one waits. */
  | 'elsewhere'
  | 'state'
  | 'address_set'
  | 'verified'
  | 'approved'
  | 'signed'
  | 'pay_by_hand'
  /** A person has to want that a wallet asks (`Asks`). */
  | 'asking'
  /** The wallet asks now, or as soon as all else is ready. */
  | 'prompting'
  /** A wallet has not signed as asked. */
  | 'wallet_refused'
  | 'funded'
  | 'scheduled'
  | 'seen'
  /**
   * The evidence of a chain's nodes no longer suffices to begin or end anything, or suffices again.
   */
  | 'evidence'
  | 'claimed'
  | 'refunded'
  | 'released'
  | 'replaced'
  | 'cancelled'
  | 'waiting'
  | 'market_refused'
  | 'market_lied'
  | 'store'
  | 'ended';

export type Progress = {
  readonly swapId: string;
  /** Where the swap is for this side (see machine.ts); `step` says what was done or met. */
  readonly state: SettleState;
  readonly step: ProgressStep;
  readonly leg: LegName | null;
  readonly txid: string | null;
  readonly text: string;
  /** The code of an error that is waited for, such as `chain_unavailable`; null without one. */
  readonly code: string | null;
};

export type SettleInput = {
  readonly swapId: string;
  /** Absent: the swap must be in the store already (a restart). */
  readonly trade?: OwnTrade;
  /** null: the market is gone; claims and refunds need none. */
  readonly client: ParleyClient | null;
  /** The market that a claim is announced to before it shows the secret; default `client`. */
  readonly announcer?: Pick<ParleyClient, 'announceClaim'> | null;
  readonly chains: Chains;
  readonly store: Store;
  readonly now?: () => UnixSeconds | Promise<UnixSeconds>;
  /** Pause between polls of the chains; default 1 s. */
  readonly pollMs?: number;
  /**
   * How that pause is spent; default asleep. Resolves early where something is to be done at once,
   * such as what a person has just clicked, and when the signal aborts.
   */
  readonly pause?: (ms: Millis, signal: AbortSignal | undefined) => Promise<void>;
  /** Least time between questions to the market; default 2 s. */
  readonly marketPollMs?: number;
  /**
   * Bitcoin, paid by hand: whether the secret may be shown while the own escrow holds so many sats
   * beyond the amount. Asked from a hundredth of it on. Default: no, and all is refunded.
   */
  readonly givesExtra?: (extra: BaseUnits) => boolean;
  /**
   * Asked at each poll: whether the person gives the swap up. The first yes is kept and not taken
   * back: nothing is funded or revealed from then on, and both legs go back as soon as the other
   * side allows it.
   */
  readonly givesUp?: () => boolean;
  /**
   * How long a transaction waits before one that pays more replaces it; default 20 min on Bitcoin,
   * else 2.
   */
  readonly replaceAfterMs?: number;
  /**
   * Bitcoin: leave signed refunds of the own leg with the market. Default: where the wallet signs
   * without asking (`signsAlone`).
   */
  readonly scheduleRefunds?: boolean;
  /** The same of signed claims of the leg that pays this side. */
  readonly scheduleClaims?: boolean;
  /**
   * Has the market send the own claim (not Bitcoin). It then knows the secret, could delay, and
   * gets no money. `without_gas`: only where the wallet cannot pay for it, and the market says that
   * it sends claims there. Default false.
   */
  readonly relay?: boolean | 'without_gas';
  /**
   * EVM: ways to fund a token; default all. Plain if the allowance is enough, authorization without
   * gas, permit, approval. `authorization` alone is always used.
   */
  readonly fundingWays?: readonly FundingWay[];
  /** EVM: the amount of an approval or a permit; default `exact`. */
  readonly allowance?: Allowance;
  /**
   * Bitcoin by Taproot: how long the funder has to sign a claim with this side, before this side
   * claims alone; default 20 s. 0: it claims alone at once.
   */
  readonly cosignWaitMs?: number;
  /**
   * EVM and TRON: how long a claim or refund is left to `settleMany`. One short of time is not.
   * Default 0.
   */
  readonly leaveToBatchMs?: number;
  /**
   * EVM and TRON: funds the swaps of one key in few transactions; one object for all of a store.
   * Default: each alone.
   */
  readonly fundsTogether?: FundsTogether;
  /**
   * The limit of one read of a chain or one signature; default 15 s. A third of it is for one call
   * of the store.
   */
  readonly chainTimeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  /** Called after each poll of the chains and its effects; before a new state is emitted, too. */
  readonly onShown?: (shown: Shown) => void;
};

/** The kept part of a swap, and its legs as their chains showed them last. */
export type Shown = Pick<
  SwapRecord,
  'trade' | 'swap' | 'byHand' | 'left' | 'restored' | 'relay' | 'givenUp' | 'released'
> & {
  /** A leg whose chain has not answered yet is missing. */
  readonly legs: ReadonlyMap<LegName, LegSeen>;
  /** Failures of this poll and of its effects. */
  readonly failures: readonly Failure[];
};

/** A failure that is waited for, unless `settle` throws it. */
export type Failure = {
  readonly leg: LegName | null;
  readonly code: string | null;
  readonly sentence: string;
};

/** See fund-together.ts. */
export type FundsTogether = {
  /** Whether the leg was funded, or may not be now. Else it goes alone. Throws as its funding does. */
  fund(context: Context): Promise<boolean>;
};

export type Context = ReturnType<typeof contextOf>;

type Waits = { readonly txid?: string; readonly once?: boolean };

export type LegRead = {
  readonly ended: Promise<void>;
  found: LegSeen | null;
  error: unknown;
};

/** One leg and the wallet of its chain. */
export type On<W extends Wallet> = {
  readonly context: Context;
  readonly leg: SetLeg;
  readonly wallet: W;
};

const bitcoinPatienceMs = 20 * 60_000;
const patienceMs = 2 * 60_000;
const storeShare = 1 / 3;

/** The behaviour of nodes, learnt over all polls of a settlement. */
export type Hearing = Pick<Asking, 'differing' | 'denied' | 'silent' | 'late'> & {
  /** How often a claim or refund of a leg was built: each second time by another node. */
  readonly builds: Map<LegName, number>;
};

export function newHearing(): Hearing {
  return {
    differing: new Map(),
    denied: new Map(),
    silent: new Map(),
    late: new Map(),
    builds: new Map(),
  };
}

/** `hearing`: that of former polls, where a program polls one swap again and again. */
export function contextOf(input: SettleInput, hearing: Hearing = newHearing()) {
  const { swapId, now = () => Math.floor(Date.now() / 1000), signal } = input;
  const limitMs = input.chainTimeoutMs ?? 15_000;
  const limitOf = (ms: number) => {
    const limit = AbortSignal.timeout(Math.ceil(ms));
    return signal === undefined ? limit : AbortSignal.any([limit, signal]);
  };
  const emitted = new Map<string, string>();
  const onlyOnce = new Set<string>();
  let state: SettleState = 'preparing';
  let wall: UnixSeconds | null = null;
  const emit = (
    step: ProgressStep,
    leg: LegName | null,
    text: string,
    txid: string | null = null,
    code: string | null = null,
  ): void => {
    const about = `${step} ${leg}`;
    const news = `${text} ${txid}`;
    // A pass repeats itself until something changes.
    if (emitted.get(about) === news) return;
    emitted.set(about, news);
    try {
      input.onProgress?.({ swapId, state, step, leg, text: timedText(text), txid, code });
    } catch {
      // A listener's error must not keep a claim from being sent.
    }
  };
  const store = keptStore({ ...input, limitMs: limitMs * storeShare, signal, emit });
  const current = () => {
    const record = store.latest();
    if (record !== null) return record;
    throw new SettleError('unknown_record', `the store keeps no record of swap ${input.swapId}`);
  };
  return {
    ...input,
    store,
    /** The last kept record of this side. Throws before the first one. */
    get record(): SwapRecord {
      return current();
    },
    keep: async (change: Partial<SwapRecord>) => store.putSwap({ ...current(), ...change }),
    get state(): SettleState {
      return state;
    },
    enter: (next: SettleState) => {
      if (next === state) return;
      const text = `${state} -> ${next}`;
      state = next;
      emit('state', null, text);
    },
    now: async (): Promise<UnixSeconds> => {
      wall = await now();
      return wall;
    },
    /** As the clock was read last; null: not yet. */
    lastWall: (): UnixSeconds | null => wall,
    pollMs: input.pollMs ?? 1_000,
    marketPollMs: input.marketPollMs ?? 2_000,
    replaceAfterMs: (family: Family) =>
      input.replaceAfterMs ?? (has(family, 'coins') ? bitcoinPatienceMs : patienceMs),
    /** For one chain read or signature, or a share of it; the caller's signal ends it too. */
    limit: (share = 1) => limitOf(limitMs * share),
    /** For one signature: a person takes longer than a key. */
    signingLimit: ({ asks }: Pick<Wallet, 'asks'>) => limitOf(limitMs + (asks?.withinMs ?? 0)),
    emit,
    shows: (legs: ReadonlyMap<LegName, LegSeen>, failures: readonly Failure[]) => {
      try {
        // Not the whole record: a signed transaction in it may hold a secret.
        const { trade, swap, byHand, left, restored, relay, givenUp, released } = current();
        const shown = [...legs].map(([name, seen]) => [name, withTold(seen)] as const);
        input.onShown?.({
          trade,
          swap,
          legs: new Map(shown),
          failures,
          ...(byHand === undefined ? {} : { byHand }),
          ...(left === undefined ? {} : { left }),
          ...(restored === undefined ? {} : { restored }),
          ...(relay === undefined ? {} : { relay }),
          ...(givenUp === undefined ? {} : { givenUp }),
          ...(released === undefined ? {} : { released }),
        });
      } catch {
        // As with what is told.
      }
    },
    /** The same words are news the next time. */
    saidAnew: ({ leg }: Pick<SetLeg, 'leg'>, steps: readonly ProgressStep[]) => {
      for (const step of steps) emitted.delete(`${step} ${leg}`);
    },
    /** Emits that this side waits; `once`: however often it is met. */
    waits: ({ leg }: Pick<SetLeg, 'leg'>, text: string, how: Waits = {}) => {
      const { txid, once = false } = how;
      if (once && onlyOnce.has(text)) return;
      if (once) onlyOnce.add(text);
      emit('waiting', leg, text, txid);
    },
    /** When each transaction was last sent, and since when it waits (performance.now()). */
    sentAtMs: new Map<string, number>(),
    waitsSinceMs: new Map<string, number>(),
    /** Since when a claim or refund is open that is left to a batch. */
    openSince: new Map<LegName, UnixSeconds>(),
    /** Whether this run has sent a refund, or found that none can be paid. */
    refunding: { isTried: false },
    /** Whether an end was looked for, with its whole time for each node. */
    ending: { isTried: false },
    /** Whom each escrow is watched by. */
    watching: new Map<string, readonly ChainAdapter[]>(),
    /** The last emitted doubts about the nodes of a leg. */
    doubted: new Map<LegName, string>(),
    ...hearing,
    /** Reads of legs whose chains have not answered yet. */
    reads: new Map<LegName, LegRead>(),
    /** Unless a later read has failed. */
    lastSeen: new Map<LegName, LegSeen>(),
    /**
     * By the market's word: the secret, where it opens the hashlock, and the releases of the own leg
     * and, by this side, of the other one; undefined: it has not answered. `refused`: a signature
     * that opens nothing. `opening`: the payee's word for its lane. `isSilent`: it has not answered
     * the last question.
     */
    heard: {
      secret: null as Secret | null,
      release: null as SwapLeg['release'],
      own: undefined as SwapLeg['release'] | undefined,
      refused: null as string | null,
      opening: {} as { readonly laneSignature?: string },
      isSilent: false,
      askedAtMs: -Infinity,
    },
    /** `triedAt`: Unix seconds. */
    releasing: { tries: 0, triedAt: 0 },
    /** Spends that both sides sign, by the ids of the market. */
    cosigning: {
      /** `untilMs`: this run waits; null: it has not asked. */
      claim: { id: '', untilMs: null as number | null, isOver: false },
      refund: { id: '', balance: 0n, tries: 0 },
    },
    /** -Infinity before anything is funded. `doubted`: the build that did not fit. */
    asking: { lastAtMs: -Infinity, doubted: null as string | null },
    /** Chains whose claims the market says that it sends. */
    sending: { askedAtMs: -Infinity, chains: new Set() as ReadonlySet<ChainKey> },
  };
}

function withTold(seen: LegSeen): LegSeen {
  const { evidence } = seen;
  return evidence === undefined
    ? seen
    : { ...seen, evidence: { ...evidence, doubts: toldOf(seen) } };
}

export function sourceOf({ chains }: Pick<Context, 'chains'>, chain: ChainKey): ChainSource {
  return sourceIn(chains, chain);
}

export function walletOf({ chains }: Pick<Context, 'chains'>, chain: ChainKey): Wallet {
  return walletIn(chains, chain);
}

export function ownLeg({ record }: Pick<Context, 'record'>): SetLeg {
  return legOf(record, ownSides(record).gives);
}

export function payingLeg({ record }: Pick<Context, 'record'>): SetLeg {
  return legOf(record, ownSides(record).gets);
}

/**
 * Does what a wallet signs for, or says that a person has to want it first. A wallet's refusal ends
 * nothing: it is asked again when the person wants that again.
 */
export async function asPersonWants(
  context: Context,
  leg: SetLeg,
  verb: AskedFor['verb'],
  work: () => Promise<void>,
): Promise<void> {
  const { asks } = walletOf(context, leg.chain);
  if (asks === undefined) return work();
  const what = { swapId: context.swapId, verb };
  if (!asks.isWanted(what)) {
    return context.emit('asking', leg.leg, `waits until you want to ${verb} leg ${leg.leg}`);
  }
  context.saidAnew(leg, ['wallet_refused']);
  context.emit(
    'prompting',
    leg.leg,
    `asks your wallet to ${verb} leg ${leg.leg}: confirm it there`,
  );
  try {
    await work();
  } catch (error) {
    if (!(error instanceof WalletError)) throw error;
    asks.over(what);
    context.saidAnew(leg, ['asking', 'prompting']);
    context.emit('wallet_refused', leg.leg, error.message, error.txid ?? undefined);
  }
}

/** Tells a wallet that asks a person what it asks for next: the checked material. */
export function shows(context: Context, leg: SetLeg, asked: Asked, material: Material): void {
  const { asks } = walletOf(context, leg.chain);
  const what = { swapId: context.swapId, verb: asked.verb };
  asks?.shows?.(what, wordsOf(material, asked, leg.escrow.terms));
}
