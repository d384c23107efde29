// The house: its database, overdue work in it, missing time, its disk and its keys.

import { readdir, stat, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Database } from '../db/database.ts';
import { appliedMigrations, givenUpSince, serverState, type Waits, waiting } from '../db/doctor.ts';
import { continuity } from '../db/gaps.ts';
import { peopleTopics } from '../db/messages.ts';
import { ownMigrations } from '../db/version.ts';
import { timeOf } from '../restore/gate.ts';
import { type Add, danger, differs, notice, unseen } from './findings.ts';

const clockSeconds = 2;
const dayMs = 86_400_000;
const freeBytes = 2n ** 30n;
const freeShare = 0.05;
/** Failures of a gas key's transaction from which it counts as waiting since it was asked for. */
export const keeperFailures = 5;

const seeMarket = 'see that a market runs on this database, and its log';
/** Ages in seconds, each well beyond what a market that works needs. */
export const waits: Readonly<Record<Waits, readonly [what: string, most: number, of: string]>> = {
  events: ['events_waiting', 60, 'events for webhooks were not handed out'],
  feed: ['feed_waiting', 30, 'events of the maker feed were not handed out'],
  people: ['messages_waiting', 60, 'events for people were not handed out'],
  messages: ['messages_waiting', 600, 'messages to people are due and nobody takes them'],
  deliveries: ['deliveries_waiting', 600, 'deliveries to webhooks are due and nobody takes them'],
  candidates: ['work_overdue', 3_600, 'candidates are due to be checked'],
  tokens: ['work_overdue', 3_600, 'listed tokens are due to be checked'],
  launchpads: ['work_overdue', 3_600, 'launchpads are due to be read'],
  keeper: ['keeper_stuck', 600, 'transactions of the gas keys are due, or fail again and again'],
  refunds: ['refunds_overdue', 600, 'signed claims or refunds are due and nobody sends them'],
};

type HouseDeps = {
  readonly db: Database;
  /** The market's clock, and this machine's, milliseconds. */
  readonly now: () => number;
  readonly wall: () => number;
  /** Connections that one market wants. */
  readonly connections: number;
};

/** Its parts, by what they read: no part waits for another. */
export const databaseParts: Readonly<Record<string, (deps: HouseDeps, add: Add) => Promise<void>>> =
  {
    'the migrations': async ({ db }, add) => {
      const applied = await appliedMigrations(db);
      const missing = ownMigrations.filter((each) => !applied.includes(each));
      const unknown = applied.filter((each) => !ownMigrations.includes(each));
      if (missing.length + unknown.length === 0) return;
      const says = `missing migrations: ${missing.join(', ') || 'none'}; ${unknown.length} unknown`;
      const todo = 'start the market of this version, or ask the version that runs';
      add(differs('migrations', 'the database', says, todo, { missing: missing.length }));
    },
    'the database server': examineServer,
    'what waits': async ({ db, now }, add) => {
      for (const { of, count, oldest } of await waiting(db, new Date(now()), {
        people: peopleTopics,
        failures: keeperFailures,
      })) {
        const [what, most, words] = waits[of];
        if (oldest <= most) continue;
        const says = `${count} ${words}, the oldest for ${oldest} s`;
        const isKeeper = of === 'keeper';
        const todo = isKeeper ? 'see balance and cap of the gas keys, and the log' : seeMarket;
        add(differs(what, 'what waits', says, todo, { count, oldest }));
      }
    },
    'what was given up': async ({ db, now }, add) => {
      for (const { kind, count, failure } of await givenUpSince(db, new Date(now() - dayMs))) {
        const says = `${count} jobs "${kind}" were given up in a day, the last one for: ${failure}`;
        const todo = 'see docs/people-operate.md: no process does them any more';
        add(notice('jobs_given_up', 'what waits', says, todo, { kind, count }));
      }
    },
    'missing time': examineGaps,
  };

async function examineServer({ db, wall, connections: wanted }: HouseDeps, add: Add) {
  const where = 'the database';
  const before = wall();
  const { now, connections, most, recovering } = await serverState(db);
  const at = now.getTime();
  // Anywhere between asking and the answer is right.
  const off = at < before ? at - before : Math.max(0, at - wall());
  if (Math.abs(off) > clockSeconds * 1_000) {
    const says = `its clock is ${off} ms from this machine's, at most ${clockSeconds * 1_000}`;
    add(differs('database_clock', where, says, 'set both by NTP', { off }));
  }
  const left = most - connections;
  if (left < wanted) {
    const says = `${left} of ${most} connections are left, a market wants ${wanted}`;
    const todo = 'raise max_connections, or lower PARLEY_DATABASE_CONNECTIONS';
    add((left < 3 ? differs : notice)('connections', where, says, todo, { left, most }));
  }
  if (!recovering) return;
  const says = 'it is a standby: a market cannot write to it';
  add(differs('standby', where, says, 'DATABASE_URL has to name the primary'));
}

/** The market agrees no swap in a gap until an operator goes on (docs/restore.md). */
async function examineGaps({ db }: HouseDeps, add: Add): Promise<void> {
  const { isLineageSame, holds } = await continuity(db);
  for (const gap of holds) {
    const says = `time is missing from the database, so nothing is agreed: ${timeOf(gap)}`;
    const todo = 'do again what is lost, then npm run ops -- resume --agreements (docs/restore.md)';
    add(differs('time_missing', 'the database', says, todo, { why: gap.why }));
  }
  if (isLineageSame) return;
  const says = 'the database is of another history, and no server has noticed yet';
  add(differs('time_missing', 'the heartbeat', says, 'see that a market runs'));
}

/**
 * Files that others must not read, and room for more. `keys`: files of gas keys, wherever they are;
 * those of dev chains are in the home.
 */
export async function examineHome(home: string, keys: readonly string[], add: Add): Promise<void> {
  const where = `PARLEY_HOME ${home}`;
  const files = new Set(
    ['server.key', 'ready.json', 'postgres/password'].map((n) => join(home, n)),
  );
  for (const key of keys) files.add(resolve(key));
  try {
    for (const name of await readdir(home)) {
      if (/^keeper-.*\.key$/.test(name)) files.add(join(home, name));
    }
    const { bavail, blocks, bsize } = await statfs(home, { bigint: true });
    const free = bavail * bsize;
    const share = blocks === 0n ? 1 : Number((bavail * 1_000n) / blocks) / 1_000;
    if (free < freeBytes || share < freeShare) {
      const says = `${free / 2n ** 20n} MiB are left on its disk, ${(share * 100).toFixed(1)} %`;
      const of = free < freeBytes ? differs : notice;
      add(of('disk', where, says, 'make room: a full disk stops the market'));
    }
  } catch {
    const todo = 'set PARLEY_HOME to the home of the market, on the machine that it runs on';
    add(unseen('home', where, 'it is not there, or may not be read', todo));
  }
  // The home's own list may be seen, nothing may be put there.
  await examineMode(home, { forbidden: 0o022, right: '700' }, add);
  for (const file of files) await examineMode(file, { forbidden: 0o077, right: '600' }, add);
}

async function examineMode(
  path: string,
  { forbidden, right }: { forbidden: number; right: string },
  add: Add,
): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found === null || (found.mode & forbidden) === 0) return;
  const mode = (found.mode & 0o777).toString(8);
  const todo = `chmod ${right}, and replace what was in it if others may have read it`;
  add(danger('mode', path, `other users may reach it (mode ${mode})`, todo, { mode }));
}
