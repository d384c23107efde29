// A row of the matrix on a way of its own, because nothing of the market runs yet: a process that
// brings an empty database to the newest schema is cut off at each message to PostgreSQL, and
// another does it again.

import { migrate } from '@parley/market/db/migrate.ts';
import { testDatabase } from '../../support/database.ts';
import { type PostgresProxy, postgresProxy } from '../../support/postgres-proxy.ts';
import { sql } from '../world.ts';
import { type Choose, killAt, type Result } from './matrix.ts';

export const migrations = { name: 'start: migrations', of: 'migrate' } as const;

type Emptied = { readonly proxy: PostgresProxy; readonly url: string; schema(): Promise<string> };

/** `work` has PostgreSQL's own empty one. */
async function onEmpty<R>(work: (emptied: Emptied) => Promise<R>): Promise<R> {
  const of = { url: 'postgres:///template0' };
  const { db, url, drop } = await testDatabase({ connections: 1, of });
  const proxy = await postgresProxy(url);
  const schema = async () =>
    JSON.stringify(
      await sql(
        db,
        `select concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default)
          as line from information_schema.columns where table_schema = 'public'
        union all select indexdef from pg_indexes where schemaname = 'public'
        union all select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
          where connamespace = 'public'::regnamespace
        union all select name || ' ' || sha256 from migrations
        order by 1`,
      ),
    );
  try {
    return await work({ proxy, url, schema });
  } finally {
    await proxy.close();
    await drop();
  }
}

export async function playMigrations(choose: Choose): Promise<Result> {
  const { awaits, wanted } = await onEmpty(async ({ proxy, schema }) => {
    await migrate(proxy.url);
    return { awaits: proxy.asked(), wanted: await schema() };
  });
  return killAt(migrations.name, awaits, choose, ({ k, when }) =>
    onEmpty(async ({ proxy, url, schema }) => {
      const reached = proxy.stopAt({ nth: k, when }).then(() => true);
      const ended = () => false;
      const migrating = migrate(proxy.url).then(ended, ended);
      const isReached = await Promise.race([reached, migrating]);
      proxy.cut();
      await migrating;
      await migrate(url);
      return [
        ...(isReached ? [] : ['that await never came']),
        ...((await schema()) === wanted ? [] : ['another schema']),
      ];
    }),
  );
}
