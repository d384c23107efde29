// Sign-ins that were begun and wait for their proof.

import { changed, columns, none, one, only } from '../../host/postgres/statements.ts';

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

/** Of one session, codes not counted, the newest are left: whoever has it fills no table. */
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

/** Whoever a ceremony belongs to. */
export type CeremonyPlace = {
  readonly browser: Buffer;
  readonly way: CeremonyWay;
  readonly subject: string;
};

/** Ends it and gives it back; null where none is live here. Of two at once, one gets it. */
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

/** Whose codes for a mailbox are counted together: one browser that it knows, or all strangers. */
export type CodesOf = {
  readonly subject: string;
  /** Of a browser that was signed in from by this mailbox; null = of all others. */
  readonly known: Buffer | null;
};

/** See `CodesOf`. */
const codesOf = `coalesce((facts->>'known')::boolean, false) = (:known::bytea is not null)
      and browser = coalesce(:known, browser)`;

/** Ends the live codes, and all of `browser`: the next takes their place. */
export const endCodes = none<[of: CodesOf, browser: Buffer, now: Date]>('ceremonies_end_codes')`
  update ceremonies set ended_at = $3
    where way = 'email' and subject = :subject and ended_at is null
      and (browser = $2 or ${codesOf})`;

export type CodesSent = {
  readonly all: number;
  readonly network: number;
  /** When the first of them was sent, and the first of the network's; null of none. */
  readonly oldest: Date | null;
  readonly oldestHere: Date | null;
};

/** How many were sent since `since`, and how many of those to this network. */
export const countCodes = only<[of: CodesOf, network: string, since: Date], CodesSent>(
  'ceremonies_count_codes',
)`
  select count(*) as all, count(*) filter (where facts->>'network' = $2) as network,
      min(made_at) as oldest, min(made_at) filter (where facts->>'network' = $2) as "oldestHere"
    from ceremonies
    where way = 'email' and subject = :subject and made_at > $3 and ${codesOf}`;

const prunedWhere = (which: string) => `delete from ceremonies where id in
    (select id from ceremonies where ${which} and expires_at < $1 order by expires_at limit $2)
  returning 1`;

/** Deletes at most `limit` codes that expired before `before`; returns how many. */
export const pruneCodes = changed<[before: Date, limit: number]>('ceremonies_prune_codes')`
  ${prunedWhere(`way = 'email'`)}`;

/** The same of whatever else was begun. */
export const pruneCeremonies = changed<[before: Date, limit: number]>('ceremonies_prune_others')`
  ${prunedWhere(`way <> 'email'`)}`;
