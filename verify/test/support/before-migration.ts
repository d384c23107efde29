// A database as the version before a migration left it, and the migration.

import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import type { Statement, Tx } from '@parley/market/db/database.ts';
import pg from 'pg';
import { testDatabase } from './database.ts';

const folder = new URL('../../../apps/market/db/migrations/', import.meta.url);

/** Another schema, as it was before that file. */
export async function beforeMigration(t: TestContext, own: string) {
  const { url, drop } = await testDatabase();
  const schema = `s_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client(url);
  await client.connect();
  t.after(async () => {
    await client.end();
    await drop();
  });
  await client.query(`create schema ${schema}; set search_path to ${schema}`);
  for (const name of (await readdir(folder)).filter((each) => each < own).sort()) {
    await client.query(await readFile(new URL(name, folder), 'utf8'));
  }
  // Rows that others refer to are no part of it.
  await client.query('set session_replication_role = replica');
  const upgrade = async () => client.query(await readFile(new URL(own, folder), 'utf8'));
  const rows = async <Row>({ text, values }: Pick<Statement, 'text' | 'values'>) =>
    (await client.query(text, [...values])).rows as Row[];
  return { client, upgrade, tx: { rows } as Tx };
}
