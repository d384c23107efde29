// Accounts.

import { ParleyError } from '@parley/core/errors.ts';
import {
  changed,
  did,
  foundFirst,
  list,
  none,
  one,
  only,
  unlessEmpty,
  value,
} from '@parley/host/postgres/statements.ts';
import type { Tx } from './database.ts';
import { peopleTopics } from './messages.ts';

export type AccountKind = 'wallet' | 'browser';

export const insertAccount = none<
  [account: { readonly id: string; readonly kind: AccountKind; readonly createdAt: Date }]
>('insert_account')`
  insert into accounts (id, kind, created_at) values (:id, :kind, :createdAt)`;

/**
 * Its kind; null of one that was deleted. Another change of the account waits until this
 * transaction ends.
 */
export const lockIfLive = value<[id: string], AccountKind>('lock_account')`
  select kind from accounts where id = $1 and deleted_at is null for no key update`;

/** The same. Throws `account_deleted`. */
export async function lockAccount(tx: Tx, id: string): Promise<AccountKind> {
  const kind = await lockIfLive(tx, id);
  if (kind !== null) return kind;
  throw new ParleyError('account_deleted', 'the account was deleted; the market did nothing');
}

const lockTrading = one<[id: string], { kind: AccountKind; blocked: boolean }>(
  'lock_account_trading',
)`
  select kind, blocked_at is not null as blocked from accounts
    where id = $1 and deleted_at is null for no key update`;

/** For new business. Throws `account_blocked` too, with a sentence of one's own. */
export async function lockTrader(tx: Tx, id: string, sentence?: string): Promise<AccountKind> {
  const found = await lockTrading(tx, id);
  if (found?.blocked) throw blocked(sentence);
  return found?.kind ?? lockAccount(tx, id);
}

/** The answer gives no reason: the law may forbid that they are told. */
export const blocked = (
  sentence = 'this account is blocked: it begins nothing new, and its open swaps go on in every part',
) => new ParleyError('account_blocked', sentence);

/** Those of these that are blocked. */
export const blockedAmong = unlessEmpty(
  list<[ids: readonly string[]], string>('accounts_blocked_among')`
  select id from accounts where id = any($1::uuid[]) and blocked_at is not null`,
  [],
);

/** Blocked accounts that still offer something: their block was cut short. */
export const blockedThatOffer = list<[now: Date, limit: number], string>(
  'accounts_blocked_that_offer',
)`
  select id from ${foundFirst('accounts', 'blocked_at is not null')} a where (
      exists (select from levels where account_id = a.id and expires_at > $1 offset 0)
      or exists (select from rfqs where creator_id = a.id and status in ('open', 'negotiating')
        and expires_at > $1 offset 0)
      or exists (select from threads t join rfqs r on r.id = t.rfq_id
        where t.maker_id = a.id and t.status = 'open' and r.expires_at > $1
          and r.status in ('open', 'negotiating') offset 0))
    order by id limit $2`;

type Block = { readonly id: string; readonly reason: string; readonly at: Date };

/** Another reason does not make it a later one. All processes forget what they know of it. */
export const setBlocked = changed<[of: Block]>('accounts_block')`
  with held as (update accounts set blocked_at = coalesce(blocked_at, :at), blocked_for = :reason
      where id = :id and blocked_for is distinct from :reason returning id)
    select pg_notify('key_revoked', id::text) from held`;

export const setUnblocked = changed<[id: string]>('accounts_unblock')`
  with held as (update accounts set blocked_at = null, blocked_for = null
      where id = $1 and blocked_at is not null returning id)
    select pg_notify('key_revoked', id::text) from held`;

/** Waits for whoever holds the number; held until this transaction ends. */
export const waitForLock = none<[number: bigint]>('wait_for_lock')`
  select pg_advisory_xact_lock($1)`;

/** From now on it holds ten keys, and never one again. */
export const makeBrowserAccount = none<[id: string]>('account_to_browser')`
  update accounts set kind = 'browser' where id = $1 and kind = 'wallet'`;

export const findAccount = one<
  [id: string],
  { kind: AccountKind; createdAt: Date; leavesAt: Date | null }
>('account_find')`
  select kind, created_at as "createdAt", leaves_at as "leavesAt" from accounts
    where id = $1 and deleted_at is null`;

/** It is deleted then; null = it stays. False where nothing changes. */
export const setAccountLeaving = did<[id: string, leavesAt: Date | null]>('account_set_leaving')`
  update accounts set leaves_at = $2
    where id = $1 and deleted_at is null and (leaves_at is null) <> ($2::timestamptz is null)
    returning 1`;

/** Those whose time to be deleted has come, the first ones first. */
export const leavingAccounts = list<[now: Date, limit: number], string>('accounts_leaving')`
  select id from accounts where leaves_at <= $1 order by leaves_at limit $2`;

/** The account's trading that is not over. */
type OpenTrading = { readonly swaps: number; readonly rfqs: number };

export const openTradingOf = only<[id: string, now: Date], OpenTrading>('account_open_trading')`
  select
    (select count(*) from swaps where not done and maker_id = $1)
      + (select count(*) from swaps where not done and taker_id = $1) as swaps,
    (select count(*) from rfqs where creator_id = $1 and status in ('open', 'negotiating')
      and expires_at > $2)
      + (select count(*) from threads t
        where t.maker_id = $1 and t.status = 'open' and exists (
          select from ${foundFirst('rfqs', 'id = t.rfq_id')} r
          where r.expires_at > $2 and r.status in ('open', 'negotiating') offset 0)) as rfqs`;

/**
 * Takes away all that is personal: logins, wallets, payout choices, what its browsers began, names
 * of keys, what passkeys know it by, webhooks with their deliveries, its events on the feed,
 * messages. The row stays for the swaps that name it.
 */
export async function emptyAccount(tx: Tx, id: string, at: Date): Promise<void> {
  for (const [name, text] of emptying) {
    await tx.rows({ name: `account_empty_${name}`, text, values: [id] });
  }
  await tx.rows({
    name: 'account_deleted',
    text: 'update accounts set deleted_at = $2, passkey_user = null, leaves_at = null where id = $1',
    values: [id, at],
  });
}

/** As the index `outbox_people` has them. */
const silenced = peopleTopics.map((each) => `'${each}'`).join(', ');

const emptying = [
  ['logins', 'delete from logins where account_id = $1'],
  ['wallets', 'delete from wallets where account_id = $1'],
  ['payouts', 'delete from payouts where account_id = $1'],
  [
    'ceremonies',
    `update ceremonies set facts = '{}', ended_at = coalesce(ended_at, made_at)
      where way <> 'email' and (session_id in (select id from sessions where account_id = $1)
        or browser in (select hash from devices where account_id = $1))`,
  ],
  ['devices', 'delete from devices where account_id = $1'],
  [
    'keys',
    'update api_keys set name = null, used_from = null, made_by = null where account_id = $1',
  ],
  [
    'sessions',
    `update sessions set device = '', place = '', wallet_family = null, wallet_address = null,
      login_id = null, signed_in_by = 'email' where account_id = $1`,
  ],
  ['webhooks', 'delete from webhooks where account_id = $1'],
  ['levels', 'delete from levels where account_id = $1'],
  // In this order: without a subscription nothing more is appended.
  ['feed_subscriptions', 'delete from feed_subscriptions where account_id = $1'],
  ['feed_events', 'delete from feed_events where account_id = $1'],
  ['former_channels', 'delete from former_channels where account_id = $1'],
  ['jobs', `delete from jobs where account_id = $1 and kind in ('email', 'telegram')`],
  // The last one goes out to all who were told of the others.
  [
    'events',
    `delete from outbox
      where account_id = $1 and topic in (${silenced}) and topic <> 'account.deleted'`,
  ],
  ['nonces', 'delete from nonces where account_id = $1'],
] as const;
