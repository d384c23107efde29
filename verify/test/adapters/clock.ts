// The dev network's clock, without a file.

import type { Clock } from '@parley/dev/devnet/clock.ts';

export function testClock(): Clock {
  let offset = 0;
  return {
    now: () => Math.floor(Date.now() / 1_000) + offset,
    offsetSeconds: () => offset,
    isMoved: () => offset !== 0,
    move: async (seconds) => {
      offset += seconds;
    },
  };
}
