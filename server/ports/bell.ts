// Wakes a loop that would otherwise look again after a pause. For one loop each.

export type Bell = {
  ring(): void;
  /** Until somebody rings, or has rung since the last wait; at most `ms`. */
  wait(ms: number): Promise<void>;
  /** Whoever rings; that they did is remembered. */
  rest(ms: number): Promise<void>;
  /** From now on nothing is waited for. */
  stop(): void;
};

/** Waiting does not keep the process from ending. */
export function createBell(): Bell {
  let rung = false;
  let stopped = false;
  let waiting: { readonly end: () => void; readonly hears: boolean } | null = null;

  const pause = (ms: number, hears: boolean) =>
    new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        waiting = null;
        if (hears) rung = false;
        resolve();
      };
      const timer = setTimeout(end, ms).unref();
      waiting = { end, hears };
      if (stopped || (hears && rung)) end();
    });

  return {
    ring() {
      rung = true;
      if (waiting?.hears) waiting.end();
    },
    wait: (ms) => pause(ms, true),
    rest: (ms) => pause(ms, false),
    stop() {
      stopped = true;
      waiting?.end();
    },
  };
}
