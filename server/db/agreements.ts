// Statements about agreements: those of a pair that were funded, and how an account kept its own.

import type { Direction } from '../../core/trade.ts';
import { many, one } from '../../host/postgres/statements.ts';

export type Agreement = {
  readonly direction: Direction;
  readonly baseAmount: bigint;
  readonly quoteAmount: bigint;
  readonly agreedAt: Date;
};

type Wanted = {
  readonly baseAssetId: string;
  readonly quoteAssetId: string;
  readonly since: Date;
  /** RFQs that are walked: agreements that nobody funds are among them. */
  readonly walked: number;
  readonly limit: number;
};

/**
 * Of public RFQs of this base and quote, those of which both legs were funded: both chains show
 * both amounts then. Newest first.
 */
export const fundedAgreements = many<[wanted: Wanted], Agreement>('agreements_funded')`
  select r.direction, r.base_amount as "baseAmount", t.quote_amount as "quoteAmount",
      r.updated_at as "agreedAt"
    from (select id, direction, base_amount, updated_at from rfqs
        where base_asset_id = :baseAssetId and quote_asset_id = :quoteAssetId
          and status = 'agreed' and visibility = 'public' and updated_at > :since
        order by updated_at desc limit :walked) r
      join swaps s on s.rfq_id = r.id
      join threads t on t.id = s.thread_id
    where s.status in ('counterparty_funded', 'initiator_claimed', 'counterparty_claimed')
    order by r.updated_at desc limit :limit`;

export type Kept = {
  readonly settled: number;
  readonly abandoned: number;
  readonly funded: number;
  /** Null where it funded nothing whose time is known. */
  readonly medianFundSeconds: number | null;
  readonly since: Date;
};

/** Swaps of one party's side; maker funds `a`, taker `b`. */
const side = (party: 'maker' | 'taker', own: 'a' | 'b', other: 'a' | 'b') => `
  (select s.status, s.created_at, s.long_leg = '${own}' as first,
      l.refund_address is not null and o.payout_address is not null as named,
      l.escrow is not null as planned,
      ${wasFunded('e')} as paid, ${wasFunded('p')} as met,
      e.funding_seen_at as seen, p.funding_deep_at as due
    from (select * from swaps where ${party}_id = $1 and agreed_at >= :from and agreed_at < :until
        order by id desc limit :limit) s
      join legs l on l.swap_id = s.id and l.leg = '${own}'
      join legs o on o.swap_id = s.id and o.leg = '${other}'
      left join escrows e on e.chain = l.chain and e.address = l.escrow
      left join escrows p on p.chain = o.chain and p.address = o.escrow)`;

function wasFunded(escrow: string): string {
  const each = ['funded', 'claimed', 'refunded'].map((fact) => `${escrow}.facts ->> '${fact}'`);
  return `coalesce(${each.join(', ')}) is not null`;
}

/**
 * How an account kept what it agreed to from `from` on and before `until` (Unix seconds).
 * Abandoned: it was its turn to name addresses, to fund or to reveal, and the swap ended without.
 */
export const keptBy = one<
  [accountId: string, of: { from: number; until: number; limit: number }],
  Kept
>('agreements_kept')`
  with own as (${side('maker', 'a', 'b')} union all ${side('taker', 'b', 'a')}),
    timed as (select extract(epoch from seen - case when first then created_at else due end)
        as seconds from own where seen is not null)
  select count(*) filter (where status = 'counterparty_claimed')::int as settled,
      count(*) filter (where case
        when status = 'expired' then not named or (first and planned)
        when status <> 'refunded' then false
        when first then paid and (met or not named)
        else met and not paid and (planned or not named) end)::int as abandoned,
      count(*) filter (where paid)::int as funded,
      (select round(percentile_disc(0.5) within group (order by greatest(seconds, 0)))::int
        from timed) as "medianFundSeconds",
      (select created_at from accounts where id = $1) as since
    from own`;
