// Passkeys: rows of `logins` whose subject is the credential id, and what they know an account by.

import type { Tx } from './database.ts';

export type Passkey = {
  readonly id: string;
  readonly accountId: string;
  readonly credentialId: string;
  readonly label: string;
  /** COSE. */
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly backupEligible: boolean;
  /** What it knows the account by. */
  readonly user: Buffer;
};

const columns = `l.id, l.account_id as "accountId", l.subject as "credentialId", l.label,
  l.public_key as "publicKey", l.counter, l.transports, l.backup_eligible as "backupEligible",
  a.passkey_user as "user"`;

export async function findPasskey(tx: Tx, credentialId: string): Promise<Passkey | null> {
  const rows = await tx.rows<Passkey>({
    name: 'passkeys_find',
    text: `select ${columns} from logins l join accounts a on a.id = l.account_id
      where l.way = 'passkey' and l.issuer = '' and l.subject = $1`,
    values: [credentialId],
  });
  return rows[0] ?? null;
}

export function passkeysOf(tx: Tx, accountId: string): Promise<Passkey[]> {
  return tx.rows<Passkey>({
    name: 'passkeys_of',
    text: `select ${columns} from logins l join accounts a on a.id = l.account_id
      where l.account_id = $1 and l.way = 'passkey' order by l.added_at, l.id`,
    values: [accountId],
  });
}

/** What passkeys know the account by; `fresh` where it has no such name yet. */
export async function passkeyUserOf(tx: Tx, accountId: string, fresh: Uint8Array): Promise<Buffer> {
  const rows = await tx.rows<{ user: Buffer }>({
    name: 'passkeys_user',
    text: `update accounts set passkey_user = coalesce(passkey_user, $2) where id = $1
      returning passkey_user as "user"`,
    values: [accountId, Buffer.from(fresh)],
  });
  const [row] = rows;
  if (row === undefined) throw new Error(`account ${accountId} is gone`);
  return row.user;
}

/**
 * What it told of itself when it was used. False where its counter did not go up: WebAuthn 6.1.1,
 * where one that does not count says 0 every time.
 */
export async function countPasskey(
  tx: Tx,
  used: { readonly id: string; readonly counter: number; readonly backedUp: boolean },
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'passkeys_count',
    text: `update logins set counter = $2, backed_up = $3
      where id = $1 and (counter < $2 or (counter = 0 and $2 = 0)) returning 1 as one`,
    values: [used.id, used.counter, used.backedUp],
  });
  return rows.length === 1;
}
