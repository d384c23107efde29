// Sign-ins that were begun and wait for their proof.

import type { Tx } from './database.ts';

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

const columns = `id, browser, way, purpose, session_id as "sessionId", subject, facts, tries,
  made_at as "madeAt", expires_at as "expiresAt"`;

/** Of one session, codes not counted, the newest are left: whoever has it fills no table. */
export const mostOfSession = 20;

export async function insertCeremony(tx: Tx, ceremony: Omit<Ceremony, 'tries'>): Promise<void> {
  await tx.rows({
    name: 'ceremonies_insert',
    text: `with gone as (
        delete from ceremonies where id in (
          select id from ceremonies where session_id = $5 and way <> 'email'
          order by made_at desc, id desc offset $10)
      )
      insert into ceremonies
        (id, browser, way, purpose, session_id, subject, facts, made_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      ceremony.id,
      ceremony.browser,
      ceremony.way,
      ceremony.purpose,
      ceremony.sessionId,
      ceremony.subject,
      JSON.stringify(ceremony.facts),
      ceremony.madeAt,
      ceremony.expiresAt,
      mostOfSession - 1,
    ],
  });
}

/** Whoever a ceremony belongs to. */
export type CeremonyPlace = {
  readonly browser: Buffer;
  readonly way: CeremonyWay;
  readonly subject: string;
};

/** Ends it and gives it back; null where none is live here. Of two at once, one gets it. */
export async function takeCeremony(
  tx: Tx,
  { browser, way, subject }: CeremonyPlace,
  now: Date,
): Promise<Ceremony | null> {
  const rows = await tx.rows<Ceremony>({
    name: 'ceremonies_take',
    text: `update ceremonies set ended_at = $4
      where browser = $1 and way = $2 and subject = $3 and ended_at is null and expires_at > $4
      returning ${columns}`,
    values: [browser, way, subject, now],
  });
  return rows[0] ?? null;
}

/** As if it had not been taken; where it has expired since, that is all the same. */
export async function giveBackCeremony(tx: Tx, id: string): Promise<void> {
  await tx.rows({
    name: 'ceremonies_give_back',
    text: 'update ceremonies set ended_at = null where id = $1',
    values: [id],
  });
}

/** Counts one try; null where none is live here or its `most` tries are used up. */
export async function tryCeremony(
  tx: Tx,
  { browser, way, subject }: CeremonyPlace,
  most: number,
  now: Date,
): Promise<Ceremony | null> {
  const rows = await tx.rows<Ceremony>({
    name: 'ceremonies_try',
    text: `update ceremonies set tries = tries + 1
      where browser = $1 and way = $2 and subject = $3 and ended_at is null and expires_at > $5
        and tries < $4
      returning ${columns}`,
    values: [browser, way, subject, most, now],
  });
  return rows[0] ?? null;
}

/** Whose codes for a mailbox are counted together: one browser that it knows, or all strangers. */
export type CodesOf = {
  readonly subject: string;
  /** Of a browser that was signed in from by this mailbox; null = of all others. */
  readonly known: Buffer | null;
};

/** `$2`: see `CodesOf`. */
const codesOf = `coalesce((facts->>'known')::boolean, false) = ($2::bytea is not null)
          and browser = coalesce($2, browser)`;

/** Ends the live codes, and all of `browser`: the next takes their place. */
export async function endCodes(
  tx: Tx,
  { subject, known }: CodesOf,
  browser: Buffer,
  now: Date,
): Promise<void> {
  await tx.rows({
    name: 'ceremonies_end_codes',
    text: `update ceremonies set ended_at = $3
      where way = 'email' and subject = $1 and ended_at is null
        and (browser = $4 or ${codesOf})`,
    values: [subject, known, now, browser],
  });
}

export type CodesSent = {
  readonly all: number;
  readonly network: number;
  /** When the first of them was sent, and the first of the network's; null of none. */
  readonly oldest: Date | null;
  readonly oldestHere: Date | null;
};

/** How many were sent since `since`, and how many of those to this network. */
export async function countCodes(
  tx: Tx,
  { subject, known }: CodesOf,
  network: string,
  since: Date,
): Promise<CodesSent> {
  const rows = await tx.rows<CodesSent>({
    name: 'ceremonies_count_codes',
    text: `select count(*) as all, count(*) filter (where facts->>'network' = $4) as network,
        min(made_at) as oldest, min(made_at) filter (where facts->>'network' = $4) as "oldestHere"
      from ceremonies
      where way = 'email' and subject = $1 and made_at > $3
        and ${codesOf}`,
    values: [subject, known, since, network],
  });
  return rows[0] ?? { all: 0, network: 0, oldest: null, oldestHere: null };
}

/** Deletes at most `limit` codes that expired before `before`; returns how many. */
export function pruneCodes(tx: Tx, before: Date, limit: number): Promise<number> {
  return pruneWhere(tx, 'codes', `way = 'email'`, before, limit);
}

/** The same of whatever else was begun. */
export function pruneCeremonies(tx: Tx, before: Date, limit: number): Promise<number> {
  return pruneWhere(tx, 'others', `way <> 'email'`, before, limit);
}

async function pruneWhere(
  tx: Tx,
  name: string,
  which: string,
  before: Date,
  limit: number,
): Promise<number> {
  const rows = await tx.rows({
    name: `ceremonies_prune_${name}`,
    text: `delete from ceremonies where id in
        (select id from ceremonies where ${which} and expires_at < $1 order by expires_at limit $2)
      returning 1 as one`,
    values: [before, limit],
  });
  return rows.length;
}
