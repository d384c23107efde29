// Every server process writes a heartbeat into the database, and so notices by itself when time is
// missing from it: docs/restore.md. Then the chains are read back, by one of them.

import { beatOn, openReadings } from '../db/gaps.ts';
import type { Deps, Presence } from '../ports/deps.ts';
import { longestNodePassMs, type Next, service, services } from '../ports/service.ts';
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
  'npm run ops -- gaps revoke-keys';

export type Running = Presence & {
  /** Before anybody is served. Throws where the database does not answer. */
  begin(): Promise<void>;
  /** One heartbeat, for a caller that asks for passes instead of `begin`. */
  beatNow(): Promise<void>;
  /** And one round of reading back; true when there is nothing left that holds agreements. */
  readNow(): Promise<boolean>;
  /** How far the chains are whose reading agreements wait for. */
  held(): Promise<string[]>;
  /** When they waited for none the first time. */
  readonly agreeing: Promise<void>;
  stop(): Promise<void>;
};

export function createPresence(deps: Parts & Pick<Deps, 'metrics' | 'randomBytes'>): Running {
  const { promise: agreeing, resolve: mayAgree } = Promise.withResolvers<void>();
  let remembered: Remembered = null;

  const beat = async () => {
    const before = remembered;
    const on = before === null ? null : await beatOn(deps.db, before, new Date(deps.now()));
    if (on === null) return beatAnew();
    remembered = Math.max(before ?? 0, on);
  };

  /** The first beat, or one of a process that finds the last one changed. */
  const beatAnew = async () => {
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
    reading.ring();
  };

  let restMs = readAgainMs;
  let wasHeld = false;
  const read = async (signal: AbortSignal): Promise<Next> => {
    const isDone = await readRound(deps, signal);
    if (isDone) {
      if (wasHeld) deps.log.warn('what was missing is read back: agreements are made again');
      mayAgree();
    }
    wasHeld = !isDone;
    restMs = isDone ? readAgainMs : Math.min(mostRestMs, restMs * 2);
    return isDone ? undefined : restMs;
  };
  const reading = service(deps, {
    name: 'reading back',
    pass: read,
    everyMs: lookMs,
    mostPassMs: longestNodePassMs,
    failureMs: { least: readAgainMs, most: mostRestMs },
  });
  const beating = service(deps, {
    name: 'heartbeat',
    everyMs: beatMs,
    failureMs: { least: beatMs, most: beatMs },
    pass: async () => {
      await beat();
      return undefined;
    },
  });
  const both = services([beating, reading]);

  return {
    beat: () => remembered,
    beatNow: beat,
    readNow: () => readRound(deps, new AbortController().signal),
    held: async () => (await openReadings(deps.db)).map(toldOf),
    agreeing,
    begin: async () => {
      await beat();
      both.start();
    },
    stop: both.stop,
  };
}
