// Every server process writes a heartbeat into the database, and so notices by itself when time is
// missing from it: docs/backup.md. Then the chains are read back, by one of them.

import { setTimeout as sleep } from 'node:timers/promises';
import { openReadings } from '../db/gaps.ts';
import { createBell } from '../ports/bell.ts';
import type { Presence } from '../ports/deps.ts';
import { beatOnce, type Remembered } from './gap.ts';
import { toldOf } from './gate.ts';
import { type Parts, readRound } from './reading.ts';

export const beatMs = 3_000;
/** While agreements are held, and while nothing is known to be missing. */
const readAgainMs = 1_000;
const lookMs = 60_000;
const mostRestMs = 10_000;

const keysAlive =
  'API keys that were revoked in that time are good again if the database was brought back: ' +
  'npm run gaps -- revoke-keys';

export type Running = Presence & {
  /** Before anybody is served. Throws where the database does not answer. */
  begin(): Promise<void>;
  /** What `begin` goes on doing, once, for whoever asks for passes instead: a heartbeat. */
  beatNow(): Promise<void>;
  /** And one round of reading back; true when there is nothing left that holds agreements. */
  readNow(): Promise<boolean>;
  /** How far the chains are whose reading agreements wait for. */
  held(): Promise<string[]>;
  /** When they waited for none the first time. */
  readonly agreeing: Promise<void>;
  stop(): Promise<void>;
};

export function createPresence(deps: Parts): Running {
  const halt = new AbortController();
  const { signal } = halt;
  const loops: Promise<void>[] = [];
  /** Rung when a gap was opened here. */
  const bell = createBell();
  const { promise: agreeing, resolve: mayAgree } = Promise.withResolvers<void>();
  let remembered: Remembered = null;

  const beat = async () => {
    const served = [...deps.adapters.keys()];
    const areDev = deps.settings.network === 'dev';
    const { keepKeys } = deps.settings;
    const { beat: counted, gap } = await deps.db.transaction((tx) =>
      beatOnce(tx, remembered, deps.now(), { served, areDev, keepKeys }),
    );
    remembered = Math.max(remembered ?? 0, counted);
    if (gap === null) return;
    const { why, beganAt, revoked } = gap;
    const facts = { why, since: beganAt.toISOString() };
    deps.log.warn(facts, 'time is missing from the database');
    if (revoked !== null) deps.log.warn({ ...facts, revoked }, 'every API key is revoked');
    else if (why !== 'restored') deps.log.warn(facts, keysAlive);
    bell.ring();
  };

  const beating = async () => {
    let failing = false;
    for (;;) {
      await sleep(beatMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      try {
        await beat();
        failing = false;
      } catch (error) {
        if (!failing) deps.log.error({ err: error }, 'no heartbeat could be written');
        failing = true;
      }
    }
  };

  const reading = async () => {
    let restMs = readAgainMs;
    let wasHeld = false;
    while (!signal.aborted) {
      const isDone = await readRound(deps, signal).catch((error: unknown) => {
        if (!signal.aborted) deps.log.error({ err: error }, 'nothing could be read back');
        return null;
      });
      if (isDone) {
        if (wasHeld) deps.log.warn('what was missing is read back: agreements are made again');
        mayAgree();
      }
      // Where it is not known whether anything was missing, nothing is told of it either.
      if (isDone !== null) wasHeld = !isDone;
      restMs = isDone ? readAgainMs : Math.min(mostRestMs, restMs * 2);
      await bell.wait(isDone ? lookMs : restMs);
    }
  };

  return {
    beat: () => remembered,
    beatNow: beat,
    readNow: () => readRound(deps, signal),
    held: async () => (await openReadings(deps.db)).map(toldOf),
    agreeing,
    begin: async () => {
      await beat();
      loops.push(beating(), reading());
    },
    stop: async () => {
      halt.abort();
      bell.stop();
      await Promise.all(loops);
    },
  };
}
