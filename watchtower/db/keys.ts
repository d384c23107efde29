// Who signs with the gas key of a chain now: one at a time, whichever process. A lease ends by the
// database's own clock, unless another is given, whatever became of who has it; nothing is kept
// that was signed after its lease.

import type { ChainKey } from '../../core/families.ts';
import type { Tx } from '../port.ts';

export type Lease = {
  readonly holder: string;
  /** No lease lasts for longer. */
  readonly milliseconds: number;
  readonly clock: Date | null;
};

/**
 * False while somebody else has it: nobody is interrupted. Who has it already has it again: its
 * answer may have been lost. A lease that ends later than any may is of before the clock was set
 * back, and counts for nothing.
 */
export async function takeKey(tx: Tx, chain: ChainKey, lease: Lease): Promise<boolean> {
  const rows = await tx.rows({
    name: 'keeper_take_key',
    text: `insert into keeper_turns as t (chain, holder, until)
      values ($1, $2, coalesce($4, clock_timestamp()) + $3 * interval '1 millisecond')
      on conflict (chain) do update set holder = excluded.holder, until = excluded.until
        where t.holder is null or t.holder = excluded.holder
          or t.until < coalesce($4, clock_timestamp())
          or t.until > coalesce($4, clock_timestamp()) + $3 * interval '1 millisecond'
      returning chain`,
    values: [chain, lease.holder, lease.milliseconds, lease.clock],
  });
  return rows.length === 1;
}

/**
 * Ends the lease in the transaction that keeps what was signed in it; nobody else signs before it
 * commits. False: the lease was over, and what was signed must not be kept.
 */
export async function endKey(
  tx: Tx,
  chain: ChainKey,
  { holder, clock }: Pick<Lease, 'holder' | 'clock'>,
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'keeper_end_key',
    text: `update keeper_turns set holder = null
      where chain = $1 and holder = $2 and until >= coalesce($3, clock_timestamp())
      returning chain`,
    values: [chain, holder, clock],
  });
  return rows.length === 1;
}

/** A relay was refused for what is in flight: that is made to land, or gives way. */
export async function noteWanted(tx: Tx, chain: ChainKey, clock: Date | null): Promise<void> {
  await tx.rows({
    name: 'keeper_note_wanted',
    text: `update keeper_turns set wanted_at = coalesce($2, clock_timestamp())
      where chain = $1`,
    values: [chain, clock],
  });
}

/** Whether a relay was refused so lately for what is in flight. */
export async function wasWanted(
  tx: Tx,
  chain: ChainKey,
  { seconds, clock }: { readonly seconds: number; readonly clock: Date | null },
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'keeper_was_wanted',
    text: `select 1 from keeper_turns where chain = $1
      and wanted_at >= coalesce($3, clock_timestamp()) - $2 * interval '1 second'`,
    values: [chain, seconds, clock],
  });
  return rows.length > 0;
}

/**
 * For how many seconds nodes count transactions of the key that nothing here knows of; `isThere`
 * false: they do not now. What was not noted for `forgetMs` is news again.
 */
export async function noteUnknown(
  tx: Tx,
  chain: ChainKey,
  of: { readonly isThere: boolean; readonly forgetMs: number; readonly clock: Date | null },
): Promise<number | null> {
  const [row] = await tx.rows<{ seconds: number | null }>({
    name: 'keeper_note_unknown',
    text: `with now as (select coalesce($4, clock_timestamp()) as at)
      update keeper_turns
      set unknown_since = case when not $2 then null
          when abs(extract(epoch from now.at - unknown_seen)) * 1000 <= $3
          then coalesce(unknown_since, now.at) else now.at end,
        unknown_seen = now.at
      from now where chain = $1
      returning extract(epoch from now.at - unknown_since)::float8 as seconds`,
    values: [chain, of.isThere, of.forgetMs, of.clock],
  });
  return row?.seconds ?? null;
}
