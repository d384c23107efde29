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

export async function insertCeremony(tx: Tx, ceremony: Omit<Ceremony, 'tries'>): Promise<void> {
  await tx.rows({
    name: 'ceremonies_insert',
    text: `insert into ceremonies
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

/** Ends all live ones of this subject, in whatever browser: the next takes their place. */
export async function endCeremonies(
  tx: Tx,
  way: CeremonyWay,
  subject: string,
  now: Date,
): Promise<void> {
  await tx.rows({
    name: 'ceremonies_end',
    text: `update ceremonies set ended_at = $3
      where way = $1 and subject = $2 and ended_at is null`,
    values: [way, subject, now],
  });
}

/** How many of this subject were begun since, in this browser; null = in any. */
export async function countCeremonies(
  tx: Tx,
  way: CeremonyWay,
  subject: string,
  browser: Buffer | null,
  since: Date,
): Promise<number> {
  const rows = await tx.rows<{ count: number }>({
    name: 'ceremonies_count',
    text: `select count(*) from ceremonies where way = $1 and subject = $2 and made_at > $4
        and ($3::bytea is null or browser = $3)`,
    values: [way, subject, browser, since],
  });
  return rows[0]?.count ?? 0;
}

/** Deletes at most `limit` that expired before `before`; returns how many. */
export async function pruneCeremonies(tx: Tx, before: Date, limit: number): Promise<number> {
  const rows = await tx.rows({
    name: 'ceremonies_prune',
    text: `delete from ceremonies where id in
        (select id from ceremonies where expires_at < $1 order by expires_at limit $2)
      returning 1 as one`,
    values: [before, limit],
  });
  return rows.length;
}
