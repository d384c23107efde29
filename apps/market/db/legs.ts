// The two legs of a swap: fixed terms, and where they pay.

import type { ChainKey, Family } from '@parley/core/families.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import type { Destination } from '@parley/core/terms.ts';
import type { LegName } from '@parley/core/trade.ts';
import { many, none } from '@parley/host/postgres/statements.ts';

type NewLeg = {
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
  readonly ownLane: boolean;
  readonly escrow: string | null;
};

export const insertLeg = none<[leg: NewLeg]>('leg_insert')`
  insert into legs
      (swap_id, leg, chain, family, asset_id, token, amount, timelock, required_confirmations,
       payout_address, payout_pubkey, refund_address, refund_pubkey, own_lane, escrow)
    values (:swapId, :leg, :chain, :family, :assetId, :token, :amount, :timelock,
      :requiredConfirmations, :payout.address, :payout.pubkey, :refund.address, :refund.pubkey,
      :ownLane, :escrow)`;

export const updateDestinations = none<
  [
    leg: {
      swapId: string;
      leg: LegName;
      payout: Destination | null;
      refund: Destination | null;
      payoutForm: Destination['form'] | null;
      refundForm: Destination['form'] | null;
      ownLane: boolean;
      escrow: string | null;
    },
  ]
>('leg_destinations')`
  update legs set payout_address = :payout.address, payout_pubkey = :payout.pubkey,
    refund_address = :refund.address,
      refund_pubkey = :refund.pubkey, payout_form = :payoutForm, refund_form = :refundForm,
      own_lane = :ownLane,
      escrow = :escrow
    where swap_id = :swapId and leg = :leg`;

/** The wish, and once it is given the release: the first of each stays. */
export const storeRelease = none<
  [
    release: {
      swapId: string;
      leg: LegName;
      at: UnixSeconds;
      isGiven: boolean;
      /** null: given by a spend that both sides sign. */
      signature: string | null;
    },
  ]
>('leg_release')`
  update legs set release_asked_at = coalesce(release_asked_at, :at),
      released_at = case when :isGiven then coalesce(released_at, :at) else released_at end,
      release_signature = coalesce(release_signature, :signature)
    where swap_id = :swapId and leg = :leg`;

/** Notes that a claim which shows the secret leaves the market. The first time stays. */
export const noteShown = none<[of: { swapId: string; leg: LegName; at: Date }]>('leg_note_shown')`
  update legs set shown_at = coalesce(shown_at, :at) where swap_id = :swapId and leg = :leg`;

/** Whether a wallet lends its lanes from now on. */
export const noteLends = none<
  [wallet: { accountId: string; family: Family; address: string; lends: boolean }]
>('wallet_lends')`
  update wallets set lends = :lends
    where account_id = :accountId and family = :family and address = :address and lends <> :lends`;

/** A wallet of an account as settlement needs it. */
export type PayableWallet = {
  readonly accountId: string;
  readonly family: Family;
  readonly address: string;
  /** May be named as where the account is paid. */
  readonly receives: boolean;
  /** Is where the account is paid unless it names another. */
  readonly paid: boolean;
  readonly pubkey: string | null;
  /** EVM, TRON: lends lanes of its own. */
  readonly lends: boolean;
};

/** Wallets of these accounts, login ones first. */
export const walletsToPay = many<
  [accountIds: readonly string[], families: readonly Family[], now: Date],
  PayableWallet
>('wallets_to_pay')`
  with chosen as (
      select distinct on (account_id, family) account_id, family, address from payouts
      where account_id = any($1) and family = any($2) and from_at <= $3 and stopped_at is null
      order by account_id, family, from_at desc, id desc
    ), held as (
      select *, coalesce(waits_until > $3, false) as waits from wallets
      where account_id = any($1) and family = any($2)
    )
    select w.account_id as "accountId", w.family, w.address, w.pubkey, w.lends,
      w.authorised or (w.standing = 'login' or w.web) and not w.waits as receives,
      case when c.address is null then w.standing = 'login' and not w.waits
        else w.address = c.address
          and (w.authorised or (w.standing = 'login' or w.web) and not w.waits) end as paid
    from held w left join chosen c on c.account_id = w.account_id and c.family = w.family
    order by (w.standing = 'login') desc, w.proven_at, w.address`;
