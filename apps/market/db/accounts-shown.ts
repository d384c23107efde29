// Accounts as operators see them: the facts that they need to decide, and no e-mail address, device
// or name of anything.

import { columns, count, many, one } from '@parley/host/postgres/statements.ts';
import type { AccountKind } from './accounts.ts';
import type { Standing } from './agreements.ts';

/** Those that are named by an id, an address in a spelling of its chain, or a key's prefix. */
export const accountsNamed = many<
  [given: { id: string | null; texts: readonly string[] }, limit: number],
  Id
>('accounts_named')`
  select distinct id from (
      select id from accounts where id = :id::uuid
      union all select account_id from wallets
        where family = any('{evm,tron,bitcoin,solana}') and address = any(:texts::text[])
      union all select account_id from api_keys where prefix = any(:texts::text[])
    ) found order by id limit $2`;
type Id = { readonly id: string };

export type ShownAccount = {
  readonly id: string;
  readonly kind: AccountKind;
  readonly createdAt: Date;
  readonly deletedAt: Date | null;
  readonly blockedAt: Date | null;
  readonly blockedFor: string | null;
  /** How it kept its agreements, as last counted. */
  readonly standing: Standing | null;
};

const shown = `select ${columns('id kind createdAt deletedAt blockedAt blockedFor', 'a.')},
    s.counts as standing
  from accounts a left join standings s on s.account_id = a.id`;

export const accountShown = one<[id: string], ShownAccount>('accounts_shown')`
  ${shown} where a.id = $1`;

/** Newest first. */
export const newestAccounts = many<[limit: number], ShownAccount>('accounts_newest')`
  ${shown} order by a.id desc limit $1`;

export const blockedAccounts = many<[limit: number], ShownAccount>('accounts_blocked_list')`
  ${shown} where a.blocked_at is not null order by a.blocked_at desc limit $1`;

/** Those that left most of what they agreed to undone first; read whole, for operators alone. */
export const accountsByAbandoned = many<[limit: number], ShownAccount>('accounts_by_abandoned')`
  ${shown} where s.account_id is not null
    order by (s.counts ->> 'abandoned')::bigint desc, a.id limit $1`;

/** The same by what they settled. */
export const accountsBySettled = many<[limit: number], ShownAccount>('accounts_by_settled')`
  ${shown} where s.account_id is not null
    order by (s.counts ->> 'settled')::bigint desc, a.id limit $1`;

type ShownWallet = {
  readonly family: string;
  readonly address: string;
  readonly standing: 'login' | 'proven';
  readonly authorised: boolean;
};

export const walletsShown = many<[accountId: string, limit: number], ShownWallet>(
  'accounts_wallets',
)`
  select ${columns('family address standing authorised')} from wallets
    where account_id = $1 order by standing, family, address limit $2`;

/** Ways in beside wallets: which, never to whom. */
export const waysShown = many<
  [accountId: string],
  { readonly way: string; readonly count: number }
>('accounts_ways')`
  select way, count(*) as count from logins where account_id = $1 group by way order by way`;

export const countLiveSessions = count<[accountId: string, now: Date]>('accounts_sessions')`
  select count(*) from sessions
    where account_id = $1 and revoked_at is null and expires_at > $2`;

type ShownHooks = { readonly count: number; readonly failing: number };

export const hooksShown = one<[accountId: string], ShownHooks>('accounts_hooks')`
  select count(*) as count, count(*) filter (where failing_since is not null or not enabled)
    as failing from webhooks where account_id = $1`;
