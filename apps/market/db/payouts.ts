// Which wallet of each family is paid: the newest choice whose time has come, else the login one.

import type { Family } from '@parley/core/families.ts';
import { changed, columns, many, none } from '@parley/host/postgres/statements.ts';

export type Payout = {
  readonly id: string;
  readonly family: Family;
  readonly address: string;
  readonly askedAt: Date;
  /** It is paid from then on. */
  readonly fromAt: Date;
};

/** The newest of each family that counts now, and all that wait. */
export const payoutsOf = many<[accountId: string, now: Date], Payout>('payouts_of')`
  select ${columns('id family address askedAt fromAt')} from (
      select *, row_number() over (partition by family, from_at <= $2
        order by from_at desc, id desc) as place
      from payouts where account_id = $1 and stopped_at is null
    ) ranked
    where from_at > $2 or place = 1 order by family, from_at`;

/** `told`: whether its person hears of it by other means than by the end of its wait. */
export const insertPayout = none<
  [payout: Payout & { readonly accountId: string; readonly told: boolean }]
>('payouts_insert')`
  insert into payouts (id, account_id, family, address, asked_at, from_at, told)
    values (:id, :accountId, :family, :address, :askedAt, :fromAt, :told)`;

/** Those of the family that wait, to this address or to any (null), never count; how many. */
export const stopPayouts = changed<
  [stopped: { accountId: string; family: Family; address: string | null; at: Date }]
>('payouts_stop')`
  update payouts set stopped_at = :at
    where account_id = :accountId and family = :family and (:address::text is null
      or address = :address)
      and stopped_at is null and from_at > :at
    returning 1 as one`;

type CountedPayout = {
  readonly accountId: string;
  readonly family: Family;
  readonly address: string;
};

/** Choices that waited and count now; each is given once. */
export const takeCounted = many<[now: Date, limit: number], CountedPayout>('payouts_take_counted')`
  update payouts set told = true where id = any(array(
      select id from payouts where not told and stopped_at is null and from_at <= $1
      order by from_at limit $2 for update skip locked))
    returning ${columns('accountId family address')}`;
