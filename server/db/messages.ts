// The messages to people: made of the outbox or asked for, taken in hand for a while, and what came
// of each. Address and facts are sealed, and gone once a message was sent or dropped.

import {
  changed,
  count,
  is,
  many,
  none,
  only,
  unlessEmpty,
} from '../../host/postgres/statements.ts';
import type { Tx } from './database.ts';
import type { SealedRow } from './sealed-rows.ts';
import { notifying } from './work.ts';

/** The only topics that people are told of, as the index `outbox_people` has them. */
export const peopleTopics = [
  'key.created',
  'key.revoked',
  'key.expiring',
  'login.added',
  'login.removed',
  'session.created',
  'payout.changing',
  'payout.changed',
  'payout.stopped',
  'account.deleted',
  'swap.reminder',
  'chat.ended',
] as const;

export type PeopleTopic = (typeof peopleTopics)[number];
export type Channel = 'email' | 'telegram';

export const forPeople = `topic in (${peopleTopics.map((each) => `'${each}'`).join(', ')})`;

export type Waits = Readonly<Record<Channel, boolean>> & {
  readonly events: boolean;
  /** When the next message is due that is not yet; null = none. */
  readonly nextAt: Date | null;
};

const dueOn = (channel: Channel) => `exists (select from messages
    where state = 'waiting' and channel = '${channel}' and next_at <= $1)`;
const nextOn = (channel: Channel) => `(select min(next_at) from messages
    where state = 'waiting' and channel = '${channel}' and next_at > $1)`;

/** Whether any event waits to be handed out, and on which channels messages are due. */
export const messagesWait = only<[now: Date], Waits>('messages_wait')`
  select exists (select from outbox where ${forPeople}) as events,
    ${dueOn('email')} as email, ${dueOn('telegram')} as telegram,
    least(${nextOn('email')}, ${nextOn('telegram')}) as "nextAt"`;

/** One process at a time hands out, so that what waits for an account is counted right. */
export const lockMessages = is('messages_lock')`
  select pg_try_advisory_xact_lock(hashtext('messages')) as locked`;

export type PeopleEvent = {
  readonly topic: PeopleTopic;
  readonly accountId: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly at: Date;
};

/** Takes the oldest events for people out of the outbox. */
export const takePeopleEvents = many<[limit: number], PeopleEvent>('messages_take')`
  with taken as (
      delete from outbox where id in
        (select id from outbox where ${forPeople} order by id limit $1)
      returning id, topic, account_id, payload, created_at)
    select topic, account_id as "accountId", payload, created_at as at from taken order by id`;

export type Reached = {
  readonly accountId: string;
  readonly loginId: string;
  readonly channel: Channel;
  readonly to: string;
};

/** Where an account with the id `account` hears of what happens, of logins `l`. */
const isHeard = `(l.way = 'email' or (l.chat_id is not null and l.chat_ended_at is null))`;

/** Whether it hears of anything at all. */
export const isReached = (account: string) =>
  `exists (select from logins l where l.account_id = ${account} and ${isHeard})`;

/** Every e-mail address and open chat of these accounts. */
export const reachedOf = many<[accountIds: readonly string[]], Reached>('messages_reached')`
  select l.account_id as "accountId", l.id as "loginId",
      case when l.way = 'email' then 'email' else 'telegram' end as channel,
      case when l.way = 'email' then l.subject else l.chat_id end as to
    from logins l where l.account_id = any($1::uuid[]) and ${isHeard}
    order by l.added_at, l.id`;

const waitingOf = many<[accountIds: readonly string[]], { accountId: string; count: number }>(
  'messages_waiting_for',
)`
  select account_id as "accountId", count(*) as count from messages
    where state = 'waiting' and account_id = any($1::uuid[]) group by account_id`;

/** How many messages wait for each of these accounts; none: left out. */
export async function waitingFor(
  tx: Tx,
  accountIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await waitingOf(tx, accountIds);
  return new Map(rows.map(({ accountId, count }) => [accountId, count]));
}

export type NewMessage = {
  readonly id: string;
  readonly accountId: string | null;
  readonly channel: Channel;
  readonly loginId: string | null;
  readonly event: string;
  readonly sealed: Buffer;
  readonly keyVersion: number;
};

/** Due at once. */
export const insertMessages = unlessEmpty(
  none<[messages: readonly NewMessage[], at: Date]>('messages_insert')`
  with inserted as (insert into messages
      (id, account_id, channel, login_id, event, sealed, key_version, state, next_at, made_at)
    select n.*, 'waiting', $2, $2 from unnest($1.id::uuid[], $1.accountId::uuid[],
      $1.channel::text[], $1.loginId::uuid[], $1.event::text[], $1.sealed::bytea[],
      $1.keyVersion::int[]) n)
    select ${notifying('messages')}`,
  undefined,
);

/** How many messages wait that belong to no account: sign-in codes; counted up to `most`. */
export const countCodes = count<[most: number]>('messages_codes')`
  select count(*) as count from (select from messages
    where state = 'waiting' and account_id is null and channel = 'email' limit $1) codes`;

export type DueMessage = {
  readonly id: string;
  readonly accountId: string | null;
  readonly channel: Channel;
  readonly loginId: string | null;
  readonly event: string;
  readonly sealed: Buffer;
  readonly keyVersion: number;
  /** This one included. */
  readonly attempts: number;
};

/** Codes first: somebody waits for each. */
export const claimMessages = many<
  [
    claim: {
      readonly channel: Channel;
      readonly now: Date;
      /** Until when nobody else takes them. */
      readonly until: Date;
      readonly room: number;
    },
  ],
  DueMessage
>('messages_claim')`
  with codes as (
      select id from messages
      where state = 'waiting' and account_id is null and channel = :channel and next_at <= :now
      order by next_at limit :room for update skip locked
    ), others as (
      select id from messages
      where state = 'waiting' and account_id is not null and channel = :channel and next_at <= :now
      order by next_at limit greatest(0, :room - (select count(*) from codes))
      for update skip locked
    )
    update messages set next_at = :until, attempts = attempts + 1
    where id = any(array(select id from codes union all select id from others))
    returning id, account_id as "accountId", channel, login_id as "loginId", event, sealed,
      key_version as "keyVersion", attempts`;

export type EndedAttempt = {
  readonly id: string;
  readonly attempts: number;
  readonly at: Date;
  readonly state: 'waiting' | 'sent' | 'dropped';
  /** The time of the next attempt, if it waits. */
  readonly nextAt: Date | null;
  /** Names no address. */
  readonly error: string | null;
};

/** Stores what came of an attempt, unless another process has taken the message since. */
export const storeAttempt = none<[ended: EndedAttempt]>('messages_outcome')`
  update messages set state = :state, error = :error, next_at = coalesce(:nextAt, next_at),
      sealed = case when :state = 'waiting' then sealed else '' end,
      done_at = case when :state = 'waiting' then null else :at::timestamptz end
    where id = :id and attempts = :attempts and state = 'waiting'`;

/** Deletes at most `limit` that were sent or dropped before `before`; returns how many. */
export const pruneMessages = changed<[before: Date, limit: number]>('messages_prune')`
  delete from messages where id in
      (select id from messages where state <> 'waiting' and done_at < $1
        order by done_at limit $2)
    returning id`;

/** Waiting ones that are sealed under another key, in the order of their ids; locks them. */
export const messagesNotOf = many<
  [of: { readonly version: number; readonly after: string; readonly limit: number }],
  SealedRow<string> & { readonly version: number }
>('messages_not_of')`
  select id, sealed, key_version as version from messages
    where state = 'waiting' and key_version <> :version and id > :after
      order by id limit :limit for update`;

export const resealMessage = none<[of: SealedRow<string>, version: number]>('messages_reseal')`
  update messages set sealed = :sealed, key_version = $2 where id = :id`;
