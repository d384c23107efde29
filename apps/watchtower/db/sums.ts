// The promised part of a gas key's balance, and the part of its cap that a day has taken.

import type { ChainKey } from '@parley/core/families.ts';
import { only } from '@parley/host/postgres/statements.ts';
import { live } from './jobs.ts';

type Money =
  /** Kept for what was asked for and is open, and for what else has something that may be mined. */
  | 'reserved'
  /** The part of that for requests, beyond what is counted of them already. */
  | 'promised'
  /** Counted against the cap since the beginning of the day, without public secrets. */
  | 'spent'
  | 'spentBeside';
export type Sums = Readonly<Record<Money, bigint>> & {
  /** Jobs with something signed that is not mined yet. */
  readonly underWay: number;
};

type Asked = {
  readonly chain: ChainKey;
  readonly since: Date;
  /** A job whose own reserve is left out, since it is to have another. */
  readonly except: number | null;
};

/** A job that was not promised holds no more: it may be refused for ever. */
const hasLive = `exists (select 1 from keeper_attempts l
              where l.job_id = o.id and ${live('l.')} offset 0)`;
const isAsked = `o.purpose in ('relay', 'fund')`;

/** Sums of one chain. */
export const keySums = only<[of: Asked], Sums>('keeper_sums')`
  with kept as (
      select o.reserve, ${isAsked} as asked, greatest(o.reserve - (
          select coalesce(sum(l.charged), 0) from keeper_attempts l
          where l.job_id = o.id and l.signed_at >= :since and ${live('l.')}), 0) as beyond
      from keeper_jobs o
      where o.chain = :chain and o.state = 'open' and o.id is distinct from :except
        and (${isAsked} or ${hasLive}))
    select
      (select coalesce(sum(reserve), 0) from kept) as reserved,
      (select coalesce(sum(beyond), 0) from kept where asked) as promised,
      coalesce(sum(charged), 0) as spent,
      coalesce(sum(charged) filter (where purpose <> 'secret'), 0) as "spentBeside",
      (select count(distinct job_id)::int from keeper_attempts
        where chain = :chain and fate in ('unknown', 'pending')) as "underWay"
    from keeper_attempts where chain = :chain and signed_at >= :since`;

/** The reserve for relays that wait behind this nonce. */
export const reservedBehind = only<
  [of: { readonly chain: ChainKey; readonly address: string; readonly nonce: number }],
  { readonly sum: bigint }
>('keeper_reserved_behind')`
  select coalesce(sum(o.reserve), 0) as sum from keeper_jobs o
    where o.chain = :chain and o.state = 'open' and o.purpose = 'relay' and o.id in (
      select job_id from keeper_attempts
      where chain = :chain and address = :address and nonce > :nonce and ${live()})`;
