// Sign-ins that were begun and wait for their proof.

import { changed, columns, none, one, only } from '@parley/host/postgres/statements.ts';

export type CeremonyWay = 'email' | 'provider' | 'passkey' | 'wallet' | 'payout';
export type Purpose = 'sign-in' | 'add' | 'renew';

export type Ceremony = {
  readonly id: string;
  /** SHA-256 of the cookie of the browser that began it. */
  readonly browser: Buffer;
  readonly way: CeremonyWay;
  readonly purpose: Purpose;
  readonly sessionId: string | null;
  readonly subject: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly tries: number;
  readonly madeAt: Date;
  readonly expiresAt: Date;
};

const read = columns('id browser way purpose sessionId subject facts tries madeAt expiresAt');

/** The newest ceremonies of one session are left, codes not counted: a session fills no table. */
export const mostOfSession = 20;

export const insertCeremony = none<[ceremony: Omit<Ceremony, 'tries'>]>('ceremonies_insert')`
  with gone as (
      delete from ceremonies where id in (
        select id from ceremonies where session_id = :sessionId and way <> 'email'
        order by made_at desc, id desc offset ${String(mostOfSession - 1)})
    )
    insert into ceremonies
      (id, browser, way, purpose, session_id, subject, facts, made_at, expires_at)
    values (:id, :browser, :way, :purpose, :sessionId, :subject, :facts::jsonb, :madeAt,
      :expiresAt)`;

/** The owner of a ceremony. */
type CeremonyPlace = {
  readonly browser: Buffer;
  readonly way: CeremonyWay;
  readonly subject: string;
};

/** Ends it and gives it back; null where none is live here. Two calls at once: one gets it. */
export const takeCeremony = one<[of: CeremonyPlace, now: Date], Ceremony>('ceremonies_take')`
  update ceremonies set ended_at = $2
    where browser = :browser and way = :way and subject = :subject and ended_at is null
      and expires_at > $2
    returning ${read}`;

/** As if it had not been taken; where it has expired since, that is all the same. */
export const giveBackCeremony = none<[id: string]>('ceremonies_give_back')`
  update ceremonies set ended_at = null where id = $1`;

/** Counts one try; null where none is live here or its `most` tries are used up. */
export const tryCeremony = one<[of: CeremonyPlace, most: number, now: Date], Ceremony>(
  'ceremonies_try',
)`
  update ceremonies set tries = tries + 1
    where browser = :browser and way = :way and subject = :subject and ended_at is null
      and expires_at > $3
      and tries < $2
    returning ${read}`;

/**
 * The sender group whose codes for a mailbox are counted together: one browser that it knows, or
 * all strangers.
 */
export type CodesOf = {
  readonly subject: string;
  /** A browser that was signed in from by this mailbox; null = of all others. */
  readonly known: Buffer | null;
};

/** Ends the codes of a browser for a mailbox: the next takes their place. */
export const endCodes = none<[subject: string, browser: Buffer, now: Date]>('ceremonies_end_codes')`
  update ceremonies set ended_at = $3
    where way = 'email' and subject = $1 and browser = $2 and ended_at is null`;

type CodesSent = { readonly all: number; readonly network: number };

/** How many short ones were sent since `since`, and how many of those to this network. */
export const countCodes = only<[of: CodesOf, network: string, since: Date], CodesSent>(
  'ceremonies_count_codes',
)`
  select count(*) as all, count(*) filter (where facts->>'network' = $2) as network
    from ceremonies
    where way = 'email' and subject = :subject and made_at > $3 and not facts ? 'slot'
      and coalesce((facts->>'known')::boolean, false) = (:known::bytea is not null)
      and browser = coalesce(:known, browser)`;

/** The long code that was sent for this slot and is good until after `until`; null = none. */
export const longCodeOf = one<
  [of: { readonly subject: string; readonly slot: string; readonly until: Date }],
  Pick<Ceremony, 'id' | 'facts' | 'expiresAt'>
>('ceremonies_long_code')`
  select ${columns('id facts expiresAt')} from ceremonies
    where way = 'email' and subject = :subject and facts->>'slot' = :slot and expires_at > :until
    order by made_at desc limit 1`;

/** A long code was used: in no browser it is good any more, and the next may be sent at once. */
export const endLongCode = none<
  [of: { readonly subject: string; readonly slot: string; readonly now: Date }]
>('ceremonies_end_long_code')`
  update ceremonies set ended_at = coalesce(ended_at, :now), expires_at = least(expires_at, :now)
    where way = 'email' and subject = :subject and facts->>'slot' = :slot and expires_at > :now`;

const prunedWhere = (which: string) => `delete from ceremonies where id in
    (select id from ceremonies where ${which} and expires_at < $1 order by expires_at limit $2)
  returning 1`;

/** Deletes at most `limit` codes that expired before `before`; returns how many. */
export const pruneCodes = changed<[before: Date, limit: number]>('ceremonies_prune_codes')`
  ${prunedWhere(`way = 'email'`)}`;

/** The same of all other logins that were begun. */
export const pruneCeremonies = changed<[before: Date, limit: number]>('ceremonies_prune_others')`
  ${prunedWhere(`way <> 'email'`)}`;
