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
};

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
    text: `
      insert into wallets (account_id, family, address, standing, pubkey, proven_at, waits_until)
      values ($1, $2, $3, 'login', $4, $5, $6)`,
    values: [accountId, family, address, pubkey, at, waitsUntil],
  });
}

export async function walletsOf(tx: Tx, accountId: string): Promise<Wallet[]> {
  return tx.rows<Wallet>({
    name: 'wallets_of',
    text: `
      select family, address, standing, authorised, web, waits_until as "waitsUntil" from wallets
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

/** Adds a proof or what is new of it; null when another account holds it. */
export async function upsertProof(tx: Tx, proof: Proof): Promise<Wallet | null> {
  const rows = await tx.rows<Wallet>({
    name: 'upsert_proof',
    text: `
      insert into wallets (account_id, family, address, standing, authorised, pubkey, proven_at)
      values ($1, $2, $3, 'proven', $4, $5, $6)
      on conflict (family, address, standing) do update set
        authorised = wallets.authorised or excluded.authorised,
        pubkey = coalesce(wallets.pubkey, excluded.pubkey)
        where wallets.account_id = excluded.account_id
      returning family, address, standing, authorised, web, waits_until as "waitsUntil"`,
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

/** One proven in a wallet session; null when another account holds it. What it waits can only get less. */
export async function upsertWebProof(tx: Tx, proof: WebProof): Promise<Wallet | null> {
  const rows = await tx.rows<Wallet>({
    name: 'upsert_web_proof',
    text: `
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
      returning family, address, standing, authorised, web, waits_until as "waitsUntil"`,
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
