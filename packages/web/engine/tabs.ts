// The tabs of one person: one of them settles, the others show what it says and ask it.

import type { Store } from '@parley/sdk/stores/store.ts';
import { type Held, held, type Live } from '../live.ts';
import { sleep } from './sleep.ts';
import type { SwapView, Verb } from './types.ts';

export type Said =
  | { readonly kind: 'hello' }
  | { readonly kind: 'views'; readonly views: readonly SwapView[] }
  /** Something that both read is other now. */
  | { readonly kind: 'changed'; readonly what: 'vault' | 'nodes' | 'deals' | 'rescue' }
  | { readonly kind: 'again'; readonly swapId: string }
  | { readonly kind: 'sign'; readonly swapId: string; readonly verb: Verb }
  | { readonly kind: 'extra'; readonly swapId: string; readonly extra: bigint }
  | { readonly kind: 'let_go' }
  | { readonly kind: 'keeps' }
  /** A tab that follows asks whether another one settles. */
  | { readonly kind: 'asks' }
  | { readonly kind: 'alive'; readonly as: 'driver' | 'deputy'; readonly from: string };

/**
 * Which tab settles. `isSilent`: it has the turn and does not answer. Claims of a public secret and
 * refunds are made all the same, by a tab that answers; the rest waits until it is closed.
 */
type Driver = { readonly kind: 'this' } | { readonly kind: 'other'; readonly isSilent: boolean };

const follows: Driver = { kind: 'other', isSilent: false };
const isLost: Driver = { kind: 'other', isSilent: true };

export type Tabs = ReturnType<typeof openTabs>;

type TabsParts = {
  readonly name: string;
  readonly store: Pick<Store, 'lock'>;
  readonly hear: (said: Said) => void;
  /** From now on this tab settles, with the turn or in its place; resolves when it has begun. */
  readonly begin: () => Promise<void>;
  /** Resolves when nothing runs here any more. */
  readonly end: () => Promise<void>;
  /** Whether nothing is lost by stopping now: a wallet shows no prompt here. */
  readonly mayLetGo: () => boolean;
};

/** For a tab in the background, whose timers and messages are slow. */
const answerMs = 10_000;
/** Between two questions of a tab that follows. In the background: once a minute. */
const askMs = 30_000;
/** So many in a row without an answer: the tab that holds the lock is frozen, or hangs. */
const mostUnanswered = 4;

export function openTabs(parts: TabsParts) {
  const driver = held<Driver>(follows);
  const channel = new BroadcastChannel(`parley ${parts.name}`);
  const over = new AbortController();
  let letGo = Promise.withResolvers<void>();
  let kept = Promise.withResolvers<boolean>();
  const say = (said: Said) => channel.postMessage(said);
  const deputy = deputyOf(parts, driver, say);
  channel.onmessage = ({ data }: { readonly data: unknown }) => {
    // Only tabs of this origin can have sent it.
    const said = data as Said;
    if (driver.now().kind === 'this' && said.kind === 'let_go') {
      if (parts.mayLetGo()) letGo.resolve();
      else say({ kind: 'keeps' });
      return;
    }
    if (driver.now().kind === 'other' && said.kind === 'keeps') kept.resolve(false);
    deputy.hear(said);
    parts.hear(said);
  };
  const turn = async () => {
    const { store } = parts;
    const lock = store.lock === undefined ? null : await store.lock('driver', over.signal);
    if (over.signal.aborted || (store.lock !== undefined && lock === null)) return;
    letGo = Promise.withResolvers<void>();
    driver.set({ kind: 'this' });
    kept.resolve(true);
    try {
      await deputy.promoted();
      await letGo.promise;
      driver.set(follows);
      await deputy.ends();
    } finally {
      await lock?.release();
    }
  };
  const turns = async () => {
    while (!over.signal.aborted) await turn();
  };
  const ended = turns();
  const asked = deputy.asks(over.signal);
  say({ kind: 'hello' });
  return {
    driver: driver as Live<Driver>,
    say,
    /** Asks the other tab to let this one go on. False where it is waiting for a wallet there. */
    takeOver: async () => {
      if (driver.now().kind === 'this') return true;
      kept = Promise.withResolvers<boolean>();
      say({ kind: 'let_go' });
      const late = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => late.resolve(false), answerMs);
      const taken = await Promise.race([kept.promise, late.promise]);
      clearTimeout(timer);
      return taken;
    },
    close: async () => {
      over.abort();
      letGo.resolve();
      await Promise.all([ended, asked]);
      await deputy.down();
      channel.close();
    },
  };
}

/**
 * Acts in the place of a tab that has the turn and is silent: it keeps its locks, so that a run
 * here does what two may do and never funds twice (`takeTurn` of settle). The one with the least id
 * of several stays.
 */
function deputyOf(parts: TabsParts, driver: Held<Driver>, say: (said: Said) => void) {
  const id = crypto.getRandomValues(new Uint32Array(4)).join('-');
  let isIn = false;
  let unanswered = 0;
  let doing: Promise<void> = Promise.resolve();
  const after = (work: () => Promise<void>): Promise<void> => {
    doing = doing.then(work);
    return doing;
  };
  const up = () =>
    after(async () => {
      if (isIn || driver.now().kind === 'this') return;
      driver.set(isLost);
      isIn = true;
      await parts.begin();
    });
  const down = () =>
    after(async () => {
      if (!isIn) return;
      isIn = false;
      await parts.end();
    });
  const answers = (as: 'driver' | 'deputy', from: string) => {
    unanswered = 0;
    if (driver.now().kind === 'this') return;
    driver.set(as === 'driver' ? follows : isLost);
    const isFirst = as === 'driver' || from < id;
    if (isFirst && parts.mayLetGo()) void down();
  };
  return {
    down,
    hear: (said: Said) => {
      const isDriver = driver.now().kind === 'this';
      if (said.kind === 'alive') answers(said.as, said.from);
      if (said.kind !== 'asks' || !(isDriver || isIn)) return;
      say({ kind: 'alive', as: isDriver ? 'driver' : 'deputy', from: id });
    },
    /** It holds the lock: swaps that run here already go on. */
    promoted: () =>
      after(async () => {
        unanswered = 0;
        if (!isIn) await parts.begin();
        isIn = false;
      }),
    ends: () => after(parts.end),
    /** By own questions and not by the clock: it leaps while a machine sleeps. */
    asks: async (signal: AbortSignal) => {
      const isOver = () => signal.aborted;
      while (!isOver()) {
        await sleep(askMs, signal);
        if (isOver() || driver.now().kind === 'this') continue;
        if (unanswered >= mostUnanswered) void up();
        unanswered += 1;
        say({ kind: 'asks' });
      }
    },
  };
}
