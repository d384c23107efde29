// Messages to people: the events that they are made of, and where an account hears of them.

import { is, many } from '@parley/host/postgres/statements.ts';

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

/** Whether any event waits to be handed out. */
export const peopleEventsWait = is('messages_wait')`
  select exists (select from outbox where ${forPeople})`;

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
  `exists (select from logins l where l.account_id = ${account} and ${isHeard} offset 0)`;

/** Every e-mail address and open chat of these accounts. */
export const reachedOf = many<[accountIds: readonly string[]], Reached>('messages_reached')`
  select l.account_id as "accountId", l.id as "loginId",
      case when l.way = 'email' then 'email' else 'telegram' end as channel,
      case when l.way = 'email' then l.subject else l.chat_id end as to
    from logins l where l.account_id = any($1::uuid[]) and ${isHeard}
    order by l.added_at, l.id`;
