// A miniature runs every bench once, with counts of one to five, in one process, and asks for no bar,
// so that none breaks unseen: verify/test/bench.test.ts. A test has no other benches.

import { setTimeout as sleep } from 'node:timers/promises';

const mostWaits = 300;
const mostLeftMs = 60_000;

export const isMiniature =
  process.argv.includes('--miniature') || process.env.NODE_TEST_CONTEXT !== undefined;

/** Tests measure these on the app, markets and package that they have made already. */
export const elsewhere: Readonly<Record<string, string>> = {
  web: 'bench.test.ts',
  start: 'bench.test.ts',
  package: 'package.test.ts',
  processes: 'processes.test.ts',
};

/** The count of a bench, or the few of a miniature. */
export const usually = (count: number, few: number): number => (isMiniature ? few : count);

/**
 * A bench waits so long, and a miniature, on a machine that may be busy, until what it counts is
 * there.
 */
export async function waited(milliseconds: number, isThere: () => Promise<boolean>) {
  await sleep(milliseconds);
  for (let times = 0; isMiniature && times < mostWaits && !(await isThere()); times += 1) {
    await sleep(milliseconds);
  }
}

type Stoppable = { stop(): Promise<unknown> };
const started: Stoppable[] = [];

/** The benches of a miniature share what is started here. */
export function sharing<Given extends unknown[], T extends Stoppable>(
  start: (...given: Given) => Promise<T>,
): (...given: Given) => Promise<T> {
  if (!isMiniature) return start;
  let first: Promise<T> | undefined;
  return async (...given) => {
    if (first === undefined) {
      first = start(...given);
      started.push(await first);
    }
    return { ...(await first), stop: async () => {} };
  };
}

/** Fails where a bench has left something open, for example a child without `close`. */
export async function stopShared(): Promise<void> {
  for (const each of started.splice(0)) await each.stop();
  if (!isMiniature) return;
  const isLeft = () => {
    throw new Error(`still open after a miniature: ${process.getActiveResourcesInfo()}`);
  };
  setTimeout(isLeft, mostLeftMs).unref();
}
