// Passkeys: rows of `logins` whose subject is the credential id, and what they know an account by.

import { columns, did, many, one, value } from '@parley/host/postgres/statements.ts';
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
  /** The name by which it knows the account. */
  readonly user: Buffer;
};

const read = `${columns('id accountId label publicKey counter transports backupEligible', 'l.')},
  l.subject as "credentialId", a.passkey_user as "user"`;

export const findPasskey = one<[credentialId: string], Passkey>('passkeys_find')`
  select ${read} from logins l join accounts a on a.id = l.account_id
    where l.way = 'passkey' and l.issuer = '' and l.subject = $1`;

export const passkeysOf = many<[accountId: string], Passkey>('passkeys_of')`
  select ${read} from logins l join accounts a on a.id = l.account_id
    where l.account_id = $1 and l.way = 'passkey' order by l.added_at, l.id`;

const nameUser = value<[accountId: string, fresh: Uint8Array], Buffer>('passkeys_user')`
  update accounts set passkey_user = coalesce(passkey_user, $2) where id = $1
    returning passkey_user`;

/** The name by which passkeys know the account; `fresh` where it has no such name yet. */
export async function passkeyUserOf(tx: Tx, accountId: string, fresh: Uint8Array): Promise<Buffer> {
  const user = await nameUser(tx, accountId, fresh);
  if (user === null) throw new Error(`account ${accountId} is gone`);
  return user;
}

/**
 * Stores what it reported of itself when it was used. False where its counter did not go up:
 * WebAuthn 6.1.1, where one that does not count says 0 every time.
 */
export const countPasskey = did<
  [used: { readonly id: string; readonly counter: number; readonly backedUp: boolean }]
>('passkeys_count')`
  update logins set counter = :counter, backed_up = :backedUp
    where id = :id and (counter < :counter or (counter = 0 and :counter = 0)) returning 1 as one`;
