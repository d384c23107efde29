// One swap that settles itself in this page, by `drive` of the SDK: the page's view of it, and when
// it goes on after a stop.

import { has } from '@parley/core/families.ts';
import { opens } from '@parley/core/hashlock.ts';
import type { Millis, UnixSeconds } from '@parley/core/nominal.ts';
import { drive as driveSwap, type Trouble } from '@parley/sdk/drive.ts';
import {
  ClockError,
  codeOf,
  messageOf,
  ParleyApiError,
  StoreError,
  VerificationError,
} from '@parley/sdk/errors.ts';
import type { Failure, Outcome, Progress, SettleInput } from '@parley/sdk/settle.ts';
import { readKept, type SwapRecord, writeKept } from '@parley/sdk/stores/store.ts';
import type { OwnTrade, VerifiedSwap } from '@parley/sdk/trade.ts';
import { verdictOf } from '@parley/sdk/verdict.ts';
import type { Kept } from './keeping.ts';
import { sleep } from './sleep.ts';
import {
  EngineError,
  type Happened,
  type Problem,
  type ProblemKind,
  type Relayed,
  type Verb,
} from './types.ts';
import { isLookedAtAgain, type Prompt, type Told, viewOf } from './view.ts';

export type Begun = {
  readonly swapId: string;
  readonly trade: OwnTrade;
  readonly swap: VerifiedSwap;
  readonly isVerified: boolean;
  readonly isByHand: boolean;
  readonly isRefundLeft: boolean;
  readonly isClaimLeft: boolean;
  readonly isRestored: boolean;
  readonly isGivenUp: boolean;
  readonly relay: Relayed | null;
  /** The events of former runs. */
  readonly history: readonly Happened[];
};

export type Ready = { readonly input: SettleInput; readonly away: Told['away'] };

export type DriveParts = {
  readonly begun: Begun;
  /** Throws EngineError `no_phrase` or `no_payout`, and the errors of a node or of a file of the app that did not load. */
  readonly ready: (swapId: string) => Promise<Ready>;
  readonly prompts: () => readonly Prompt[];
  readonly now: () => UnixSeconds;
  /** Problems of the whole page, such as a wrong clock. */
  readonly problems: () => readonly Problem[];
  readonly onChange: () => void;
  readonly onStep: (progress: Progress, happened: Happened) => void;
  readonly onEnd: (outcome: Outcome, told: Told) => Promise<void>;
  readonly onStoreFault: (error: StoreError) => void;
};

export type Drive = ReturnType<typeof drive>;

/** The market's refusal may end with a new session, which is told to no swap. */
const againMs = 60_000;
/** A payment by hand that was late may still come. */
const lateLookMs = 60_000;

export function drive(parts: DriveParts) {
  const { begun } = parts;
  const over = new AbortController();
  let told: Told = {
    ...begun,
    phase: 'starting',
    state: 'preparing',
    shown: null,
    isToPay: false,
    lacks: null,
    payout: null,
    away: [],
    prompts: [],
    waits: null,
    problems: [],
    end: null,
  };
  let run = new AbortController();
  let woken = Promise.withResolvers<void>();
  let hurried = Promise.withResolvers<void>();
  const set = (change: Partial<Told>) => {
    told = { ...told, ...change };
    parts.onChange();
  };
  // A wish during a poll ends the pause after it.
  const pause = async (ms: Millis, signal?: AbortSignal) => {
    await Promise.race([sleep(ms, signal ?? over.signal), hurried.promise]);
    hurried = Promise.withResolvers<void>();
  };
  const again = () => {
    run.abort(new Error('it begins again'));
    woken.resolve();
  };
  const ready = async (): Promise<SettleInput> => {
    const found = await parts.ready(begun.swapId);
    const wallets = Object.values(found.input.chains).map(({ wallet }) => wallet);
    const payout = wallets.find((each) => has(each, 'coins'))?.payout ?? null;
    set({ phase: 'running', lacks: null, away: found.away, isToPay: false, payout });
    const onProgress = (each: Progress) => {
      const happened = happenedIn(told, each, parts.now());
      set(afterProgress(told, each, happened));
      parts.onStep(each, happened);
    };
    const onShown: NonNullable<SettleInput['onShown']> = (shown) => {
      const { swap, failures, byHand = false, left, restored, relay, givenUp } = shown;
      const isRefundLeft = left?.refund !== undefined;
      const isClaimLeft = left?.claim !== undefined;
      const isRestored = restored === true;
      const problems = failures.map(problemOf);
      const more = {
        isByHand: byHand,
        isRefundLeft,
        isClaimLeft,
        isRestored,
        isGivenUp: givenUp?.byPerson === true,
        relay: relayedOf(relay),
      };
      set({ shown, swap, ...more, isVerified: true, problems });
    };
    return { ...found.input, onProgress, onShown };
  };
  const onTrouble = ({ error, verdict }: Trouble) => {
    const isStopped = verdict !== 'again';
    const lacks = lacksOf(error);
    if (lacks !== null) return set({ phase: 'stopped', lacks });
    if (error instanceof StoreError) parts.onStoreFault(error);
    const failure = { leg: null, code: codeOf(error), sentence: messageOf(error) };
    const problems = [problemOf(failure, error)];
    set({ phase: isStopped ? 'stopped' : told.phase, problems });
  };
  const loop = async () => {
    const isOver = () => over.signal.aborted;
    while (!isOver()) {
      woken = Promise.withResolvers<void>();
      run = new AbortController();
      const signal = AbortSignal.any([run.signal, over.signal]);
      try {
        const driven = await driveSwap({ ready, onTrouble, pause, signal });
        if (driven.is === 'stopped') {
          const isRefused = driven.error instanceof ParleyApiError;
          const tries = isRefused ? [pause(againMs, signal)] : [];
          await Promise.race([woken.promise, ...tries]);
          continue;
        }
        const { outcome } = driven;
        set({ phase: 'ended', end: outcome, state: 'settled', problems: [], waits: null });
        await parts.onEnd(outcome, told);
        if (!isLookedAtAgain(told, outcome, parts.now())) return;
        await Promise.race([woken.promise, sleep(lateLookMs, over.signal)]);
      } catch (error) {
        if (isOver()) return;
        // It begins again, by nodes and wallets as they are now.
        if (run.signal.aborted) continue;
        // The end is not kept yet.
        onTrouble({ error, verdict: verdictOf(error) });
        await Promise.race([woken.promise, pause(againMs)]);
      }
    }
  };
  const ended = loop().catch((error: unknown) => {
    if (over.signal.aborted) return;
    const problem: Problem = { kind: 'settle', leg: null, code: null, sentence: messageOf(error) };
    set({ phase: 'stopped', problems: [problem] });
  });
  return {
    view: () => {
      const problems = [...told.problems, ...parts.problems()];
      return viewOf({ ...told, prompts: parts.prompts(), problems }, parts.now());
    },
    /** With nodes, wallets and addresses as they are now. */
    again,
    /** Looks at once: the person wants something. */
    hurry: () => hurried.resolve(),
    stop: async () => {
      over.abort(new Error('this page settles no more'));
      woken.resolve();
      await ended;
    },
    ended,
  };
}

/** The thing that a person has to give before a run can begin. */
function lacksOf(error: unknown): Told['lacks'] {
  if (!(error instanceof EngineError)) return null;
  if (error.code === 'no_phrase') return 'phrase';
  return error.code === 'no_payout' ? 'payout' : null;
}

export function relayedOf(relay: SwapRecord['relay']): Relayed | null {
  if (relay === undefined) return null;
  const { txid, refused = null } = relay;
  return { txid, refused };
}

function happenedIn({ trade, swap }: Told, each: Progress, now: UnixSeconds): Happened {
  const { state, step, leg, txid } = each;
  const text = plainText(each.text, [swap.hashlock, trade.hashlock]);
  return { at: Math.floor(now), state, step, leg, text, txid };
}

function afterProgress(told: Told, each: Progress, happened: Happened): Partial<Told> {
  const { state, step, leg, text, code } = each;
  const base: Partial<Told> = { state, history: withNews(told.history, happened) };
  switch (step) {
    case 'pay_by_hand':
      return { ...base, isToPay: true, waits: null };
    case 'waiting':
      return code === null ? { ...base, waits: text } : base;
    case 'elsewhere':
      return { ...base, waits: text };
    case 'market_refused':
    case 'market_lied': {
      if (told.isVerified) return base;
      return { ...base, problems: [problemOf({ leg, code, sentence: text })] };
    }
    case 'verified':
      return { ...base, waits: null, problems: [] };
    case 'state':
      return { ...base, waits: null, isToPay: told.isToPay && state === 'funding' };
    default:
      return base;
  }
}

/** By the code of the SDK, of a chain's adapter or of the market. */
function problemOf({ leg, code, sentence }: Failure, error?: unknown): Problem {
  return { kind: kindOf(code, error), leg, code, sentence };
}

const kinds: Readonly<Record<string, ProblemKind>> = {
  chain_timeout: 'node',
  chain_unavailable: 'node',
  sources_disagree: 'node',
  no_source: 'node',
  unknown_chain: 'node',
  claim_unpayable: 'gas',
  funding_would_fail: 'gas',
  no_answer: 'market',
  terms_outdated: 'terms',
  clock_wrong: 'clock',
  acceptance_lapsed: 'terms',
  price_ended: 'terms',
  hashlock_used: 'terms',
};

function kindOf(code: string | null, error: unknown): ProblemKind {
  if (error instanceof ParleyApiError) return 'market';
  if (error instanceof ClockError) return 'clock';
  if (error instanceof VerificationError) return 'market_lied';
  if (error instanceof StoreError) return 'store';
  return kinds[code ?? ''] ?? 'settle';
}

/** A step of the SDK that tells of a wallet's prompt: it was signed. */
export function verbDone({ step }: Progress): Verb | null {
  if (step === 'funded') return 'fund';
  if (step === 'claimed') return 'claim';
  if (step === 'released') return 'release';
  return step === 'refunded' ? 'refund' : null;
}

/** Entries that a browser keeps of a swap's history. The oldest go. */
export const mostHistory = 200;
const mostText = 500;

export type Histories = ReturnType<typeof historiesOf>;

const keyOf = (swapId: string) => `history ${swapId}`;
const rowsOf = (text: string | null) => (text === null ? [] : readKept<Happened[]>(text));

export function historiesOf(kept: Kept, onFault: (error: unknown) => void) {
  let writing: Promise<void> = Promise.resolve();
  return {
    of: async (swapId: string) => rowsOf(await kept.get(keyOf(swapId))),
    /** Is written soon, one after the other. */
    add: (swapId: string, happened: Happened) => {
      const next = (text: string | null) => writeKept(withNews(rowsOf(text), happened));
      writing = writing.then(() => kept.change(keyOf(swapId), next)).catch(onFault);
    },
    /** Resolves when all that was added is kept. */
    written: () => writing,
  };
}

/** A run says again what the one before has said: that is no news. The newest 200 stay. */
export function withNews(rows: readonly Happened[], news: Happened): readonly Happened[] {
  const { step, leg, text, txid, state } = news;
  const before = rows.findLast((each) => each.step === step && each.leg === leg);
  const isSame =
    step === 'state' ? before?.state === state : before?.text === text && before.txid === txid;
  return isSame ? rows : [...rows, news].slice(-mostHistory);
}

/** Without what opens one of these hashlocks, and without transactions, which may hold it. */
export function plainText(text: string, hashlocks: readonly (string | null)[]): string {
  const isSecret = (digits: string) =>
    digits.length > 64 || hashlocks.some((each) => each !== null && opens(digits, each));
  const bare = (run: string) => (isSecret(run.replace(/^0x/, '').toLowerCase()) ? '…' : run);
  return text.replace(/(?:0x)?[0-9a-f]{64,}/gi, bare).slice(0, mostText);
}

export type Open = {
  readonly begun: Begun;
  /** It has ended, and `isLookedAtAgain`. */
  readonly hasEnded: boolean;
};

/** Side by side in one page; the others begin when one of them has ended. */
export const mostDriven = 60;

/**
 * The reason why no further swap may begin, by the open swaps and the acceptances that wait for the
 * other side. One without a place could miss its claim, as those before it may hold theirs for
 * days.
 */
export function roomFault(open: number, waiting: number): string | null {
  if (open + waiting < mostDriven) return null;
  const are = `${open} swaps are open in this browser and ${waiting} acceptances wait`;
  return `${are}: it settles ${mostDriven} side by side, so wait until one has ended`;
}

/** `free`: places. */
export function toDrive(open: readonly Open[], free: number): Begun[] {
  const byUrgency = (one: Open, other: Open) =>
    Number(one.hasEnded) - Number(other.hasEnded) ||
    one.begun.swap.deadlines.revealBy - other.begun.swap.deadlines.revealBy;
  return open
    .toSorted(byUrgency)
    .slice(0, Math.max(0, free))
    .map(({ begun }) => begun);
}
