// Statements about launchpads: how far each was read, and what is known of the tokens it launched.

import type { LaunchPosition } from '../../chains/tokens/launches.ts';
import type { ChainKey } from '../../core/families.ts';
import type { Tx } from './database.ts';

/** Of the hour that began then. */
export type LaunchpadHour = {
  readonly hourAt: Date;
  /** Launches that became candidates, and those beyond the limit. */
  readonly taken: number;
  readonly leftOut: number;
};

export type LaunchpadState = LaunchpadHour & {
  /** Null: not looked at yet. */
  readonly position: LaunchPosition | null;
};

/** Adds it, due at once; where it looked for something else before, it begins anew. */
export async function openLaunchpad(
  tx: Tx,
  name: string,
  source: string,
  now: Date,
): Promise<void> {
  await tx.rows({
    name: 'launchpads_open',
    text: `insert into launchpads (name, source, due_at, hour_at) values ($1, $2, $3, $3)
      on conflict (name) do update
        set source = $2, height = null, hash = null, due_at = $3
        where launchpads.source <> $2`,
    values: [name, source, now],
  });
}

/** Takes it in hand until `leaseEnds`; null where it is not due, or looks for something else. */
export async function takeLaunchpad(
  tx: Tx,
  name: string,
  source: string,
  now: Date,
  leaseEnds: Date,
): Promise<LaunchpadState | null> {
  const [row] = await tx.rows<{
    height: number | null;
    hash: string | null;
    hour_at: Date;
    taken: number;
    left_out: number;
  }>({
    name: 'launchpads_take',
    text: `update launchpads set due_at = $4
      where name = $1 and source = $2 and due_at <= $3
      returning height, hash, hour_at, taken, left_out`,
    values: [name, source, now, leaseEnds],
  });
  if (row === undefined) return null;
  const { height, hash, hour_at: hourAt, taken, left_out: leftOut } = row;
  const position = height === null || hash === null ? null : { height, hash };
  return { position, hourAt, taken, leftOut };
}

/** Stores how far it was read; false where somebody else has it in hand by now. */
export async function advanceLaunchpad(
  tx: Tx,
  name: string,
  leaseEnds: Date,
  dueAt: Date,
  position: LaunchPosition,
  { hourAt, taken, leftOut }: LaunchpadHour,
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'launchpads_advance',
    text: `update launchpads
      set due_at = $3, height = $4, hash = $5, hour_at = $6, taken = $7, left_out = $8
      where name = $1 and due_at = $2
      returning 1`,
    values: [name, leaseEnds, dueAt, position.height, position.hash, hourAt, taken, leftOut],
  });
  return rows.length > 0;
}

/** Gives it back as it was. */
export async function postponeLaunchpad(
  tx: Tx,
  name: string,
  leaseEnds: Date,
  dueAt: Date,
): Promise<void> {
  await tx.rows({
    name: 'launchpads_postpone',
    text: 'update launchpads set due_at = $3 where name = $1 and due_at = $2',
    values: [name, leaseEnds, dueAt],
  });
}

/** Those of the addresses that are listed already, or wait, or were refused. */
export async function knownTokens(
  tx: Tx,
  chain: ChainKey,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await tx.rows<{ address: string }>({
    name: 'launchpads_known',
    text: `select address from candidates where chain = $1 and address = any($2::text[])
        and (status <> 'rejected' or source <> 'api'
          or checked_at >= created_at + interval '1 day')
      union select address from assets where chain = $1 and address = any($2::text[])`,
    values: [chain, addresses],
  });
  return new Set(rows.map(({ address }) => address));
}
