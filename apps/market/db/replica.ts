// How far a replica of the database is, by the log that both have. No clock is compared.

import { only } from '@parley/host/postgres/statements.ts';

export type LogPosition = {
  /** The identity of the cluster and of its history: a replica of another one is of no use. */
  readonly lineage: string;
  /** Bytes of the log: written by a primary, replayed by a replica. */
  readonly bytes: number;
};

/** The log position of a primary. */
export const writtenLog = only<[], LogPosition>('replica_written')`
  select system_identifier::text || '/' || (('x' || left(pg_walfile_name(lsn), 8))::bit(32)::int)
      as lineage,
    (lsn - '0/0'::pg_lsn)::float8 as bytes
    from pg_control_system(), pg_current_wal_lsn() as lsn`;

/**
 * The log position of a replica. One that was told of another history a moment ago names it a
 * checkpoint later.
 */
export const replayedLog = only<[], LogPosition & { readonly isReplica: boolean }>(
  'replica_replayed',
)`
  select system_identifier::text || '/' || timeline_id as lineage,
    (coalesce(pg_last_wal_replay_lsn(), '0/0') - '0/0'::pg_lsn)::float8 as bytes,
    pg_is_in_recovery() as "isReplica"
    from pg_control_system(), pg_control_checkpoint()`;
