// One swap that settles itself in this page: runs `settle` again after what passes by itself, and
// stops where a person is needed.

import { ParleyError } from '../../core/errors.ts';
import type { Millis, UnixSeconds } from '../../core/nominal.ts';
import {
  ClockError,
  codeOf,
  messageOf,
  ParleyApiError,
  SettleError,
  StoreError,
  VerificationError,
} from '../../sdk/errors.ts';
import {
  type Failure,
  type Outcome,
  type Progress,
  type SettleInput,
  settle,
} from '../../sdk/settle.ts';
import type { SwapRecord } from '../../sdk/stores/store.ts';
import type { OwnTrade, VerifiedSwap } from '../../sdk/trade.ts';
import { plainText, withNews } from './history.ts';
import { sleep } from './sleep.ts';
import type { Happened, Problem, ProblemKind, Relayed, SwapView, Verb } from './types.ts';
import { isLookedAtAgain, type Prompt, type Told, viewOf } from './view.ts';

export type Begun = {
  readonly swapId: string;
  readonly trade: OwnTrade;
  readonly swap: VerifiedSwap;
  readonly isVerified: boolean;
  readonly isByHand: boolean;
  readonly isRefundLeft: boolean;
  readonly isRestored: boolean;
  readonly relay: Relayed | null;
  /** What was told in former runs. */
  readonly history: readonly Happened[];
};

/** What a run needs; or what it lacks before it can begin. */
export type Ready =
  | { readonly input: SettleInput; readonly away: Told['away'] }
  | { readonly lacks: NonNullable<Told['lacks']> };

export type DriveParts = {
  readonly begun: Begun;
  /** Throws what a node or a file of the app that is not there throws. */
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

export type Drive = {
  view(): SwapView;
  /** With nodes, wallets and addresses as they are now. */
  again(): void;
  /** Looks at once: the person wants something. */
  hurry(): void;
  stop(): Promise<void>;
  readonly ended: Promise<void>;
};

/** A failed run of a swap is tried again after this pause, which doubles up to a minute. */
const leastPauseMs = 2_000;
const mostPauseMs = 60_000;
/** A payment by hand that was late may still come. */
const lateLookMs = 60_000;

export function drive(parts: DriveParts): Drive {
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
  // What is wanted during a look ends the pause after it.
  const pause = async (ms: Millis, signal?: AbortSignal) => {
    await Promise.race([sleep(ms, signal ?? over.signal), hurried.promise]);
    hurried = Promise.withResolvers<void>();
  };
  const again = () => {
    run.abort(new Error('it begins again'));
    woken.resolve();
  };
  const once = async (): Promise<Outcome | null> => {
    run = new AbortController();
    const ready = await parts.ready(begun.swapId);
    if ('lacks' in ready) {
      set({ phase: 'stopped', lacks: ready.lacks });
      return null;
    }
    const wallets = Object.values(ready.input.chains).map(({ wallet }) => wallet);
    const payout = wallets.find((each) => each?.family === 'bitcoin')?.payout ?? null;
    set({ phase: 'running', lacks: null, away: ready.away, isToPay: false, payout });
    const signal = AbortSignal.any([run.signal, over.signal]);
    const onProgress = (each: Progress) => {
      const happened = happenedIn(told, each, parts.now());
      set(afterProgress(told, each, happened));
      parts.onStep(each, happened);
    };
    const onShown: NonNullable<SettleInput['onShown']> = (shown) => {
      const { swap, failures, byHand = false, scheduled, restored, relay } = shown;
      const isRefundLeft = scheduled !== undefined;
      const isRestored = restored === true;
      const problems = failures.map(problemOf);
      const more = { isByHand: byHand, isRefundLeft, isRestored, relay: relayedOf(relay) };
      set({ shown, swap, ...more, isVerified: true, problems });
    };
    return settle({ ...ready.input, signal, pause, onProgress, onShown });
  };
  const loop = async () => {
    let pauseMs = leastPauseMs;
    const isOver = () => over.signal.aborted;
    while (!isOver()) {
      woken = Promise.withResolvers<void>();
      try {
        const outcome = await once();
        if (outcome !== null) {
          set({ phase: 'ended', end: outcome, state: 'settled', problems: [], waits: null });
          await parts.onEnd(outcome, told);
          if (!isLookedAtAgain(told, outcome, parts.now())) return;
          await Promise.race([woken.promise, sleep(lateLookMs, over.signal)]);
          continue;
        }
        await woken.promise;
      } catch (error) {
        if (isOver()) return;
        if (run.signal.aborted) continue;
        if (error instanceof StoreError) parts.onStoreFault(error);
        const problem = problemOf(
          { leg: null, code: codeOf(error), sentence: messageOf(error) },
          error,
        );
        const needsPerson = isForPerson(error);
        set({ phase: needsPerson ? 'stopped' : told.phase, problems: [problem] });
        if (needsPerson) await woken.promise;
        else await Promise.race([woken.promise, pause(pauseMs)]);
        pauseMs = Math.min(pauseMs * 2, mostPauseMs);
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
    again,
    hurry: () => hurried.resolve(),
    stop: async () => {
      over.abort(new Error('this page settles no more'));
      woken.resolve();
      await ended;
    },
    ended,
  };
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
export function problemOf({ leg, code, sentence }: Failure, error?: unknown): Problem {
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

/** What does not pass by itself. */
function isForPerson(error: unknown): boolean {
  if (error instanceof SettleError || error instanceof VerificationError) return true;
  if (error instanceof StoreError) return error.code !== 'failed';
  return error instanceof ParleyError && /^(invalid|forbidden|absent)$/.test(error.kind);
}

/** What a step of the SDK says of a wallet's prompt: it was signed. */
export function verbDone({ step }: Progress): Verb | null {
  if (step === 'funded') return 'fund';
  if (step === 'claimed') return 'claim';
  return step === 'refunded' ? 'refund' : null;
}
