// What is promised of a gas key's balance, and what a day has taken of its bounds.

import type { ChainKey } from '../../core/families.ts';
import { only } from '../../host/postgres/statements.ts';
import { live } from './jobs.ts';

type Taken = {
  /** How many, of this account: one that was given up and asked for again each time. */
  readonly own: number;
  /** Base units: what they have cost, and what is reserved for all that are open. */
  readonly ownTaken: bigint;
  readonly taken: bigint;
};

export type RelaySums = Taken & {
  /**
   * Solana: those that pay for their receiver's token account, and claims that nobody asked for
   * which may.
   */
  readonly ownMade: number;
  readonly made: number;
};

export type FundingSums = Taken & {
  /** Of this account, those that a block took without effect. */
  readonly ownFailed: number;
};

/**
 * `except`: a job whose reserve and token account are left out, since it is to have new ones; what
 * it has cost and how often it was taken on are not.
 */
type Asked<Account = string> = {
  readonly chain: ChainKey;
  readonly since: Date;
  readonly accountId: Account;
  readonly except: number | null;
};

/** Of the transactions of a job. */
const costs = `coalesce(sum(a.charged) filter (where a.fate in ('deep', 'failed', 'gone')), 0)
              as past,
            coalesce(sum(a.charged) filter (where ${live('a.')}), 0)
              as live`;
const taken = `coalesce(sum(takes) filter (where own), 0) as "ownTaken",
        coalesce(sum(takes), 0) as taken`;

/**
 * Of those taken on since then; of older ones that are open still what is reserved for them, as the
 * key has no more for relays than they may take in a day.
 */
export const relaySums = only<[of: Asked], RelaySums>('keeper_relay_sums')`
  with relays as (
      select j.account_id = :accountId as own, j.relays,
        j.makes_account and j.state <> 'dropped' and j.purpose = 'relay'
          and j.id is distinct from :except as makes,
        costs.past + greatest(costs.live, case
          when j.purpose = 'relay' and j.id is distinct from :except then j.reserve else 0
        end) as takes
      from keeper_jobs j cross join lateral (
        select ${costs}
        from keeper_attempts a where a.job_id = j.id and a.purpose = 'relay'
      ) costs
      where j.chain = :chain and j.relayed_at >= :since and j.verb <> 'fund'
      union all
      select account_id = :accountId, 0, false, reserve from keeper_jobs
      where chain = :chain and state = 'open' and purpose = 'relay'
        and (relayed_at < :since or relayed_at is null) and id is distinct from :except),
    claims as (
      select account_id = :accountId as own from keeper_jobs
      where makes_account and purpose = 'secret' and id is distinct from :except and id in (
        select job_id from keeper_attempts
        where chain = :chain and signed_at >= :since and fate not in ('gone', 'failed')))
    select ${taken},
      coalesce(sum(relays) filter (where own), 0)::int as own,
      (count(*) filter (where makes) + (select count(*) from claims))::int as made,
      (count(*) filter (where makes and own)
        + (select count(*) from claims where own))::int as "ownMade"
    from relays`;

/**
 * Of what was signed since then for fundings, and of all that are open what is reserved for them.
 */
export const fundingSums = only<[of: Asked], FundingSums>('keeper_funding_sums')`
  with fundings as (
      select j.account_id = :accountId as own,
        case when j.relayed_at >= :since then j.relays else 0 end as times,
        costs.failed,
        costs.past + greatest(costs.live, case
          when j.state = 'open' and j.id is distinct from :except then j.reserve else 0
        end) as takes
      from keeper_jobs j cross join lateral (
        select ${costs},
          count(*) filter (where a.fate = 'failed' and a.verb = 'fund') as failed
        from keeper_attempts a where a.job_id = j.id and a.signed_at >= :since
      ) costs
      where j.chain = :chain and j.verb = 'fund' and (j.relayed_at >= :since or j.state = 'open'
        or j.id in (select job_id from keeper_attempts
          where chain = :chain and signed_at >= :since and purpose = 'fund')))
    select ${taken},
      coalesce(sum(times) filter (where own), 0)::int as own,
      coalesce(sum(failed) filter (where own), 0)::int as "ownFailed"
    from fundings`;

/** What is reserved for relays that wait behind this nonce. */
export const reservedBehind = only<
  [of: { readonly chain: ChainKey; readonly address: string; readonly nonce: number }],
  { readonly sum: bigint }
>('keeper_reserved_behind')`
  select coalesce(sum(o.reserve), 0) as sum from keeper_jobs o
    where o.chain = :chain and o.state = 'open' and o.purpose = 'relay' and o.id in (
      select job_id from keeper_attempts
      where chain = :chain and address = :address and nonce > :nonce and ${live()})`;

type Money =
  /** Kept for what was asked for and is open, and for what else has something that may be mined. */
  | 'reserved'
  | 'relayReserved'
  /** Counted against the cap since the beginning of the day: nothing asked for. */
  | 'spent'
  /** Of this account, and on refunds. */
  | 'spentOn'
  | 'spentOnRefunds';
/** Jobs with something signed that is not mined yet; `underWay`: but for what was asked for. */
type UnderWay = 'underWay' | 'refundsUnderWay' | 'relaysUnderWay' | 'fundingsUnderWay';
export type Sums = Readonly<Record<Money, bigint> & Record<UnderWay, number>>;

/** What of it counts against the account of one of its escrows: rounded up, so never too little. */
export const partOf = (attempt: string) => {
  return `div(${attempt}.charged + ${attempt}.legs - 1, ${attempt}.legs)`;
};

const underWayOf = (which: string) => `(select count(distinct u.job_id)::int
          from keeper_attempts u join keeper_jobs o on o.id = u.job_id
          where u.chain = :chain and u.fate in ('unknown', 'pending') and ${which})`;

/** Nothing else is held for what nobody was promised: it may be refused for ever. */
const hasLive = `exists (select 1 from keeper_attempts l
              where l.job_id = o.id and ${live('l.')})`;

/** Sums of one chain. `except`: a job whose own reserve is left out. */
export const keySums = only<[of: Asked<string | null>], Sums>('keeper_sums')`
  select
      (select coalesce(sum(o.reserve), 0) from keeper_jobs o
        where o.chain = :chain and o.state = 'open' and o.id is distinct from :except
          and (o.purpose in ('relay', 'fund') or ${hasLive})) as reserved,
      (select coalesce(sum(reserve), 0) from keeper_jobs
        where chain = :chain and state = 'open' and purpose = 'relay'
          and id is distinct from :except) as "relayReserved",
      coalesce(sum(a.charged), 0) as spent,
      coalesce(sum(${partOf('a')}) filter (where j.account_id = :accountId), 0) + (
        select coalesce(sum(${partOf('r')}), 0) from keeper_rides k
          join keeper_attempts r on r.id = k.attempt_id join keeper_jobs o on o.id = k.job_id
        where r.chain = :chain and r.signed_at >= :since and o.account_id = :accountId)
        as "spentOn",
      coalesce(sum(a.charged) filter (where a.purpose in ('refund', 'close')), 0)
        as "spentOnRefunds",
      ${underWayOf(`o.purpose not in ('relay', 'fund')`)} as "underWay",
      ${underWayOf(`o.purpose in ('refund', 'close')`)} as "refundsUnderWay",
      ${underWayOf(`o.purpose = 'relay'`)} as "relaysUnderWay",
      ${underWayOf(`o.purpose = 'fund'`)} as "fundingsUnderWay"
    from keeper_attempts a left join keeper_jobs j on j.id = a.job_id
    where a.chain = :chain and a.signed_at >= :since
      and (a.purpose is null or a.purpose not in ('relay', 'fund'))`;
