// The house: its database, what waits in it longer than it should, its disk and its key.

import { readdir, stat, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Database } from '../db/database.ts';
import {
  appliedMigrations,
  overdueDeliveries,
  overdueMessages,
  overdueRefunds,
  overdueWork,
  serverState,
  stuckKeeperJobs,
  type Waiting,
  waitingEvents,
} from '../db/doctor.ts';
import { danger, differs, type Findings, notice, unseen } from './findings.ts';

const migrations = new URL('../db/migrations/', import.meta.url);

/** Ages in seconds, each well beyond what a market that works needs. */
const bounds = {
  clockSeconds: 2,
  feedSeconds: 30,
  eventSeconds: 60,
  deliverySeconds: 600,
  messageSeconds: 600,
  workSeconds: 3_600,
  senderSeconds: 600,
  keeperFailures: 5,
  freeBytes: 2n ** 30n,
  freeShare: 0.05,
} as const;

export type HouseDeps = {
  readonly db: Database;
  /** The market's clock, and this machine's, milliseconds. */
  readonly now: () => number;
  readonly wall: () => number;
  /** Connections that one market wants. */
  readonly connections: number;
};

/** Its parts, by what they look at: none of them waits for another. */
export const databaseParts: Readonly<
  Record<string, (deps: HouseDeps, findings: Findings) => Promise<void>>
> = {
  'the migrations': examineMigrations,
  'the database server': examineServer,
  'the outbox': examineOutbox,
  'the webhooks': examineDeliveries,
  'the messages': examineMessages,
  'work in hand': examineWork,
  'the keeper': examineKeeper,
  'the scheduled refunds': examineRefunds,
};

async function examineOutbox({ db, now }: HouseDeps, findings: Findings): Promise<void> {
  const { webhooks, feed, people } = await waitingEvents(db, new Date(now()));
  const log = 'see that a market runs on this database, and its log';
  late(findings, webhooks, bounds.eventSeconds, {
    what: 'events_waiting',
    where: 'the outbox',
    of: 'events for webhooks were not handed out',
    todo: log,
  });
  late(findings, feed, bounds.feedSeconds, {
    what: 'feed_waiting',
    where: 'the outbox',
    of: 'events of the maker feed were not told',
    todo: log,
  });
  late(findings, people, bounds.eventSeconds, {
    what: 'messages_waiting',
    where: 'the outbox',
    of: 'events for people were not handed out',
    todo: log,
  });
}

async function examineMessages({ db, now }: HouseDeps, findings: Findings): Promise<void> {
  late(findings, await overdueMessages(db, new Date(now())), bounds.messageSeconds, {
    what: 'messages_waiting',
    where: 'the messages',
    of: 'messages to people are due and nobody takes them',
    todo: 'see that a market runs on this database, and its log',
  });
}

async function examineDeliveries({ db, now }: HouseDeps, findings: Findings): Promise<void> {
  late(findings, await overdueDeliveries(db, new Date(now())), bounds.deliverySeconds, {
    what: 'deliveries_waiting',
    where: 'the webhooks',
    of: 'deliveries are due and nobody takes them',
    todo: 'see the log; receivers that hang take their own places alone (docs/webhooks.md)',
  });
}

async function examineWork({ db, now }: HouseDeps, findings: Findings): Promise<void> {
  for (const { what, ...waiting } of await overdueWork(db, new Date(now()))) {
    late(findings, waiting, bounds.workSeconds, {
      what: 'work_overdue',
      where: what,
      of: 'are due to be looked at, or were taken in hand and never put back',
      todo: 'see that a market runs, and its log for their chain',
    });
  }
}

/** What the market sends by itself with its gas keys. */
async function examineKeeper({ db, now }: HouseDeps, findings: Findings): Promise<void> {
  const before = now() - bounds.senderSeconds * 1_000;
  const jobs = await stuckKeeperJobs(db, new Date(before), bounds.keeperFailures);
  late(findings, jobs, -bounds.senderSeconds, {
    what: 'keeper_stuck',
    where: 'the keeper',
    of: 'transactions of the gas keys are due for long, or fail again and again',
    todo: 'see the balance and the cap of the gas keys, and the log',
  });
}

/** What funders signed beforehand. */
async function examineRefunds({ db, now }: HouseDeps, findings: Findings): Promise<void> {
  const wall = Math.floor(now() / 1_000);
  late(findings, await overdueRefunds(db, wall), bounds.senderSeconds, {
    what: 'refunds_overdue',
    where: 'the scheduled refunds',
    of: 'are due and nobody sends them',
    todo: 'see that a market runs, and its log for their chain',
  });
}

function late(
  findings: Findings,
  { count, oldest }: Waiting,
  most: number,
  { what, where, of, todo }: { what: string; where: string; of: string; todo: string },
): void {
  if (count === 0 || oldest <= most) return;
  const says = `${count} ${of}, the oldest for ${oldest} s`;
  findings.add(differs(what, where, says, todo, { count, oldest }));
}

async function examineMigrations({ db }: HouseDeps, findings: Findings): Promise<void> {
  const applied = await appliedMigrations(db);
  const files = (await readdir(migrations)).filter((name) => name.endsWith('.sql')).sort();
  const missing = files.filter((each) => !applied.includes(each));
  const unknown = applied.filter((each) => !files.includes(each));
  if (missing.length + unknown.length === 0) return;
  const names = missing.length === 0 ? '' : ` (${missing.join(', ')})`;
  const says = `${missing.length} migrations are missing${names}, ${unknown.length} unknown`;
  const todo = 'start the market of this version, or look with the version that runs';
  findings.add(differs('migrations', 'the database', says, todo, { missing: missing.length }));
}

async function examineServer(deps: HouseDeps, findings: Findings): Promise<void> {
  const before = deps.wall();
  const { now, connections, most, recovering } = await serverState(deps.db);
  const after = deps.wall();
  // Anywhere between asking and the answer is right.
  const off = now.getTime() < before ? now.getTime() - before : Math.max(0, now.getTime() - after);
  if (Math.abs(off) > bounds.clockSeconds * 1_000) {
    const most = bounds.clockSeconds * 1_000;
    const says = `its clock is ${off} ms from this machine's, at most ${most}`;
    const todo = 'set both by NTP';
    findings.add(differs('database_clock', 'the database', says, todo, { off }));
  }
  const left = most - connections;
  if (left < deps.connections) {
    const says = `${left} of ${most} connections are left, a market wants ${deps.connections}`;
    const todo = 'raise max_connections, or lower PARLEY_DATABASE_CONNECTIONS';
    const tell = left < 3 ? differs : notice;
    findings.add(tell('connections', 'the database', says, todo, { left, most }));
  }
  if (!recovering) return;
  const says = 'it is a standby: a market cannot write to it';
  const todo = 'DATABASE_URL has to name the primary';
  findings.add(differs('standby', 'the database', says, todo, {}));
}

/**
 * What others must not read, and room for more. `keys`: files of gas keys, wherever they are; those
 * of dev chains are in the home.
 */
export async function examineHome(
  home: string,
  keys: readonly string[],
  findings: Findings,
): Promise<void> {
  const where = `PARLEY_HOME ${home}`;
  const todo = 'set PARLEY_HOME to the home of the market, on the machine that it runs on';
  let own: string[] = [];
  try {
    own = (await readdir(home)).filter((name) => /^keeper-.*\.key$/.test(name));
    const { bavail, blocks, bsize } = await statfs(home, { bigint: true });
    const free = bavail * bsize;
    const share = blocks === 0n ? 1 : Number((bavail * 1_000n) / blocks) / 1_000;
    if (free < bounds.freeBytes || share < bounds.freeShare) {
      const says = `${free / 2n ** 20n} MiB are left on its disk, ${(share * 100).toFixed(1)} %`;
      const tell = free < bounds.freeBytes ? differs : notice;
      findings.add(tell('disk', where, says, 'make room: a full disk stops the market', {}));
    }
  } catch {
    findings.add(unseen('home', where, 'it is not there, or may not be read', todo, {}));
  }
  for (const name of ['', 'server.key', 'ready.json', 'postgres/password']) {
    await examineMode(join(home, name), name === '', findings);
  }
  const inHome = own.map((name) => join(home, name));
  for (const key of new Set([...keys.map((each) => resolve(each)), ...inHome])) {
    await examineMode(key, false, findings);
  }
}

async function examineMode(path: string, isHome: boolean, findings: Findings): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found === null) return;
  const mode = found.mode & 0o777;
  // The home's own list may be seen, nothing may be put there.
  if ((mode & (isHome ? 0o022 : 0o077)) === 0) return;
  const says = `other users may reach it (mode ${mode.toString(8)})`;
  const right = isHome ? '700' : '600';
  const todo = `chmod ${right}, and replace what was in it if others may have read it`;
  findings.add(danger('mode', path, says, todo, { mode: mode.toString(8) }));
}
