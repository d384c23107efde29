// Databases for tests, on a real PostgreSQL: the one of PARLEY_TEST_DATABASE_URL (a URL that may
// create databases), else one of the run's clusters that nobody else uses, else one that this
// process starts and stops. The schema is migrated once into a template, and every test gets a
// clone of it.

import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { connect, type Database, databaseLimits } from '@parley/market/db/database.ts';
import { migrate } from '@parley/market/db/migrate.ts';
import pg from 'pg';
import { type Cluster, openCluster } from './cluster.ts';

export type TestDatabase = {
  readonly url: string;
  readonly db: Database;
  /** Closes `db` and drops the database. More than once is fine. */
  drop(): Promise<void>;
};

const migrations = new URL('../../../apps/market/db/migrations/', import.meta.url);
// Any constant will do; it only has to differ from other users of advisory locks.
const templateLock = 7_269_552;
/** Long: one that is late is the end of all files that share the process. */
const connectMs = 60_000;

let cluster: Promise<Cluster> | null = null;
let template: Promise<string> | null = null;
/** Kept: connecting takes half of what it costs to make and drop a database. */
let admins: pg.Pool | null = null;

/**
 * A fresh, migrated database with a pool of its own; or a copy `of` another, to which nobody may be
 * connected. Call `drop` in `after`.
 */
export async function testDatabase(options?: {
  connections?: number;
  of?: Pick<TestDatabase, 'url'>;
}): Promise<TestDatabase> {
  const { adminUrl } = await theCluster();
  const admin = adminOf(adminUrl);
  template ??= makeTemplate(adminUrl);
  const { of } = options ?? {};
  const source = of === undefined ? await template : new URL(of.url).pathname.slice(1);
  const name = `t_${randomBytes(8).toString('hex')}`;
  await admin.query(`create database ${name} template ${source} strategy file_copy`);
  const url = databaseUrl(adminUrl, name);
  const db = connect(url, { ...databaseLimits, connections: options?.connections ?? 6 });
  let dropping: Promise<void> | null = null;
  const drop = async () => {
    // Its owner may have closed it.
    await db.close().catch(() => {});
    await adminOf(adminUrl).query(`drop database if exists ${name} (force)`);
  };
  return {
    url,
    db,
    drop: () => {
      dropping ??= drop();
      return dropping;
    },
  };
}

function theCluster(): Promise<Cluster> {
  const given = process.env.PARLEY_TEST_DATABASE_URL;
  cluster ??= given ? Promise.resolve({ adminUrl: given, stop: async () => {} }) : openCluster();
  return cluster;
}

// When everything else has ended: a file's own hooks still need the database.
process.on('beforeExit', async () => {
  const last = cluster;
  const open = admins;
  [cluster, admins] = [null, null];
  await open?.end();
  if (last !== null) await (await last).stop();
});

/** Idle, it keeps no process, and is nobody's error when its database ends. */
function adminOf(connectionString: string): pg.Pool {
  if (admins === null) {
    const limits = { max: 2, connectionTimeoutMillis: connectMs };
    admins = new pg.Pool({ connectionString, ...limits, allowExitOnIdle: true });
    admins.on('error', () => {});
  }
  return admins;
}

/** Migrates the template once a schema, whoever of several processes comes first. */
export async function makeTemplate(adminUrl: string): Promise<string> {
  const hash = createHash('sha256');
  for (const name of (await readdir(migrations)).sort()) {
    hash.update(name).update(await readFile(new URL(name, migrations)));
  }
  const name = `template_${hash.digest('hex').slice(0, 16)}`;
  // A connection of its own: the lock goes with it.
  const client = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: connectMs });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [templateLock]);
    const found = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (found.rowCount !== 0) return name;
    // Renamed when it is whole: a process killed half-way leaves no half template.
    const draft = `${name}_${randomBytes(4).toString('hex')}`;
    await client.query(`create database ${draft}`);
    await migrate(databaseUrl(adminUrl, draft));
    await client.query(`alter database ${draft} rename to ${name}`);
    return name;
  } finally {
    await client.end();
  }
}

function databaseUrl(adminUrl: string, name: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}
