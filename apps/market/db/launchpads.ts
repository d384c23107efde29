// Statements about launchpads: how far each was read, and what is known of the tokens it launched.

import type { ChainKey } from '@parley/core/families.ts';
import { columns, did, list, none, one } from '@parley/host/postgres/statements.ts';
import type { LaunchPosition } from '@parley/tokens/launches.ts';

/** The counts of the hour that began then. */
export type LaunchpadHour = {
  readonly hourAt: Date;
  /** Launches that became candidates, and those beyond the limit. */
  readonly taken: number;
  readonly leftOut: number;
};

export type LaunchpadState = LaunchpadHour & {
  /** Null: not read yet. */
  readonly position: LaunchPosition | null;
};

/** Adds it, due at once; where it read something else before, it begins anew. */
export const openLaunchpad = none<[name: string, source: string, now: Date]>('launchpads_open')`
  insert into launchpads (name, source, due_at, hour_at) values ($1, $2, $3, $3)
    on conflict (name) do update
      set source = $2, height = null, hash = null, due_at = $3
      where launchpads.source <> $2`;

/** Takes it in hand until `leaseEnds`; null where it is not due, or reads something else. */
export const takeLaunchpad = one<
  [name: string, source: string, now: Date, leaseEnds: Date],
  LaunchpadState
>('launchpads_take')`
  update launchpads set due_at = $4 where name = $1 and source = $2 and due_at <= $3
    returning ${columns('height hash', '', 'position?.')}, ${columns('hourAt taken leftOut')}`;

/** Stores how far it was read; false where somebody else has it in hand by now. */
export const advanceLaunchpad = did<
  [name: string, leaseEnds: Date, dueAt: Date, position: LaunchPosition, of: LaunchpadHour]
>('launchpads_advance')`
  update launchpads
    set due_at = $3, height = :height, hash = :hash, hour_at = :hourAt, taken = :taken,
      left_out = :leftOut
    where name = $1 and due_at = $2
    returning 1`;

/** Gives it back as it was. */
export const postponeLaunchpad = none<[name: string, leaseEnds: Date, dueAt: Date]>(
  'launchpads_postpone',
)`
  update launchpads set due_at = $3 where name = $1 and due_at = $2`;

/** Those of the addresses that are listed already, or wait, or were refused. */
export const knownTokens = list<[chain: ChainKey, addresses: readonly string[]], string>(
  'launchpads_known',
)`
  select address from candidates where chain = $1 and address = any($2::text[])
      and (status <> 'rejected' or source <> 'api'
        or checked_at >= created_at + interval '1 day')
    union select address from assets where chain = $1 and address = any($2::text[])`;
