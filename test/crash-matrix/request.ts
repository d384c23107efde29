// A row of the matrix that is one request under an Idempotency-Key: whoever has no answer asks the
// same again, and gets what the first one did.

import type { Play, Row } from './matrix.ts';
import { type Answer, type Asked, ask, deliverAll } from './trade.ts';
import type { World } from './world.ts';

/** Longer than a dead process's deliveries stay in its hand. */
export const leaseMs = 31_000;

export const later =
  (asked: Asked) =>
  (world: World): Promise<Answer> =>
    ask(world, asked);

/** `detail` tells rows of one route apart. */
export function request(
  detail: string,
  of: string,
  prepare: (world: World) => Promise<Asked>,
  more: Partial<Play> = {},
): Row {
  return {
    name: detail === '' ? of : `${of}: ${detail}`,
    of,
    prepare: async (world) => {
      const asked = { ...(await prepare(world)), once: 'once' };
      await deliverAll(world);
      return {
        act: later(asked),
        isKeyed: true,
        after: async (copy) => {
          copy.nowMs += leaseMs;
          await deliverAll(copy);
        },
        ...more,
      };
    },
  };
}
