// Brings a database to the newest schema: each file of migrations/ once, in order of name, under a
// lock so that two servers may start at once. A file is one transaction. Lines of it that say
// otherwise are told in docs/upgrade.md: `no transaction` is for indexes that are built
// `concurrently`, and `compatible from 002` takes away what versions need that know less.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { sessionSettings, setSession } from './session.ts';
import { isTooNew, migrationsFolder, migrationsIn, numberOf, version } from './version.ts';

// Any constant will do; it only has to differ from other users of advisory locks.
const lockId = 7_269_551;
const connectMs = 15_000;
/** A waiting process holds no snapshot meanwhile: an index that is built waits for those. */
const turnMs = 50;
/** A lock that was not to be had, a deadlock: SQLSTATE (PostgreSQL, appendix A). */
const lockFailures: readonly unknown[] = ['55P03', '40P01'];
/**
 * A table's lock is waited for so long, and tried for again after as long: another statement on
 * that table meanwhile waits behind it. A backup reads every table to its end. PostgreSQL ends an
 * autovacuum for who waits longer than `deadlock_timeout`, 1 s: just as long ends the wait instead.
 */
const lockMs = 1_500;
/** PostgreSQL lists a session for a moment after its process has gone: it is waited for so long. */
const endingMs = 1_000;
/** Then the start fails, and says why. */
const mostLockMs = 900_000;

type Options = {
  readonly lockMs?: number;
  readonly mostLockMs?: number;
  /** Instead of this version's own. */
  readonly folder?: URL;
};
type Limits = { readonly lockMs: number; readonly mostLockMs: number };

/**
 * Applies what is missing, and returns the names. Throws when an applied file has changed since,
 * and when somebody holds a table or the turn for longer than `mostLockMs`. It throws too when a
 * later version took away what this one needs, or a file would do so to a session of an earlier
 * version.
 */
export async function migrate(url: string, options: Options = {}): Promise<string[]> {
  const limits = { lockMs, mostLockMs, ...options };
  const folder = options.folder ?? migrationsFolder;
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectMs,
  });
  // A statement under way fails with it; unheard, the loss of the connection would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    await setSession(client, sessionSettings('parley-migrate', { statementMs: 0 }));
    await takeTurn(client, limits.mostLockMs);
    await client.query(
      `create table if not exists migrations (
         name text primary key,
         sha256 text not null,
         applied_at timestamptz not null default now(),
         version text,
         compatible_from text
       )`,
    );
    const names = migrationsIn(folder);
    const applied = await appliedOf(client);
    mustBeCompatible(names, [...applied.values()]);
    const fresh: string[] = [];
    for (const name of names) {
      const file = fileOf(name, await readFile(new URL(name, folder), 'utf8'));
      const known = applied.get(name)?.sha256;
      if (known === file.sha256) continue;
      if (known !== undefined) throw new Error(changed(name));
      await mustSpare(client, file);
      await apply(client, file, limits);
      fresh.push(name);
    }
    return fresh;
  } finally {
    await client.end();
  }
}

async function takeTurn(client: pg.Client, mostMs: number): Promise<void> {
  const ends = performance.now() + mostMs;
  for (;;) {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as mine', [lockId]);
    if (rows[0]?.mine === true) return;
    if (performance.now() >= ends) {
      throw new Error(
        `another process has been migrating this database for ${mostMs / 1_000} s: see what ` +
          'parley-migrate waits for (pg_stat_activity), and start again',
      );
    }
    await sleep(turnMs);
  }
}

type Applied = {
  readonly name: string;
  readonly sha256: string;
  /** The version that applied it. */
  readonly version: string | null;
  readonly compatibleFrom: string | null;
};

async function appliedOf(client: pg.Client): Promise<Map<string, Applied>> {
  const { rows } = await client.query<Applied>(
    `select name, sha256, version, compatible_from as "compatibleFrom"
     from migrations order by name`,
  );
  return new Map(rows.map((row) => [row.name, row]));
}

/** Whether a version that has `names` may work on what was applied. */
function mustBeCompatible(names: readonly string[], applied: readonly Applied[]): void {
  const own = numberOf(names.at(-1) ?? '000');
  const tooNew = applied.findLast(({ compatibleFrom }) => isTooNew(compatibleFrom, own));
  if (tooNew === undefined) return;
  throw new Error(
    `this version (${version}) knows migrations up to ${own}, and the database works only with ` +
      `versions that know ${tooNew.compatibleFrom}, since version ${tooNew.version ?? 'unknown'} ` +
      `applied ${tooNew.name}: start a later version, or restore a backup of before ` +
      '(docs/upgrade.md)',
  );
}

/** A user of the database knows enough for the rest that the file leaves of it. */
async function mustSpare(client: pg.Client, { name, compatibleFrom }: File): Promise<void> {
  if (compatibleFrom === null) return;
  const ends = performance.now() + endingMs;
  let older = await oldest(client, compatibleFrom);
  while (older !== undefined && performance.now() < ends) {
    await sleep(turnMs);
    older = await oldest(client, compatibleFrom);
  }
  if (older === undefined) return;
  throw new Error(
    `migration ${name} takes away what versions before ${compatibleFrom} need, and ` +
      `${older.sessions} sessions from ${older.from} are of one that knows ${older.knows}: stop ` +
      `every process of it, or start a version between the two in its place first ` +
      '(docs/upgrade.md)',
  );
}

type Sessions = { readonly knows: string; readonly sessions: number; readonly from: string };

/** The sessions of the version that knows least, of those that know too little. */
async function oldest(client: pg.Client, compatibleFrom: string): Promise<Sessions | undefined> {
  const { rows } = await client.query<Sessions>(
    `select right(application_name, 3) as knows, count(*)::int as sessions,
       string_agg(distinct coalesce(host(client_addr), 'this host'), ', ') as from
     from pg_stat_activity
     where datname = current_database() and application_name ~ '^parley/\\d{3}$'
       and right(application_name, 3) < $1
     group by 1 order by 1 limit 1`,
    [compatibleFrom],
  );
  return rows[0];
}

type File = {
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
  readonly compatibleFrom: string | null;
  /** Null: all of it is one transaction. */
  readonly statements: readonly string[] | null;
};

function fileOf(name: string, text: string): File {
  const sha256 = createHash('sha256').update(text).digest('hex');
  const compatibleFrom = /^-- compatible from (\d{3}):/m.exec(text)?.[1] ?? null;
  return { name, text, sha256, compatibleFrom, statements: alone(text) };
}

/** The statements of a file without a transaction: no text in them ends a line with `;`. */
function alone(text: string): readonly string[] | null {
  if (!/^-- no transaction\b/m.test(text)) return null;
  const all = text.replace(/^--.*$/gm, '').split(/;\s*$/m);
  return all.map((each) => each.trim()).filter(Boolean);
}

async function apply(client: pg.Client, file: File, limits: Limits): Promise<void> {
  const ends = performance.now() + limits.mostLockMs;
  for (;;) {
    try {
      if (file.statements === null) await inTransaction(client, file, limits);
      else await oneByOne(client, file, file.statements, limits);
      return;
    } catch (error) {
      if (!lockFailures.includes((error as { code?: unknown }).code)) throw error;
      await client.query('rollback');
      if (performance.now() >= ends)
        throw new Error(held(file.name, limits.mostLockMs), { cause: error });
    }
    await sleep(limits.lockMs);
  }
}

async function inTransaction(client: pg.Client, file: File, limits: Limits): Promise<void> {
  await client.query(`set lock_timeout = ${limits.lockMs}`);
  await client.query('begin');
  await client.query(file.text);
  await note(client, file);
  await client.query('commit');
}

/** An index that is built concurrently keeps nobody waiting, and so may wait for everybody. */
async function oneByOne(
  client: pg.Client,
  file: File,
  statements: readonly string[],
  limits: Limits,
): Promise<void> {
  await client.query(`set lock_timeout = ${limits.mostLockMs}`);
  for (const each of statements) await client.query(each);
  await note(client, file);
}

async function note(client: pg.Client, file: File): Promise<void> {
  await client.query(
    `insert into migrations (name, sha256, version, compatible_from) values ($1, $2, $3, $4)`,
    [file.name, file.sha256, version, file.compatibleFrom],
  );
}

function held(name: string, ms: number): string {
  return (
    `migration ${name} could not lock a table for ${ms / 1_000} s: end what holds it (a backup, ` +
    'a forgotten transaction: pg_stat_activity names it), and start again'
  );
}

function changed(name: string): string {
  return (
    `migration ${name} changed after it was applied to this database: run the version that made ` +
    'the database, or take an empty one (another PARLEY_HOME or DATABASE_URL)'
  );
}
