// When a dev chain mines by itself: each tick until activity is final, else now and then.

/** Deeper than any depth that a dev chain is configured with. */
export const blocksAfterActivity = 16;
export const idleSeconds = 30;

export type Pace = {
  /** Something happened at this height: mine until it is deep. */
  wake(height: number): void;
  /** `waiting` says that a transaction waits for a block. */
  isDue(height: number, waiting: boolean, nowMs: number): boolean;
  mined(nowMs: number): void;
};

export function pace(depth = blocksAfterActivity): Pace {
  let calmAtHeight = 0;
  let minedAtMs = Number.NEGATIVE_INFINITY;
  return {
    wake: (height) => {
      calmAtHeight = Math.max(calmAtHeight, height + depth);
    },
    isDue: (height, waiting, nowMs) =>
      waiting || height < calmAtHeight || nowMs - minedAtMs >= idleSeconds * 1_000,
    mined: (nowMs) => {
      minedAtMs = nowMs;
    },
  };
}
