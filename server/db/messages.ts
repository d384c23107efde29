// What is told to people: made of the outbox or asked for, taken in hand for a while, and what came
// of each. Address and facts are sealed, and gone once a message was sent or dropped.

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

const forPeople = `topic in (${peopleTopics.map((each) => `'${each}'`).join(', ')})`;

export type Waits = Readonly<Record<Channel, boolean>> & {
  readonly events: boolean;
  /** When the next message is due that is not yet; null = none. */
  readonly nextAt: Date | null;
};

/** Whether any event waits to be handed out, and on which channels messages are due. */
export async function messagesWait(tx: Tx, now: Date): Promise<Waits> {
  const due = (channel: Channel) => `exists (select from messages
    where state = 'waiting' and channel = '${channel}' and next_at <= $1)`;
  const next = (channel: Channel) => `(select min(next_at) from messages
    where state = 'waiting' and channel = '${channel}' and next_at > $1)`;
  const [row] = await tx.rows<Waits>({
    name: 'messages_wait',
    text: `select exists (select from outbox where ${forPeople}) as events,
        ${due('email')} as email, ${due('telegram')} as telegram,
        least(${next('email')}, ${next('telegram')}) as "nextAt"`,
    values: [now],
  });
  return row ?? { events: false, email: false, telegram: false, nextAt: null };
}

/** One process at a time hands out, so that what waits for an account is counted right. */
export async function lockMessages(tx: Tx): Promise<boolean> {
  const rows = await tx.rows<{ locked: boolean }>({
    name: 'messages_lock',
    text: `select pg_try_advisory_xact_lock(hashtext('messages')) as locked`,
    values: [],
  });
  return rows[0]?.locked ?? false;
}

export type PeopleEvent = {
  readonly topic: PeopleTopic;
  readonly accountId: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly at: Date;
};

/** Takes the oldest events for people out of the outbox. */
export async function takePeopleEvents(tx: Tx, limit: number): Promise<PeopleEvent[]> {
  return tx.rows<PeopleEvent>({
    name: 'messages_take',
    text: `with taken as (
        delete from outbox where id in
          (select id from outbox where ${forPeople} order by id limit $1)
        returning id, topic, account_id, payload, created_at)
      select topic, account_id as "accountId", payload, created_at as at from taken order by id`,
    values: [limit],
  });
}

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
export function reachedOf(tx: Tx, accountIds: readonly string[]): Promise<Reached[]> {
  return tx.rows<Reached>({
    name: 'messages_reached',
    text: `select l.account_id as "accountId", l.id as "loginId",
        case when l.way = 'email' then 'email' else 'telegram' end as channel,
        case when l.way = 'email' then l.subject else l.chat_id end as to
      from logins l where l.account_id = any($1::uuid[]) and ${isHeard}
      order by l.added_at, l.id`,
    values: [accountIds],
  });
}

/** How many messages wait for each of these accounts; none: left out. */
export async function waitingFor(
  tx: Tx,
  accountIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await tx.rows<{ accountId: string; count: number }>({
    name: 'messages_waiting_for',
    text: `select account_id as "accountId", count(*) as count from messages
      where state = 'waiting' and account_id = any($1::uuid[]) group by account_id`,
    values: [accountIds],
  });
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
export async function insertMessages(
  tx: Tx,
  messages: readonly NewMessage[],
  at: Date,
): Promise<void> {
  if (messages.length === 0) return;
  await tx.rows({
    name: 'messages_insert',
    text: `with inserted as (insert into messages
        (id, account_id, channel, login_id, event, sealed, key_version, state, next_at, made_at)
      select n.*, 'waiting', $8, $8 from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[],
        $5::text[], $6::bytea[], $7::int[]) n)
      select ${notifying('messages')}`,
    values: [
      messages.map((each) => each.id),
      messages.map((each) => each.accountId),
      messages.map((each) => each.channel),
      messages.map((each) => each.loginId),
      messages.map((each) => each.event),
      messages.map((each) => each.sealed),
      messages.map((each) => each.keyVersion),
      at,
    ],
  });
}

/** How many messages wait that belong to no account: sign-in codes; counted up to `most`. */
export async function countCodes(tx: Tx, most: number): Promise<number> {
  const [row] = await tx.rows<{ count: number }>({
    name: 'messages_codes',
    text: `select count(*) as count from (select from messages
      where state = 'waiting' and account_id is null and channel = 'email' limit $1) codes`,
    values: [most],
  });
  return row?.count ?? 0;
}

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
export function claimMessages(
  tx: Tx,
  claim: {
    readonly channel: Channel;
    readonly now: Date;
    /** Until when nobody else takes them. */
    readonly until: Date;
    readonly room: number;
  },
): Promise<DueMessage[]> {
  return tx.rows<DueMessage>({
    name: 'messages_claim',
    text: `with codes as (
        select id from messages
        where state = 'waiting' and account_id is null and channel = $1 and next_at <= $2
        order by next_at limit $4 for update skip locked
      ), others as (
        select id from messages
        where state = 'waiting' and account_id is not null and channel = $1 and next_at <= $2
        order by next_at limit greatest(0, $4 - (select count(*) from codes))
        for update skip locked
      )
      update messages set next_at = $3, attempts = attempts + 1
      where id = any(array(select id from codes union all select id from others))
      returning id, account_id as "accountId", channel, login_id as "loginId", event, sealed,
        key_version as "keyVersion", attempts`,
    values: [claim.channel, claim.now, claim.until, claim.room],
  });
}

export type EndedAttempt = {
  readonly id: string;
  readonly attempts: number;
  readonly at: Date;
  readonly state: 'waiting' | 'sent' | 'dropped';
  /** Of one that waits. */
  readonly nextAt: Date | null;
  /** Names no address. */
  readonly error: string | null;
};

/** Stores what came of an attempt, unless another process has taken the message since. */
export async function storeAttempt(tx: Tx, ended: EndedAttempt): Promise<void> {
  const { id, attempts, at, state, nextAt, error } = ended;
  await tx.rows({
    name: 'messages_outcome',
    text: `update messages set state = $3, error = $4, next_at = coalesce($5, next_at),
        sealed = case when $3 = 'waiting' then sealed else '' end,
        done_at = case when $3 = 'waiting' then null else $6::timestamptz end
      where id = $1 and attempts = $2 and state = 'waiting'`,
    values: [id, attempts, state, error, nextAt, at],
  });
}

/** Deletes at most `limit` that were sent or dropped before `before`; returns how many. */
export async function pruneMessages(tx: Tx, before: Date, limit: number): Promise<number> {
  const rows = await tx.rows({
    name: 'messages_prune',
    text: `delete from messages where id in
        (select id from messages where state <> 'waiting' and done_at < $1
          order by done_at limit $2)
      returning id`,
    values: [before, limit],
  });
  return rows.length;
}

/** Waiting ones that are sealed under another key, in the order of their ids; locks them. */
export function messagesNotOf(
  tx: Tx,
  of: { readonly version: number; readonly after: string; readonly limit: number },
): Promise<(SealedRow<string> & { readonly version: number })[]> {
  return tx.rows({
    name: 'messages_not_of',
    text: `select id, sealed, key_version as version from messages
      where state = 'waiting' and key_version <> $1 and id > $2 order by id limit $3 for update`,
    values: [of.version, of.after, of.limit],
  });
}

export async function resealMessage(
  tx: Tx,
  { id, sealed }: SealedRow<string>,
  version: number,
): Promise<void> {
  await tx.rows({
    name: 'messages_reseal',
    text: 'update messages set sealed = $2, key_version = $3 where id = $1',
    values: [id, sealed, version],
  });
}
