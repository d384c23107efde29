// The two kinds of rows. A request under an Idempotency-Key: a client without an answer asks the
// same again, and gets what the first one did. A pass: after a crash it runs again, and once more.

import type { World } from './copies.ts';
import type { Machine } from './machine.ts';
import type { Play, Row } from './matrix.ts';
import { type Asked, ask, deliverAll } from './trade.ts';

/** Longer than what a dead process had in hand stays there. */
export const leaseMs = 31_000;

/** So often, and each time so much later. */
export const again =
  (times: number, laterMs: number, work: (world: World) => Promise<unknown>): Play['after'] =>
  async (world) => {
    for (let each = 0; each < times; each += 1) {
      world.nowMs += laterMs;
      await work(world);
    }
  };

const named = (of: string, detail: string) => ({
  name: detail === '' ? of : `${of}: ${detail}`,
  of,
});

type Prepare<Made> = (world: World) => Promise<Made>;

/** Rows of one route, by what tells them apart. */
export function requests(
  of: string,
  rows: Readonly<Record<string, Prepare<Asked>>>,
  more: Partial<Play> = {},
): Row[] {
  return Object.entries(rows).map(([detail, prepare]) => ({
    ...named(of, detail),
    prepare: async (world) => {
      const asked = { ...(await prepare(world)), once: 'once' };
      await deliverAll(world);
      return {
        act: (copy) => ask(copy, asked),
        isKeyed: true,
        after: again(1, leaseMs, deliverAll),
        ...more,
      };
    },
  }));
}

export type Work = (machine: Machine, world: World) => Promise<unknown>;

/** `rows` leave the pass something to do; afterwards everything that waits is told. */
export function passes(
  of: string,
  work: Work,
  rows: Readonly<Record<string, Prepare<unknown>>>,
  more: Partial<Play> = {},
): Row[] {
  return Object.entries(rows).map(([detail, prepare]) => ({
    ...named(of, detail),
    prepare: async (world) => {
      await prepare(world);
      return {
        act: async (copy) => {
          await work(copy.market, copy);
          return null;
        },
        after: again(2, leaseMs, async (copy) => {
          await work(copy.market, copy);
          await deliverAll(copy);
        }),
        reading: { timeless: true },
        ...more,
      };
    },
  }));
}

/** A process's work before it serves anybody, once; `of`: the call that a start makes. */
export function starting(of: string, ...[work, rows, more]: Tail<typeof passes>): Row[] {
  return passes('start', work, rows, more).map((row) => ({ ...row, of }));
}

type Tail<F extends (...all: never[]) => unknown> =
  Parameters<F> extends [unknown, ...infer Rest] ? Rest : never;
