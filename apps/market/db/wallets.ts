// Wallets: the addresses that sign in to an account, and those it has proven.

import type { Family } from '@parley/core/families.ts';
import {
  changed,
  columns,
  count,
  did,
  is,
  many,
  none,
  one,
  value,
} from '@parley/host/postgres/statements.ts';
import type { Tx } from './database.ts';

export type Wallet = {
  readonly family: Family;
  readonly address: string;
  readonly standing: 'login' | 'proven';
  readonly authorised: boolean;
  readonly web: boolean;
  /** Until when it may not receive although it signs in; null = it does not wait. */
  readonly waitsUntil: Date | null;
  /** When it is removed; null = nobody asked for it. */
  readonly leavesAt: Date | null;
  readonly provenAt: Date;
};

const read = columns('family address standing authorised web waitsUntil leavesAt provenAt');

/** The account has, or had, a wallet from now on. */
const markFirst = `with first as (
    update accounts set first_wallet_at = :at where id = :accountId and first_wallet_at is null
  )`;

/** The account that this wallet signs in to. */
export const findLogin = value<[family: Family, address: string], string>('find_login')`
  select account_id as "accountId" from wallets
    where family = $1 and address = $2 and standing = 'login'`;

export type WalletOf = {
  readonly accountId: string;
  readonly family: Family;
  readonly address: string;
};

type NewLogin = Omit<Proof, 'authorised'> & {
  /** Until when it may not receive; it does not wait unless told. */
  readonly waitsUntil?: Date | null;
};

const insert = none<[login: NewLogin]>('insert_login')`
  ${markFirst}
    insert into wallets (account_id, family, address, standing, pubkey, proven_at, waits_until)
    values (:accountId, :family, :address, 'login', :pubkey, :at, :waitsUntil)`;

export const insertLogin = (tx: Tx, login: NewLogin): Promise<void> =>
  insert(tx, { waitsUntil: null, ...login });

export const walletsOf = many<[accountId: string], Wallet>('wallets_of')`
  select ${read} from wallets where account_id = $1 order by proven_at, address`;

export type Proof = WalletOf & {
  readonly authorised: boolean;
  readonly pubkey: string | null;
  readonly at: Date;
};

/**
 * Adds a proof or what is new of it; null when another account holds it. One that is authorised
 * waits no longer.
 */
export const upsertProof = one<[proof: Proof], Wallet>('upsert_proof')`
  ${markFirst}
    insert into wallets (account_id, family, address, standing, authorised, pubkey, proven_at)
    values (:accountId, :family, :address, 'proven', :authorised, :pubkey, :at)
    on conflict (family, address, standing) do update set
      authorised = wallets.authorised or excluded.authorised,
      waits_until = case when not excluded.authorised then wallets.waits_until end,
      pubkey = coalesce(wallets.pubkey, excluded.pubkey)
      where wallets.account_id = excluded.account_id
    returning ${read}`;

const deleteOf = (standing: Wallet['standing'], name: string) =>
  did<[accountId: string, family: Family, address: string]>(name)`
  delete from wallets
    where account_id = $1 and family = $2 and address = $3 and standing = '${standing}'
    returning 1`;

/** False when the account has no proof of it. A login is not a proof. */
export const deleteProof = deleteOf('proven', 'delete_proof');

/** False where the account does not sign in with it. */
export const deleteLoginWallet = deleteOf('login', 'wallets_delete_login');

export const countProofs = count<[accountId: string]>('count_proofs')`
  select count(*) from wallets where account_id = $1 and standing = 'proven'`;

/** Until its time has come, what signs in or was proven in a wallet session does not receive. */
export function waits({ waitsUntil }: Pick<Wallet, 'waitsUntil'>, nowMs: number): boolean {
  return waitsUntil !== null && waitsUntil.getTime() > nowMs;
}

type WebProof = Omit<Proof, 'authorised'> & {
  /** Null = it may receive at once. */
  readonly waitsUntil: Date | null;
};

/** One proven in a wallet session; null when another account holds it. Its wait only gets less. */
export const upsertWebProof = one<[proof: WebProof], Wallet>('upsert_web_proof')`
  ${markFirst}
    insert into wallets
      (account_id, family, address, standing, web, pubkey, proven_at, waits_until)
    values (:accountId, :family, :address, 'proven', true, :pubkey, :at, :waitsUntil)
    on conflict (family, address, standing) do update set
      web = true,
      pubkey = coalesce(wallets.pubkey, excluded.pubkey),
      waits_until = case
        when not wallets.web then excluded.waits_until
        when wallets.waits_until is null or excluded.waits_until is null then null
        else least(wallets.waits_until, excluded.waits_until) end
      where wallets.account_id = excluded.account_id
    returning ${read}`;

const isIt = 'account_id = :accountId and family = :family and address = :address';

/** A login wallet waits no longer. */
export const endWait = none<[wallet: WalletOf]>('wallets_end_wait')`
  update wallets set waits_until = null where ${isIt}`;

/** Removes what waits of this address, login or proof; returns how many. */
export const deleteWaiting = changed<[wallet: WalletOf & { readonly now: Date }]>(
  'wallets_delete_waiting',
)`
  delete from wallets where ${isIt} and waits_until > :now and not authorised returning 1`;

/** Whether the account ever had a wallet, one that was removed since too. */
export const hadWallet = is<[accountId: string]>('wallets_had')`
  select first_wallet_at is not null as had from accounts where id = $1`;

/** A login wallet is removed then; null = it stays. False where nothing changes. */
export const setLeaving = did<[wallet: WalletOf & { readonly leavesAt: Date | null }]>(
  'wallets_set_leaving',
)`
  update wallets set leaves_at = :leavesAt
    where ${isIt} and standing = 'login'
      and (leaves_at is null) <> (:leavesAt::timestamptz is null)
    returning 1`;

/** Login wallets whose time to leave has come, the first ones first. */
export const leavingWallets = many<[now: Date, limit: number], WalletOf>('wallets_leaving')`
  select account_id as "accountId", family, address from wallets
    where leaves_at <= $1 order by leaves_at limit $2`;

/**
 * Ends waits whose time has come; each wallet is given once. One with a choice that counts now goes
 * with that choice: a caller that takes the choice takes both.
 */
export const takeWaited = many<[now: Date, limit: number], WalletOf>('wallets_take_waited')`
  update wallets set waits_until = null where ctid = any(array(
      select ctid from wallets w where waits_until <= $1 and not exists (
        select 1 from payouts p
        where p.account_id = w.account_id and p.family = w.family and p.address = w.address
          and not p.told and p.stopped_at is null and p.from_at <= $1 offset 0)
      order by waits_until limit $2 for update skip locked))
    returning account_id as "accountId", family, address`;
