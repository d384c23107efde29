// Brings a database to the newest schema: each file of migrations/ once, in order of name, in one
// transaction a file, under a lock so that two servers may start at once.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const folder = new URL('./migrations/', import.meta.url);
// Any constant will do; it only has to differ from other users of advisory locks.
const lockId = 7_269_551;
const connectMs = 15_000;
/** A lock that was not to be had, a deadlock: SQLSTATE (PostgreSQL, appendix A). */
const lockFailures: readonly unknown[] = ['55P03', '40P01'];
/**
 * A table's lock is waited for so long, and tried for again after as long: whoever asks for that
 * table meanwhile waits behind it. A backup reads every table to its end.
 */
const lockMs = 1_000;
/** Then the start fails, and says why. */
const mostLockMs = 900_000;

/**
 * Applies what is missing. Throws when an applied file has changed since, and when somebody holds
 * a table for longer than `mostLockMs`. Returns the names.
 */
export async function migrate(
  url: string,
  limits: Limits = { lockMs, mostLockMs },
): Promise<string[]> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectMs,
    application_name: 'parley-migrate',
  });
  // What is under way fails with it; unheard, the loss of the connection would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [lockId]);
    await client.query(
      `create table if not exists migrations (
         name text primary key, sha256 text not null, applied_at timestamptz not null default now()
       )`,
    );
    await client.query(`set lock_timeout = ${limits.lockMs}`);
    const applied = new Map<string, string>();
    for (const row of (await client.query('select name, sha256 from migrations')).rows) {
      applied.set(row.name, row.sha256);
    }
    const fresh: string[] = [];
    for (const name of await ownMigrations()) {
      const text = await readFile(new URL(name, folder), 'utf8');
      const sha256 = createHash('sha256').update(text).digest('hex');
      const known = applied.get(name);
      if (known === sha256) continue;
      if (known !== undefined) throw new Error(changed(name));
      await apply(client, { name, text, sha256 }, limits);
      fresh.push(name);
    }
    return fresh;
  } finally {
    await client.end();
  }
}

type Limits = { readonly lockMs: number; readonly mostLockMs: number };
type File = { readonly name: string; readonly text: string; readonly sha256: string };

async function apply(client: pg.Client, file: File, limits: Limits): Promise<void> {
  const { name, text, sha256 } = file;
  const ends = performance.now() + limits.mostLockMs;
  for (;;) {
    try {
      await client.query('begin');
      await client.query(text);
      await client.query('insert into migrations (name, sha256) values ($1, $2)', [name, sha256]);
      await client.query('commit');
      return;
    } catch (error) {
      if (!lockFailures.includes((error as { code?: unknown }).code)) throw error;
      await client.query('rollback');
      if (performance.now() >= ends)
        throw new Error(held(name, limits.mostLockMs), { cause: error });
    }
    await sleep(limits.lockMs);
  }
}

function held(name: string, ms: number): string {
  return (
    `migration ${name} could not lock a table for ${ms / 1_000} s: end what holds it (a backup, ` +
    'a forgotten transaction: pg_stat_activity names it), and start again'
  );
}

/** Names of this version's, in their order. */
export async function ownMigrations(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
}

function changed(name: string): string {
  return (
    `migration ${name} changed after it was applied to this database: run the version that made ` +
    'the database, or take an empty one (another PARLEY_HOME or DATABASE_URL)'
  );
}
