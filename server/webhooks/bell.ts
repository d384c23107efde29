// Wakes a loop that would otherwise look again after a pause.

export type Bell = {
  ring(): void;
  /** Until somebody rings, or has rung since the last wait; at most `ms`. */
  wait(ms: number): Promise<void>;
  /** Whatever rings. */
  rest(ms: number): Promise<void>;
};

/** Waiting does not keep the process from ending. */
export function createBell(): Bell {
  let rung = false;
  let wake: (() => void) | null = null;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    wait(ms) {
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          wake = null;
          rung = false;
          resolve();
        };
        const timer = setTimeout(done, ms).unref();
        if (rung) done();
        else wake = done;
      });
    },
    rest: (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref()),
  };
}
