// The two legs of a swap: fixed terms, and where they pay.

import type { ChainKey, Family } from '../../core/families.ts';
import type { Destination } from '../../core/terms.ts';
import type { LegName } from '../../core/trade.ts';
import type { Tx } from './database.ts';

export type NewLeg = {
  readonly swapId: string;
  readonly leg: LegName;
  readonly chain: ChainKey;
  readonly family: Family;
  readonly assetId: string;
  readonly token: string | null;
  readonly amount: bigint;
  readonly timelock: number;
  readonly requiredConfirmations: number;
  readonly payout: Destination | null;
  readonly refund: Destination | null;
  readonly escrow: string | null;
};

export async function insertLeg(tx: Tx, leg: NewLeg): Promise<void> {
  await tx.rows({
    name: 'leg_insert',
    text: `insert into legs
        (swap_id, leg, chain, family, asset_id, token, amount, timelock, required_confirmations,
         payout_address, payout_pubkey, refund_address, refund_pubkey, escrow)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    values: [
      leg.swapId,
      leg.leg,
      leg.chain,
      leg.family,
      leg.assetId,
      leg.token,
      leg.amount.toString(),
      leg.timelock,
      leg.requiredConfirmations,
      leg.payout?.address ?? null,
      leg.payout?.pubkey ?? null,
      leg.refund?.address ?? null,
      leg.refund?.pubkey ?? null,
      leg.escrow,
    ],
  });
}

export async function updateDestinations(
  tx: Tx,
  leg: {
    swapId: string;
    leg: LegName;
    payout: Destination | null;
    refund: Destination | null;
    escrow: string | null;
  },
): Promise<void> {
  await tx.rows({
    name: 'leg_destinations',
    text: `update legs set payout_address = $3, payout_pubkey = $4, refund_address = $5,
        refund_pubkey = $6, escrow = $7
      where swap_id = $1 and leg = $2`,
    values: [
      leg.swapId,
      leg.leg,
      leg.payout?.address ?? null,
      leg.payout?.pubkey ?? null,
      leg.refund?.address ?? null,
      leg.refund?.pubkey ?? null,
      leg.escrow,
    ],
  });
}

/** A wallet of an account as settlement needs it. */
export type PayableWallet = {
  readonly account_id: string;
  readonly family: Family;
  readonly address: string;
  /** May be named as where the account is paid. */
  readonly receives: boolean;
  /** Is where the account is paid unless it names another. */
  readonly paid: boolean;
  readonly pubkey: string | null;
};

/** Wallets of these accounts, login ones first. */
export async function walletsToPay(
  tx: Tx,
  accountIds: readonly string[],
  families: readonly Family[],
  now: Date,
): Promise<PayableWallet[]> {
  return tx.rows<PayableWallet>({
    name: 'wallets_to_pay',
    text: `with chosen as (
        select distinct on (account_id, family) account_id, family, address from payouts
        where account_id = any($1) and family = any($2) and from_at <= $3 and stopped_at is null
        order by account_id, family, from_at desc, id desc
      ), held as (
        select *, coalesce(waits_until > $3, false) as waits from wallets
        where account_id = any($1) and family = any($2)
      )
      select w.account_id, w.family, w.address, w.pubkey,
        w.authorised or (w.standing = 'login' or w.web) and not w.waits as receives,
        case when c.address is null then w.standing = 'login' and not w.waits
          else w.address = c.address
            and (w.authorised or (w.standing = 'login' or w.web) and not w.waits) end as paid
      from held w left join chosen c on c.account_id = w.account_id and c.family = w.family
      order by (w.standing = 'login') desc, w.proven_at, w.address`,
    values: [accountIds, families, now],
  });
}
