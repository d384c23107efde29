// Logins that are no wallets: e-mail addresses, people at providers, passkeys. Login wallets are
// rows of `wallets` (wallets.ts).

import type { Tx } from './database.ts';

export type LoginWay = 'email' | 'provider' | 'passkey';

export type Login = {
  readonly id: string;
  readonly accountId: string;
  readonly way: LoginWay;
  readonly issuer: string;
  readonly subject: string;
  readonly label: string;
  readonly chatId: string | null;
  readonly chatEndedAt: Date | null;
  readonly backupEligible: boolean | null;
  readonly backedUp: boolean | null;
  readonly addedAt: Date;
  readonly lastUsedAt: Date;
};

const columns = `id, account_id as "accountId", way, issuer, subject, label,
  chat_id as "chatId", chat_ended_at as "chatEndedAt",
  backup_eligible as "backupEligible", backed_up as "backedUp", added_at as "addedAt", last_used_at as "lastUsedAt"`;

/** Who it is at the way in. */
export type LoginName = {
  readonly way: LoginWay;
  readonly issuer: string;
  readonly subject: string;
};

export async function findLoginOf(tx: Tx, { way, issuer, subject }: LoginName) {
  const rows = await tx.rows<Login>({
    name: 'logins_find',
    text: `select ${columns} from logins where way = $1 and issuer = $2 and subject = $3`,
    values: [way, issuer, subject],
  });
  return rows[0] ?? null;
}

/** What only a passkey has. */
export type PasskeyFacts = {
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly transports: readonly string[];
  /** It can be on other devices too, and is. */
  readonly backupEligible: boolean;
  readonly backedUp: boolean;
};

export type NewLogin = LoginName & {
  readonly id: string;
  readonly accountId: string;
  readonly label: string;
  readonly chatId: string | null;
  readonly passkey: PasskeyFacts | null;
  readonly at: Date;
};

export async function insertLoginOf(tx: Tx, login: NewLogin): Promise<void> {
  const { passkey } = login;
  await tx.rows({
    name: 'logins_insert',
    text: `insert into logins (id, account_id, way, issuer, subject, label, chat_id,
        public_key, counter, transports, backup_eligible, backed_up, added_at, last_used_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13)`,
    values: [
      login.id,
      login.accountId,
      login.way,
      login.issuer,
      login.subject,
      login.label,
      login.chatId,
      passkey === null ? null : Buffer.from(passkey.publicKey),
      passkey?.counter ?? null,
      passkey?.transports ?? null,
      passkey?.backupEligible ?? null,
      passkey?.backedUp ?? null,
      login.at,
    ],
  });
}

/** It was signed in with; a provider may have told another name or chat since. */
export async function markLoginUsed(
  tx: Tx,
  used: { readonly id: string; readonly label: string; readonly chatId: string | null; at: Date },
): Promise<void> {
  await tx.rows({
    name: 'logins_used',
    text: `update logins set last_used_at = $2, label = $3, chat_id = coalesce($4, chat_id),
        chat_ended_at = case when $4::text is null then chat_ended_at end
      where id = $1`,
    values: [used.id, used.at, used.label, used.chatId],
  });
}

export function loginsOf(tx: Tx, accountId: string): Promise<Login[]> {
  return tx.rows<Login>({
    name: 'logins_of',
    text: `select ${columns} from logins where account_id = $1 order by added_at, id`,
    values: [accountId],
  });
}

/** The login as it was; null where the account has no such one. */
export async function deleteLogin(tx: Tx, accountId: string, id: string): Promise<Login | null> {
  const rows = await tx.rows<Login>({
    name: 'logins_delete',
    text: `delete from logins where account_id = $1 and id = $2 returning ${columns}`,
    values: [accountId, id],
  });
  return rows[0] ?? null;
}

/** Whether somebody signed in from this browser to the account that has this e-mail address. */
export async function isKnownBrowser(tx: Tx, address: string, browser: Buffer): Promise<boolean> {
  const rows = await tx.rows<{ known: boolean }>({
    name: 'logins_known_browser',
    text: `select exists (select 1 from logins l
          join devices d on d.account_id = l.account_id and d.hash = $2
        where l.way = 'email' and l.issuer = '' and l.subject = $1) as known`,
    values: [address, browser],
  });
  return rows[0]?.known ?? false;
}

/**
 * The bot may write to this chat no more: it was blocked, or the chat is gone. Null where that was
 * known, or where the login has another chat by now.
 */
export async function endChat(
  tx: Tx,
  id: string,
  chatId: string,
  at: Date,
): Promise<{ readonly accountId: string; readonly label: string } | null> {
  const rows = await tx.rows<{ accountId: string; label: string }>({
    name: 'logins_end_chat',
    text: `update logins set chat_ended_at = $3
      where id = $1 and chat_id = $2 and chat_ended_at is null
      returning account_id as "accountId", label`,
    values: [id, chatId, at],
  });
  return rows[0] ?? null;
}
