// The tabs of one person: one of them settles, the others show what it says and ask it.

import type { Store } from '../../sdk/stores/store.ts';
import { held, type Live } from './live.ts';
import type { Swaps, SwapView, Verb } from './types.ts';

export type Said =
  | { readonly kind: 'hello' }
  | { readonly kind: 'views'; readonly views: readonly SwapView[] }
  /** Something that both read is other now. */
  | { readonly kind: 'changed'; readonly what: 'vault' | 'nodes' | 'deals' | 'rescue' }
  | { readonly kind: 'again'; readonly swapId: string }
  | { readonly kind: 'sign'; readonly swapId: string; readonly verb: Verb }
  | { readonly kind: 'extra'; readonly swapId: string; readonly extra: bigint }
  | { readonly kind: 'let_go' }
  | { readonly kind: 'keeps' };

export type Driver = ReturnType<Swaps['driver']['now']>;

export type Tabs = {
  readonly driver: Live<Driver>;
  say(said: Said): void;
  takeOver(): Promise<boolean>;
  close(): Promise<void>;
};

export type TabsParts = {
  readonly name: string;
  readonly store: Pick<Store, 'lock'>;
  readonly hear: (said: Said) => void;
  /** From now on this tab settles; resolves when it has begun. */
  readonly begin: () => Promise<void>;
  /** Resolves when nothing runs here any more. */
  readonly end: () => Promise<void>;
  /** Whether another tab may have it now: not while a wallet shows a prompt here. */
  readonly mayLetGo: () => boolean;
};

/** For a tab in the background, whose timers and messages are slow. */
const answerMs = 10_000;

export function openTabs(parts: TabsParts): Tabs {
  const driver = held<Driver>({ kind: 'other', heardAtMs: null });
  const channel = new BroadcastChannel(`parley ${parts.name}`);
  const over = new AbortController();
  let letGo = Promise.withResolvers<void>();
  let kept = Promise.withResolvers<boolean>();
  const say = (said: Said) => channel.postMessage(said);
  channel.onmessage = ({ data }: { readonly data: unknown }) => {
    // Of this origin's own tabs alone.
    const said = data as Said;
    if (driver.now().kind === 'this') {
      if (said.kind === 'let_go') {
        if (parts.mayLetGo()) letGo.resolve();
        else say({ kind: 'keeps' });
        return;
      }
    } else {
      if (said.kind === 'keeps') kept.resolve(false);
      if (said.kind === 'views') driver.set({ kind: 'other', heardAtMs: Date.now() });
    }
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
      await parts.begin();
      await Promise.race([letGo.promise, aborted(over.signal)]);
      driver.set({ kind: 'other', heardAtMs: null });
      await parts.end();
    } finally {
      await lock?.release();
    }
  };
  const turns = async () => {
    while (!over.signal.aborted) await turn();
  };
  const ended = turns();
  say({ kind: 'hello' });
  return {
    driver,
    say,
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
      await ended;
      channel.close();
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
