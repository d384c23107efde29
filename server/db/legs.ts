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
  readonly standing: 'login' | 'proven';
  readonly authorised: boolean;
  readonly web: boolean;
  readonly pubkey: string | null;
};

/** Wallets of these accounts, login ones first. */
export async function walletsToPay(
  tx: Tx,
  accountIds: readonly string[],
  families: readonly Family[],
): Promise<PayableWallet[]> {
  return tx.rows<PayableWallet>({
    name: 'wallets_to_pay',
    text: `select account_id, family, address, standing, authorised, web, pubkey
      from wallets where account_id = any($1) and family = any($2)
      order by (standing = 'login') desc, proven_at, address`,
    values: [accountIds, families],
  });
}
