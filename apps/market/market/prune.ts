// The rows that are dropped with age, in bounded batches. Events and deliveries go after 7 days,
// the feed's logs after a day. Trades that ended with nothing at stake, and messages that were sent
// or dropped, go after 30 days. Nonces, levels and stored replies go once they have ended. Rows
// about people go too: begun sign-ins, tickets, sessions that ended and browsers not seen. Webhooks
// that fail for a day are switched off, and what a block left on the market goes: its command may
// have been killed.

import { blockedThatOffer } from '../db/accounts.ts';
import { pruneCeremonies, pruneCodes } from '../db/ceremonies.ts';
import type { Tx } from '../db/database.ts';
import { pruneDeliveries, switchOffFailing } from '../db/deliveries.ts';
import { markSwapsThatStay, pruneRfqs, pruneSwaps, pruneThreads } from '../db/ended.ts';
import { pruneFeedEvents } from '../db/feed-events.ts';
import { pruneFeedLog } from '../db/feed-log.ts';
import { pruneTickets } from '../db/feed-tickets.ts';
import { pruneFormerChannels } from '../db/former-channels.ts';
import { deleteReplies, keptMs, pruneKeptReplies } from '../db/idempotency.ts';
import { pruneJobs } from '../db/jobs.ts';
import { pruneLevels } from '../db/levels.ts';
import { deleteNonces } from '../db/nonces.ts';
import { pruneOutbox } from '../db/outbox.ts';
import { pruneDevices, pruneSessions } from '../db/sessions.ts';
import { pruneHosts } from '../db/webhook-hosts.ts';
import type { Deps } from '../ports/deps.ts';
import { type Service, service } from '../ports/service.ts';
import { withdrawBlocked } from './blocking.ts';
import {
  codeDays,
  deviceDays,
  endedDays,
  endedSessionDays,
  feedLogDays,
  feedLogEntries,
  idleDays,
  jobDays,
  outboxDays,
} from './bounds.ts';

/** Rows a statement: some 10 ms of work. */
const batch = 500;
/** Batches of one kind a pass: the rest waits for the next pass. */
const mostBatches = 20;
/**
 * The time for one kind a pass, where the database is slow: all kinds in less than a pass may take.
 */
const mostKindMs = 10_000;
/** Webhooks a pass: up to 10 000 deliveries wait for each. */
const mostSwitchedOff = 20;
/** Blocked accounts a pass, of those that still offer something. */
const mostBlocked = 20;
const pauseMs = 60_000;
/** After a pass that left work behind: some 5 000 rows a second are kept up with. */
const shortPauseMs = 1_000;
const dayMs = 86_400_000;
/** Processes whose clocks differ this much still agree on what has expired. */
const graceMs = 60_000;

/** Handles at most `limit` rows that are older than the instant; returns how many. */
type Pruner = (tx: Tx, before: Date, limit: number) => Promise<number>;

const pruneLog: Pruner = (tx, before, limit) => pruneFeedLog(tx, before, feedLogEntries, limit);

const pruneEnded: Pruner = (tx, before, limit) =>
  pruneSessions(tx, before, new Date(before.getTime() - idleDays * dayMs), limit);

/** The dropped kinds, and the age of each. */
const pruners = {
  outbox: [pruneOutbox, outboxDays * dayMs],
  feedLog: [pruneLog, feedLogDays * dayMs],
  feedEvents: [pruneFeedEvents, feedLogDays * dayMs],
  nonces: [deleteNonces, graceMs],
  replies: [deleteReplies, keptMs + graceMs],
  deliveries: [pruneDeliveries, outboxDays * dayMs],
  webhookHosts: [pruneHosts, outboxDays * dayMs],
  keptReplies: [pruneKeptReplies, 2 * dayMs],
  jobs: [pruneJobs, jobDays * dayMs],
  // Never pruned, and read no more.
  swapsThatStay: [markSwapsThatStay, endedDays * dayMs],
  swaps: [pruneSwaps, endedDays * dayMs],
  threads: [pruneThreads, endedDays * dayMs],
  rfqs: [pruneRfqs, endedDays * dayMs],
  codes: [pruneCodes, codeDays * dayMs],
  ceremonies: [pruneCeremonies, graceMs],
  feedTickets: [pruneTickets, graceMs],
  levels: [pruneLevels, graceMs],
  formerChannels: [pruneFormerChannels, graceMs],
  sessions: [pruneEnded, endedSessionDays * dayMs],
  devices: [pruneDevices, deviceDays * dayMs],
} as const satisfies Record<string, readonly [Pruner, number]>;

/** How many of each; `webhooks` were switched off, `blocked` are accounts. */
type Pruned = Readonly<Record<keyof typeof pruners | 'webhooks' | 'blocked', number>>;

/** One pass. `clock`: milliseconds, monotonic. */
export async function prune(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  clock: () => number = () => performance.now(),
): Promise<Pruned> {
  const at = now();
  const pruned: Record<string, number> = {};
  for (const [kind, [pruner, ageMs]] of Object.entries(pruners)) {
    pruned[kind] = await inBatches(db, pruner, new Date(at - ageMs), clock);
  }
  pruned.webhooks = await switchOffFailing(db, new Date(at), mostSwitchedOff);
  pruned.blocked = 0;
  const ends = clock() + mostKindMs;
  for (const accountId of await blockedThatOffer(db, new Date(at), mostBlocked)) {
    if (clock() >= ends) break;
    await withdrawBlocked(db, accountId, new Date(at));
    pruned.blocked += 1;
  }
  return pruned as Pruned;
}

/** Repeats one bounded statement until it finds less than a batch, or enough for one pass. */
async function inBatches(
  tx: Tx,
  pruner: Pruner,
  before: Date,
  clock: () => number,
): Promise<number> {
  const ends = clock() + mostKindMs;
  let pruned = 0;
  for (let done = 0; done < mostBatches; done += 1) {
    const rows = await pruner(tx, before, batch);
    pruned += rows;
    if (rows < batch || clock() >= ends) break;
  }
  return pruned;
}

/** A pass every minute. */
export function createPruning(
  deps: Pick<Deps, 'db' | 'now' | 'log' | 'metrics' | 'randomBytes'>,
): Service {
  const pass = async () => {
    const pruned = Object.values(await prune(deps));
    return pruned.some((rows) => rows >= batch * mostBatches) ? shortPauseMs : undefined;
  };
  return service(deps, { name: 'prune', pass, everyMs: pauseMs });
}
