// Every server process writes a heartbeat into the database, and so notices by itself when time is
// missing from it: docs/restore.md.

import { beatOn, holdingGaps } from '../db/gaps.ts';
import type { Deps, Presence } from '../ports/deps.ts';
import { service } from '../ports/service.ts';
import { beatOnce, type Remembered } from './gap.ts';
import { timeOf } from './gate.ts';

export const beatMs = 3_000;

const keysAlive =
  'API keys that were revoked in that time are good again if the database was brought back: ' +
  'npm run ops -- resume --agreements --revoke-keys';

export type Running = Presence & {
  /** Before anybody is served. Throws where the database does not answer. */
  begin(): Promise<void>;
  /** One heartbeat, for a caller that asks for passes instead of `begin`. */
  beatNow(): Promise<void>;
  /** The missing times that agreements wait for. */
  held(): Promise<string[]>;
  stop(): Promise<void>;
};

export function createPresence(
  deps: Pick<Deps, 'db' | 'now' | 'log' | 'settings' | 'metrics' | 'randomBytes'>,
): Running {
  let remembered: Remembered = null;

  const beat = async () => {
    const before = remembered;
    const on = before === null ? null : await beatOn(deps.db, before, new Date(deps.now()));
    if (on === null) return beatAnew();
    remembered = Math.max(before ?? 0, on);
  };

  /** The first beat, or one of a process that finds the last one changed. */
  const beatAnew = async () => {
    const { network, keepKeys } = deps.settings;
    const { beat: counted, gap } = await deps.db.transaction((tx) =>
      beatOnce(tx, remembered, deps.now(), { isDev: network === 'dev', keepKeys }),
    );
    remembered = Math.max(remembered ?? 0, counted);
    if (gap === null) return;
    const { why, beganAt, holds, revoked } = gap;
    const facts = { why, since: beganAt.toISOString() };
    // Such as a laptop that slept.
    if (!holds) return deps.log.info(facts, 'this dev market had rested');
    deps.log.warn(facts, 'time is missing from the database');
    deps.log.warn(facts, 'agreements wait: npm run ops -- resume --agreements');
    if (revoked !== null) deps.log.warn({ ...facts, revoked }, 'every API key is revoked');
    else deps.log.warn(facts, keysAlive);
  };

  const beating = service(deps, {
    name: 'heartbeat',
    everyMs: beatMs,
    failureMs: { least: beatMs, most: beatMs },
    pass: async () => {
      await beat();
      return undefined;
    },
  });

  return {
    beat: () => remembered,
    beatNow: beat,
    held: async () => (await holdingGaps(deps.db)).map(timeOf),
    begin: async () => {
      await beat();
      beating.start();
    },
    stop: beating.stop,
  };
}
