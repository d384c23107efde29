// Which wallet of each family is paid: the newest choice whose time has come, else the login one.

import type { Family } from '../../core/families.ts';
import type { Tx } from './database.ts';

export type Payout = {
  readonly id: string;
  readonly family: Family;
  readonly address: string;
  readonly askedAt: Date;
  /** It is paid from then on. */
  readonly fromAt: Date;
};

/** The newest of each family that counts now, and all that wait. */
export function payoutsOf(tx: Tx, accountId: string, now: Date): Promise<Payout[]> {
  return tx.rows<Payout>({
    name: 'payouts_of',
    text: `select id, family, address, asked_at as "askedAt", from_at as "fromAt" from (
        select *, row_number() over (partition by family, from_at <= $2
          order by from_at desc, id desc) as place
        from payouts where account_id = $1 and stopped_at is null
      ) ranked
      where from_at > $2 or place = 1 order by family, from_at`,
    values: [accountId, now],
  });
}

/** `told`: whether its person hears of it by other means than by the end of its wait. */
export async function insertPayout(
  tx: Tx,
  payout: Payout & { readonly accountId: string; readonly told: boolean },
): Promise<void> {
  await tx.rows({
    name: 'payouts_insert',
    text: `insert into payouts (id, account_id, family, address, asked_at, from_at, told)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      payout.id,
      payout.accountId,
      payout.family,
      payout.address,
      payout.askedAt,
      payout.fromAt,
      payout.told,
    ],
  });
}

/** Those of the family that wait, to this address or to any (null), never count; how many. */
export async function stopPayouts(
  tx: Tx,
  stopped: { accountId: string; family: Family; address: string | null; at: Date },
): Promise<number> {
  const rows = await tx.rows({
    name: 'payouts_stop',
    text: `update payouts set stopped_at = $4
      where account_id = $1 and family = $2 and ($3::text is null or address = $3)
        and stopped_at is null and from_at > $4
      returning 1 as one`,
    values: [stopped.accountId, stopped.family, stopped.address, stopped.at],
  });
  return rows.length;
}

export type CountedPayout = {
  readonly accountId: string;
  readonly family: Family;
  readonly address: string;
};

/** Choices that waited and count now; each is given once. */
export function takeCounted(tx: Tx, now: Date, limit: number): Promise<CountedPayout[]> {
  return tx.rows<CountedPayout>({
    name: 'payouts_take_counted',
    text: `update payouts set told = true where id = any(array(
        select id from payouts where not told and stopped_at is null and from_at <= $1
        order by from_at limit $2 for update skip locked))
      returning account_id as "accountId", family, address`,
    values: [now, limit],
  });
}
