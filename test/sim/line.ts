// Who waits for the database, of all processes: one is served at a time, and the seed picks which.
// Transactions commit out of order: one may be held back before its commit while others are served.
// What waits for a lock of one held back lets it go on.

import type { Database } from '../../server/db/database.ts';
import type { Chance } from './chance.ts';

export type Turn = {
  /** Others are served; resolves when the turn goes on, after so many of them at the latest. */
  holdBack(servings: number): Promise<void>;
  /** Runs a statement; those held back go on first where it waits for one of them. */
  run<R>(statement: () => Promise<R>): Promise<R>;
  /** Those held back go on first. */
  alone(): Promise<void>;
  end(): void;
};

export type Line = {
  take(): Promise<Turn>;
  /** Nobody is served before that. */
  await(settled: Promise<unknown>): void;
  /** How many wait or are held back. */
  held(): number;
};

/** Turns of the event loop in which whatever runs beside comes to what it asks for next. */
const quietTurns = 4;

type Held = { left: number; resume(loose: boolean): void; readonly finished: Promise<void> };

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

export async function quiet(): Promise<void> {
  for (let turn = 0; turn < quietTurns; turn += 1) await nextTurn();
}

async function waitsForLock(real: Database): Promise<boolean> {
  const waiting = await real.rows({
    name: 'sim_waits_for_lock',
    text: `select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
    values: [],
  });
  return waiting.length > 0;
}

export function createLine(real: Database, chance: Chance): Line {
  const waiting: (() => void)[] = [];
  const held: Held[] = [];
  const settling = new Set<Promise<unknown>>();
  let busy = false;
  let planned = false;

  const serve = () => {
    if (busy) return;
    for (const each of [...held]) if (each.left <= 0) release(each);
    const [first] = held;
    if (waiting.length === 0 && first !== undefined) release(first);
    if (waiting.length === 0) return;
    for (const each of held) each.left -= 1;
    const [next] = waiting.splice(waiting.length > 1 ? chance.int(0, waiting.length - 1) : 0, 1);
    busy = true;
    next?.();
  };
  const release = (each: Held) => {
    held.splice(held.indexOf(each), 1);
    waiting.push(() => each.resume(false));
  };
  const plan = async () => {
    if (planned || busy) return;
    planned = true;
    await quiet();
    while (settling.size > 0) await Promise.all(settling).then(quiet);
    planned = false;
    serve();
  };
  const free = () => {
    busy = false;
    if (waiting.length > 0 || held.length > 0) void plan();
  };

  /** Those held back commit now, whoever is being served. */
  const letGo = async () => {
    if (held.length === 0) return;
    for (const each of held.splice(0)) {
      each.resume(true);
      await each.finished;
    }
    await quiet();
  };
  const run = async <R>(statement: () => Promise<R>): Promise<R> => {
    const running = statement();
    if (held.length === 0) return running;
    let isRunning = true;
    const ended = running.then(
      () => {
        isRunning = false;
      },
      () => {
        isRunning = false;
      },
    );
    while (isRunning) {
      const waits = await Promise.race([ended.then(() => false), waitsForLock(real)]);
      if (waits && isRunning) await letGo();
    }
    return running;
  };

  const turnOf = (): Turn => {
    const finished = Promise.withResolvers<void>();
    let own: Held | null = null;
    let holds = true;
    let isOver = false;
    return {
      run,
      alone: letGo,
      holdBack: (servings) =>
        new Promise((resolve) => {
          own = {
            left: servings,
            finished: finished.promise,
            resume: (loose) => {
              // Whoever held it back died while it waited to go on.
              if (isOver) return loose ? undefined : free();
              holds = !loose;
              resolve();
            },
          };
          held.push(own);
          holds = false;
          free();
        }),
      end: () => {
        const at = own === null ? -1 : held.indexOf(own);
        if (at !== -1) held.splice(at, 1);
        isOver = true;
        finished.resolve();
        if (holds) free();
      },
    };
  };
  return {
    take: () =>
      new Promise((resolve) => {
        waiting.push(() => resolve(turnOf()));
        void plan();
      }),
    await: (settled) => {
      const each: Promise<unknown> = settled.catch(() => {}).then(() => settling.delete(each));
      settling.add(each);
    },
    held: () => held.length,
  };
}
