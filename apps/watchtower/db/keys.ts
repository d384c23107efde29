// The process that signs with the gas key of a chain now, one at a time. A lease ends by the
// database's own clock, unless another is given, whatever became of its holder. A signature that
// comes after its lease is not kept.

import type { ChainKey } from '@parley/core/families.ts';
import { did, none, value } from '@parley/host/postgres/statements.ts';

export type Lease = {
  readonly holder: string;
  /** No lease lasts for longer. */
  readonly milliseconds: number;
  readonly clock: Date | null;
};

const clock = 'coalesce(:clock, clock_timestamp())';

/**
 * False while another process has it, which is not interrupted. Its holder gets it again, since the
 * answer may have been lost. A lease that ends later than any may is of before the clock was set
 * back, and counts for nothing.
 */
export const takeKey = did<[chain: ChainKey, lease: Lease]>('keeper_take_key')`
  insert into keeper_turns as t (chain, holder, until)
    values ($1, :holder, ${clock} + :milliseconds * interval '1 millisecond')
    on conflict (chain) do update set holder = excluded.holder, until = excluded.until
      where t.holder is null or t.holder = excluded.holder or t.until < ${clock}
        or t.until > ${clock} + :milliseconds * interval '1 millisecond'
    returning chain`;

/**
 * Ends the lease in the transaction that keeps what was signed in it; no other process signs before
 * it commits. False: the lease was over, and what was signed must not be kept.
 */
export const endKey = did<[chain: ChainKey, lease: Pick<Lease, 'holder' | 'clock'>]>(
  'keeper_end_key',
)`
  update keeper_turns set holder = null
    where chain = $1 and holder = :holder and until >= ${clock} returning chain`;

/** A relay was refused for what is in flight: that is made to land, or gives way. */
export const noteWanted = none<[chain: ChainKey, clock: Date | null]>('keeper_note_wanted')`
  update keeper_turns set wanted_at = coalesce($2, clock_timestamp()) where chain = $1`;

/** Whether a relay was refused so lately for what is in flight. */
export const wasWanted = did<[chain: ChainKey, of: { seconds: number; clock: Date | null }]>(
  'keeper_was_wanted',
)`
  select 1 from keeper_turns
    where chain = $1 and wanted_at >= ${clock} - :seconds * interval '1 second'`;

/**
 * For how many seconds nodes count transactions of the key that nothing here knows of; `isThere`
 * false: they do not now. After `forgetMs` without a note they are news again.
 */
export const noteUnknown = value<
  [chain: ChainKey, of: { isThere: boolean; forgetMs: number; clock: Date | null }],
  number
>('keeper_note_unknown')`
  with now as (select ${clock} as at)
    update keeper_turns
    set unknown_since = case when not :isThere then null
        when abs(extract(epoch from now.at - unknown_seen)) * 1000 <= :forgetMs
        then coalesce(unknown_since, now.at) else now.at end,
      unknown_seen = now.at
    from now where chain = $1
    returning extract(epoch from now.at - unknown_since)::float8 as seconds`;
