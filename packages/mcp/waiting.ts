// Waiting in the place of a client: until what is looked at is over, the client takes its call
// back, or the time is up. A client that asks for progress hears how far it is.

/** A call of a tool, as its client waits for it. */
export type Call = {
  /** Aborts when the client takes the call back, or leaves. */
  readonly signal: AbortSignal;
  /** null: the client has asked for no progress, and may give up after a minute. */
  readonly progress: Progress | null;
};

/** Tells seconds of how many, and what is known now, in words of this server alone. */
export type Progress = (seconds: number, of: number, words: string) => Promise<void>;

export const noWait: Call = { signal: new AbortController().signal, progress: null };

export type Timer = {
  /** Only ever more. */
  seconds(): number;
  /** Resolves after so long; rejects once the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
};

/** The official clients give an answer a minute unless they hear of progress. */
export const mostQuietSeconds = 45;
export const mostWaitSeconds = 300;

/** A client that heard nothing for so long might take the server for dead. */
const stillSeconds = 10;

export type Waiting<T> = {
  readonly call: Call;
  readonly timer: Timer;
  /** As the tool was asked for. */
  readonly seconds: number;
  readonly everyMs: number;
  readonly look: () => Promise<T>;
  readonly isOver: (seen: T, waitedSeconds: number) => boolean;
  readonly words: (seen: T) => string;
};

/** Resolves to what was seen last. Throws the signal's reason where the call was taken back. */
export async function waited<T>(of: Waiting<T>): Promise<T> {
  const { call, timer, everyMs, look, isOver, words } = of;
  const seconds = Math.min(of.seconds, call.progress === null ? mostQuietSeconds : mostWaitSeconds);
  const began = timer.seconds();
  let told = { at: Number.NEGATIVE_INFINITY, words: '' };
  for (;;) {
    call.signal.throwIfAborted();
    const seen = await look();
    const passed = timer.seconds() - began;
    if (isOver(seen, passed) || passed >= seconds) return seen;
    const text = words(seen);
    if (text !== told.words || passed - told.at >= stillSeconds) {
      told = { at: passed, words: text };
      // A client that is gone hears nothing, and its signal ends the wait.
      await call.progress?.(passed, seconds, text).catch(() => {});
    }
    await timer.pause(Math.min(everyMs, (seconds - passed) * 1_000), call.signal);
  }
}
