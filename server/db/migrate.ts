// Brings a database to the newest schema: each file of migrations/ once, in order of name, in one
// transaction a file, under a lock so that two servers may start at once.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';

const folder = new URL('./migrations/', import.meta.url);
// Any constant will do; it only has to differ from other users of advisory locks.
const lockId = 7_269_551;
const connectMs = 15_000;

/** Applies what is missing. Throws when an applied file has changed since. Returns the names. */
export async function migrate(url: string): Promise<string[]> {
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
      await client.query('begin');
      await client.query(text);
      await client.query('insert into migrations (name, sha256) values ($1, $2)', [name, sha256]);
      await client.query('commit');
      fresh.push(name);
    }
    return fresh;
  } finally {
    await client.end();
  }
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
