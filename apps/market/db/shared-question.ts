// Reads that wait share one question. Those that begin in one turn of the event loop, or while
// enough questions are under way, are asked together: a statement costs more than its rows.

import { ParleyError } from '@parley/core/errors.ts';

/** Questions at once: while one waits for the database, the next gathers. */
const mostUnderway = 3;
/** Keys in one question. */
const mostTogether = 128;
/** Reads that may wait; more than a second of work is refused. */
const mostWaiting = 10_000;

type Waiting<Found> = {
  readonly key: string;
  readonly resolve: (found: Found | null) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Answers for one key, null where the question finds nothing. A read is part of a question sent
 * after it began, never of one under way, so it sees whatever was committed before. When a question
 * fails, the reads that share it fail.
 */
export function sharedQuestion<Found>(
  ask: (keys: readonly string[]) => Promise<ReadonlyMap<string, Found>>,
): (key: string) => Promise<Found | null> {
  let waiting: Waiting<Found>[] = [];
  let underway = 0;
  let planned = false;

  function begin() {
    planned = false;
    while (waiting.length > 0 && underway < mostUnderway) {
      const group = waiting.slice(0, mostTogether);
      waiting = waiting.slice(mostTogether);
      underway += 1;
      void answer(ask, group).then(() => {
        underway -= 1;
        begin();
      });
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= mostWaiting) {
        const sentence = `${mostWaiting} reads are waiting for the database; try again in 5 seconds`;
        reject(new ParleyError('overloaded', sentence, { waiting: waiting.length }));
        return;
      }
      waiting.push({ key, resolve, reject });
      if (planned || underway >= mostUnderway) return;
      planned = true;
      setImmediate(begin);
    });
}

/** The same for rows by their ids, as the database spells them. */
export const sharedRows = <Row extends { readonly id: string }>(
  ask: (ids: readonly string[]) => Promise<readonly Row[]>,
): ((id: string) => Promise<Row | null>) =>
  sharedQuestion(async (ids) => new Map((await ask(ids)).map((row) => [row.id, row])));

async function answer<Found>(
  ask: (keys: readonly string[]) => Promise<ReadonlyMap<string, Found>>,
  group: readonly Waiting<Found>[],
): Promise<void> {
  try {
    const found = await ask([...new Set(group.map(({ key }) => key))]);
    for (const { key, resolve } of group) resolve(found.get(key) ?? null);
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}
