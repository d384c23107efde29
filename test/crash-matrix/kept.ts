// The rows of a database as they were at one moment, kept beside it, and put back in one round
// trip: a copy of a database takes ten times as long.

import type { Database } from '../../server/db/database.ts';

type Table = { readonly name: string; readonly columns: string };

const plain = (text: string) => ({ name: '', text, values: [] });

/** Tables after those that they refer to. */
async function tablesOf(db: Database): Promise<Table[]> {
  const tables = await db.rows<Table>(
    plain(`select table_name as name,
        string_agg(quote_ident(column_name), ', ' order by ordinal_position) as columns
      from information_schema.columns join information_schema.tables
        using (table_schema, table_name)
      where table_schema = 'public' and table_type = 'BASE TABLE' and is_generated = 'NEVER'
      group by table_name`),
  );
  const references = await db.rows<{ one: string; other: string }>(
    plain(`select conrelid::regclass::text as one, confrelid::regclass::text as other
      from pg_constraint where contype = 'f' and conrelid <> confrelid`),
  );
  const sorted: Table[] = [];
  while (sorted.length < tables.length) {
    const isIn = (name: string) => sorted.some((each) => each.name === name);
    const isFree = ({ name }: Table) =>
      !isIn(name) && references.every(({ one, other }) => one !== name || isIn(other));
    const free = tables.filter(isFree);
    if (free.length === 0) throw new Error('tables refer to each other in a circle');
    sorted.push(...free);
  }
  return sorted;
}

/** Puts everything back as it is now, once nobody is at work any more. */
export async function keep(db: Database): Promise<() => Promise<void>> {
  const tables = await tablesOf(db);
  const names = tables.map(({ name }) => name);
  await db.rows(plain('create schema kept'));
  for (const name of names) {
    await db.rows(plain(`create table kept.${name} as table public.${name}`));
  }
  const sequences = await db.rows<{ name: string; last: number | null }>(
    plain(`select sequencename as name, last_value as last from pg_sequences
      where schemaname = 'public'`),
  );
  const script = [
    ...[...names].reverse().map((name) => `delete from public.${name}`),
    ...tables.map(
      ({ name, columns }) => `insert into public.${name} (${columns}) overriding system value
        select ${columns} from kept.${name}`,
    ),
    ...sequences.map(
      ({ name, last }) => `select setval('public.${name}', ${last ?? 1}, ${last !== null})`,
    ),
  ];
  return async () => {
    await idle(db);
    // A column may be called as something of the language.
    const block = `do $$ #variable_conflict use_column\nbegin ${asBody(script)} end $$`;
    await db.transaction((tx) => tx.rows(plain(block)));
  };
}

const asBody = (script: readonly string[]) =>
  script.map((each) => `${each.replace(/^select /, 'perform ')};`).join('\n');

/** What a dead process had begun is rolled back by then. */
async function idle(db: Database): Promise<void> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const [row] = await db.rows<{ busy: number }>(
      plain(`select count(*) as busy from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`),
    );
    if (row?.busy === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('somebody still works in the database');
}
