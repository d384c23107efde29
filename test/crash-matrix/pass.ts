// A row of the matrix that is a pass: after a crash it runs again, and once more.

import type { Machine } from './machine.ts';
import type { Play, Row } from './matrix.ts';
import { leaseMs } from './request.ts';
import { deliverAll } from './trade.ts';
import type { World } from './world.ts';

export type Work = (machine: Machine, world: World) => Promise<unknown>;

/** `prepare` leaves the pass something to do; afterwards everything that waits is told. */
export function pass(
  of: string,
  detail: string,
  work: Work,
  prepare: (world: World) => Promise<unknown>,
  more: Partial<Play> = {},
): Row {
  return {
    name: detail === '' ? of : `${of}: ${detail}`,
    of,
    prepare: async (world) => {
      await prepare(world);
      return {
        act: async (copy) => {
          await work(copy.market, copy);
          return null;
        },
        after: async (copy) => {
          for (let again = 0; again < 2; again += 1) {
            copy.nowMs += leaseMs;
            await work(copy.market, copy);
            await deliverAll(copy);
          }
        },
        reading: { timeless: true },
        ...more,
      };
    },
  };
}
