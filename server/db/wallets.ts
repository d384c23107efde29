// Wallets: the addresses that sign in to an account, and those it has proven.

import type { Family } from '../../core/families.ts';
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

const columns = `family, address, standing, authorised, web, waits_until as "waitsUntil",
  leaves_at as "leavesAt", proven_at as "provenAt"`;

/** Part of a statement whose $1 is the account: it has, or had, a wallet from now on. */
const markFirst = (at: string) => `with first as (
    update accounts set first_wallet_at = ${at} where id = $1 and first_wallet_at is null
  )`;

/** The account that this wallet signs in to. */
export async function findLogin(tx: Tx, family: Family, address: string): Promise<string | null> {
  const rows = await tx.rows<{ accountId: string }>({
    name: 'find_login',
    text: `
      select account_id as "accountId" from wallets
      where family = $1 and address = $2 and standing = 'login'`,
    values: [family, address],
  });
  return rows[0]?.accountId ?? null;
}

export async function insertLogin(
  tx: Tx,
  login: {
    readonly accountId: string;
    readonly family: Family;
    readonly address: string;
    readonly pubkey: string | null;
    readonly at: Date;
    /** Until when it may not receive; it does not wait unless told. */
    readonly waitsUntil?: Date | null;
  },
): Promise<void> {
  const { accountId, family, address, pubkey, at, waitsUntil = null } = login;
  await tx.rows({
    name: 'insert_login',
    text: `${markFirst('$5')}
      insert into wallets (account_id, family, address, standing, pubkey, proven_at, waits_until)
      values ($1, $2, $3, 'login', $4, $5, $6)`,
    values: [accountId, family, address, pubkey, at, waitsUntil],
  });
}

export async function walletsOf(tx: Tx, accountId: string): Promise<Wallet[]> {
  return tx.rows<Wallet>({
    name: 'wallets_of',
    text: `
      select ${columns} from wallets
      where account_id = $1 order by proven_at, address`,
    values: [accountId],
  });
}

export type Proof = {
  readonly accountId: string;
  readonly family: Family;
  readonly address: string;
  readonly authorised: boolean;
  readonly pubkey: string | null;
  readonly at: Date;
};

/**
 * Adds a proof or what is new of it; null when another account holds it. One that is authorised
 * waits no longer.
 */
export async function upsertProof(tx: Tx, proof: Proof): Promise<Wallet | null> {
  const rows = await tx.rows<Wallet>({
    name: 'upsert_proof',
    text: `${markFirst('$6')}
      insert into wallets (account_id, family, address, standing, authorised, pubkey, proven_at)
      values ($1, $2, $3, 'proven', $4, $5, $6)
      on conflict (family, address, standing) do update set
        authorised = wallets.authorised or excluded.authorised,
        waits_until = case when not excluded.authorised then wallets.waits_until end,
        pubkey = coalesce(wallets.pubkey, excluded.pubkey)
        where wallets.account_id = excluded.account_id
      returning ${columns}`,
    values: [
      proof.accountId,
      proof.family,
      proof.address,
      proof.authorised,
      proof.pubkey,
      proof.at,
    ],
  });
  return rows[0] ?? null;
}

/** False when the account has no proof of it. A login is not a proof. */
export async function deleteProof(
  tx: Tx,
  accountId: string,
  family: Family,
  address: string,
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'delete_proof',
    text: `
      delete from wallets
      where account_id = $1 and family = $2 and address = $3 and standing = 'proven'
      returning 1 as one`,
    values: [accountId, family, address],
  });
  return rows.length === 1;
}

export async function countProofs(tx: Tx, accountId: string): Promise<number> {
  const rows = await tx.rows<{ count: number }>({
    name: 'count_proofs',
    text: `select count(*) from wallets where account_id = $1 and standing = 'proven'`,
    values: [accountId],
  });
  return rows[0]?.count ?? 0;
}

/** Until its time has come, what signs in or was proven in a wallet session does not receive. */
export function waits({ waitsUntil }: Pick<Wallet, 'waitsUntil'>, nowMs: number): boolean {
  return waitsUntil !== null && waitsUntil.getTime() > nowMs;
}

export type WebProof = Omit<Proof, 'authorised'> & {
  /** Null = it may receive at once. */
  readonly waitsUntil: Date | null;
};

/** One proven in a wallet session; null when another account holds it. Its wait only gets less. */
export async function upsertWebProof(tx: Tx, proof: WebProof): Promise<Wallet | null> {
  const rows = await tx.rows<Wallet>({
    name: 'upsert_web_proof',
    text: `${markFirst('$5')}
      insert into wallets
        (account_id, family, address, standing, web, pubkey, proven_at, waits_until)
      values ($1, $2, $3, 'proven', true, $4, $5, $6)
      on conflict (family, address, standing) do update set
        web = true,
        pubkey = coalesce(wallets.pubkey, excluded.pubkey),
        waits_until = case
          when not wallets.web then excluded.waits_until
          when wallets.waits_until is null or excluded.waits_until is null then null
          else least(wallets.waits_until, excluded.waits_until) end
        where wallets.account_id = excluded.account_id
      returning ${columns}`,
    values: [
      proof.accountId,
      proof.family,
      proof.address,
      proof.pubkey,
      proof.at,
      proof.waitsUntil,
    ],
  });
  return rows[0] ?? null;
}

/** A login wallet waits no longer. */
export async function endWait(
  tx: Tx,
  wallet: { readonly accountId: string; readonly family: Family; readonly address: string },
): Promise<void> {
  await tx.rows({
    name: 'wallets_end_wait',
    text: `update wallets set waits_until = null
      where account_id = $1 and family = $2 and address = $3`,
    values: [wallet.accountId, wallet.family, wallet.address],
  });
}

/** False where the account does not sign in with it. */
export async function deleteLoginWallet(
  tx: Tx,
  accountId: string,
  family: Family,
  address: string,
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'wallets_delete_login',
    text: `delete from wallets
      where account_id = $1 and family = $2 and address = $3 and standing = 'login'
      returning 1 as one`,
    values: [accountId, family, address],
  });
  return rows.length === 1;
}

/** Removes what waits of this address, login or proof; returns how many. */
export async function deleteWaiting(
  tx: Tx,
  wallet: { accountId: string; family: Family; address: string; now: Date },
): Promise<number> {
  const rows = await tx.rows({
    name: 'wallets_delete_waiting',
    text: `delete from wallets
      where account_id = $1 and family = $2 and address = $3 and waits_until > $4 and not authorised
      returning 1 as one`,
    values: [wallet.accountId, wallet.family, wallet.address, wallet.now],
  });
  return rows.length;
}

/** Whether the account ever had a wallet, one that was removed since too. */
export async function hadWallet(tx: Tx, accountId: string): Promise<boolean> {
  const rows = await tx.rows<{ had: boolean }>({
    name: 'wallets_had',
    // A process of the version before may add one during an upgrade, and does not mark it.
    text: `select first_wallet_at is not null
        or exists (select from wallets where account_id = accounts.id) as had
      from accounts where id = $1`,
    values: [accountId],
  });
  return rows[0]?.had ?? false;
}

/** A login wallet is removed then; null = it stays. False where nothing changes. */
export async function setLeaving(
  tx: Tx,
  wallet: { accountId: string; family: Family; address: string; leavesAt: Date | null },
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'wallets_set_leaving',
    text: `update wallets set leaves_at = $4
      where account_id = $1 and family = $2 and address = $3 and standing = 'login'
        and (leaves_at is null) <> ($4::timestamptz is null)
      returning 1 as one`,
    values: [wallet.accountId, wallet.family, wallet.address, wallet.leavesAt],
  });
  return rows.length === 1;
}

export type WalletOf = {
  readonly accountId: string;
  readonly family: Family;
  readonly address: string;
};

/** Login wallets whose time to leave has come, the first ones first. */
export function leavingWallets(tx: Tx, now: Date, limit: number): Promise<WalletOf[]> {
  return tx.rows<WalletOf>({
    name: 'wallets_leaving',
    text: `select account_id as "accountId", family, address from wallets
      where leaves_at <= $1 order by leaves_at limit $2`,
    values: [now, limit],
  });
}

/** Ends waits whose time has come; each wallet is given once. */
export function takeWaited(tx: Tx, now: Date, limit: number): Promise<WalletOf[]> {
  return tx.rows<WalletOf>({
    name: 'wallets_take_waited',
    text: `update wallets set waits_until = null where ctid = any(array(
        select ctid from wallets where waits_until <= $1
        order by waits_until limit $2 for update skip locked))
      returning account_id as "accountId", family, address`,
    values: [now, limit],
  });
}
