// Logins that are no wallets: e-mail addresses, people at providers, passkeys. Login wallets are
// rows of `wallets` (wallets.ts).

import { columns, did, is, many, none, one } from '@parley/host/postgres/statements.ts';

type LoginWay = 'email' | 'provider' | 'passkey';

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
  /** When it is removed; null = nobody asked for it. */
  readonly leavesAt: Date | null;
};

const read = columns(
  'id accountId way issuer subject label chatId chatEndedAt backupEligible backedUp addedAt lastUsedAt leavesAt',
);

/** The name by which a login method knows somebody. */
export type LoginName = {
  readonly way: LoginWay;
  readonly issuer: string;
  readonly subject: string;
};

export const findLoginOf = one<[of: LoginName], Login>('logins_find')`
  select ${read} from logins where way = :way and issuer = :issuer and subject = :subject`;

/** The facts that only a passkey has. */
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

export const insertLoginOf = none<[login: NewLogin]>('logins_insert')`
  insert into logins (id, account_id, way, issuer, subject, label, chat_id,
      public_key, counter, transports, backup_eligible, backed_up, added_at, last_used_at)
    values (:id, :accountId, :way, :issuer, :subject, :label, :chatId, :passkey.publicKey,
      :passkey.counter, :passkey.transports, :passkey.backupEligible, :passkey.backedUp, :at, :at)`;

/** It was signed in with; a provider may have told another name or chat since. */
export const markLoginUsed = none<
  [used: { readonly id: string; readonly label: string; readonly chatId: string | null; at: Date }]
>('logins_used')`
  update logins set last_used_at = :at, label = :label, chat_id = coalesce(:chatId, chat_id),
      chat_ended_at = case when :chatId::text is null then chat_ended_at end
    where id = :id`;

export const loginsOf = many<[accountId: string], Login>('logins_of')`
  select ${read} from logins where account_id = $1 order by added_at, id`;

/** The login as it was; null where the account has no such one. */
export const deleteLogin = one<[accountId: string, id: string], Login>('logins_delete')`
  delete from logins where account_id = $1 and id = $2 returning ${read}`;

type LoginOf = { readonly accountId: string; readonly id: string };

/** It is removed then; null = it stays. False where nothing changes. */
export const setLoginLeaving = did<[login: LoginOf & { readonly leavesAt: Date | null }]>(
  'logins_set_leaving',
)`
  update logins set leaves_at = :leavesAt
    where account_id = :accountId and id = :id
      and (leaves_at is null) <> (:leavesAt::timestamptz is null)
    returning 1`;

/** Those whose time to leave has come, the first ones first. */
export const leavingLogins = many<[now: Date, limit: number], LoginOf>('logins_leaving')`
  select ${columns('accountId id')} from logins
    where leaves_at <= $1 order by leaves_at limit $2`;

/** Whether somebody signed in from this browser to the account that has this e-mail address. */
export const isKnownBrowser = is<[address: string, browser: Buffer]>('logins_known_browser')`
  select exists (select 1 from logins l
      join devices d on d.account_id = l.account_id and d.hash = $2
    where l.way = 'email' and l.issuer = '' and l.subject = $1 offset 0) as known`;

/**
 * The bot may write to this chat no more: it was blocked, or the chat is gone. Null where that was
 * known, or where the login has another chat by now.
 */
export const endChat = one<
  [id: string, chatId: string, at: Date],
  { accountId: string; label: string }
>('logins_end_chat')`
  update logins set chat_ended_at = $3
    where id = $1 and chat_id = $2 and chat_ended_at is null
    returning ${columns('accountId label')}`;
