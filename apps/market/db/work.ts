// Work that waits in the database for some server process, and how the transaction that makes it
// tells all of them: `notify` with the name of the work, heard after the commit.
//
// Commits that notify come one after the other in PostgreSQL, without sharing a write to disk. So
// quotes, of which there may be thousands a second, do not: their own process rings for them.

import { none } from '@parley/host/postgres/statements.ts';

export type Work =
  /** Entries of the feed's log, which every process with makers' sockets reads. */
  | 'feed'
  /** Events in the outbox, by whom they are for. */
  | 'feed outbox'
  | 'webhooks'
  /** Events in the feed's log of each account. */
  | 'feed events'
  /** Connections of makers whose quotes are withdrawn when they are gone. */
  | 'feed switches'
  | 'messages'
  /** Escrows to follow. */
  | 'escrows'
  /** Swaps that time will change; not notified, since a poll finds them long before. */
  | 'swaps'
  /** Leases that were given back. */
  | 'leases'
  /** Jobs of any kind. */
  | 'jobs'
  /** The request of a server without gas keys. */
  | 'watchtower'
  /** Tokens to check. */
  | 'tokens'
  /** Chains and assets that are halted, or were. */
  | 'halts';

export const workChannel = 'parley_work';

/** To stand in a statement: `select` it, since PostgreSQL leaves out what nobody reads. */
export const notifying = (work: Work) => `pg_notify('${workChannel}', '${work}')`;

/** Tells everybody, after the commit. */
export const notifyWork = none<[work: Work]>('work_notify')`
  select pg_notify('${workChannel}', $1)`;
